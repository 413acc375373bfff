//! The model as an ONNX graph, for programs that know nothing of this crate.
//!
//! A model of numbers has one input `X`, a row a row; one with nominal columns has an input for every column, by its name.
//! The outputs are `label` (integers where all classes are written as such, else text) and `probabilities`. Everything in between is
//! computed in double precision: the vote of a member whose score is near zero then falls as it does here.

mod graph;
mod protobuf;

use crate::data::{Column, Kind};
use crate::ensemble::{LEAST_PROBABILITY, Mapped, Members, Part, Rule, Vote, Voters};
use crate::error::{Error, Hint, Place, Result};
use crate::model::Model;
use crate::model::onnx::graph::{Element, Graph, ML, attribute, axis, to, value};
use crate::model::onnx::protobuf::Message;
use crate::prepare::FourierMap;
use crate::view::FeatureMap;

/// The version of the operators, and that of the file format that came with it.
const OPSET: i64 = 13;
const IR_VERSION: i64 = 7;
/// The version of the operators of the domain for machine learning.
const ML_OPSET: i64 = 2;
/// The outputs: the classes, and how probable each is.
const OUTPUTS: [&str; 2] = ["label", "probabilities"];

impl Model {
    /// The model as an ONNX file, its preparation included.
    ///
    /// # Errors
    /// If it has no features at all, members that are not linear, or columns of words beside one that has no name or that of
    /// an output.
    ///
    /// ```
    /// use udeed::{Udeed, built_in};
    ///
    /// let model = Udeed::new().fit(&built_in("ionosphere")?.read()?.into_train()?)?;
    /// let graph = model.to_onnx()?;
    /// assert!(graph.windows(13).any(|bytes| bytes == b"probabilities"));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn to_onnx(&self) -> Result<Vec<u8>> {
        if self.preparation.factor.is_empty() {
            return Err(Error::input(Place::new("the model"), "no features", "at least one"));
        }
        if self.by_column() {
            self.check_names()?;
        }
        if self.ensemble.parts.iter().any(Part::looks_at_a_graph) {
            return Err(Error::input(Place::new("the model"), "a spectral view", "views that ONNX can express")
                .with_hint(Hint::ExportedViews { keep: &["linear", "relevance"] }));
        }
        let mut graph = Graph::new(self.free_prefix());
        let features = graph.prepare(self);
        let decision = graph.decision(self, &features).ok_or_else(|| {
            let found = format!("members of `{}` that are not linear scores", self.method.name());
            Error::input(Place::new("the model"), found, "linear members, which ONNX can express")
        })?;
        graph.label(self, &decision);
        graph.probabilities(self.classes.len(), &decision);
        let opset = |domain: &str, version| Message::new().bytes(1, domain).number(2, version);
        let file = Message::new()
            .number(1, IR_VERSION)
            .bytes(2, "udeed")
            .bytes(3, env!("CARGO_PKG_VERSION"))
            .bytes(7, graph.into_message())
            .each(8, [opset("", OPSET), opset(ML, ML_OPSET)]);
        Ok(file.into_bytes())
    }

    /// Whether there is an input for every column: words and numbers do not go into one.
    fn by_column(&self) -> bool {
        self.preparation.columns.iter().any(|column| column.kind != Kind::Numeric)
    }

    /// Refuses columns that cannot be inputs under their name: without one, an input counts as left out.
    fn check_names(&self) -> Result<()> {
        for Column { name, .. } in self.preparation.columns.iter() {
            let found = match name.as_str() {
                "" => "no name",
                name if OUTPUTS.contains(&name) => "the name of an output",
                _ => continue,
            };
            return Err(Error::input(Place::new("the model").column(name), found, "another name"));
        }
        Ok(())
    }

    /// What no column's name begins with.
    fn free_prefix(&self) -> String {
        let mut prefix = String::from("/");
        while self.preparation.columns.iter().any(|column| column.name.starts_with(&prefix)) {
            prefix.push('/');
        }
        prefix
    }
}

/// Linear members that vote.
struct LinearPart<'a> {
    members: &'a Members,
    weights: &'a [f64],
    vote: Vote,
}

impl<'a> LinearPart<'a> {
    fn of(part: &'a Part) -> Option<Self> {
        let Voters::Linear(members) = &part.members else { return None };
        Some(LinearPart { members, weights: &part.weights, vote: part.rule.vote()? })
    }
}

/// The steps of a prediction.
impl Graph {
    /// Rows as they come, made into features.
    fn prepare(&mut self, model: &Model) -> String {
        let preparation = &model.preparation;
        let columns = &preparation.columns;
        let raw = if !model.by_column() {
            self.numbers("X", &preparation.fill)
        } else {
            let parts: Vec<String> = columns
                .iter()
                .zip(&preparation.fill)
                .filter_map(|(column, &fill)| self.column(column, fill, preparation.sparse))
                .collect();
            let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
            self.node("Concat", &parts, vec![axis(1)])
        };
        let width = preparation.factor.len();
        let shift = self.doubles(&[1, width], &preparation.shift);
        let factor = self.doubles(&[1, width], &preparation.factor);
        let shifted = self.node("Sub", &[&raw, &shift], vec![]);
        let scaled = self.node("Mul", &[&shifted, &factor], vec![]);
        match &preparation.fourier {
            Some(map) => self.fourier(map, width, &scaled),
            None => scaled,
        }
    }

    fn fourier(&mut self, map: &FourierMap, width: usize, scaled: &str) -> String {
        let frequencies = self.doubles(&[width, map.n_features()], map.frequencies());
        let phases = self.doubles(&[1, map.n_features()], map.phases());
        let factor = self.doubles(&[], &[map.factor()]);
        let products = self.node("MatMul", &[scaled, &frequencies], vec![]);
        let angles = self.node("Add", &[&products, &phases], vec![]);
        let cosines = self.node("Cos", &[&angles], vec![]);
        self.node("Mul", &[&cosines, &factor], vec![])
    }

    /// An input of numbers, those missing filled in.
    fn numbers(&mut self, name: &str, fill: &[f64]) -> String {
        self.inputs.push(value(name, Element::Float, Some(fill.len())));
        let missing = self.node("IsNaN", &[name], vec![]);
        let wide = self.node("Cast", &[name], vec![to(Element::Double)]);
        let fill = self.doubles(&[1, fill.len()], fill);
        self.node("Where", &[&missing, &fill, &wide], vec![])
    }

    /// An input for one column: its features, unless it has none.
    fn column(&mut self, column: &Column, fill: f64, sparse: bool) -> Option<String> {
        let Kind::Nominal { levels } = &column.kind else { return Some(self.numbers(&column.name, &[fill])) };
        let shown: Vec<i64> = (i64::from(sparse)..levels.len() as i64).collect();
        if shown.is_empty() {
            return None;
        }
        self.inputs.push(value(&column.name, Element::String, Some(1)));
        // An empty text is a missing value.
        let mut keys: Vec<&str> = levels.iter().map(String::as_str).collect();
        let mut numbers: Vec<i64> = (0..levels.len() as i64).collect();
        if !keys.contains(&"") {
            keys.push("");
            numbers.push(fill as i64);
        }
        let encode = vec![
            attribute("keys_strings", 8).each(9, keys),
            numbers.iter().fold(attribute("values_int64s", 7), |list, &number| list.number(8, number)),
            attribute("default_int64", 2).number(3, -1),
        ];
        let level = self.node("LabelEncoder", &[&column.name], encode);
        let shown = self.integers(&[1, shown.len()], &shown);
        let equal = self.node("Equal", &[&level, &shown], vec![]);
        Some(self.node("Cast", &[&equal], vec![to(Element::Double)]))
    }

    /// The decisions: of two classes one column, of more one a class. None where members are not linear.
    fn decision(&mut self, model: &Model, features: &str) -> Option<String> {
        let parts: Option<Vec<LinearPart>> = model.ensemble.parts.iter().map(LinearPart::of).collect();
        if let Some(parts) = parts {
            let decisions: Vec<String> = parts.iter().map(|part| self.decide(part, features)).collect();
            return Some(self.side_by_side(&decisions));
        }
        // Members of one class against the rest are side by side above, or not linear.
        let [part] = model.ensemble.parts.as_slice() else { return None };
        if let Voters::Mapped(all) = &part.members {
            return Some(self.mapped(all, &part.weights, features));
        }
        let (n_classes, width) = (model.classes.len(), model.preparation.n_features());
        let members: Option<Vec<_>> = part.members.hypotheses()?.iter().map(|member| member.heads(width)).collect();
        let said: Vec<String> = members?.iter().map(|heads| self.distribution(heads, features)).collect();
        let shares = self.combine(part, &said, n_classes);
        if n_classes == 2 {
            let difference = self.doubles(&[2, 1], &[-1.0, 1.0]);
            return Some(self.node("MatMul", &[&shares, &difference], vec![]));
        }
        let [one, two] = [1.0, 2.0].map(|number| self.doubles(&[], &[number]));
        let doubled = self.node("Mul", &[&shares, &two], vec![]);
        Some(self.node("Sub", &[&doubled, &one], vec![]))
    }

    /// The decisions of members with feature maps.
    fn mapped(&mut self, all: &[Mapped], weights: &[f64], features: &str) -> String {
        let total: f64 = weights.iter().sum();
        let mut rest = weights;
        let mut sum: Option<String> = None;
        for mapped in all {
            let seen = match mapped.map.as_ref() {
                FeatureMap::Relevance(map) => self.fourier(&map.fourier, map.relevance.len(), features),
                // Spectral views were refused.
                FeatureMap::Plain | FeatureMap::Spectral(_) => features.to_owned(),
            };
            let (own, others) = rest.split_at(mapped.n_members());
            let scores = self.scores(&mapped.scores, &seen);
            let outputs = self.tanh_half(&scores);
            let lanes = mapped.scores.n_members();
            let count = |place: usize| {
                let (lane, head) = (place / mapped.heads, place % mapped.heads);
                if lane / own.len() == head { own[lane % own.len()] / total } else { 0.0 }
            };
            let counts: Vec<f64> = (0..lanes * mapped.heads).map(count).collect();
            let counts = self.doubles(&[lanes, mapped.heads], &counts);
            let voices = self.node("MatMul", &[&outputs, &counts], vec![]);
            sum = Some(match sum {
                None => voices,
                Some(sum) => self.node("Add", &[&sum, &voices], vec![]),
            });
            rest = others;
        }
        sum.unwrap_or_default()
    }

    /// The scores of linear members.
    fn scores(&mut self, members: &Members, features: &str) -> String {
        let (m, width) = (members.n_members(), members.n_features());
        let (weights, constants) = members.weights().split_at(m * width);
        let weights = self.doubles(&[width, m], weights);
        let constants = self.doubles(&[1, m], constants);
        let products = self.node("MatMul", &[features, &weights], vec![]);
        self.node("Add", &[&products, &constants], vec![])
    }

    /// `tanh(z / 2)` of scores.
    fn tanh_half(&mut self, scores: &str) -> String {
        let half = self.doubles(&[], &[0.5]);
        let halved = self.node("Mul", &[scores, &half], vec![]);
        self.node("Tanh", &[&halved], vec![])
    }

    /// The probability of each class, by a member with the given scores.
    fn distribution(&mut self, heads: &[Vec<f64>], features: &str) -> String {
        let width = heads[0].len() - 1;
        let feature = |j: usize| heads.iter().map(move |head| head[j]);
        let weights: Vec<f64> = (0..width).flat_map(feature).collect();
        let weights = self.doubles(&[width, heads.len()], &weights);
        let constants = self.doubles(&[1, heads.len()], &feature(width).collect::<Vec<_>>());
        let products = self.node("MatMul", &[features, &weights], vec![]);
        let scores = self.node("Add", &[&products, &constants], vec![]);
        let shares = self.node("Sigmoid", &[&scores], vec![]);
        if heads.len() > 1 {
            return self.normalise(&shares, heads.len());
        }
        let one = self.doubles(&[], &[1.0]);
        let first = self.node("Sub", &[&one, &shares], vec![]);
        self.side_by_side(&[first, shares])
    }

    /// The probabilities of all members put together.
    fn combine(&mut self, part: &Part, said: &[String], n_classes: usize) -> String {
        let voices: Vec<String> = match &part.rule {
            Rule::Stacked(last) => {
                let seen: Vec<String> = said.iter().map(|shares| self.stacked(shares, n_classes)).collect();
                let seen = self.side_by_side(&seen);
                return self.distribution(last.heads(), &seen);
            }
            Rule::Weighted => said.to_vec(),
            Rule::Unweighted => said.iter().map(|shares| self.likeliest(shares, n_classes)).collect(),
            Rule::Product => {
                let least = self.doubles(&[], &[LEAST_PROBABILITY]);
                let logarithm = |shares: &String| {
                    let held = self.node("Max", &[shares, &least], vec![]);
                    self.node("Log", &[&held], vec![])
                };
                said.iter().map(logarithm).collect()
            }
        };
        let weigh = |(voice, &weight): (&String, &f64)| {
            let weight = self.doubles(&[], &[weight]);
            self.node("Mul", &[voice, &weight], vec![])
        };
        let weighed: Vec<String> = voices.iter().zip(&part.weights).map(weigh).collect();
        let weighed: Vec<&str> = weighed.iter().map(String::as_str).collect();
        let mut sum = self.node("Sum", &weighed, vec![]);
        if part.rule == Rule::Product {
            let largest = self.node("ReduceMax", &[&sum], vec![attribute("axes", 7).number(8, 1)]);
            let below = self.node("Sub", &[&sum, &largest], vec![]);
            sum = self.node("Exp", &[&below], vec![]);
        }
        self.normalise(&sum, n_classes)
    }

    /// The features of a member for the last learner of a stack: of two classes the second is enough.
    fn stacked(&mut self, shares: &str, n_classes: usize) -> String {
        if n_classes > 2 {
            return shares.to_owned();
        }
        let second = self.integers(&[1], &[1]);
        self.node("Gather", &[shares, &second], vec![axis(1)])
    }

    /// One for the most probable class, of two alike the second, of more the first; nothing for the others.
    fn likeliest(&mut self, shares: &str, n_classes: usize) -> String {
        let last = attribute("select_last_index", 2).number(3, i64::from(n_classes == 2));
        let class = self.node("ArgMax", &[shares], vec![axis(1), last]);
        let numbers: Vec<i64> = (0..n_classes as i64).collect();
        let numbers = self.integers(&[1, n_classes], &numbers);
        let equal = self.node("Equal", &[&class, &numbers], vec![]);
        self.node("Cast", &[&equal], vec![to(Element::Double)])
    }

    /// Shares that sum to 1; all alike where none is above 0.
    fn normalise(&mut self, shares: &str, n_classes: usize) -> String {
        let across = self.integers(&[1], &[1]);
        let [zero, even] = [0.0, 1.0 / n_classes as f64].map(|number| self.doubles(&[], &[number]));
        let sum = self.node("ReduceSum", &[shares, &across], vec![]);
        let some = self.node("Greater", &[&sum, &zero], vec![]);
        let parts = self.node("Div", &[shares, &sum], vec![]);
        self.node("Where", &[&some, &parts, &even], vec![])
    }

    /// The vote of the members: between -1 and 1, one column.
    fn decide(&mut self, part: &LinearPart<'_>, features: &str) -> String {
        let m = part.members.n_members();
        let scores = self.scores(part.members, features);
        let votes = match part.vote {
            Vote::Weighted => self.tanh_half(&scores),
            Vote::Unweighted => {
                let [zero, one, minus] = [0.0, 1.0, -1.0].map(|number| self.doubles(&[], &[number]));
                let second = self.node("GreaterOrEqual", &[&scores, &zero], vec![]);
                self.node("Where", &[&second, &one, &minus], vec![])
            }
        };
        // Summed one after the other and then divided, as in the model: votes that are even make exactly zero, and classes
        // that have the same votes exactly the same.
        let counts = self.doubles(&[1, m], part.weights);
        let total = self.doubles(&[], &[part.weights.iter().sum()]);
        let [across, last] =
            [(&[][..], 1), (&[1][..], m as i64 - 1)].map(|(shape, number)| self.integers(shape, &[number]));
        let weighed = self.node("Mul", &[&votes, &counts], vec![]);
        let sums = self.node("CumSum", &[&weighed, &across], vec![]);
        let sum = self.node("Gather", &[&sums, &last], vec![axis(1)]);
        self.node("Div", &[&sum, &total], vec![])
    }

    fn side_by_side(&mut self, columns: &[String]) -> String {
        if let [only] = columns {
            return only.clone();
        }
        let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
        self.node("Concat", &columns, vec![axis(1)])
    }

    fn label(&mut self, model: &Model, decision: &str) {
        // Not `01`: as a number it would be the same class as `1`.
        let number = |class: &String| class.parse().ok().filter(|number: &i64| number.to_string() == *class);
        let numbers: Option<Vec<i64>> = model.classes.iter().map(number).collect();
        let (of, classes) = match numbers {
            Some(numbers) => (Element::Int64, self.integers(&[numbers.len()], &numbers)),
            None => {
                let texts = |tensor: Message| tensor.each(6, &model.classes);
                (Element::String, self.constant(&[model.classes.len()], Element::String, texts))
            }
        };
        let index = if model.classes.len() == 2 {
            let threshold = self.doubles(&[], &[model.threshold]);
            let second = self.node("GreaterOrEqual", &[decision, &threshold], vec![]);
            self.node("Cast", &[&second], vec![to(Element::Int64)])
        } else {
            self.node("ArgMax", &[decision], vec![axis(1)])
        };
        let flat = self.integers(&[1], &[-1]);
        let index = self.node("Reshape", &[&index, &flat], vec![]);
        self.named_node("Gather", &[&classes, &index], vec![axis(0)], OUTPUTS[0]);
        self.outputs.push(value(OUTPUTS[0], of, None));
    }

    fn probabilities(&mut self, n_classes: usize, decision: &str) {
        let [half, one] = [0.5, 1.0].map(|number| self.doubles(&[], &[number]));
        let above = self.node("Add", &[decision, &one], vec![]);
        let shares = self.node("Mul", &[&above, &half], vec![]);
        let all = if n_classes == 2 {
            let first = self.node("Sub", &[&one, &shares], vec![]);
            self.node("Concat", &[&first, &shares], vec![axis(1)])
        } else {
            self.normalise(&shares, n_classes)
        };
        self.named_node("Cast", &[&all], vec![to(Element::Float)], OUTPUTS[1]);
        self.outputs.push(value(OUTPUTS[1], Element::Float, Some(n_classes)));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::format::{Format, Reader};
    use crate::method::Bagging;

    /// The model of a file whose last column is the label.
    fn model(text: &str) -> Model {
        let reader = Reader::new().format(Format::Csv).label("-1");
        let train = reader.read_from("rows", text.as_bytes()).unwrap().into_train().unwrap();
        Bagging::new().members(2).fit(&train).unwrap()
    }

    fn varint(bytes: &mut &[u8]) -> u64 {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 {
                return value;
            }
        }
    }

    /// Every occurrence of a field that holds bytes.
    fn field(mut message: &[u8], wanted: u64) -> Vec<&[u8]> {
        let mut found = Vec::new();
        while !message.is_empty() {
            let key = varint(&mut message);
            let value = varint(&mut message);
            if key & 7 == 2 {
                let (bytes, rest) = message.split_at(value as usize);
                message = rest;
                if key >> 3 == wanted {
                    found.push(bytes);
                }
            }
        }
        found
    }

    /// The names of all values in a graph: inputs, constants, and what nodes make.
    fn names(file: &[u8]) -> Vec<&[u8]> {
        let graph = field(file, 7)[0];
        let named = |part, name| field(graph, part).into_iter().flat_map(move |message| field(message, name));
        named(11, 1).chain(named(5, 8)).chain(named(1, 2)).collect()
    }

    /// The texts of the classes, where labels are text.
    fn texts(file: &[u8]) -> Vec<&[u8]> {
        field(field(file, 7)[0], 5).into_iter().flat_map(|constant| field(constant, 6)).collect()
    }

    #[test]
    fn labels_are_integers_only_where_none_is_written_otherwise() {
        let mut model = model("x,y\n1,no\n2,no\n8,yes\n9,yes\n");
        let mut export = |a: &str, b: &str| {
            model.classes = vec![a.to_owned(), b.to_owned()];
            model.to_onnx().unwrap()
        };
        for (a, b) in [("01", "1"), ("+1", "-1"), ("-0", "1"), ("1", "2.0")] {
            assert_eq!(texts(&export(a, b)).len(), 2, "{a} and {b}");
        }
        assert_eq!(texts(&export("01", "1")), [b"01".as_slice(), b"1"]);
        for (a, b) in [("0", "1"), ("-1", "1"), ("10", "9")] {
            assert!(texts(&export(a, b)).is_empty(), "{a} and {b}");
        }
    }

    #[test]
    fn no_name_is_given_twice() {
        for name in ["constant 0", "0:IsNaN", "/constant 0", "//0:IsNaN", "/", "X"] {
            let file = model(&format!("{name},word,y\n1,a,no\n2,b,no\n8,a,yes\n9,b,yes\n")).to_onnx().unwrap();
            let names = names(&file);
            assert!(names.len() > 10 && names.contains(&name.as_bytes()), "{name}");
            assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{name}");
        }
    }

    #[test]
    fn names_that_no_input_can_have_are_refused() {
        let mut named = model("x,word,y\n1,a,no\n2,b,no\n8,a,yes\n9,b,yes\n");
        for (name, found) in [("label", "the name of an output"), ("", "no name")] {
            std::sync::Arc::make_mut(&mut named.preparation.columns)[0].name = name.to_owned();
            let error = named.to_onnx().unwrap_err().to_string();
            assert_eq!(error, format!("the model, column `{name}`: found {found}, expected another name"));
        }
    }
}
