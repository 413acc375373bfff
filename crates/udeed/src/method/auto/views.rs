//! The views of an automatic ensemble: what its members see, and how they are fitted to it.

use std::sync::Arc;

use crate::data::{Dense, Matrix, Rows};
use crate::ensemble::TrainingRows;
use crate::error::{Hint, Result};
use crate::learner::TreeSettings;
use crate::memory::{MUCH_MEMORY, check_memory, half_of_memory};
use crate::method::auto::fitted::{Fitted, MappedRows};
use crate::method::auto::out_of_bag::OutOfBag;
use crate::method::auto::{Auto, LAMBDAS, View};
use crate::observer::{Warning, Watch};
use crate::parallel;
use crate::view::{
    Decay, FeatureMap, KernelMap, Landmarks, N_SPECTRAL, RankNormal, SpectralMap, by_graph, median_distances, relevance,
};

/// The lambdas tried with kernels.
const KERNEL_LAMBDAS: [f64; 4] = [10.0, 100.0, 1000.0, 10_000.0];
/// Largest number of rows whose distances give the bandwidth of a kernel.
const MOST_DISTANCE_ROWS: usize = 300;
/// Least number of labeled rows to choose views.
const LEAST_LABELED: usize = 4;

impl Auto {
    /// The views that the rows allow.
    pub(super) fn possible_views(&self, prepared: &TrainingRows, warnings: &mut Vec<Warning>) -> Vec<View> {
        let only = |allowed: &[View]| -> Vec<View> {
            let kept: Vec<View> = self.views.iter().copied().filter(|view| allowed.contains(view)).collect();
            if kept.is_empty() { vec![View::Linear] } else { kept }
        };
        let (kept, warning) = if prepared.codes.len() < LEAST_LABELED {
            (only(&[View::Linear]), Warning::FewLabels { rows: prepared.codes.len() })
        } else if prepared.labeled.is_sparse() {
            (only(&[View::Linear, View::Trees]), Warning::SparseViews)
        } else {
            return self.views.clone();
        };
        if kept != self.views {
            warnings.push(warning);
        }
        kept
    }

    pub(super) fn fit_views(
        &self,
        views: &[View],
        out_of_bag: &OutOfBag<'_>,
        warnings: &mut Vec<Warning>,
        watch: &Watch<'_>,
    ) -> Result<Vec<Fitted>> {
        /// Weight of extra trees before any row is seen; that of every other view is 1.
        const EXTRA_TREES: f64 = 3.0;
        let mut fitted = Vec::new();
        for (place, view) in views.iter().enumerate() {
            let each = out_of_bag.n_fits(LAMBDAS.len());
            let progress = (place * each, views.len() * each);
            match view {
                View::Linear => fitted.push(linear(out_of_bag, progress, watch)?),
                View::Relevance => fitted.push(self.relevant(out_of_bag, Decay::Gauss, watch)?),
                View::Laplace => fitted.push(self.relevant(out_of_bag, Decay::Laplace, watch)?),
                View::Narrow => fitted.push(self.narrow(out_of_bag, progress, watch)?),
                View::Spectral => {
                    let found = self.spectral(out_of_bag, progress, watch)?;
                    if found.len() < N_SPECTRAL {
                        warnings.push(Warning::NothingSpectral);
                    }
                    fitted.extend(found);
                }
                View::Trees => {
                    let (extra, random) = (TreeSettings::extra(), TreeSettings::random());
                    fitted.push(out_of_bag.trees(("extra trees", EXTRA_TREES), &extra, false, self.seed, watch)?);
                    fitted.push(out_of_bag.trees(("forest", 1.0), &random, true, !self.seed, watch)?);
                }
            }
            watch.member(progress.0 + each, progress.1)?;
        }
        if fitted.is_empty() {
            fitted.push(linear(out_of_bag, (0, out_of_bag.n_fits(LAMBDAS.len())), watch)?);
        }
        Ok(fitted)
    }

    /// A kernel in which features that correlate with the labels weigh more; in a Laplace kernel their ranks.
    fn relevant(&self, out_of_bag: &OutOfBag<'_>, decay: Decay, watch: &Watch<'_>) -> Result<Fitted> {
        /// Largest number of rows whose values give ranks: the standard error of a rank is half a percent at most.
        const MOST_RANKED_ROWS: usize = 10_000;
        let prepared = out_of_bag.prepared;
        let mut seen = prepared.labeled.to_dense()?;
        let mut near = self.landmarks(prepared, MOST_DISTANCE_ROWS)?.1.to_dense()?;
        let ranks = match decay {
            Decay::Gauss => None,
            Decay::Laplace => {
                let ranked = self.landmarks(prepared, MOST_RANKED_ROWS)?.1.to_dense()?;
                Some(Arc::new(RankNormal::of(&ranked)))
            }
        };
        if let Some(ranks) = &ranks {
            near.rows_mut().chain(seen.rows_mut()).for_each(|row| ranks.apply(row));
        }
        let relevances: Vec<Vec<f64>> = parallel::map(out_of_bag.weights.len(), |k| {
            relevance(&seen, &prepared.codes, prepared.n_classes(), &out_of_bag.weights[k])
        });
        let bandwidths = median_distances(&near, &relevances, decay)?;
        let (seen, some) = (Arc::new(seen), self.kernel_rows(out_of_bag, watch)?);
        let map_of = |k: usize| {
            // What a member learns lies in the space of the rows of its bootstrap.
            let drawn: Vec<usize> = some.iter().copied().filter(|&i| out_of_bag.weights[k][i] > 0.0).collect();
            let scale = 1.0 / if decay == Decay::Gauss { bandwidths[k].sqrt() } else { bandwidths[k] };
            let factors = relevances[k].iter().map(|r| r * scale).collect();
            kernel(KernelMap::new(decay, ranks.clone(), factors, Arc::clone(&seen), drawn), 1.0)
        };
        let name = if decay == Decay::Gauss { View::Relevance } else { View::Laplace };
        out_of_bag.each((name.as_ref(), 1.0, true), &map_of, &KERNEL_LAMBDAS, watch)
    }

    /// A Gaussian kernel of half the usual width.
    fn narrow(&self, out_of_bag: &OutOfBag<'_>, progress: (usize, usize), watch: &Watch<'_>) -> Result<Fitted> {
        /// What the narrow kernel has in common for all rows: nearly free to choose the bias.
        const NARROW_BIAS: f64 = 10.0;
        let prepared = out_of_bag.prepared;
        let labeled = Arc::new(prepared.labeled.to_dense()?);
        let near = self.landmarks(prepared, MOST_DISTANCE_ROWS)?.1.to_dense()?;
        let alike = vec![1.0; labeled.n_columns()];
        let bandwidth = median_distances(&near, &[alike], Decay::Gauss)?[0];
        let factors = vec![(2.0 / bandwidth).sqrt(); labeled.n_columns()];
        let some = self.kernel_rows(out_of_bag, watch)?;
        // A kernel and a bias of ten is ten times a tenth of the kernel and a bias of one.
        let (map, mapped_rows) = kernel(KernelMap::new(Decay::Gauss, None, factors, labeled, some), 1.0 / NARROW_BIAS)?;
        let (name, lambdas) = (View::Narrow, (&KERNEL_LAMBDAS[..], NARROW_BIAS));
        out_of_bag.shared((name.as_ref(), 1.0, true), Arc::new(map), &mapped_rows, lambdas, progress, watch)
    }

    /// The labeled rows against which kernels are taken: all of them, or landmarks.
    fn kernel_rows(&self, out_of_bag: &OutOfBag<'_>, watch: &Watch<'_>) -> Result<Vec<usize>> {
        /// Up to this number of labeled rows, kernels are exact. With more, landmarks stand for them.
        const EXACT: usize = 1000;
        /// Least number of landmarks.
        const LEAST_LANDMARKS: usize = 300;
        let n = out_of_bag.prepared.codes.len();
        let most = (EXACT * EXACT / n.max(1)).clamp(LEAST_LANDMARKS, EXACT);
        // Each head has a weight for each of them. The fourth root of the number of heads costs little accuracy.
        let most = (most as f64 / out_of_bag.excess_of_heads().sqrt().sqrt()) as usize;
        let rows = Landmarks::choose(n, 0, most, self.seed).rows;
        // The kernel and its factor, for each thread.
        let bytes = 2 * size_of::<f64>() as u64 * (n * rows.len() * rayon::current_num_threads()) as u64;
        let hint = Hint::Views { keep: &["linear", "trees"] };
        check_memory(bytes, half_of_memory(), hint, || format!("kernels of {n} labeled rows"))?;
        if bytes > MUCH_MEMORY {
            watch.warn(&Warning::Memory { bytes });
        }
        Ok(rows)
    }

    fn spectral(&self, out_of_bag: &OutOfBag<'_>, progress: (usize, usize), watch: &Watch<'_>) -> Result<Vec<Fitted>> {
        /// With more rows, spectral views count for a tenth before any row is seen: landmarks stand for the rows.
        const MANY_ROWS: usize = 10_000;
        /// Largest number of nodes of a graph; further rows are represented by their neighbours.
        const MOST_NODES: usize = 5000;
        let prepared = out_of_bag.prepared;
        let all = prepared.codes.len() + prepared.unlabeled.n_rows();
        let n = all.min(MOST_NODES);
        // Twice: for distances, and for bounds of them.
        let bytes = 2 * 8 * n as u64 * prepared.labeled.rows().n_columns() as u64;
        let hint = Hint::Views { keep: &["linear", "relevance", "laplace", "narrow", "trees"] };
        check_memory(bytes, half_of_memory(), hint, || format!("{n} rows for a graph"))?;
        if bytes > MUCH_MEMORY {
            watch.warn(&Warning::Memory { bytes });
        }
        let (landmarks, nodes) = self.landmarks(prepared, MOST_NODES)?;
        let prior = if all > MANY_ROWS { 0.1 } else { 1.0 };
        let fit = |(name, map, features): (String, SpectralMap, Dense)| {
            let labeled = if landmarks.has_all_labeled() {
                features.select(&(0..prepared.codes.len()).collect::<Vec<usize>>())
            } else {
                map.apply(&prepared.labeled.to_dense()?, watch)?
            };
            let (map, rows) = (Arc::new(FeatureMap::Spectral(map)), MappedRows::new(labeled.into()));
            out_of_bag.shared((&name, prior, false), map, &rows, (&LAMBDAS, 1.0), progress, watch)
        };
        by_graph(nodes.to_dense()?, self.seed, watch)?.into_iter().map(fit).collect()
    }

    /// Landmarks: a sample of all rows, labeled and unlabeled.
    fn landmarks(&self, prepared: &TrainingRows, most: usize) -> Result<(Landmarks, Matrix)> {
        let landmarks = Landmarks::choose(prepared.codes.len(), prepared.unlabeled.n_rows(), most, self.seed);
        let rows = landmarks.gather(prepared.labeled.rows(), prepared.unlabeled.blocks()?)?;
        Ok((landmarks, rows))
    }
}

/// The linear view: the features, scaled to a mean square length of 1.
fn linear(out_of_bag: &OutOfBag<'_>, progress: (usize, usize), watch: &Watch<'_>) -> Result<Fitted> {
    let prepared = out_of_bag.prepared;
    let varying = prepared.preparation.factors().iter().filter(|factor| **factor != 0.0).count();
    let rows = MappedRows::scaled(&prepared.labeled, 1.0 / (varying.max(1) as f64).sqrt());
    let map = Arc::new(FeatureMap::Plain);
    out_of_bag.shared((View::Linear.as_ref(), 1.0, true), map, &rows, (&LAMBDAS, 1.0), progress, watch)
}

/// A kernel map against the rows that span the space of its own, and the labeled rows in that space; the kernel multiplied by
/// a factor.
fn kernel(map: KernelMap, factor: f64) -> Result<(FeatureMap, MappedRows)> {
    let near = map.near(&map.labeled)?;
    let rows = MappedRows::of_kernel(near, &map.basis, factor)?;
    let basis = rows.basis();
    Ok((FeatureMap::Kernel(map.against(basis)), rows))
}
