//! The automatic ensemble: logistic regressions on several views of the rows, and trees. Out-of-bag rows choose the weight of
//! each view and of each inverse regularisation strength.

mod first_step;
mod fitted;
mod lambda;
mod mixture;
mod out_of_bag;
mod shift;
mod views;

use serde::{Deserialize, Serialize};

use crate::data::{Matrix, Rows};
use crate::ensemble::vote::probabilities;
use crate::ensemble::{
    Changed, Ensemble, Findings, Learned, Part, Rule, TrainingRows, Voters, bootstraps_of_distinct, mixed_members,
    stratified_bootstraps,
};
use crate::error::{Error, Result};
use crate::learner::winner;
use crate::method::Learn;
use crate::method::auto::fitted::MappedRows;
use crate::method::auto::mixture::Mixture;
use crate::method::auto::out_of_bag::{OutOfBag, Outputs};
use crate::method::declare::method;
use crate::observer::{Warning, Watch};
use crate::setting::Range;
use crate::text::listed;
use crate::view::Landmarks;
pub use crate::view::View;

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
    /// Weights of classes shift the log odds of the classes and nothing else: a rare class is not learned from a few heavy rows
    /// (C. Elkan, "The Foundations of Cost-Sensitive Learning", IJCAI 2001). Weights of rows weigh the rows in all fits.
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
        /// Views of the rows. A model holds the labeled rows for its kernels, values of every column for `laplace`, and up to
        /// 5000 rows, labeled or not, for `spectral`; with `linear` and `trees` alone it holds none.
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
        let draws =
            bootstraps_of_distinct(prepared, |classes| stratified_bootstraps(classes, self.seed, self.members))?;
        let out_of_bag = OutOfBag::new(prepared, draws, &prepared.row_weights);
        let fitted = self.fit_views(&views, &out_of_bag, &mut warnings, watch)?;
        let mixture = Mixture::choose(fitted, &out_of_bag, &mut warnings);
        let (groups, weights) = mixture.groups(&out_of_bag, |_| true);
        let part = Part { members: Voters::Mixed(groups), weights, rule: Rule::Weighted };
        let mut ensemble = Ensemble::whole(prepared.n_classes(), part);
        let by_prior = match shares {
            Some(shares) if prepared.unlabeled.n_rows() > 0 => {
                Some(self.shift(prepared, &ensemble, &shares, &mut warnings)?)
            }
            _ => None,
        };
        let by_weights = prepared.log_class_weights();
        let odds = match (&by_prior, &by_weights) {
            (Some(prior), Some(weights)) => Some(prior.iter().zip(weights).map(|(a, b)| a + b).collect()),
            (one, other) => one.clone().or_else(|| other.clone()),
        };
        if let Some(odds) = &odds {
            ensemble.parts[0].rule = Rule::Shifted(odds.clone());
        }
        let outputs = mixture.outputs(&out_of_bag, odds.as_deref());
        let shifts = Shifts { has_prior: by_prior.is_some(), by_weights };
        let findings = self.findings(&out_of_bag, &mixture, &outputs, (&ensemble, &shifts), watch)?;
        let mut learned = Learned::from(ensemble);
        learned.out_of_bag = Some(out_of_bag.distributions(&outputs)?);
        learned.held_out = Some(out_of_bag.held_out(&outputs));
        learned.findings = Some(findings);
        learned.warn(warnings, watch);
        Ok(learned)
    }
}

/// The shift of the log odds.
struct Shifts {
    /// Whether by a class prior: that needs unlabeled rows.
    has_prior: bool,
    /// By weights of classes, which do not.
    by_weights: Option<Vec<f64>>,
}

impl Auto {
    /// The class prior of the unlabeled rows, if it is known.
    fn shares_of_classes(&self, prepared: &TrainingRows) -> Result<Option<Vec<f64>>> {
        match &self.prior {
            Prior::Unknown => Ok(None),
            Prior::Labeled => Ok(Some(prepared.class_frequencies())),
            Prior::Shares(shares) if shares.len() == prepared.n_classes() => Ok(Some(shares.clone())),
            Prior::Shares(shares) => {
                let found = format!("{} shares for {} classes", shares.len(), prepared.n_classes());
                Err(Error::setting("prior", found, format!("one for each of {}", listed(&prepared.classes))))
            }
        }
    }

    /// The shifts of the log odds of the classes that the class prior asks for.
    fn shift(
        &self,
        prepared: &TrainingRows,
        ensemble: &Ensemble,
        shares: &[f64],
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<f64>> {
        let rows = self.some_unlabeled(prepared, MOST_SHIFTED_BY)?;
        let votes = ensemble.decide(rows.rows())?;
        let probabilities: Vec<f64> = (0..votes.n_rows()).flat_map(|i| probabilities(votes.get(i))).collect();
        let found = shift::means(&probabilities, &vec![0.0; shares.len()]);
        // The shares of few labels are themselves uncertain: half of the way loses nothing where they mislead.
        let way = if matches!(self.prior, Prior::Shares(_)) { 1.0 } else { 0.5 };
        let wanted: Vec<f64> = found.iter().zip(shares).map(|(from, to)| from + way * (to - from)).collect();
        let odds = shift::log_odds(&probabilities, &wanted);
        let reached = shift::means(&probabilities, &odds);
        if reached.iter().zip(&wanted).any(|(reached, wanted)| (reached - wanted).abs() > 0.01) {
            warnings.push(Warning::PriorNotMet);
        }
        Ok(odds)
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
        outputs: &Outputs,
        (ensemble, shifts): (&Ensemble, &Shifts),
        watch: &Watch<'_>,
    ) -> Result<Findings> {
        let plain = MappedRows::new(out_of_bag.prepared.labeled.clone());
        let total = out_of_bag.n_fits(1);
        let mut logistic = out_of_bag.fit_together(&plain, &[1.0], (0, total), watch)?.swap_remove(0);
        if let Some(odds) = &shifts.by_weights {
            mixture::shift(&mut logistic.outputs, odds);
        }
        Ok(Findings {
            views: mixture.found(),
            accuracy: out_of_bag.accuracy(outputs),
            logistic: out_of_bag.accuracy(&logistic.outputs),
            rows: out_of_bag.rows().len(),
            changed: self.changed(out_of_bag, mixture, (ensemble, shifts))?,
        })
    }

    /// Counts the predictions that differ from those of the views that depend on labeled rows only.
    fn changed(
        &self,
        out_of_bag: &OutOfBag<'_>,
        mixture: &Mixture,
        (ensemble, shifts): (&Ensemble, &Shifts),
    ) -> Result<Option<Changed>> {
        let prepared = out_of_bag.prepared;
        if prepared.unlabeled.n_rows() == 0 {
            return Ok(None);
        }
        if !shifts.has_prior && mixture.views.iter().all(|fitted| fitted.by_labels) {
            return Ok(Some(Changed { rows: 0, of: 0 }));
        }
        let rows = self.some_unlabeled(prepared, MOST_COMPARED)?;
        let (groups, weights) = mixture.groups(out_of_bag, |fitted| fitted.by_labels);
        let mut before = match groups.is_empty() {
            true => prepared.logistic().decide(rows.rows())?,
            false => mixed_members::decide(&groups, &weights, prepared.heads.len(), rows.rows())?,
        };
        if let (false, Some(odds)) = (groups.is_empty(), &shifts.by_weights) {
            before.rows_mut().for_each(|votes| mixed_members::shift(votes, odds));
        }
        let after = ensemble.decide(rows.rows())?;
        let differs = |i: &usize| winner(before.get(*i)) != winner(after.get(*i));
        let n = rows.rows().n_rows();
        Ok(Some(Changed { rows: (0..n).filter(differs).count(), of: n }))
    }
}
