//! The result of a method.

use crate::data::Dense;
use crate::ensemble::calibration::Calibration;
use crate::ensemble::{Ensemble, Findings, HeldOut, LabelRounds, TrainingRows};
use crate::error::Result;
use crate::observer::{StageSummary, Warning, Watch};

/// The result of a method: an ensemble, and how it was learned.
#[derive(Debug, Clone)]
pub(crate) struct Learned {
    pub(crate) ensemble: Ensemble,
    /// The ensemble before a descent.
    pub(crate) initial: Option<Ensemble>,
    pub(crate) stages: Vec<StageSummary>,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) findings: Option<Findings>,
    /// The out-of-bag class probabilities of the labeled rows, where learning needed them anyway.
    pub(crate) out_of_bag: Option<Dense>,
    /// Votes on labeled rows of members that did not learn from them, where the method has such members.
    pub(crate) held_out: Option<HeldOut>,
    /// When unlabeled rows got pseudo-labels, where the method gives them in rounds.
    pub(crate) rounds: Option<LabelRounds>,
    /// The decisions on the unlabeled rows that learning made anyway, where they are not those of the ensemble on new rows.
    pub(crate) transduced: Option<Dense>,
}

impl Learned {
    /// An ensemble whose members were fitted to bootstraps: those that drew neither a row nor a copy of it vote on it.
    ///
    /// # Errors
    /// If the members cannot see the rows.
    pub(crate) fn of_bootstraps(
        ensemble: Ensemble,
        prepared: &TrainingRows,
        draws: &[Vec<u8>],
        watch: &Watch<'_>,
    ) -> Result<Self> {
        let (seen, warning) = prepared.seen(draws);
        let held_out = Some(HeldOut::out_of_bag(prepared, &ensemble, &seen)?);
        let mut learned = Learned { held_out, ..ensemble.into() };
        learned.warn(warning, watch);
        Ok(learned)
    }

    /// Calibrates the votes of the ensemble by those on rows that members did not learn from, some of each of the classes.
    pub(crate) fn calibrate(&mut self, held_out: HeldOut, classes: &[String], watch: &Watch<'_>) {
        let lacks = |class: &usize| !held_out.rows().iter().any(|row| usize::from(row.class) == *class);
        if let Some(class) = (0..classes.len()).find(lacks) {
            self.held_out = Some(held_out);
            self.warn([Warning::NothingToCalibrateBy { class: classes[class].clone() }], watch);
            return;
        }
        match Calibration::fit(&held_out) {
            Some(calibration) => {
                self.held_out = Some(held_out.calibrated(&calibration));
                self.ensemble.calibration = Some(calibration);
            }
            None => {
                self.held_out = Some(held_out);
                self.warn([Warning::NotCalibrated], watch);
            }
        }
    }

    /// Reports a warning to the observer and records it in the model, once.
    pub(crate) fn warn(&mut self, warning: impl IntoIterator<Item = Warning>, watch: &Watch<'_>) {
        for warning in warning {
            if !self.warnings.contains(&warning) {
                watch.warn(&warning);
                self.warnings.push(warning);
            }
        }
    }
}

impl From<Ensemble> for Learned {
    fn from(ensemble: Ensemble) -> Self {
        Learned {
            ensemble,
            initial: None,
            stages: Vec::new(),
            warnings: Vec::new(),
            findings: None,
            out_of_bag: None,
            held_out: None,
            rounds: None,
            transduced: None,
        }
    }
}
