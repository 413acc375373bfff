//! The automatic ensemble: logistic regressions on several views of the rows, and trees. Out-of-bag rows choose the weight of
//! each view and of each inverse regularisation strength.

mod fitted;
mod lambda;
mod mixture;
mod out_of_bag;
mod shift;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{Dense, Matrix, Rows};
use crate::ensemble::mixed_members::{self, Group};
use crate::ensemble::{Changed, Findings, Learned, ViewFound};
use crate::ensemble::{Ensemble, Part, Rule, TrainingRows, Voters};
use crate::error::{Error, Hint, Result};
use crate::learner::{TreeSettings, normalise, winner};
use crate::memory::{MUCH_MEMORY, check_memory, half_of_memory};
use crate::method::Learn;
use crate::method::auto::fitted::{Fitted, MappedRows};
use crate::method::auto::out_of_bag::{OutOfBag, Outputs};
use crate::method::card::Range;
use crate::method::declare::method;
use crate::observer::{Warning, Watch};
use crate::parallel;
use crate::text::listed;
pub use crate::view::View;
use crate::view::{
    Decay, FeatureMap, KernelMap, Landmarks, N_SPECTRAL, RankNormal, by_graph, median_distances, relevance,
};

/// Class prior: the shares of the classes among the unlabeled rows.
///
/// ```
/// use udeed::format::built_in;
/// use udeed::method::Auto;
/// use udeed::method::auto::Prior;
///
/// let train = built_in("vote")?.read()?.into_train()?.hide_labels(&(40..435).collect::<Vec<usize>>());
/// let model = Auto::new().members(5).prior(Prior::Shares(vec![0.6, 0.4])).fit(&train)?;
/// let found = model.training().findings.as_ref().unwrap();
/// assert!(found.accuracy > 0.8);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prior {
    /// Unknown.
    #[default]
    Unknown,
    /// The shares among the labeled rows, which were drawn in proportion to the classes (stratified).
    Labeled,
    /// These shares, in the order of the classes.
    Shares(Vec<f64>),
}

method! {
    /// The automatic ensemble: logistic regressions on several views of the rows, and trees, weighted by out-of-bag rows.
    ///
    /// Needs no tuning. Every view is fitted at several regularisation strengths, to bootstraps and to all labels; the weights of
    /// the mixture maximise the likelihood of the out-of-bag rows. Features are always standardised.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("ionosphere")?.read()?.into_train()?.hide_labels(&(100..351).collect::<Vec<usize>>());
    /// let model = Auto::new().fit(&train)?;
    /// let found = model.training().findings.as_ref().unwrap();
    /// println!("{found}");
    /// assert!(found.accuracy > 0.8 && found.views.len() == 8);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Auto = "auto" {
        title: "Auto",
        python: "UDEEDAutoClassifier",
        paper: "",
        streams: true,
    }
    settings {
        /// Views of the rows.
        views: Vec<View> = View::ALL.to_vec();
        /// Number of bootstraps, and so of members of each view at each regularisation strength.
        members: usize = 20, in Range::at_least(2);
        /// Class prior: the shares of the classes among the unlabeled rows. If it is known, the odds of the classes are shifted
        /// until the mean probabilities agree with it; half of the way if it is taken from the labeled rows.
        prior: Prior = Prior::Unknown;
        seed;
    }
}

/// The lambdas tried, for rows of mean square length 1.
pub(crate) const LAMBDAS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
/// The lambdas tried with kernels.
const KERNEL_LAMBDAS: [f64; 4] = [10.0, 100.0, 1000.0, 10_000.0];
/// What the narrow kernel has in common for all rows: nearly free to choose the bias.
const NARROW_BIAS: f64 = 10.0;
/// Weight of extra trees before any row is seen; that of every other view is 1.
const EXTRA_TREES: f64 = 3.0;
/// With more rows, spectral views count for a tenth before any row is seen: landmarks stand for the rows.
const MANY_ROWS: usize = 10_000;
/// Candidates of less weight are left out.
const LEAST_WEIGHT: f64 = 1e-3;
/// Largest number of nodes of a graph; further rows are represented by their neighbours.
const MOST_NODES: usize = 5000;
/// Largest number of rows whose distances give the bandwidth of a kernel.
const MOST_DISTANCE_ROWS: usize = 300;
/// Largest number of rows whose values give ranks: the error of a rank is half a percent at most, in the mean.
const MOST_RANKED_ROWS: usize = 10_000;
/// Up to this number of labeled rows, kernels are exact. With more, landmarks stand for them.
const EXACT: usize = 1000;
/// Least number of landmarks.
const LEAST_LANDMARKS: usize = 300;
/// Least number of labeled rows to choose views.
const LEAST_LABELED: usize = 4;
/// Largest number of unlabeled rows on which predictions with and without them are compared.
const MOST_COMPARED: usize = 500;
/// Largest number of unlabeled rows whose mean probabilities are compared with the class prior.
const MOST_SHIFTED_BY: usize = 2000;

impl Learn for Auto {
    fn check(&self) -> Result<()> {
        if self.views.is_empty() {
            return Err(Error::setting("views", "empty", format!("some of {}", listed(View::ALL))));
        }
        if let Some(twice) = (1..self.views.len()).find(|&k| self.views[..k].contains(&self.views[k])) {
            return Err(Error::setting("views", format!("`{}` twice", self.views[twice]), "each once"));
        }
        if let Prior::Shares(shares) = &self.prior {
            let total: f64 = shares.iter().sum();
            if !shares.iter().all(|share| *share > 0.0 && *share < 1.0) || (total - 1.0).abs() > 1e-6 {
                let found = format!("{shares:?}");
                return Err(Error::setting("prior", found, "shares of the classes, each above 0, together 1"));
            }
        }
        Ok(())
    }

    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let shares = self.shares_of_classes(prepared)?;
        let mut warnings = Vec::new();
        if prepared.unlabeled.n_rows() == 0 {
            warnings.push(Warning::NothingUnlabeled);
        }
        let views = self.possible_views(prepared, &mut warnings);
        let out_of_bag = OutOfBag::draw(prepared, self.members, self.seed)?;
        let fitted = self.fit_views(&views, &out_of_bag, &mut warnings, watch)?;
        let mixture = Mixture::choose(fitted, &out_of_bag, &mut warnings);
        let (groups, weights) = mixture.groups(&out_of_bag, |_| true);
        let part = Part { members: Voters::Mixed(groups), weights, rule: Rule::Weighted };
        let mut ensemble = Ensemble::whole(prepared.n_classes(), part);
        let odds = match shares {
            Some(shares) if prepared.unlabeled.n_rows() > 0 => Some(self.shift(prepared, &ensemble, &shares)?),
            _ => None,
        };
        if let Some(odds) = &odds {
            ensemble.parts[0].rule = Rule::Shifted(odds.clone());
        }
        let findings = self.findings(&out_of_bag, &mixture, odds.as_deref(), &ensemble, watch)?;
        let mut learned = Learned::from(ensemble);
        learned.findings = Some(findings);
        learned.warn(warnings, watch);
        Ok(learned)
    }
}

impl Auto {
    /// The class prior of the unlabeled rows, if it is known.
    fn shares_of_classes(&self, prepared: &TrainingRows) -> Result<Option<Vec<f64>>> {
        match &self.prior {
            Prior::Unknown => Ok(None),
            Prior::Labeled => {
                let mut shares = vec![0.0; prepared.n_classes()];
                prepared.codes.iter().for_each(|&class| shares[usize::from(class)] += 1.0);
                Ok(Some(shares.into_iter().map(|share| share / prepared.codes.len() as f64).collect()))
            }
            Prior::Shares(shares) if shares.len() == prepared.n_classes() => Ok(Some(shares.clone())),
            Prior::Shares(shares) => {
                let found = format!("{} shares for {} classes", shares.len(), prepared.n_classes());
                Err(Error::setting("prior", found, format!("one for each of {}", listed(&prepared.classes))))
            }
        }
    }

    /// The shifts of the log odds of the classes that the class prior asks for.
    fn shift(&self, prepared: &TrainingRows, ensemble: &Ensemble, shares: &[f64]) -> Result<Vec<f64>> {
        let rows = self.some_unlabeled(prepared, MOST_SHIFTED_BY)?;
        let votes = ensemble.decide(rows.rows())?;
        let probabilities: Vec<f64> = (0..votes.n_rows()).flat_map(|i| probabilities(votes.get(i))).collect();
        let found = shift::means(&probabilities, &vec![0.0; shares.len()]);
        // The shares of few labels are themselves uncertain: half of the way loses nothing where they mislead.
        let way = if matches!(self.prior, Prior::Shares(_)) { 1.0 } else { 0.5 };
        let wanted: Vec<f64> = found.iter().zip(shares).map(|(from, to)| from + way * (to - from)).collect();
        Ok(shift::log_odds(&probabilities, &wanted))
    }

    /// The views that the rows allow.
    fn possible_views(&self, prepared: &TrainingRows, warnings: &mut Vec<Warning>) -> Vec<View> {
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

    fn fit_views(
        &self,
        views: &[View],
        out_of_bag: &OutOfBag<'_>,
        warnings: &mut Vec<Warning>,
        watch: &Watch<'_>,
    ) -> Result<Vec<Fitted>> {
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
        let (seen, some) = (Arc::new(seen), self.kernel_rows(prepared, watch)?);
        let map_of = |k: usize| {
            // What a member learns lies in the space of the rows of its bootstrap.
            let drawn: Vec<usize> = some.iter().copied().filter(|&i| out_of_bag.weights[k][i] > 0.0).collect();
            let scale = 1.0 / if decay == Decay::Gauss { bandwidths[k].sqrt() } else { bandwidths[k] };
            let factors = relevances[k].iter().map(|r| r * scale).collect();
            kernel(KernelMap::new(decay, ranks.clone(), factors, Arc::clone(&seen), drawn), 1.0)
        };
        let name = if decay == Decay::Gauss { View::Relevance } else { View::Laplace };
        out_of_bag.each((name.as_ref(), 1.0, true), map_of, &KERNEL_LAMBDAS, watch)
    }

    /// A Gaussian kernel of half the usual width.
    fn narrow(&self, out_of_bag: &OutOfBag<'_>, progress: (usize, usize), watch: &Watch<'_>) -> Result<Fitted> {
        let prepared = out_of_bag.prepared;
        let labeled = Arc::new(prepared.labeled.to_dense()?);
        let near = self.landmarks(prepared, MOST_DISTANCE_ROWS)?.1.to_dense()?;
        let alike = vec![1.0; labeled.n_columns()];
        let bandwidth = median_distances(&near, &[alike], Decay::Gauss)?[0];
        let factors = vec![(2.0 / bandwidth).sqrt(); labeled.n_columns()];
        let some = self.kernel_rows(prepared, watch)?;
        // A kernel and a bias of ten is ten times a tenth of the kernel and a bias of one.
        let (map, mapped_rows) = kernel(KernelMap::new(Decay::Gauss, None, factors, labeled, some), 1.0 / NARROW_BIAS)?;
        let (name, lambdas) = (View::Narrow, (&KERNEL_LAMBDAS[..], NARROW_BIAS));
        out_of_bag.shared((name.as_ref(), 1.0, true), Arc::new(map), &mapped_rows, lambdas, progress, watch)
    }

    /// The labeled rows against which kernels are taken: all of them, or landmarks.
    fn kernel_rows(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Vec<usize>> {
        let n = prepared.codes.len();
        let most = (EXACT * EXACT / n.max(1)).clamp(LEAST_LANDMARKS, EXACT);
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
        let prepared = out_of_bag.prepared;
        let all = prepared.codes.len() + prepared.unlabeled.n_rows();
        let n = all.min(MOST_NODES);
        let bytes = 8 * n as u64 * prepared.labeled.rows().n_columns() as u64;
        let hint = Hint::Views { keep: &["linear", "relevance", "laplace", "narrow", "trees"] };
        check_memory(bytes, half_of_memory(), hint, || format!("{n} rows for a graph"))?;
        if bytes > MUCH_MEMORY {
            watch.warn(&Warning::Memory { bytes });
        }
        let (landmarks, nodes) = self.landmarks(prepared, MOST_NODES)?;
        let nodes = Arc::new(nodes.to_dense()?);
        let prior = if all > MANY_ROWS { 0.1 } else { 1.0 };
        let fit = |(name, map, features): (String, crate::view::SpectralMap, Dense)| {
            let labeled = if landmarks.has_all_labeled() {
                features.select(&(0..prepared.codes.len()).collect::<Vec<usize>>())
            } else {
                map.apply(&prepared.labeled.to_dense()?, watch)?
            };
            let (map, rows) = (Arc::new(FeatureMap::Spectral(map)), MappedRows::new(labeled.into()));
            out_of_bag.shared((&name, prior, false), map, &rows, (&LAMBDAS, 1.0), progress, watch)
        };
        by_graph(&nodes, self.seed, watch)?.into_iter().map(fit).collect()
    }

    /// Landmarks: a sample of all rows, labeled and unlabeled.
    fn landmarks(&self, prepared: &TrainingRows, most: usize) -> Result<(Landmarks, Matrix)> {
        let landmarks = Landmarks::choose(prepared.codes.len(), prepared.unlabeled.n_rows(), most, self.seed);
        let rows = landmarks.gather(prepared.labeled.rows(), prepared.unlabeled.blocks()?)?;
        Ok((landmarks, rows))
    }

    /// A sample of at most `most` unlabeled rows.
    fn some_unlabeled(&self, prepared: &TrainingRows, most: usize) -> Result<Matrix> {
        let landmarks = Landmarks::choose(0, prepared.unlabeled.n_rows(), most, self.seed);
        landmarks.gather(prepared.labeled.rows(), prepared.unlabeled.blocks()?)
    }

    fn findings(
        &self,
        out_of_bag: &OutOfBag<'_>,
        mixture: &Mixture,
        odds: Option<&[f64]>,
        ensemble: &Ensemble,
        watch: &Watch<'_>,
    ) -> Result<Findings> {
        let plain = MappedRows::new(out_of_bag.prepared.labeled.clone());
        let total = out_of_bag.n_fits(1);
        let logistic = out_of_bag.fit_together(&plain, &[1.0], (0, total), watch)?.swap_remove(0);
        Ok(Findings {
            views: mixture.found(),
            accuracy: out_of_bag.accuracy(&mixture.outputs(out_of_bag, odds)),
            logistic: out_of_bag.accuracy(&logistic.outputs),
            rows: out_of_bag.rows().len(),
            changed: self.changed(out_of_bag, mixture, ensemble)?,
        })
    }

    /// Counts the predictions that differ from those of the views that depend on labeled rows only.
    fn changed(&self, out_of_bag: &OutOfBag<'_>, mixture: &Mixture, ensemble: &Ensemble) -> Result<Option<Changed>> {
        let prepared = out_of_bag.prepared;
        if prepared.unlabeled.n_rows() == 0 {
            return Ok(None);
        }
        let shifted = ensemble.parts[0].rule != Rule::Weighted;
        if !shifted && mixture.views.iter().all(|fitted| fitted.by_labels) {
            return Ok(Some(Changed { rows: 0, of: 0 }));
        }
        let rows = self.some_unlabeled(prepared, MOST_COMPARED)?;
        let (groups, weights) = mixture.groups(out_of_bag, |fitted| fitted.by_labels);
        let before = match groups.is_empty() {
            true => prepared.logistic().decide(rows.rows())?,
            false => mixed_members::decide(&groups, &weights, prepared.heads.len(), rows.rows())?,
        };
        let after = ensemble.decide(rows.rows())?;
        let differs = |i: &usize| winner(before.get(*i)) != winner(after.get(*i));
        let n = rows.rows().n_rows();
        Ok(Some(Changed { rows: (0..n).filter(differs).count(), of: n }))
    }
}

/// All candidates with their weights.
struct Mixture {
    views: Vec<Fitted>,
    /// For each view the weights of its candidates; 0 for those that are left out, together 1.
    weights: Vec<Vec<f64>>,
}

impl Mixture {
    /// Weighs the candidates by the likelihood of the out-of-bag rows.
    fn choose(views: Vec<Fitted>, out_of_bag: &OutOfBag<'_>, warnings: &mut Vec<Warning>) -> Self {
        let outputs: Vec<&Outputs> =
            views.iter().flat_map(|view| view.candidates.iter().map(|candidate| &candidate.outputs)).collect();
        let prior = |view: &Fitted| vec![view.prior / view.candidates.len() as f64; view.candidates.len()];
        let prior: Vec<f64> = views.iter().flat_map(prior).collect();
        let mut shares = out_of_bag.shares(&outputs, &prior, warnings);
        shares.iter_mut().for_each(|share| *share = if *share < LEAST_WEIGHT { 0.0 } else { *share });
        normalise(&mut shares);
        let mut rest = shares.into_iter();
        let weights = views.iter().map(|view| rest.by_ref().take(view.candidates.len()).collect()).collect();
        Mixture { views, weights }
    }

    /// The members of some views, and the weight of each.
    fn groups(&self, out_of_bag: &OutOfBag<'_>, wanted: impl Fn(&Fitted) -> bool) -> (Vec<Group>, Vec<f64>) {
        let (mut groups, mut all) = (Vec::new(), Vec::new());
        for (view, weights) in self.views.iter().zip(&self.weights).filter(|(view, _)| wanted(view)) {
            let (own, weights) = view.groups(weights, out_of_bag.n_heads());
            groups.extend(own);
            all.extend(weights);
        }
        (groups, all)
    }

    /// For each head the out-of-bag outputs of all candidates, after shifts of the log odds.
    fn outputs(&self, out_of_bag: &OutOfBag<'_>, odds: Option<&[f64]>) -> Outputs {
        let mut all = vec![vec![0.0; out_of_bag.prepared.codes.len()]; out_of_bag.n_heads()];
        for (candidate, weight) in
            self.views.iter().flat_map(|view| &view.candidates).zip(self.weights.iter().flatten())
        {
            for (to, own) in all.iter_mut().zip(&candidate.outputs) {
                to.iter_mut().zip(own).for_each(|(to, f)| *to += weight * f);
            }
        }
        if let Some(odds) = odds {
            for i in 0..out_of_bag.prepared.codes.len() {
                let mut votes: Vec<f64> = all.iter().map(|head| head[i]).collect();
                mixed_members::shift(&mut votes, odds);
                all.iter_mut().zip(votes).for_each(|(head, vote)| head[i] = vote);
            }
        }
        all
    }

    /// The weight of each view and the mean of its lambdas, those of trees have none.
    fn found(&self) -> Vec<ViewFound> {
        let found = |(view, weights): (&Fitted, &Vec<f64>)| {
            let weight: f64 = weights.iter().sum();
            let log = |candidate: &fitted::Candidate| candidate.lambda.map(libm::log);
            let logs: Option<Vec<f64>> = view.candidates.iter().map(log).collect();
            let mean = |logs: Vec<f64>| logs.iter().zip(weights).map(|(log, w)| log * w).sum::<f64>() / weight;
            let lambda = logs.filter(|_| weight > 0.0).map(|logs| libm::exp(mean(logs)));
            ViewFound { view: view.name.clone(), weight, lambda }
        };
        self.views.iter().zip(&self.weights).map(found).collect()
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

/// The probability of each class, by the votes of the heads.
fn probabilities(votes: &[f64]) -> Vec<f64> {
    match votes {
        [one] => vec![0.5 * (1.0 - one), 0.5 * (1.0 + one)],
        each => {
            let mut shares: Vec<f64> = each.iter().map(|vote| 0.5 * (1.0 + vote)).collect();
            normalise(&mut shares);
            shares
        }
    }
}
