//! Views with their members, fitted to every bootstrap and to all labels, at several lambdas.

use std::sync::Arc;

use crate::data::{Dense, Matrix, Rows};
use crate::ensemble::forest::Forest;
use crate::ensemble::mixed_members::{Group, Mapped};
use crate::ensemble::training_rows::Head;
use crate::ensemble::{Members, TrainingRows, stratified_bootstraps};
use crate::error::{Hint, Result};
use crate::kernel::{self, in_memory, tanh_halves};
use crate::learner::tree::SortedColumns;
use crate::learner::{Batch, Logistic, Sample, Tree, TreeSettings};
use crate::linalg::RowSpace;
use crate::memory::{check_memory, half_of_memory};
use crate::method::auto::first_step::Step;
use crate::method::auto::out_of_bag::{OutOfBag, Outputs};
use crate::observer::Watch;
use crate::parallel;
use crate::random::member_seed;
use crate::view::FeatureMap;

/// Tolerance of the optimum of members with a map of their own: there are many of them.
const NEAR: f64 = 1e-4;
/// Number of trees of each kind that are grown on a bootstrap, and the least for many classes or labels.
const TREES: usize = 10;
const LEAST_TREES: usize = 2;
/// Most trees of a kind on a bootstrap times labeled rows, but for the least.
const TREES_TIMES_ROWS: usize = 200_000;

/// A view with its members and what they say of out-of-bag rows.
pub(crate) struct Fitted {
    pub(crate) name: String,
    /// Whether it depends on the labeled rows only.
    pub(crate) by_labels: bool,
    /// Its weight before any row is seen, shared by its candidates.
    pub(crate) prior: f64,
    pub(crate) candidates: Vec<Candidate>,
    members: FittedMembers,
}

/// The members of a view at one lambda.
pub(crate) struct Candidate {
    /// Inverse regularisation strength; none for trees.
    pub(crate) lambda: Option<f64>,
    pub(crate) outputs: Outputs,
}

enum FittedMembers {
    Mapped(Vec<MapFit>),
    Trees { bagged: Arc<Forest>, full: Arc<Forest> },
}

/// Members that share a feature map.
struct MapFit {
    map: Arc<FeatureMap>,
    /// For each candidate and head the weights of each member.
    weights: Vec<Vec<Vec<Vec<f64>>>>,
    /// The share of each member in the vote of a candidate.
    shares: Vec<f64>,
}

/// Makes the feature map of a member, by its number; the last number is that of the fit to all labels.
type MapOf<'a> = dyn Fn(usize) -> Result<(FeatureMap, MappedRows)> + Sync + 'a;
/// Members with a feature map each, and their outputs at each lambda.
type OfEach = (Vec<MapFit>, Vec<Outputs>);

/// Labeled rows after a feature map, in the basis used for optimisation.
pub(crate) struct MappedRows {
    features: Option<Matrix>,
    span: Option<RowSpace>,
    /// The factor by which the features, or the kernel, are multiplied.
    factor: f64,
}

impl MappedRows {
    pub(crate) fn new(features: Matrix) -> Self {
        MappedRows { span: RowSpace::of(features.rows()), features: Some(features), factor: 1.0 }
    }

    /// Features multiplied by a factor.
    pub(crate) fn scaled(features: &Matrix, factor: f64) -> Self {
        MappedRows { factor, ..MappedRows::new(features.scaled(factor)) }
    }

    /// Rows that are known by their kernel with some of them, multiplied by a factor.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub(crate) fn of_kernel(mut near: Dense, some: &[usize], factor: f64) -> Result<Self> {
        near.values_mut().iter_mut().for_each(|k| *k *= factor);
        Ok(MappedRows { span: Some(RowSpace::of_some(&near, some)?), features: None, factor })
    }

    /// The rows by which a kernel is computed.
    pub(crate) fn basis(&self) -> Vec<usize> {
        self.span.as_ref().map_or_else(Vec::new, |span| span.basis().to_vec())
    }

    pub(crate) fn rows(&self) -> &dyn Rows {
        match (&self.span, &self.features) {
            (Some(span), _) => span.rows.rows(),
            (None, Some(features)) => features.rows(),
            (None, None) => unreachable!("rows are features or span a space"),
        }
    }

    /// The weights of the map's features, that of the constant one last, from weights in the basis.
    fn weights(&self, own: &[f64]) -> Vec<f64> {
        let mut all = match (&self.span, &self.features) {
            (Some(span), Some(features)) => span.weights(features.rows(), own),
            (Some(span), None) => span.shares(own, 1),
            (None, _) => own.to_vec(),
        };
        let last = all.len() - 1;
        all[..last].iter_mut().for_each(|w| *w *= self.factor);
        all
    }

    /// The same for the weights of several heads, which lie side by side in each feature.
    pub(crate) fn weights_of_heads(&self, own: &[f64], heads: usize) -> Vec<Vec<f64>> {
        let of_head =
            |all: &[f64], head: usize| -> Vec<f64> { all.iter().skip(head).step_by(heads).copied().collect() };
        let (Some(span), None) = (&self.span, &self.features) else {
            return (0..heads).map(|head| self.weights(&of_head(own, head))).collect();
        };
        let mut all = span.shares(own, heads);
        let constants = all.len() - heads;
        all[..constants].iter_mut().for_each(|w| *w *= self.factor);
        (0..heads).map(|head| of_head(&all, head)).collect()
    }
}

/// Fits at one lambda: for each head the weights of each member, and the outputs.
pub(crate) struct Fit {
    weights: Vec<Vec<Vec<f64>>>,
    pub(crate) outputs: Outputs,
}

impl OutOfBag<'_> {
    /// The number of fits that members of a view take at each of some lambdas.
    pub(crate) fn n_fits(&self, lambdas: usize) -> usize {
        lambdas * self.n_members() * self.n_heads()
    }

    /// Half of the vote of a candidate is that of the members of the bootstraps, half that of the fit to all labels.
    fn shares_of_members(&self) -> Vec<f64> {
        let m = self.n_members();
        let mut shares = vec![0.5 / m as f64; m];
        shares.push(0.5);
        shares
    }

    /// Fits members that share a feature map, and one to all labels, at each of the ascending lambdas, in shared passes. Each
    /// fit starts from that at the lambda before. `done` of `total` fits were made before.
    pub(crate) fn fit_together(
        &self,
        mapped_rows: &MappedRows,
        lambdas: &[f64],
        (mut done, total): (usize, usize),
        watch: &Watch<'_>,
    ) -> Result<Vec<Fit>> {
        let (rows, m) = (mapped_rows.rows(), self.n_members());
        let mut fits: Vec<Fit> = lambdas.iter().map(|_| Fit { weights: Vec::new(), outputs: Vec::new() }).collect();
        for head in &self.prepared.heads {
            let mut start: Option<Vec<f64>> = None;
            for (&lambda, fit) in lambdas.iter().zip(&mut fits) {
                let learner = Logistic::new(lambda);
                let (targets, weights) = (&head.targets, self.row_weights());
                let all = learner.fit(rows, targets, weights, start.as_deref(), watch)?.weights;
                let counts = &self.draws;
                let mut members =
                    Batch { learner, rows, targets, counts, weights, start: &all, before: (done, total) }.fit(watch)?;
                let side_by_side = Members::from_rows(&members);
                let mut outputs = in_memory(kernel::scores(rows, side_by_side.weights(), m));
                tanh_halves(&mut outputs);
                fit.outputs.push(self.mean_outputs(|k, i| outputs[i * m + k]));
                members.push(all.clone());
                fit.weights.push(members);
                start = Some(all);
                done += m;
            }
        }
        Ok(fits)
    }

    /// The members of many heads that share a feature map, and one to all labels, at each of the lambdas, after one Newton step.
    fn step_together(&self, mapped_rows: &MappedRows, lambdas: &[f64], watch: &Watch<'_>) -> Result<Vec<Fit>> {
        self.check_steps(lambdas.len())?;
        let mut steps = parallel::try_map(self.n_members() + 1, |k| self.first_steps(k, mapped_rows, lambdas, watch))?;
        let fit = |c: usize| {
            let mut own: Vec<&mut Step> = steps.iter_mut().map(|steps| &mut steps[c]).collect();
            let outputs = self.calibrate(&mut own);
            let of_head = |head: usize| own.iter_mut().map(|step| std::mem::take(&mut step.weights[head])).collect();
            Fit { weights: (0..self.n_heads()).map(of_head).collect(), outputs }
        };
        Ok((0..lambdas.len()).map(fit).collect())
    }

    /// A view whose members share a feature map. `lambdas` are those that findings show; the fits use `times` as much.
    pub(crate) fn shared(
        &self,
        (name, prior, by_labels): (&str, f64, bool),
        map: Arc<FeatureMap>,
        mapped_rows: &MappedRows,
        (lambdas, times): (&[f64], f64),
        progress: (usize, usize),
        watch: &Watch<'_>,
    ) -> Result<Fitted> {
        let scaled: Vec<f64> = lambdas.iter().map(|lambda| times * lambda).collect();
        let fits = match self.takes_first_steps(mapped_rows.rows()) {
            true => self.step_together(mapped_rows, &scaled, watch)?,
            false => {
                let mut fits = self.fit_together(mapped_rows, &scaled, progress, watch)?;
                let members = fits.iter_mut().flat_map(|fit| fit.weights.iter_mut().flatten());
                members.for_each(|own| *own = mapped_rows.weights(own));
                fits
            }
        };
        let (mut candidates, mut weights) = (Vec::new(), Vec::new());
        for (fit, &lambda) in fits.into_iter().zip(lambdas) {
            weights.push(fit.weights);
            candidates.push(Candidate { lambda: Some(lambda), outputs: fit.outputs });
        }
        let members = FittedMembers::Mapped(vec![MapFit { map, weights, shares: self.shares_of_members() }]);
        Ok(Fitted { name: name.into(), by_labels, prior, candidates, members })
    }

    /// A view in which each member has a feature map of its own.
    pub(crate) fn each(
        &self,
        (name, prior, by_labels): (&str, f64, bool),
        map_of: &MapOf<'_>,
        lambdas: &[f64],
        watch: &Watch<'_>,
    ) -> Result<Fitted> {
        let (members, outputs) = match self.has_many_heads() {
            true => self.step_each(map_of, lambdas, watch)?,
            false => self.fit_each(map_of, lambdas, watch)?,
        };
        let candidate = |(&lambda, outputs): (&f64, Outputs)| Candidate { lambda: Some(lambda), outputs };
        let candidates = lambdas.iter().zip(outputs).map(candidate).collect();
        Ok(Fitted { name: name.into(), by_labels, prior, candidates, members: FittedMembers::Mapped(members) })
    }

    /// The members of many heads after one Newton step, each bootstrap with a map of its own, and the outputs at each lambda.
    fn step_each(&self, map_of: &MapOf<'_>, lambdas: &[f64], watch: &Watch<'_>) -> Result<OfEach> {
        self.check_steps(lambdas.len())?;
        let mut found = parallel::try_map(self.n_members() + 1, |k| {
            let (map, mapped_rows) = map_of(k)?;
            Ok((map, self.first_steps(k, &mapped_rows, lambdas, watch)?))
        })?;
        let outputs = |c: usize| {
            let mut own: Vec<&mut Step> = found.iter_mut().map(|(_, steps)| &mut steps[c]).collect();
            self.calibrate(&mut own)
        };
        let outputs = (0..lambdas.len()).map(outputs).collect();
        let fit = |((map, steps), share): ((FeatureMap, Vec<Step>), f64)| {
            let of_heads = |step: Step| step.weights.into_iter().map(|weights| vec![weights]).collect();
            MapFit { map: Arc::new(map), weights: steps.into_iter().map(of_heads).collect(), shares: vec![share] }
        };
        Ok((found.into_iter().zip(self.shares_of_members()).map(fit).collect(), outputs))
    }

    /// The members of few heads, each bootstrap with a map of its own, and the outputs at each lambda.
    fn fit_each(&self, map_of: &MapOf<'_>, lambdas: &[f64], watch: &Watch<'_>) -> Result<OfEach> {
        // Of each member the map and, for each lambda and head, weights and outputs.
        type Alone = (FeatureMap, Vec<Vec<(Vec<f64>, Vec<f64>)>>);
        let alone = |k: usize| -> Result<Alone> {
            let (map, mapped_rows) = map_of(k)?;
            let mut starts: Vec<Option<Vec<f64>>> = vec![None; self.n_heads()];
            let mut at = |lambda: f64| -> Result<Vec<(Vec<f64>, Vec<f64>)>> {
                let heads = starts.iter_mut().zip(&self.prepared.heads);
                heads.map(|(start, head)| self.fit_alone(k, &mapped_rows, lambda, head, start, watch)).collect()
            };
            let fits: Result<_> = lambdas.iter().map(|&lambda| at(lambda)).collect();
            Ok((map, fits?))
        };
        let found = parallel::try_map(self.n_members() + 1, alone)?;
        let outputs = |c: usize, head: usize| self.mean_outputs(|k, i| found[k].1[c][head].1[i]);
        let of_heads = |c: usize| (0..self.n_heads()).map(|head| outputs(c, head)).collect();
        let outputs = (0..lambdas.len()).map(of_heads).collect();
        let fit = |((map, fits), share): (Alone, f64)| MapFit {
            map: Arc::new(map),
            weights: fits
                .into_iter()
                .map(|heads| heads.into_iter().map(|(weights, _)| vec![weights]).collect())
                .collect(),
            shares: vec![share],
        };
        Ok((found.into_iter().zip(self.shares_of_members()).map(fit).collect(), outputs))
    }

    /// Fits one member for one head: the weights of its map's features and its outputs on all labeled rows. Its weights in the
    /// basis replace `start`.
    fn fit_alone(
        &self,
        k: usize,
        mapped_rows: &MappedRows,
        lambda: f64,
        head: &Head,
        start: &mut Option<Vec<f64>>,
        watch: &Watch<'_>,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let rows = mapped_rows.rows();
        let learner = Logistic { lambda, tolerance: NEAR };
        let own = learner.fit(rows, &head.targets, &self.weights[k], start.as_deref(), watch)?.weights;
        let mut outputs = in_memory(kernel::scores(rows, &own, 1));
        tanh_halves(&mut outputs);
        let weights = mapped_rows.weights(&own);
        *start = Some(own);
        Ok((weights, outputs))
    }

    /// The number of trees of each kind that are grown on a bootstrap: fewer for many classes, as every node has a share of each,
    /// and for many labels, where single trees vary less and take longer.
    fn trees_of_bootstrap(&self) -> usize {
        let of_rows = TREES_TIMES_ROWS / self.prepared.codes.len().max(1);
        let of_heads = (2.0 * TREES as f64 / self.excess_of_heads()) as usize;
        of_rows.min(of_heads).clamp(LEAST_TREES, TREES)
    }

    /// Trees grown on the rows of each bootstrap, and as many on all labels; those of a forest on bootstraps of their own.
    pub(crate) fn trees(
        &self,
        (name, prior): (&str, f64),
        settings: &TreeSettings,
        has_bootstraps: bool,
        seed: u64,
        watch: &Watch<'_>,
    ) -> Result<Fitted> {
        let TrainingRows { labeled, codes, .. } = self.prepared;
        let (rows, m, n_classes) = (labeled.rows(), self.n_members(), self.prepared.n_classes());
        let each = self.trees_of_bootstrap();
        check_trees(m * each, codes.len(), n_classes)?;
        let columns = SortedColumns::new(rows)?;
        let grow = |weights: &[f64], place: usize| {
            watch.ask()?;
            let seed = member_seed(seed, place);
            settings.fit_sorted(&columns, &Sample { rows, classes: codes, n_classes, weights, seed })
        };
        let bagged: Vec<Tree> = parallel::try_map(m * each, |place| grow(&self.weights[place / each], place))?;
        let draws =
            if has_bootstraps { stratified_bootstraps(codes, member_seed(seed, 0), m * each)? } else { Vec::new() };
        let full = parallel::try_map(m * each, |place| {
            let all = &self.weights[m];
            let drawn = |draw: &Vec<u8>| draw.iter().zip(all).map(|(&n, w)| f64::from(n) * w).collect();
            grow(&draws.get(place).map_or_else(|| all.clone(), drawn), m * each + place)
        })?;
        // Of each bootstrap and row the mean probability of each class.
        let probabilities: Vec<Vec<f64>> = parallel::map(m, |k| {
            let mut sums = vec![0.0; rows.n_rows() * n_classes];
            let mut own = vec![0.0; n_classes];
            for (i, sums) in sums.chunks_exact_mut(n_classes).enumerate() {
                for tree in &bagged[k * each..(k + 1) * each] {
                    tree.distribution(rows.row(i), &mut own);
                    sums.iter_mut().zip(&own).for_each(|(sum, p)| *sum += p / each as f64);
                }
            }
            sums
        });
        let class = |head: usize| if self.n_heads() == 1 { 1 } else { head };
        let output = |head: usize| self.mean_outputs(|k, i| 2.0 * probabilities[k][i * n_classes + class(head)] - 1.0);
        let outputs = (0..self.n_heads()).map(output).collect();
        let candidates = vec![Candidate { lambda: None, outputs }];
        let [bagged, full] = [bagged, full].map(|trees| Arc::new(Forest::new(trees)));
        let members = FittedMembers::Trees { bagged, full };
        Ok(Fitted { name: name.into(), by_labels: true, prior, candidates, members })
    }
}

/// Refuses trees that would take more than half of the memory if every leaf had one row.
fn check_trees(trees: usize, n_rows: usize, n_classes: usize) -> Result<()> {
    // Of two kinds of trees, on bootstraps and on all labels: nodes with a share of each class, and their places twice.
    let numbers = [4 * trees, 2 * n_rows, n_classes + 6];
    let bytes = numbers.iter().fold(size_of::<f64>() as u64, |all, &n| all.saturating_mul(n as u64));
    let hint = Hint::ViewsOrMembers { keep: &["linear", "relevance"] };
    check_memory(bytes, half_of_memory(), hint, || format!("trees on {n_rows} labeled rows of {n_classes} classes"))
}

impl Fitted {
    /// The members of the candidates whose weight is not 0, and the weight of each.
    pub(crate) fn groups(&self, weights: &[f64], heads: usize) -> (Vec<Group>, Vec<f64>) {
        let kept: Vec<usize> = (0..weights.len()).filter(|&c| weights[c] > 0.0).collect();
        let (mut groups, mut all) = (Vec::new(), Vec::new());
        match &self.members {
            _ if kept.is_empty() => {}
            FittedMembers::Trees { bagged, full } => {
                for forest in [bagged, full] {
                    let n = forest.trees().len();
                    all.extend(std::iter::repeat_n(0.5 * weights[0] / n as f64, n));
                    groups.push(Group::Trees(Arc::clone(forest)));
                }
            }
            FittedMembers::Mapped(fits) => {
                for fit in fits {
                    let of_head = |head: usize| kept.iter().flat_map(move |&c| &fit.weights[c][head]).cloned();
                    let rows: Vec<Vec<f64>> = (0..heads).flat_map(of_head).collect();
                    let map = Arc::clone(&fit.map);
                    groups.push(Group::Mapped(Mapped { map, scores: Members::from_rows(&rows), heads }));
                    all.extend(kept.iter().flat_map(|&c| fit.shares.iter().map(move |share| share * weights[c])));
                }
            }
        }
        (groups, all)
    }
}
