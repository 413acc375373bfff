//! The automatic ensemble: bagged logistic regressions on several views of the rows. Out-of-bag rows choose the inverse
//! regularisation strength and the weight of each view.

mod lambda;
mod mixture;
mod out_of_bag;
mod prior;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::data::{Dense, Matrix};
use crate::ensemble::Learned;
use crate::ensemble::mapped_members;
use crate::ensemble::mapped_members::Mapped;
use crate::ensemble::{Changed, Findings, ViewFound};
use crate::ensemble::{Ensemble, Part, Rule, TrainingRows, Voters};
use crate::error::{Error, Hint, Result};
use crate::learner::winner;
use crate::memory::{MUCH_MEMORY, check_memory, half_of_memory};
use crate::method::Learn;
use crate::method::auto::out_of_bag::{FeatureMaps, Fit, MappedRows, OutOfBag};
use crate::method::card::Range;
use crate::method::declare::method;
use crate::observer::{Warning, Watch};
use crate::random::{Purpose, Stream};
use crate::text::listed;
pub use crate::view::View;
use crate::view::{FeatureMap, Landmarks, N_SPECTRAL, by_graph, by_relevance};

/// Class prior: the shares of the classes among the unlabeled rows.
///
/// ```
/// use udeed::format::built_in;
/// use udeed::method::Auto;
/// use udeed::method::auto::Prior;
///
/// let train = built_in("vote")?.read()?.into_train()?.hide_labels(&(40..435).collect::<Vec<usize>>());
/// let model = Auto::new().members(5).prior(Prior::Shares(vec![0.6, 0.4])).fit(&train)?;
/// assert_eq!(model.ensemble().n_members(), 4 * 5);
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
    /// The automatic ensemble: bagged logistic regressions on several views of the rows, weighted by out-of-bag rows.
    ///
    /// Needs no tuning. Every view is fitted at several regularisation strengths; the weights of the mixture maximise the likelihood
    /// of the out-of-bag rows. Plain logistic regressions join the mixture if they classify more of these rows correctly. Features are
    /// always standardised.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("ionosphere")?.read()?.into_train()?.hide_labels(&(100..351).collect::<Vec<usize>>());
    /// let model = Auto::new().fit(&train)?;
    /// let found = model.training().findings.as_ref().unwrap();
    /// println!("{found}");
    /// assert!(found.accuracy > 0.8 && found.views.len() == 4);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Auto = "auto" {
        title: "Auto",
        python: "UDEEDAutoClassifier",
        paper: "",
        streams: true,
    }
    settings {
        /// Feature maps of the members.
        views: Vec<View> = View::ALL.to_vec();
        /// Number of members of each view.
        members: usize = 20, in Range::at_least(2);
        /// Number of random Fourier features of each member of the relevance view.
        features: usize = 200, in Range::at_least(1);
        /// Class prior: the shares of the classes among the unlabeled rows. If it is known, the members are fine-tuned until their
        /// predictions agree with it.
        prior: Prior = Prior::Unknown;
        /// Weight of the diversity loss on unlabeled rows in fine-tuning; negative values make the members agree.
        gamma: f64 = 0.0, in Range::between(-1e6, 1e6);
        seed;
    }
}

/// The lambdas tried, for rows of mean square length 1.
pub(crate) const LAMBDAS: [f64; 4] = [1.0, 10.0, 100.0, 1000.0];
/// Largest number of nodes of a graph; further rows are represented by their neighbours.
const MOST_NODES: usize = 5000;
/// Largest number of rows whose distances give the bandwidth of the relevance view.
const MOST_DISTANCE_ROWS: usize = 250;
/// Least number of labeled rows to choose views.
const LEAST_LABELED: usize = 4;
/// Largest number of unlabeled rows on which predictions with and without them are compared.
const MOST_COMPARED: usize = 500;
/// Largest number of unlabeled rows for fine-tuning: they give the share of a class to a hundredth.
const MOST_FINE_TUNED_BY: usize = 2000;

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
        let mapped_views = self.mapped_views(&views, &out_of_bag, &mut warnings, watch)?;
        let (mut choice, logistic) = self.choose(&out_of_bag, mapped_views, &mut warnings, watch)?;
        let members: Vec<Mapped> =
            choice.iter().flat_map(|chosen| out_of_bag.mapped(&chosen.view.maps, &chosen.fit)).collect();
        let members = if self.fine_tunes() && prepared.unlabeled.n_rows() > 0 {
            self.fine_tuned(&out_of_bag, &mut choice, &members, shares, watch)?
        } else {
            members
        };
        let m = out_of_bag.n_members();
        let weights = choice.iter().flat_map(|chosen| std::iter::repeat_n(chosen.weight / m as f64, m)).collect();
        let part = Part { members: Voters::Mapped(members), weights, rule: Rule::Weighted };
        let ensemble = Ensemble::whole(prepared.n_classes(), part);
        let findings = self.findings(&out_of_bag, &choice, logistic, &ensemble)?;
        let mut learned = Learned::from(ensemble);
        learned.findings = Some(findings);
        learned.warn(warnings, watch);
        Ok(learned)
    }
}

/// A view and its feature maps.
struct MappedView {
    name: String,
    maps: FeatureMaps,
    /// Whether it depends on the labeled rows only.
    by_labels: bool,
}

/// A view with its chosen weight and lambda, and the members fitted at that lambda.
struct Chosen {
    view: MappedView,
    weight: f64,
    lambda: f64,
    fit: Fit,
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

    /// The views that the rows allow.
    fn possible_views(&self, prepared: &TrainingRows, warnings: &mut Vec<Warning>) -> Vec<View> {
        let only_linear = self.views == [View::Linear];
        if prepared.labeled.is_sparse() && !only_linear {
            warnings.push(Warning::SparseViews);
            return vec![View::Linear];
        }
        if prepared.codes.len() < LEAST_LABELED && !only_linear {
            warnings.push(Warning::FewLabels { rows: prepared.codes.len() });
            return vec![View::Linear];
        }
        self.views.clone()
    }

    fn mapped_views(
        &self,
        views: &[View],
        out_of_bag: &OutOfBag<'_>,
        warnings: &mut Vec<Warning>,
        watch: &Watch<'_>,
    ) -> Result<Vec<MappedView>> {
        let mut mapped_views = Vec::new();
        for view in views {
            match view {
                View::Linear => mapped_views.push(linear(out_of_bag.prepared)),
                View::Relevance => mapped_views.push(self.relevance(out_of_bag, watch)?),
                View::Spectral => {
                    let found = self.spectral(out_of_bag.prepared, watch)?;
                    if found.len() < N_SPECTRAL {
                        warnings.push(Warning::NothingSpectral);
                    }
                    mapped_views.extend(found);
                }
            }
        }
        if mapped_views.is_empty() {
            mapped_views.push(linear(out_of_bag.prepared));
        }
        Ok(mapped_views)
    }

    fn relevance(&self, out_of_bag: &OutOfBag<'_>, watch: &Watch<'_>) -> Result<MappedView> {
        let prepared = out_of_bag.prepared;
        let labeled = prepared.labeled.to_dense()?;
        let near = self.landmarks(prepared, MOST_DISTANCE_ROWS)?.1.to_dense()?;
        let seed = |k: usize| Stream::new(self.seed, Purpose::Relevance, k as u32).seed();
        let seeds: Vec<u64> = (0..self.members).map(seed).collect();
        let classes = (&prepared.codes[..], prepared.n_classes());
        let maps = by_relevance(&labeled, classes, &out_of_bag.weights, &near, self.features, &seeds)?;
        let maps: Vec<Arc<FeatureMap>> = maps.into_iter().map(|map| Arc::new(FeatureMap::Relevance(map))).collect();
        let maps = FeatureMaps::each(maps, &labeled, watch)?;
        Ok(MappedView { name: "relevance".into(), maps, by_labels: true })
    }

    fn spectral(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Vec<MappedView>> {
        let n = (prepared.codes.len() + prepared.unlabeled.n_rows()).min(MOST_NODES);
        let bytes = 8 * n as u64 * prepared.labeled.rows().n_columns() as u64;
        let hint = Hint::Views { keep: &["linear", "relevance"] };
        check_memory(bytes, half_of_memory(), hint, || format!("{n} rows for a graph"))?;
        if bytes > MUCH_MEMORY {
            watch.warn(&Warning::Memory { bytes });
        }
        let (landmarks, nodes) = self.landmarks(prepared, MOST_NODES)?;
        let nodes = Arc::new(nodes.to_dense()?);
        let mapped_view = |(name, map, features): (String, crate::view::SpectralMap, Dense)| {
            let labeled = if landmarks.has_all_labeled() {
                features.select(&(0..prepared.codes.len()).collect::<Vec<usize>>())
            } else {
                map.apply(&prepared.labeled.to_dense()?, watch)?
            };
            let map = Arc::new(FeatureMap::Spectral(map));
            Ok(MappedView { name, maps: FeatureMaps::Shared(map, MappedRows::new(labeled.into())), by_labels: false })
        };
        by_graph(&nodes, self.seed, watch)?.into_iter().map(mapped_view).collect()
    }

    /// Landmarks: a sample of all rows, labeled and unlabeled.
    fn landmarks(&self, prepared: &TrainingRows, most: usize) -> Result<(Landmarks, Matrix)> {
        let landmarks = Landmarks::choose(prepared.codes.len(), prepared.unlabeled.n_rows(), most, self.seed);
        let rows = landmarks.gather(prepared.labeled.rows(), prepared.unlabeled.blocks()?)?;
        Ok((landmarks, rows))
    }

    /// Chooses the weight and the lambda of each view by out-of-bag rows. Plain logistic regressions join the views if they are
    /// more accurate; their out-of-bag accuracy is also returned.
    fn choose(
        &self,
        out_of_bag: &OutOfBag<'_>,
        mapped_views: Vec<MappedView>,
        warnings: &mut Vec<Warning>,
        watch: &Watch<'_>,
    ) -> Result<(Vec<Chosen>, f64)> {
        // Each view is fitted at all lambdas and at the chosen one; then the logistic regressions are.
        let total = mapped_views.len() * out_of_bag.n_fits(LAMBDAS.len() + 1) + out_of_bag.n_fits(1);
        let mut views = self.weigh(out_of_bag, mapped_views, total, warnings, watch)?;
        let maps =
            FeatureMaps::Shared(Arc::new(FeatureMap::Plain), MappedRows::new(out_of_bag.prepared.labeled.clone()));
        let fit = out_of_bag.fit(&maps, &[1.0], None, (total - out_of_bag.n_fits(1), total), watch)?.swap_remove(0);
        let logistic = out_of_bag.accuracy(&fit.outputs);
        let ahead = out_of_bag.ahead(&fit.outputs, &mixed(out_of_bag, &views));
        if ahead > 0.5 && out_of_bag.n_classes() > 1 && self.views.contains(&View::Linear) {
            // The same rows chose the weights of the views, which favours these. A lead of one row may be chance, a larger one
            // is not; with row weights, a lead of less than half a row is ignored.
            let weight = ahead / (ahead + 1.0);
            views.iter_mut().for_each(|chosen| chosen.weight *= 1.0 - weight);
            let view = MappedView { name: "logistic".into(), maps, by_labels: true };
            views.push(Chosen { view, weight, lambda: 1.0, fit });
        }
        Ok((views, logistic))
    }

    /// Chooses the weight and the lambda of each view by out-of-bag rows, and fits it at that lambda.
    fn weigh(
        &self,
        out_of_bag: &OutOfBag<'_>,
        mapped_views: Vec<MappedView>,
        total: usize,
        warnings: &mut Vec<Warning>,
        watch: &Watch<'_>,
    ) -> Result<Vec<Chosen>> {
        let (n, each, again) = (mapped_views.len(), out_of_bag.n_fits(LAMBDAS.len()), out_of_bag.n_fits(1));
        let mut fits: Vec<Fit> = Vec::new();
        for (place, mapped_view) in mapped_views.iter().enumerate() {
            fits.extend(out_of_bag.fit(&mapped_view.maps, &LAMBDAS, None, (place * each, total), watch)?);
        }
        let shares = out_of_bag.shares(&fits, warnings);
        let chosen = |(place, mapped_view): (usize, MappedView)| {
            let own = place * LAMBDAS.len()..(place + 1) * LAMBDAS.len();
            let (shares, fits) = (&shares[own.clone()], &fits[own]);
            let weight: f64 = shares.iter().sum();
            let mean: f64 = shares.iter().zip(LAMBDAS).map(|(share, lambda)| share * libm::log(lambda)).sum();
            let lambda = libm::exp(mean / weight);
            let far = |k: usize| (libm::log(LAMBDAS[k]) - mean / weight).abs();
            let near = (0..LAMBDAS.len()).min_by(|&a, &b| far(a).total_cmp(&far(b))).map(|k| &fits[k]);
            let done = n * each + place * again;
            let fit = out_of_bag.fit(&mapped_view.maps, &[lambda], near, (done, total), watch)?.swap_remove(0);
            Ok(Chosen { view: mapped_view, weight, lambda, fit })
        };
        mapped_views.into_iter().enumerate().map(chosen).collect()
    }

    /// Whether members are fine-tuned on the unlabeled rows.
    fn fine_tunes(&self) -> bool {
        self.prior != Prior::Unknown || self.gamma != 0.0
    }

    /// The members, fine-tuned on the unlabeled rows.
    fn fine_tuned(
        &self,
        out_of_bag: &OutOfBag<'_>,
        views: &mut [Chosen],
        members: &[Mapped],
        shares: Option<Vec<f64>>,
        watch: &Watch<'_>,
    ) -> Result<Vec<Mapped>> {
        let prepared = out_of_bag.prepared;
        let rows = self.some_unlabeled(prepared, MOST_FINE_TUNED_BY)?;
        let mut groups = Vec::new();
        for chosen in views.iter() {
            let share = chosen.weight / out_of_bag.n_members() as f64;
            groups.extend(prior::groups(out_of_bag, &chosen.view.maps, (chosen.lambda, share), &rows, watch)?);
        }
        let mean = |share: &f64| 2.0 * share - 1.0;
        let known = prior::Known {
            means: shares.map(|shares| match &shares[..] {
                [_, second] => vec![mean(second)],
                all => all.iter().map(mean).collect(),
            }),
            gamma: self.gamma,
            total: prepared.weights.iter().sum(),
            targets: prepared.heads.iter().map(|head| &head.targets[..]).collect(),
        };
        let fine_tuned = prior::fine_tune(&groups, members, &known, watch)?;
        // The out-of-bag outputs are replaced by those of the fine-tuned members.
        let mut rest = &fine_tuned.outputs[..];
        for chosen in views {
            let (own, others) = rest.split_at(chosen.view.maps.n_maps());
            let outputs = |head: usize| match own {
                [together] => out_of_bag.mean_outputs(|k, i| together[i][head * out_of_bag.n_members() + k]),
                each => out_of_bag.mean_outputs(|k, i| each[k][i][head]),
            };
            chosen.fit.outputs = (0..prepared.heads.len()).map(outputs).collect();
            rest = others;
        }
        Ok(fine_tuned.members)
    }

    /// A sample of at most `most` unlabeled rows.
    fn some_unlabeled(&self, prepared: &TrainingRows, most: usize) -> Result<Matrix> {
        let landmarks = Landmarks::choose(0, prepared.unlabeled.n_rows(), most, self.seed);
        landmarks.gather(prepared.labeled.rows(), prepared.unlabeled.blocks()?)
    }

    fn findings(
        &self,
        out_of_bag: &OutOfBag<'_>,
        views: &[Chosen],
        logistic: f64,
        ensemble: &Ensemble,
    ) -> Result<Findings> {
        let view = |chosen: &Chosen| ViewFound {
            view: chosen.view.name.clone(),
            weight: chosen.weight,
            lambda: chosen.lambda,
        };
        Ok(Findings {
            views: views.iter().map(view).collect(),
            accuracy: out_of_bag.accuracy(&mixed(out_of_bag, views)),
            logistic,
            rows: out_of_bag.rows().len(),
            changed: self.changed(out_of_bag, views, ensemble)?,
        })
    }

    /// Counts the predictions that differ from those of the views that depend on labeled rows only.
    fn changed(&self, out_of_bag: &OutOfBag<'_>, views: &[Chosen], ensemble: &Ensemble) -> Result<Option<Changed>> {
        let prepared = out_of_bag.prepared;
        let all_by_labels = views.iter().all(|chosen| chosen.view.by_labels);
        if prepared.unlabeled.n_rows() == 0 {
            return Ok(None);
        }
        if all_by_labels && !self.fine_tunes() {
            return Ok(Some(Changed { rows: 0, of: 0 }));
        }
        let rows = self.some_unlabeled(prepared, MOST_COMPARED)?;
        let (mut by_labels, mut weights) = (Vec::new(), Vec::new());
        for chosen in views.iter().filter(|chosen| chosen.view.by_labels) {
            by_labels.extend(out_of_bag.mapped(&chosen.view.maps, &chosen.fit));
            weights.extend(std::iter::repeat_n(chosen.weight, out_of_bag.n_members()));
        }
        let before = match weights.is_empty() {
            true => prepared.logistic().decide(rows.rows())?,
            false => mapped_members::decide(&by_labels, &weights, prepared.heads.len(), rows.rows())?,
        };
        let after = ensemble.decide(rows.rows())?;
        let differs = |i: &usize| winner(before.get(*i)) != winner(after.get(*i));
        let n = rows.rows().n_rows();
        Ok(Some(Changed { rows: (0..n).filter(differs).count(), of: n }))
    }
}

/// For each head, the out-of-bag outputs of the mixture of views.
fn mixed(out_of_bag: &OutOfBag<'_>, views: &[Chosen]) -> Vec<Vec<f64>> {
    let of_head = |head: usize| -> Vec<f64> {
        let of = |i: usize| views.iter().map(|chosen| chosen.weight * chosen.fit.outputs[head][i]).sum();
        (0..out_of_bag.prepared.codes.len()).map(of).collect()
    };
    (0..out_of_bag.prepared.heads.len()).map(of_head).collect()
}

/// The linear view: the features, scaled to a mean square length of 1.
fn linear(prepared: &TrainingRows) -> MappedView {
    let varying = prepared.preparation.factors().iter().filter(|factor| **factor != 0.0).count();
    let mapped_rows = MappedRows::scaled(&prepared.labeled, 1.0 / (varying.max(1) as f64).sqrt());
    MappedView {
        name: "linear".into(),
        maps: FeatureMaps::Shared(Arc::new(FeatureMap::Plain), mapped_rows),
        by_labels: true,
    }
}
