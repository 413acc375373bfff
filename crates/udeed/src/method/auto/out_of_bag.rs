//! Members fitted to bootstraps of the labeled rows at several lambdas, and their outputs on out-of-bag rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::data::{Dense, Matrix, Rows};
use crate::ensemble::bootstraps;
use crate::ensemble::mapped_members::Mapped;
use crate::ensemble::training_rows::Head;
use crate::ensemble::{Members, TrainingRows};
use crate::error::{Hint, Result};
use crate::kernel::{Real, in_memory, map_rows};
use crate::learner::{Batch, Logistic, normalise, winner};
use crate::linalg::RowSpace;
use crate::memory::{MUCH_MEMORY, check_memory, half_of_memory};
use crate::method::auto::mixture;
use crate::observer::{Warning, Watch};
use crate::parallel;
use crate::view::FeatureMap;

/// Number of members with feature maps of their own that are fitted at once.
const AT_ONCE: usize = 16;
/// Tolerance of their optimum: there are many of them, and their features are random.
const NEAR: f64 = 1e-6;

/// Bootstraps of the labeled rows, the same for every view and lambda, and estimates on their out-of-bag rows.
pub(crate) struct OutOfBag<'a> {
    pub(crate) prepared: &'a TrainingRows,
    /// For each member, how often each row is drawn.
    pub(crate) draws: Vec<Vec<u8>>,
    /// For each member, the resulting weight of each row.
    pub(crate) weights: Vec<Vec<f64>>,
}

/// One feature map for all members, or one for each, with the labeled rows after it.
pub(crate) enum FeatureMaps {
    Shared(Arc<FeatureMap>, MappedRows),
    Each(Vec<Arc<FeatureMap>>, Vec<MappedRows>),
}

impl FeatureMaps {
    pub(crate) fn n_maps(&self) -> usize {
        match self {
            FeatureMaps::Shared(..) => 1,
            FeatureMaps::Each(maps, _) => maps.len(),
        }
    }

    /// Applies the feature map of each member to the labeled rows.
    ///
    /// # Errors
    /// If the features take more than half of the memory.
    pub(crate) fn each(maps: Vec<Arc<FeatureMap>>, rows: &Dense, watch: &Watch<'_>) -> Result<Self> {
        let n = rows.n_rows();
        let width = maps.iter().map(|map| map.n_features(rows.n_columns())).max().unwrap_or(0);
        let bytes = 8 * maps.len() as u64 * n as u64 * (width + n.min(width)) as u64;
        let what = || format!("{} views by relevance of {n} labeled rows", maps.len());
        check_memory(bytes, half_of_memory(), Hint::ViewsOrMembers { keep: &["linear", "spectral"] }, what)?;
        if bytes > MUCH_MEMORY {
            watch.warn(&Warning::Memory { bytes });
        }
        let mapped_rows = |k: usize| {
            let features = maps[k].apply(rows, 0..n, watch)?;
            Ok(MappedRows::new(features.unwrap_or_else(|| rows.clone()).into()))
        };
        let mapped_rows = parallel::try_map(maps.len(), mapped_rows)?;
        Ok(FeatureMaps::Each(maps, mapped_rows))
    }
}

/// Labeled rows after a feature map, in the basis used for optimisation.
pub(crate) struct MappedRows {
    features: Matrix,
    /// The factor by which the features are multiplied.
    factor: f64,
    span: Option<RowSpace>,
}

impl MappedRows {
    pub(crate) fn new(features: Matrix) -> Self {
        MappedRows { span: RowSpace::of(features.rows()), features, factor: 1.0 }
    }

    /// Features multiplied by a factor.
    pub(crate) fn scaled(features: &Matrix, factor: f64) -> Self {
        MappedRows { factor, ..MappedRows::new(features.scaled(factor)) }
    }

    /// The labeled rows after the map and the factor.
    pub(crate) fn features(&self) -> &Matrix {
        &self.features
    }

    pub(crate) fn factor(&self) -> f64 {
        self.factor
    }

    fn rows(&self) -> &dyn Rows {
        self.span.as_ref().map_or(self.features.rows(), |span| span.rows.rows())
    }

    /// The weights of the map's features, that of the constant one last, from weights in the basis.
    fn weights(&self, own: &[f64]) -> Vec<f64> {
        let all = self.span.as_ref().map_or_else(|| own.to_vec(), |span| span.weights(self.features.rows(), own));
        let last = all.len() - 1;
        all.into_iter().enumerate().map(|(j, w)| if j < last { self.factor * w } else { w }).collect()
    }
}

/// Members fitted at one lambda.
#[derive(Clone)]
pub(crate) struct Fit {
    /// For each head the weights of each member, in the basis of its rows.
    weights: Vec<Vec<Vec<f64>>>,
    /// For each head and row the mean output of the members for which the row is out of bag; 0 if there are none.
    pub(crate) outputs: Vec<Vec<f64>>,
}

impl<'a> OutOfBag<'a> {
    pub(crate) fn draw(prepared: &'a TrainingRows, members: usize, seed: u64) -> Result<Self> {
        let draws = bootstraps(&prepared.codes, seed, members)?;
        let counted = |draw: &Vec<u8>| draw.iter().zip(&prepared.weights).map(|(&n, w)| f64::from(n) * w).collect();
        let weights = draws.iter().map(counted).collect();
        Ok(OutOfBag { prepared, draws, weights })
    }

    pub(crate) fn n_members(&self) -> usize {
        self.draws.len()
    }

    fn n_heads(&self) -> usize {
        self.prepared.heads.len()
    }

    /// The rows that are out of bag for some member.
    pub(crate) fn rows(&self) -> Vec<usize> {
        let counts = self.counts();
        (0..counts.len()).filter(|&i| counts[i] > 0).collect()
    }

    /// The number of classes among the out-of-bag rows.
    pub(crate) fn n_classes(&self) -> usize {
        let classes: BTreeSet<u8> = self.rows().into_iter().map(|i| self.prepared.codes[i]).collect();
        classes.len()
    }

    /// The out-of-bag rows that the outputs of the heads classify correctly.
    fn right(&self, outputs: &[Vec<f64>]) -> Vec<usize> {
        let mut rows = self.rows();
        rows.retain(|&i| {
            let outputs: Vec<f64> = outputs.iter().map(|head| head[i]).collect();
            winner(&outputs) == usize::from(self.prepared.codes[i])
        });
        rows
    }

    /// The out-of-bag accuracy of the outputs of the heads.
    pub(crate) fn accuracy(&self, outputs: &[Vec<f64>]) -> f64 {
        self.right(outputs).len() as f64 / self.rows().len().max(1) as f64
    }

    /// The lead of some outputs over others: how many more out-of-bag rows they classify correctly, by row weights over their
    /// mean.
    pub(crate) fn ahead(&self, outputs: &[Vec<f64>], others: &[Vec<f64>]) -> f64 {
        let weight = |rows: Vec<usize>| rows.into_iter().map(|i| self.prepared.weights[i]).sum::<f64>();
        let out = self.rows();
        let mean = weight(out.clone()) / out.len().max(1) as f64;
        (weight(self.right(outputs)) - weight(self.right(others))) / mean
    }

    /// The number of fits that [`OutOfBag::fit`] makes for this number of lambdas.
    pub(crate) fn n_fits(&self, lambdas: usize) -> usize {
        lambdas * self.n_members() * self.n_heads()
    }

    /// Fits members at each of the ascending lambdas; each fit starts from that at the lambda before. If each member has a
    /// map of its own, the first starts from `near`, if given. `done` of `total` fits were made before.
    pub(crate) fn fit(
        &self,
        maps: &FeatureMaps,
        lambdas: &[f64],
        near: Option<&Fit>,
        (done, total): (usize, usize),
        watch: &Watch<'_>,
    ) -> Result<Vec<Fit>> {
        let fits = match maps {
            FeatureMaps::Shared(_, mapped_rows) => self.fit_together(mapped_rows, lambdas, (done, total), watch)?,
            FeatureMaps::Each(_, each) => self.fit_each(each, lambdas, near, watch)?,
        };
        watch.member(done + self.n_fits(lambdas.len()), total)?;
        Ok(fits)
    }

    /// Fits members that share a feature map, in shared passes.
    fn fit_together(
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
                let (targets, weights) = (&head.targets, &self.prepared.weights);
                let all = learner.fit(rows, targets, weights, start.as_deref(), watch)?.weights;
                let counts = &self.draws;
                let members =
                    Batch { learner, rows, targets, counts, weights, start: &all, before: (done, total) }.fit(watch)?;
                let side_by_side = Members::from_rows(&members);
                let outputs = in_memory(map_rows(rows, side_by_side.weights(), m, |scores| {
                    scores.iter_mut().for_each(|z| *z = z.tanh_half());
                    scores[..m].to_vec()
                }));
                fit.outputs.push(self.mean_outputs(|k, i| outputs[i][k]));
                fit.weights.push(members);
                start = Some(all);
                done += m;
            }
        }
        Ok(fits)
    }

    /// Fits members that have a feature map each.
    fn fit_each(
        &self,
        each: &[MappedRows],
        lambdas: &[f64],
        near: Option<&Fit>,
        watch: &Watch<'_>,
    ) -> Result<Vec<Fit>> {
        let heads = self.n_heads();
        // For each lambda and head the weights, and the outputs on each row.
        type Alone = Vec<Vec<(Vec<f64>, Vec<f64>)>>;
        let alone = |(k, mapped_rows): (usize, &MappedRows)| -> Result<Alone> {
            let mut starts: Vec<Option<Vec<f64>>> =
                (0..heads).map(|head| near.map(|near| near.weights[head][k].clone())).collect();
            let mut at = |lambda: f64| {
                let heads = starts.iter_mut().zip(&self.prepared.heads);
                heads.map(|(start, head)| self.fit_alone(k, mapped_rows, lambda, head, start, watch)).collect()
            };
            lambdas.iter().map(|&lambda| at(lambda)).collect()
        };
        let n = self.prepared.codes.len();
        let mut fits =
            vec![Fit { weights: vec![Vec::new(); heads], outputs: vec![vec![0.0; n]; heads] }; lambdas.len()];
        // In chunks: only the sums of their outputs are kept.
        for (place, some) in each.chunks(AT_ONCE).enumerate() {
            let first = place * AT_ONCE;
            let found: Vec<Alone> = parallel::try_map(some.len(), |k| alone((first + k, &some[k])))?;
            for (k, alone) in found.into_iter().enumerate() {
                for (fit, answers) in fits.iter_mut().zip(alone) {
                    for (head, (weights, outputs)) in answers.into_iter().enumerate() {
                        fit.weights[head].push(weights);
                        let out =
                            outputs.iter().zip(&self.draws[first + k]).map(|(f, &n)| if n == 0 { *f } else { 0.0 });
                        fit.outputs[head].iter_mut().zip(out).for_each(|(sum, f)| *sum += f);
                    }
                }
            }
        }
        let counts = self.counts();
        for outputs in fits.iter_mut().flat_map(|fit| &mut fit.outputs) {
            outputs.iter_mut().zip(&counts).for_each(|(sum, &n)| *sum /= f64::from(n.max(1)));
        }
        Ok(fits)
    }

    /// Fits one member for one head: its weights, which also replace `start`, and its outputs on all labeled rows.
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
        let fit = learner.fit(rows, &head.targets, &self.weights[k], start.as_deref(), watch)?;
        *start = Some(fit.weights.clone());
        let outputs = in_memory(map_rows(rows, &fit.weights, 1, |scores| scores[0].tanh_half()));
        Ok((fit.weights, outputs))
    }

    /// For each row, the number of members for which it is out of bag.
    fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.prepared.codes.len()];
        for draw in &self.draws {
            counts.iter_mut().zip(draw).for_each(|(count, &n)| *count += u32::from(n == 0));
        }
        counts
    }

    /// For each row the mean output of the members for which it is out of bag; 0 if there are none.
    pub(crate) fn mean_outputs(&self, outputs: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mean = |(i, n): (usize, u32)| {
            let out = self.draws.iter().enumerate().filter(|(_, draw)| draw[i] == 0);
            out.map(|(k, _)| outputs(k, i)).sum::<f64>() / f64::from(n.max(1))
        };
        self.counts().into_iter().enumerate().map(mean).collect()
    }

    /// The probability that the outputs of the heads give to the class of each row.
    fn probabilities(&self, outputs: &[Vec<f64>]) -> Vec<f64> {
        let probability = |(i, &class): (usize, &u8)| {
            if let [only] = outputs {
                let target = self.prepared.heads[0].targets[i];
                return 0.5 * (1.0 + target * only[i]);
            }
            let mut shares: Vec<f64> = outputs.iter().map(|head| 0.5 * (1.0 + head[i])).collect();
            normalise(&mut shares);
            shares[usize::from(class)]
        };
        self.prepared.codes.iter().enumerate().map(probability).collect()
    }

    /// The mixture weights of several fits; equal if all out-of-bag rows are of one class.
    pub(crate) fn shares(&self, fits: &[Fit], warnings: &mut Vec<Warning>) -> Vec<f64> {
        if self.n_classes() < 2 {
            warnings.push(Warning::OneClassOut);
            return vec![1.0 / fits.len() as f64; fits.len()];
        }
        let probabilities: Vec<Vec<f64>> = fits.iter().map(|fit| self.probabilities(&fit.outputs)).collect();
        mixture::shares(&probabilities, &self.prepared.weights)
    }

    /// The members of a fit, for prepared rows.
    pub(crate) fn mapped(&self, maps: &FeatureMaps, fit: &Fit) -> Vec<Mapped> {
        let heads = self.n_heads();
        let side_by_side = |map: &Arc<FeatureMap>, mapped_rows: &MappedRows, members: std::ops::Range<usize>| {
            let weights = fit.weights.iter().flat_map(|head| &head[members.clone()]);
            let weights: Vec<Vec<f64>> = weights.map(|own| mapped_rows.weights(own)).collect();
            Mapped { map: Arc::clone(map), scores: Members::from_rows(&weights), heads }
        };
        match maps {
            FeatureMaps::Shared(map, mapped_rows) => vec![side_by_side(map, mapped_rows, 0..self.n_members())],
            FeatureMaps::Each(maps, each) => parallel::map(maps.len(), |k| side_by_side(&maps[k], &each[k], k..k + 1)),
        }
    }
}
