//! Fine-tunes members so that their predicted class shares on unlabeled rows match a prior, with an optional diversity term.
//!
//! With `o_k` the weight of member `k`, which sum to 1, and `F` the mean output, it minimises
//! `sum_k o_k (|w_k|^2 / (2 lambda l) + loss_k / l) + gamma V_div + (mean F - t)^2`, where `V_div` is UDEED's diversity loss
//! with weighted members, the mean of `(F^2 - sum_k o_k^2 f_k^2) / (1 - sum_k o_k^2)`, and `t` is the mean of `F` under the
//! class prior.

use pulp::Simd;

use crate::data::{Matrix, Rows};
use crate::ensemble::Members;
use crate::ensemble::mapped_members::Mapped;
use crate::error::Result;
use crate::kernel::{Real, Visit, dot, in_memory, map_rows, pass};
use crate::linalg::minimise;
use crate::method::auto::out_of_bag::{FeatureMaps, MappedRows, OutOfBag};
use crate::method::udeed::Agreement;
use crate::observer::Watch;
use crate::parallel;
use crate::view::FeatureMap;

/// Largest number of steps.
const STEPS: usize = 60;

/// Members that share a feature map, and the rows on which they are fine-tuned.
pub(crate) struct Group<'a> {
    labeled: &'a Matrix,
    unlabeled: Matrix,
    /// The factor by which the features are multiplied.
    factor: f64,
    /// For each member the weights of the labeled rows, by its bootstrap.
    bags: &'a [Vec<f64>],
    lambda: f64,
    /// The weight of each member.
    share: f64,
    heads: usize,
}

/// What all groups share: the labels, the class prior and the weight of diversity.
pub(crate) struct Known<'a> {
    /// For each head the mean output under the class prior; none if the prior is unknown.
    pub(crate) means: Option<Vec<f64>>,
    pub(crate) gamma: f64,
    /// The total weight of the labeled rows.
    pub(crate) total: f64,
    /// For each head the target of each labeled row.
    pub(crate) targets: Vec<&'a [f64]>,
}

/// The groups of a view, whose members have weight `share` each.
///
/// # Errors
/// If the unlabeled rows cannot be mapped.
pub(crate) fn groups<'a>(
    out_of_bag: &'a OutOfBag<'_>,
    maps: &'a FeatureMaps,
    (lambda, share): (f64, f64),
    unlabeled: &Matrix,
    watch: &Watch<'_>,
) -> Result<Vec<Group<'a>>> {
    let group = |map: &FeatureMap, mapped_rows: &'a MappedRows, bags: &'a [Vec<f64>], heads: usize| {
        let mapped = map.apply(unlabeled.rows(), 0..unlabeled.rows().n_rows(), watch)?;
        let unlabeled = match mapped {
            Some(features) => features.into(),
            None => unlabeled.scaled(mapped_rows.factor()),
        };
        Ok(Group {
            labeled: mapped_rows.features(),
            unlabeled,
            factor: mapped_rows.factor(),
            bags,
            lambda,
            share,
            heads,
        })
    };
    let heads = out_of_bag.prepared.heads.len();
    match maps {
        FeatureMaps::Shared(map, mapped_rows) => Ok(vec![group(map, mapped_rows, &out_of_bag.weights, heads)?]),
        FeatureMaps::Each(maps, each) => {
            parallel::try_map(maps.len(), |k| group(&maps[k], &each[k], &out_of_bag.weights[k..=k], heads))
        }
    }
}

/// Fine-tuned members, and the outputs of each group on the labeled rows: for each row those of the first head, member by
/// member, then those of the next.
pub(crate) struct FineTuned {
    pub(crate) members: Vec<Mapped>,
    pub(crate) outputs: Vec<Vec<Vec<f64>>>,
}

/// Fine-tunes the members of all groups together.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped) if the observer ends the fit.
pub(crate) fn fine_tune(
    groups: &[Group<'_>],
    members: &[Mapped],
    known: &Known<'_>,
    watch: &Watch<'_>,
) -> Result<FineTuned> {
    let starts: Vec<Vec<f64>> =
        groups.iter().zip(members).map(|(group, mapped)| group.variables(mapped.scores.weights())).collect();
    let mut stopped = Ok(());
    let found = minimise(starts.concat(), STEPS, 1e-6, |at, gradient| {
        if stopped.is_ok() {
            stopped = watch.ask();
        }
        match stopped {
            Ok(()) => evaluate(groups, known, at, gradient),
            // NaN ends the minimisation.
            Err(_) => f64::NAN,
        }
    });
    stopped?;
    let mut rest = &found[..];
    let mut all = FineTuned { members: Vec::new(), outputs: Vec::new() };
    for ((group, mapped), start) in groups.iter().zip(members).zip(&starts) {
        let (own, others) = rest.split_at(start.len());
        let scores = Members::from_weights(mapped.scores.n_members(), group.weights(own));
        let own: Vec<f64> = own.iter().map(|x| x / group.share.sqrt()).collect();
        all.outputs.push(group.outputs(group.labeled.rows(), &own));
        all.members.push(Mapped { scores, ..mapped.clone() });
        rest = others;
    }
    Ok(all)
}

impl Group<'_> {
    fn lanes(&self) -> usize {
        self.heads * self.bags.len()
    }

    fn len(&self) -> usize {
        (self.unlabeled.rows().n_columns() + 1) * self.lanes()
    }

    /// The variables of the minimisation for given weights: those of the multiplied features, times the root of the member's
    /// weight.
    fn variables(&self, weights: &[f64]) -> Vec<f64> {
        self.scaled(weights, 1.0 / self.factor, self.share.sqrt())
    }

    /// The weights for given variables.
    fn weights(&self, variables: &[f64]) -> Vec<f64> {
        self.scaled(variables, self.factor, 1.0 / self.share.sqrt())
    }

    fn scaled(&self, weights: &[f64], features: f64, all: f64) -> Vec<f64> {
        let last = weights.len() - self.lanes();
        let scale = |(place, w): (usize, &f64)| if place < last { w * features * all } else { w * all };
        weights.iter().enumerate().map(scale).collect()
    }

    /// The outputs of the members on rows after the map.
    fn outputs(&self, rows: &dyn Rows, weights: &[f64]) -> Vec<Vec<f64>> {
        let lanes = self.lanes();
        in_memory(map_rows(rows, weights, lanes, |scores| {
            scores.iter_mut().for_each(|z| *z = z.tanh_half());
            scores[..lanes].to_vec()
        }))
    }

    /// The penalty and the loss on the labeled rows, and their gradient by the weights.
    fn loss(&self, targets: &[&[f64]], total: f64, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let penalty = self.share / (self.lambda * total);
        gradient.iter_mut().zip(weights).for_each(|(g, w)| *g = penalty * w);
        let slopes = Slopes { targets, bags: self.bags, factor: self.share / total };
        let losses = in_memory(pass(self.labeled.rows(), weights, self.lanes(), Some(gradient), &slopes));
        0.5 * penalty * dot(weights, weights) + losses.iter().sum::<f64>()
    }
}

/// A group evaluated at some weights: its loss on the labeled rows, the gradient, and its outputs on the unlabeled rows.
struct Evaluated {
    value: f64,
    gradient: Vec<f64>,
    outputs: Vec<Vec<f64>>,
}

/// The objective at a point, and its gradient.
fn evaluate(groups: &[Group<'_>], known: &Known<'_>, at: &[f64], gradient: &mut [f64]) -> f64 {
    let heads = known.targets.len();
    let parts = apart(groups, at);
    let weights: Vec<Vec<f64>> =
        groups.iter().zip(&parts).map(|(group, part)| part.iter().map(|x| x / group.share.sqrt()).collect()).collect();
    let labeled = |g: usize| {
        let (group, weights) = (&groups[g], &weights[g]);
        let mut gradient = vec![0.0; weights.len()];
        let value = group.loss(&known.targets, known.total, weights, &mut gradient);
        Evaluated { value, gradient, outputs: group.outputs(group.unlabeled.rows(), weights) }
    };
    let mut all: Vec<Evaluated> = parallel::map(groups.len(), labeled);
    let outputs: Vec<&Vec<Vec<f64>>> = all.iter().map(|group| &group.outputs).collect();
    let term = UnlabeledTerm::new(groups, known, &outputs, heads);
    let value = all.iter().map(|group| group.value).sum::<f64>() + term.value;
    parallel::chunks_mut(&mut all, 1, |g, found| {
        let (group, weights, found) = (&groups[g], &weights[g], &mut found[0]);
        let given = Given { term: &term, outputs: &found.outputs, share: group.share, m: group.bags.len() };
        in_memory(pass(group.unlabeled.rows(), weights, group.lanes(), Some(&mut found.gradient), &given));
        found.gradient.iter_mut().for_each(|g| *g /= group.share.sqrt());
    });
    let gradients = all.iter().flat_map(|group| &group.gradient);
    gradient.iter_mut().zip(gradients).for_each(|(to, from)| *to = *from);
    value
}

/// The variables of each group.
fn apart<'a>(groups: &[Group<'_>], mut at: &'a [f64]) -> Vec<&'a [f64]> {
    let own = |group: &Group<'_>| {
        let (own, others) = at.split_at(group.len());
        at = others;
        own
    };
    groups.iter().map(own).collect()
}

/// The derivative of each labeled row's loss by its score.
struct Slopes<'a> {
    targets: &'a [&'a [f64]],
    bags: &'a [Vec<f64>],
    factor: f64,
}

impl Visit<f64> for Slopes<'_> {
    type Tally = f64;

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, losses: &mut f64, i: usize, scores: &mut [f64]) {
        let m = self.bags.len();
        for (lane, z) in scores.iter_mut().enumerate() {
            let Some(targets) = self.targets.get(lane / m) else {
                *z = 0.0;
                continue;
            };
            let (y, weight) = (targets[i], self.factor * self.bags[lane % m][i]);
            *losses += weight * (-y * *z).softplus();
            *z = -y * weight * (-y * *z).logistic();
        }
    }
}

/// The terms of the objective on the unlabeled rows: diversity and the class prior.
struct UnlabeledTerm {
    value: f64,
    /// For each row and head how much the outputs agree, each weighted by its member's share of the vote.
    agreements: Vec<Vec<Agreement>>,
    /// The weight of an agreement.
    gamma: f64,
    /// For each head the derivative by a weighted output of what keeps the mean output at the known one.
    pulls: Vec<f64>,
}

impl UnlabeledTerm {
    fn new(groups: &[Group<'_>], known: &Known<'_>, outputs: &[&Vec<Vec<f64>>], heads: usize) -> Self {
        let n = outputs[0].len();
        let squares: f64 = groups.iter().map(|group| group.bags.len() as f64 * group.share * group.share).sum();
        let gamma = known.gamma / ((1.0 - squares) * n as f64);
        let mut agreements = vec![vec![Agreement::default(); heads]; n];
        for (i, agreements) in agreements.iter_mut().enumerate() {
            for (group, outputs) in groups.iter().zip(outputs) {
                for (lane, f) in outputs[i].iter().enumerate() {
                    agreements[lane / group.bags.len()].add(group.share * f);
                }
            }
        }
        let mut value = gamma * agreements.iter().flatten().map(Agreement::value).sum::<f64>();
        let mut pulls = vec![0.0; heads];
        for (head, wanted) in known.means.iter().flatten().enumerate() {
            let mean = agreements.iter().map(|agreements| agreements[head].sum()).sum::<f64>() / n as f64;
            value += (mean - wanted) * (mean - wanted);
            pulls[head] = 2.0 * (mean - wanted) / n as f64;
        }
        UnlabeledTerm { value, agreements, gamma, pulls }
    }

    /// The derivative by a weighted output.
    fn slope(&self, i: usize, head: usize, output: f64) -> f64 {
        2.0 * self.gamma * self.agreements[i][head].half_slope()(output) + self.pulls[head]
    }
}

/// The derivative of the unlabeled terms by the scores, from outputs computed before.
struct Given<'a> {
    term: &'a UnlabeledTerm,
    outputs: &'a [Vec<f64>],
    share: f64,
    m: usize,
}

impl Visit<f64> for Given<'_> {
    type Tally = ();

    #[inline(always)]
    fn visit<S: Simd>(&self, _: S, (): &mut (), i: usize, scores: &mut [f64]) {
        scores.fill(0.0);
        for (lane, (z, f)) in scores.iter_mut().zip(&self.outputs[i]).enumerate() {
            *z = self.share * self.term.slope(i, lane / self.m, self.share * f) * 0.5 * (1.0 - f * f);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;
    use crate::random::{Purpose, Stream};

    #[test]
    fn the_gradient_is_that_of_the_value() {
        let mut stream = Stream::new(8, Purpose::Split, 0);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| 2.0 * stream.unit() - 1.0).collect() };
        let (l, u, heads) = (7, 9, 3);
        let bags: Vec<Vec<f64>> = (0..4).map(|k| (0..l).map(|i| f64::from((i + k) as u8 % 3)).collect()).collect();
        let widths = [3, 2];
        let labeled: Vec<Matrix> = widths.iter().map(|&d| Dense::new(l, d, draw(l * d)).unwrap().into()).collect();
        let unlabeled: Vec<Dense> = widths.iter().map(|&d| Dense::new(u, d, draw(u * d)).unwrap()).collect();
        let group = |g: usize, bags, share| Group {
            labeled: &labeled[g],
            unlabeled: unlabeled[g].clone().into(),
            factor: 0.5,
            bags,
            lambda: 3.0,
            share,
            heads,
        };
        let groups = [group(0, &bags[..3], 0.2), group(1, &bags[3..], 0.4)];
        let targets: Vec<Vec<f64>> =
            (0..heads).map(|h| (0..l).map(|i| if i % heads == h { 1.0 } else { -1.0 }).collect()).collect();
        let known = Known {
            means: Some(vec![0.3, -0.5, -0.8]),
            gamma: 0.7,
            total: 7.0,
            targets: targets.iter().map(Vec::as_slice).collect(),
        };
        let at = draw(groups.iter().map(Group::len).sum());
        let mut gradient = vec![0.0; at.len()];
        evaluate(&groups, &known, &at, &mut gradient);
        for j in 0..at.len() {
            let value = |step: f64| {
                let mut near = at.clone();
                near[j] += step;
                evaluate(&groups, &known, &near, &mut vec![0.0; at.len()])
            };
            let expected = (value(1e-5) - value(-1e-5)) / 2e-5;
            assert!((gradient[j] - expected).abs() < 1e-8, "{j}: {} against {expected}", gradient[j]);
        }
    }

    #[test]
    fn diversity_is_udeeds_where_members_count_alike() {
        // (F^2 - sum o^2 f^2) / (1 - sum o^2) is the mean product of different members.
        let outputs = [vec![0.3, -0.8, 0.5]];
        let bags = vec![vec![1.0]; 3];
        let none = Matrix::from(Dense::zeros(1, 1).unwrap());
        let group = Group {
            labeled: &none,
            unlabeled: Dense::zeros(1, 1).unwrap().into(),
            factor: 1.0,
            bags: &bags,
            lambda: 1.0,
            share: 1.0 / 3.0,
            heads: 1,
        };
        let known = Known { means: None, gamma: 1.0, total: 1.0, targets: vec![&[1.0]] };
        let found = UnlabeledTerm::new(&[group], &known, &[&outputs.to_vec()], 1).value;
        let f = &outputs[0];
        let expected = (f[0] * f[1] + f[0] * f[2] + f[1] * f[2]) / 3.0;
        assert!((found - expected).abs() < 1e-12, "{found} against {expected}");
    }
}
