//! The model as an ONNX graph, for programs that know nothing of this crate.
//!
//! A model of numbers has one input `X`, a row a row; one with nominal columns has an input for every column, by its name.
//! The outputs are `label` (integers where all classes are written as such, else text) and `probabilities`. All between them is
//! computed in double precision: the vote of a member whose score is near zero then falls as it does here.

mod blocks;
mod decision;
mod graph;
mod hypotheses;
mod kernel;
mod mapped;
mod nearest;
mod preparation;
mod protobuf;
mod ranks;
mod spectral;
mod trees;

use crate::data::{Column, Kind};
use crate::ensemble::calibration::Calibration;
use crate::error::{Error, Place, Result};
use crate::model::Model;
use crate::model::onnx::graph::{Element, Graph, ML, axis, to, value};
use crate::model::onnx::protobuf::Message;
use crate::text::byte_size;

/// The version of the operators, and that of the file format that came with it.
const OPSET: i64 = 13;
const IR_VERSION: i64 = 7;
/// The version of the operators of the domain for machine learning.
const ML_OPSET: i64 = 3;
/// Most bytes of a file: more no message of its format has.
const MOST_BYTES: u64 = i32::MAX as u64;
/// The outputs: the classes, and how probable each is.
const OUTPUTS: [&str; 2] = ["label", "probabilities"];

impl Model {
    /// The model as an ONNX file, its preparation included.
    ///
    /// # Errors
    /// If it has no features at all, columns of words beside one that has no name or that of an output, or more bytes than an
    /// ONNX file can have.
    ///
    /// ```
    /// use udeed::prelude::*;
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
        let rows = hypotheses::bytes_of_rows(&self.ensemble);
        check_size(rows, "of nearest neighbours, every value stored")?;
        let mut graph = Graph::new(self.free_prefix());
        let features = graph.prepare(self);
        let decision = graph.decision(self, &features)?;
        let decision = match &self.ensemble.calibration {
            Some(calibration) => graph.calibrated(calibration, &decision),
            None => decision,
        };
        graph.label(self, &decision);
        graph.probabilities(self.classes.len(), &decision);
        let opset = |domain: &str, version| Message::new().bytes(1, domain).number(2, version);
        let file = Message::new()
            .number(1, IR_VERSION)
            .bytes(2, "udeed")
            .bytes(3, env!("CARGO_PKG_VERSION"))
            .bytes(7, graph.into_message())
            .each(8, [opset("", OPSET), opset(ML, ML_OPSET)]);
        let file = file.into_bytes();
        check_size(file.len() as u64, "in all")?;
        Ok(file)
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

    /// A prefix that no name of a column has.
    fn free_prefix(&self) -> String {
        let mut prefix = String::from("/");
        while self.preparation.columns.iter().any(|column| column.name.starts_with(&prefix)) {
            prefix.push('/');
        }
        prefix
    }
}

/// Refuses what an ONNX file cannot hold.
fn check_size(bytes: u64, of: &str) -> Result<()> {
    if bytes <= MOST_BYTES {
        return Ok(());
    }
    let (found, most) = (byte_size(bytes), byte_size(MOST_BYTES));
    Err(Error::input(Place::new("the model"), format!("{found} {of}"), format!("at most {most}, as ONNX files have")))
}

/// The outputs.
impl Graph {
    /// Calibrated votes of the heads: the hyperbolic tangent of half of their log odds.
    fn calibrated(&mut self, calibration: &Calibration, decision: &str) -> String {
        let heads = calibration.heads();
        let half = |of: usize| heads.iter().map(|head| 0.5 * head[of]).collect::<Vec<f64>>();
        let slopes = self.doubles(&[1, heads.len()], &half(0));
        let intercepts = self.doubles(&[1, heads.len()], &half(1));
        let scaled = self.node("Mul", &[decision, &slopes], vec![]);
        let odds = self.node("Add", &[&scaled, &intercepts], vec![]);
        self.node("Tanh", &[&odds], vec![])
    }

    /// The class of each row.
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
            let threshold = self.number(model.threshold);
            let second = self.op("Greater", &[decision, &threshold]);
            self.node("Cast", &[&second], vec![to(Element::Int64)])
        } else {
            self.node("ArgMax", &[decision], vec![axis(1)])
        };
        let flat = self.integers(&[1], &[-1]);
        let index = self.op("Reshape", &[&index, &flat]);
        self.named_node("Gather", &[&classes, &index], vec![axis(0)], OUTPUTS[0]);
        self.outputs.push(value(OUTPUTS[0], of, None));
    }

    /// The probability of each class.
    fn probabilities(&mut self, n_classes: usize, decision: &str) {
        let all = self.shares(n_classes, decision);
        self.named_node("Cast", &[&all], vec![to(Element::Float)], OUTPUTS[1]);
        self.outputs.push(value(OUTPUTS[1], Element::Float, Some(n_classes)));
    }

    /// The probability of each class, by decisions.
    fn shares(&mut self, n_classes: usize, decision: &str) -> String {
        let [half, one] = [0.5, 1.0].map(|number| self.number(number));
        let above = self.op("Add", &[decision, &one]);
        let shares = self.op("Mul", &[&above, &half]);
        if n_classes == 2 {
            let first = self.op("Sub", &[&one, &shares]);
            return self.node("Concat", &[&first, &shares], vec![axis(1)]);
        }
        self.normalise(&shares, n_classes)
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
