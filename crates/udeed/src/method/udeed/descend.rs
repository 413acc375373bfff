//! Gradient descent, one stage at a time.

use crate::error::{Error, Hint, Result};
use crate::method::udeed::{Objective, Udeed};
use crate::observer::{Stage, StageSummary, Step, Stop, Watch};

/// Descends while the total and the diversity loss decrease; returns the last accepted weights.
pub(super) fn run_stage(
    objective: &dyn Objective,
    stage: Stage,
    settings: &Udeed,
    mut weights: Vec<f64>,
    watch: &Watch<'_>,
) -> Result<(Vec<f64>, StageSummary)> {
    let rate = settings.rate * if settings.scale_rate { settings.members as f64 / 20.0 } else { 1.0 };
    // With a gamma of 0, or without rows to measure it on, the diversity loss is no stopping criterion.
    let uses_diversity = stage != Stage::Empirical && settings.gamma > 0.0;
    let mut gradient = vec![0.0; weights.len()];
    let first = objective.evaluate(&weights, &mut gradient)?;
    if !first.total.is_finite() {
        return Err(Error::training(format!("a loss of {} before the first step", first.total), "a finite one")
            .with_hint(Hint::LargeFeatures));
    }
    let mut summary = StageSummary { stage, steps: 0, first, last: first, stop: Stop::Steps };
    let as_step = |step, losses, accepted| Step { stage, step, losses, accepted };
    if watch.step(&as_step(0, first, true)).is_break() {
        summary.stop = Stop::Observer;
        return Ok((weights, summary));
    }
    for step in 1..=settings.steps {
        let next: Vec<f64> = weights.iter().zip(&gradient).map(|(w, g)| w - rate * g).collect();
        let losses = objective.evaluate(&next, &mut gradient)?;
        let numbers = [losses.empirical, losses.diversity, losses.total];
        if !numbers.iter().chain(&next).all(|x| x.is_finite()) {
            // So long a step tells nothing but that it was too long: nobody is to plot or average it.
            summary.stop = Stop::Loss;
            break;
        }
        let decreased = losses.total < summary.last.total;
        let differs_more = losses.diversity < summary.last.diversity || !uses_diversity;
        let stop = match (decreased, differs_more) {
            (false, _) => Some(Stop::Loss),
            (true, false) => Some(Stop::Diversity),
            (true, true) => None,
        };
        let halt = watch.step(&as_step(step, losses, stop.is_none())).is_break();
        if stop.is_none() {
            weights = next;
            summary.steps = step;
            summary.last = losses;
        }
        if let Some(stop) = halt.then_some(Stop::Observer).or(stop) {
            summary.stop = stop;
            break;
        }
    }
    Ok((weights, summary))
}
