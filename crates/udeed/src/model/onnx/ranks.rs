//! Normal scores of ranks as nodes of a graph.

use crate::model::onnx::graph::{Element, Graph, to};
use crate::view::RankNormal;

/// The knots of all features as tables: one after the other, each filled up to the same length.
struct Tables {
    /// Number of knots of each feature.
    counts: Vec<i64>,
    /// Length of a feature: a power of two, above all counts.
    length: usize,
    values: Vec<f64>,
    scores: Vec<f64>,
}

impl Tables {
    fn of(ranks: &RankNormal) -> Self {
        let (counts, values, scores) = ranks.parts();
        let length = (counts.iter().copied().max().unwrap_or(0) + 1).next_power_of_two();
        let fill = |all: &[f64], with: f64| {
            let mut rest = all;
            let mut filled = Vec::with_capacity(counts.len() * length);
            for &count in &counts {
                let (own, others) = rest.split_at(count);
                filled.extend_from_slice(own);
                filled.resize(filled.len() + length - count, with);
                rest = others;
            }
            filled
        };
        let (values, scores) = (fill(&values, f64::INFINITY), fill(&scores, 0.0));
        Tables { counts: counts.into_iter().map(|count| count as i64).collect(), length, values, scores }
    }
}

impl Graph {
    /// The normal scores of features: linear between knots, constant beyond them. Knots are found by bisection.
    pub(super) fn ranked(&mut self, ranks: &RankNormal, rows: &str) -> String {
        let Tables { counts, length, values, scores } = Tables::of(ranks);
        let d = counts.len();
        let firsts: Vec<i64> = (0..d).map(|j| (j * length) as i64).collect();
        let (firsts, counts) = (self.integers(&[1, d], &firsts), self.integers(&[1, d], &counts));
        let [values, scores] = [values, scores].map(|table| self.doubles(&[d * length], &table));
        let [none, one] = [0, 1].map(|number| self.integers(&[], &[number]));
        // Number of knots up to the value, found from its highest bit on.
        let mut above = none.clone();
        let mut step = length / 2;
        while step > 0 {
            let by = self.integers(&[], &[step as i64]);
            let before = self.integers(&[], &[step as i64 - 1]);
            let place = self.op("Add", &[&above, &before]);
            let place = self.op("Add", &[&firsts, &place]);
            let knot = self.gather(&values, &place, 0);
            let is_up = self.op("LessOrEqual", &[&knot, rows]);
            let more = self.node("Cast", &[&is_up], vec![to(Element::Int64)]);
            let more = self.op("Mul", &[&more, &by]);
            above = self.op("Add", &[&above, &more]);
            step /= 2;
        }
        let below = self.op("Sub", &[&above, &one]);
        let last = self.op("Sub", &[&counts, &one]);
        let ends = [below, above].map(|place| {
            let place = self.op("Max", &[&place, &none]);
            let place = self.op("Min", &[&place, &last]);
            self.op("Add", &[&firsts, &place])
        });
        let [low, high] = [0, 1].map(|end| self.gather(&values, &ends[end], 0));
        let [from, upto] = [0, 1].map(|end| self.gather(&scores, &ends[end], 0));
        let apart = self.op("Sub", &[&high, &low]);
        let beyond = self.op("Sub", &[rows, &low]);
        let share = self.op("Div", &[&beyond, &apart]);
        let zero = self.number(0.0);
        let is_between = self.op("Greater", &[&apart, &zero]);
        let share = self.op("Where", &[&is_between, &share, &zero]);
        let rise = self.op("Sub", &[&upto, &from]);
        let rise = self.op("Mul", &[&share, &rise]);
        self.op("Add", &[&from, &rise])
    }
}
