//! A single fit of UDEED in detail: every step of its descent, and the pairs of its members.

use serde::Serialize;
use udeed::method::udeed::Variant;
use udeed::model::Model;
use udeed::observer::{Observer, Step};

use super::trial::PreparedSplit;
use super::{Experiment, Set};
use crate::error::{Error, Result};

/// A single fit of UDEED in detail.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Showcase {
    /// The set.
    pub dataset: String,
    /// The size of the ensemble.
    pub size: usize,
    /// Every step of the descent.
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// Kappa and mean error of each pair of members before the descent.
    pub initial: Vec<(f64, f64)>,
    /// Kappa and mean error of each pair of members after the descent.
    pub last: Vec<(f64, f64)>,
}

#[derive(Default)]
struct Recorder(Vec<Step>);

impl Observer for Recorder {
    fn step(&mut self, step: &Step) -> std::ops::ControlFlow<()> {
        self.0.push(*step);
        std::ops::ControlFlow::Continue(())
    }
}

impl Experiment {
    /// A single fit for a report: UDEED on the first split of a data set, at the smallest size.
    ///
    /// # Errors
    /// If the fit fails.
    pub fn showcase(&self, set: &Set) -> Result<Showcase> {
        let failed = |cause| Error::of_set(&set.name, cause);
        let split = self.split(set, 0)?;
        let prepared = self.prepared_split(set, &split).map_err(failed)?;
        let size = self.sizes.iter().copied().min().unwrap_or(2);
        let mut recorder = Recorder::default();
        let settings = self.udeed.clone().members(size).variant(Variant::LcUd);
        let model = prepared.start.descend(&settings, &mut recorder).map_err(failed)?;
        let initial = model.initial().unwrap_or_else(|| model.clone());
        Ok(Showcase {
            dataset: set.name.clone(),
            size,
            steps: recorder.0,
            initial: prepared.cloud(&initial)?,
            last: prepared.cloud(&model)?,
        })
    }
}

impl PreparedSplit {
    /// Kappa (the agreement beyond chance) and mean error of each pair of members.
    fn cloud(&self, model: &Model) -> Result<Vec<(f64, f64)>> {
        let m = model.ensemble().n_members();
        let votes = model.ensemble().classify(self.test.rows())?;
        let n = self.labels.len();
        let share = |of: &dyn Fn(usize) -> bool| (0..n).filter(|&row| of(row)).count() as f64 / n as f64;
        let vote = |member: usize, row: usize| votes[row * m + member];
        let classes = 0..model.classes().len() as u8;
        let says = |k: usize| classes.clone().map(|class| share(&|row| vote(k, row) == class)).collect::<Vec<f64>>();
        let says: Vec<Vec<f64>> = (0..m).map(says).collect();
        let error: Vec<f64> =
            (0..m).map(|k| share(&|row| self.labels.get(row) != Some(usize::from(vote(k, row))))).collect();
        let mut cloud = Vec::new();
        for p in 0..m {
            for q in p + 1..m {
                let agree = share(&|row| vote(p, row) == vote(q, row));
                let chance: f64 = says[p].iter().zip(&says[q]).map(|(a, b)| a * b).sum();
                let kappa = if chance < 1.0 { (agree - chance) / (1.0 - chance) } else { 1.0 };
                cloud.push((kappa, 0.5 * (error[p] + error[q])));
            }
        }
        Ok(cloud)
    }
}
