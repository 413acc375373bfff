//! The vote of the members as nodes of a graph.

use std::borrow::Cow;

use crate::ensemble::{LEAST_PROBABILITY, Members, Part, Rule, Vote, Voters};
use crate::error::Result;
use crate::learner::{Hypothesis, n_heads};
use crate::model::Model;
use crate::model::onnx::graph::{Element, Graph, axis, to, wholes};
use crate::model::onnx::hypotheses::n_numbers;
use crate::model::onnx::trees::Seeing;

impl Graph {
    /// The decisions: of two classes one column, of more one a class.
    ///
    /// # Errors
    /// As [`Graph::distribution`].
    pub(super) fn decision(&mut self, model: &Model, rows: &str) -> Result<String> {
        let parts = &model.ensemble.parts;
        // Parts are about one class against the rest.
        let n_classes = if parts.len() > 1 { 2 } else { model.classes.len() };
        let decisions: Result<Vec<String>> = parts.iter().map(|part| self.vote(part, n_classes, rows)).collect();
        Ok(self.side_by_side(&decisions?))
    }

    /// The decisions of the members of a part.
    fn vote(&mut self, part: &Part, n_classes: usize, rows: &str) -> Result<String> {
        let decision = match (&part.members, part.rule.vote()) {
            (Voters::Linear(members), Some(vote)) => return Ok(self.linear_vote(members, &part.weights, vote, rows)),
            (Voters::Linear(members), None) => self.any(part, Cow::Owned(members.hypotheses()), n_classes, rows)?,
            (Voters::Any(members), _) => self.any(part, Cow::Borrowed(members), n_classes, rows)?,
            (Voters::Mixed(all), _) => self.mixed(all, &part.weights, n_classes, rows)?,
        };
        Ok(match &part.rule {
            Rule::Shifted(odds) => self.shifted(&decision, odds),
            _ => decision,
        })
    }

    /// The decisions of members of any kind.
    fn any(&mut self, part: &Part, members: Cow<'_, [Hypothesis]>, n_classes: usize, rows: &str) -> Result<String> {
        let trees: Option<Vec<Seeing<'_>>> = members.iter().map(Seeing::of).collect();
        if let (Some(trees), Rule::Weighted | Rule::Unweighted | Rule::Shifted(_)) = (trees, &part.rule) {
            let trees: Vec<(Seeing<'_>, f64)> = trees.into_iter().zip(part.weights.iter().copied()).collect();
            let votes = self.forest(&trees, &part.rule, n_classes, rows);
            let total = self.number(part.weights.iter().sum());
            return Ok(self.op("Div", &[&votes, &total]));
        }
        let vote = |graph: &mut Graph, rows: &str| {
            let said: Result<Vec<String>> = members.iter().map(|member| graph.distribution(member, rows)).collect();
            let shares = graph.combine(part, &said?, n_classes);
            Ok(graph.outputs(&shares, n_classes))
        };
        match members.iter().filter_map(n_numbers).max() {
            Some(numbers) => self.in_blocks(rows, n_heads(n_classes), numbers, vote),
            None => vote(self, rows),
        }
    }

    /// The decisions of probabilities.
    fn outputs(&mut self, shares: &str, n_classes: usize) -> String {
        if n_classes == 2 {
            let difference = self.doubles(&[2, 1], &[-1.0, 1.0]);
            return self.op("MatMul", &[shares, &difference]);
        }
        let [one, two] = [1.0, 2.0].map(|number| self.number(number));
        let doubled = self.op("Mul", &[shares, &two]);
        self.op("Sub", &[&doubled, &one])
    }

    /// Decisions after shifts of the log odds of the classes.
    fn shifted(&mut self, decision: &str, odds: &[f64]) -> String {
        let shares = self.shares(odds.len(), decision);
        let factors: Vec<f64> = odds.iter().map(|odds| libm::exp(*odds)).collect();
        let factors = self.doubles(&[1, odds.len()], &factors);
        let shifted = self.op("Mul", &[&shares, &factors]);
        let shares = self.normalise(&shifted, odds.len());
        self.outputs(&shares, odds.len())
    }

    /// The scores of linear members.
    fn scores(&mut self, members: &Members, features: &str) -> String {
        let (m, width) = (members.n_members(), members.n_features());
        let (weights, constants) = members.weights().split_at(m * width);
        let weights = self.doubles(&[width, m], weights);
        let constants = self.doubles(&[1, m], constants);
        let products = self.op("MatMul", &[features, &weights]);
        self.op("Add", &[&products, &constants])
    }

    /// `tanh(z / 2)` of scores.
    pub(super) fn tanh_half(&mut self, scores: &str) -> String {
        let half = self.number(0.5);
        let halved = self.op("Mul", &[scores, &half]);
        self.op("Tanh", &[&halved])
    }

    /// The probabilities of all members put together.
    fn combine(&mut self, part: &Part, said: &[String], n_classes: usize) -> String {
        let voices: Vec<String> = match &part.rule {
            Rule::Stacked(last) => {
                let seen: Vec<String> = said.iter().map(|shares| self.stacked(shares, n_classes)).collect();
                let seen = self.side_by_side(&seen);
                return self.linear(last.heads(), &seen);
            }
            Rule::Weighted | Rule::Shifted(_) => said.to_vec(),
            Rule::Unweighted => said.iter().map(|shares| self.likeliest(shares, n_classes)).collect(),
            Rule::Product => {
                let least = self.number(LEAST_PROBABILITY);
                let logarithm = |shares: &String| {
                    let held = self.op("Max", &[shares, &least]);
                    self.op("Log", &[&held])
                };
                said.iter().map(logarithm).collect()
            }
        };
        let weigh = |(voice, &weight): (&String, &f64)| {
            let weight = self.number(weight);
            self.op("Mul", &[voice, &weight])
        };
        let weighed: Vec<String> = voices.iter().zip(&part.weights).map(weigh).collect();
        let weighed: Vec<&str> = weighed.iter().map(String::as_str).collect();
        let mut sum = self.node("Sum", &weighed, vec![]);
        if part.rule == Rule::Product {
            let largest = self.node("ReduceMax", &[&sum], vec![wholes("axes", [1])]);
            let below = self.op("Sub", &[&sum, &largest]);
            sum = self.op("Exp", &[&below]);
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
        let equal = self.op("Equal", &[&class, &numbers]);
        self.node("Cast", &[&equal], vec![to(Element::Double)])
    }

    /// Shares that sum to 1; all alike where none is above 0.
    pub(super) fn normalise(&mut self, shares: &str, n_classes: usize) -> String {
        let across = self.integers(&[1], &[1]);
        let [zero, even] = [0.0, 1.0 / n_classes as f64].map(|number| self.number(number));
        let sum = self.op("ReduceSum", &[shares, &across]);
        let some = self.op("Greater", &[&sum, &zero]);
        let parts = self.op("Div", &[shares, &sum]);
        self.op("Where", &[&some, &parts, &even])
    }

    /// The vote of linear members: between -1 and 1, one column.
    fn linear_vote(&mut self, members: &Members, weights: &[f64], vote: Vote, rows: &str) -> String {
        let m = members.n_members();
        let scores = self.scores(members, rows);
        let votes = match vote {
            Vote::Weighted => self.tanh_half(&scores),
            Vote::Unweighted => {
                let [zero, one, minus] = [0.0, 1.0, -1.0].map(|number| self.number(number));
                let second = self.op("Greater", &[&scores, &zero]);
                self.op("Where", &[&second, &one, &minus])
            }
        };
        // Summed one after the other and then divided, as in the model: votes that are even make exactly zero, and classes
        // that have the same votes exactly the same.
        let counts = self.doubles(&[1, m], weights);
        let total = self.number(weights.iter().sum());
        let [across, last] =
            [(&[][..], 1), (&[1][..], m as i64 - 1)].map(|(shape, number)| self.integers(shape, &[number]));
        let weighed = self.op("Mul", &[&votes, &counts]);
        let sums = self.op("CumSum", &[&weighed, &across]);
        let sum = self.node("Gather", &[&sums, &last], vec![axis(1)]);
        self.op("Div", &[&sum, &total])
    }
}
