//! The vote of the members as nodes of a graph.

use crate::ensemble::{Group, LEAST_PROBABILITY, Members, Part, Rule, Vote, Voters};
use crate::model::Model;
use crate::model::onnx::graph::{Element, Graph, attribute, axis, to};
use crate::view::{FeatureMap, KernelMap};

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

impl Graph {
    /// The decisions: of two classes one column, of more one a class. None where members are not linear.
    pub(super) fn decision(&mut self, model: &Model, features: &str) -> Option<String> {
        let parts: Option<Vec<LinearPart>> = model.ensemble.parts.iter().map(LinearPart::of).collect();
        if let Some(parts) = parts {
            let decisions: Vec<String> = parts.iter().map(|part| self.decide(part, features)).collect();
            return Some(self.side_by_side(&decisions));
        }
        // Members of one class against the rest are side by side above, or not linear.
        let [part] = model.ensemble.parts.as_slice() else { return None };
        if let Voters::Mixed(all) = &part.members {
            let decision = self.mixed(all, &part.weights, features)?;
            return Some(match &part.rule {
                Rule::Shifted(odds) => self.shifted(&decision, odds),
                _ => decision,
            });
        }
        let (n_classes, width) = (model.classes.len(), model.preparation.n_features());
        let members: Option<Vec<_>> = part.members.hypotheses()?.iter().map(|member| member.heads(width)).collect();
        let said: Vec<String> = members?.iter().map(|heads| self.distribution(heads, features)).collect();
        let shares = self.combine(part, &said, n_classes);
        Some(self.outputs(&shares, n_classes))
    }

    /// The decisions of probabilities.
    fn outputs(&mut self, shares: &str, n_classes: usize) -> String {
        if n_classes == 2 {
            let difference = self.doubles(&[2, 1], &[-1.0, 1.0]);
            return self.node("MatMul", &[shares, &difference], vec![]);
        }
        let [one, two] = [1.0, 2.0].map(|number| self.doubles(&[], &[number]));
        let doubled = self.node("Mul", &[shares, &two], vec![]);
        self.node("Sub", &[&doubled, &one], vec![])
    }

    /// Decisions after shifts of the log odds of the classes.
    fn shifted(&mut self, decision: &str, odds: &[f64]) -> String {
        let shares = self.shares(odds.len(), decision);
        let factors: Vec<f64> = odds.iter().map(|odds| libm::exp(*odds)).collect();
        let factors = self.doubles(&[1, odds.len()], &factors);
        let shifted = self.node("Mul", &[&shares, &factors], vec![]);
        let shares = self.normalise(&shifted, odds.len());
        self.outputs(&shares, odds.len())
    }

    /// The decisions of linear members with feature maps; none where there are others, or maps that cannot be expressed.
    fn mixed(&mut self, all: &[Group], weights: &[f64], features: &str) -> Option<String> {
        let total: f64 = weights.iter().sum();
        let mut rest = weights;
        let mut sum: Option<String> = None;
        for group in all {
            let Group::Mapped(mapped) = group else { return None };
            let seen = match mapped.map.as_ref() {
                FeatureMap::Plain => features.to_owned(),
                FeatureMap::Kernel(map) => self.gauss(map, features)?,
                FeatureMap::Spectral(_) => return None,
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
        sum
    }

    /// The nearness of rows to labeled rows; none of a Laplace kernel.
    fn gauss(&mut self, map: &KernelMap, features: &str) -> Option<String> {
        let pivots = map.gauss()?;
        let (d, p) = (map.factors.len(), pivots.len());
        let factors = self.doubles(&[1, d], &map.factors);
        let scaled = self.node("Mul", &[features, &factors], vec![]);
        let squares = self.node("Mul", &[&scaled, &scaled], vec![]);
        let ones = self.doubles(&[d, 1], &vec![1.0; d]);
        let squares = self.node("MatMul", &[&squares, &ones], vec![]);
        let turned: Vec<f64> = (0..d).flat_map(|j| pivots.iter().map(move |pivot| 2.0 * pivot[j])).collect();
        let products = self.doubles(&[d, p], &turned);
        let constants: Vec<f64> = pivots.iter().map(|pivot| -pivot.iter().map(|x| x * x).sum::<f64>()).collect();
        let constants = self.doubles(&[1, p], &constants);
        let products = self.node("MatMul", &[&scaled, &products], vec![]);
        let sums = self.node("Add", &[&products, &constants], vec![]);
        let sums = self.node("Sub", &[&sums, &squares], vec![]);
        Some(self.node("Exp", &[&sums], vec![]))
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
            Rule::Weighted | Rule::Shifted(_) => said.to_vec(),
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

    /// One for the most probable class, of several the first; nothing for the others.
    fn likeliest(&mut self, shares: &str, n_classes: usize) -> String {
        let class = self.node("ArgMax", &[shares], vec![axis(1)]);
        let numbers: Vec<i64> = (0..n_classes as i64).collect();
        let numbers = self.integers(&[1, n_classes], &numbers);
        let equal = self.node("Equal", &[&class, &numbers], vec![]);
        self.node("Cast", &[&equal], vec![to(Element::Double)])
    }

    /// Shares that sum to 1; all alike where none is above 0.
    pub(super) fn normalise(&mut self, shares: &str, n_classes: usize) -> String {
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
                let second = self.node("Greater", &[&scores, &zero], vec![]);
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
}
