//! The work that is timed, through the interface that everyone has.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};
use udeed::data::{Csr, Dense, Labels, Matrix, Table, TrainSet};
use udeed::format::{Layout, Reader};
use udeed::method::udeed::{EnsembleLoss, Loss, Objective};
use udeed::method::{Bagging, Udeed};
use udeed::model::Model;
use udeed::prepare::Scaling;

use crate::bounds;
use crate::files::{read_doubles, read_integers, write_doubles};
use crate::memory::peak_of;
use crate::request::Work;

/// What was loaded or learned, by name.
#[derive(Default)]
pub struct Shelf {
    tables: HashMap<String, Table>,
    trains: HashMap<String, TrainSet>,
    models: HashMap<String, Model>,
}

impl Shelf {
    /// Does the work and says how it went.
    pub fn answer(&mut self, work: Work) -> anyhow::Result<Value> {
        match work {
            Work::Bounds { seconds } => Ok(serde_json::to_value(bounds::measure(seconds))?),
            Work::Dense { name, rows, columns, values } => {
                let matrix = Dense::new(rows, columns, read_doubles(&values)?)?;
                self.keep(name, matrix)
            }
            Work::Sparse { name, columns, starts, indices, values } => {
                let indices = read_integers(&indices)?.into_iter().map(|j| j as u32).collect();
                let matrix = Csr::new(columns, read_integers(&starts)?, indices, read_doubles(&values)?)?;
                self.keep(name, matrix)
            }
            Work::Train { name, rows, labels } => {
                let labels = read_doubles(&labels)?;
                let labels = labels.iter().map(|&y| (!y.is_nan()).then_some(if y > 0.0 { "1" } else { "-1" }));
                self.trains.insert(name, TrainSet::new(self.table(&rows)?.clone(), Labels::new(labels))?);
                Ok(json!({}))
            }
            Work::Clear => {
                *self = Shelf::default();
                Ok(json!({}))
            }
            Work::Step { rows, labeled, targets, members, gamma, precision, weights, to } => {
                let targets = read_doubles(&targets)?;
                let loss = EnsembleLoss {
                    labeled: self.table(&labeled)?.matrix().rows(),
                    targets: &targets,
                    counts: &vec![1.0; targets.len()],
                    diversity: Some(self.table(&rows)?.matrix().rows()),
                    loss: Loss::Logistic,
                    gamma,
                    m: members,
                    heads: 1,
                    hidden: 0,
                    precision,
                    sizes: &[],
                };
                step(&loss, &read_doubles(&weights)?, &to)
            }
            Work::Bagging { train, members, seed, model, to } => {
                let settings = Bagging::new().members(members).scaling(Scaling::None).seed(seed);
                let train = self.train(&train)?;
                let (fitted, seconds) = timed(|| settings.fit(train));
                let fitted = fitted?;
                write_doubles(&to, fitted.ensemble().linear(0).context("linear members")?.weights())?;
                self.models.insert(model, fitted);
                Ok(json!({ "seconds": seconds }))
            }
            Work::Udeed { train, members, steps, seed, model, initial, to } => {
                let settings = Udeed::new().members(members).scaling(Scaling::None).seed(seed);
                let settings = steps.map_or(settings.clone(), |steps| settings.steps(steps));
                let train = self.train(&train)?;
                let ((fitted, seconds), peak) = peak_of(|| timed(|| settings.fit(train)));
                let fitted = fitted?;
                let before = fitted.initial().context("a model without initial members")?;
                write_doubles(&initial, before.ensemble().linear(0).context("linear members")?.weights())?;
                write_doubles(&to, fitted.ensemble().linear(0).context("linear members")?.weights())?;
                let stages = serde_json::to_value(&fitted.training().stages)?;
                self.models.insert(model, fitted);
                Ok(json!({ "seconds": seconds, "peak": peak, "stages": stages }))
            }
            Work::Bootstrap { train, seed, member, to } => {
                let targets = targets(self.train(&train)?);
                let counts = udeed::bench::bootstrap(&targets, seed, member);
                write_doubles(&to, &counts.into_iter().map(f64::from).collect::<Vec<f64>>())?;
                Ok(json!({}))
            }
            Work::Predict { model, rows, probabilities, classes } => {
                predict(self.model(&model)?, self.table(&rows)?, &probabilities, &classes)
            }
            Work::Read { file, label, to } => read(&file, label, to.as_deref()),
        }
    }

    fn keep(&mut self, name: String, matrix: impl Into<Matrix>) -> anyhow::Result<Value> {
        self.tables.insert(name, Table::from_matrix(matrix)?);
        Ok(json!({}))
    }

    fn table(&self, name: &str) -> anyhow::Result<&Table> {
        self.tables.get(name).with_context(|| format!("no rows called `{name}`"))
    }

    fn train(&self, name: &str) -> anyhow::Result<&TrainSet> {
        self.trains.get(name).with_context(|| format!("no training rows called `{name}`"))
    }

    fn model(&self, name: &str) -> anyhow::Result<&Model> {
        self.models.get(name).with_context(|| format!("no model called `{name}`"))
    }
}

/// The result of work and how many seconds it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let begin = Instant::now();
    let result = work();
    (result, begin.elapsed().as_secs_f64())
}

fn step(loss: &EnsembleLoss<'_>, weights: &[f64], to: &Path) -> anyhow::Result<Value> {
    let mut gradient = vec![1.0; weights.len()];
    // The first step warms the threads and the caches, the second is the one that counts.
    let (losses, peak) = peak_of(|| loss.evaluate(weights, &mut gradient));
    let (_, seconds) = timed(|| loss.evaluate(weights, &mut gradient));
    write_doubles(to, &gradient)?;
    Ok(json!({ "seconds": seconds, "losses": losses?, "peak": peak }))
}

fn predict(model: &Model, rows: &Table, probabilities_to: &Path, classes_to: &Path) -> anyhow::Result<Value> {
    let (classes, seconds) = timed(|| model.predict(rows));
    let second = |&class: &&str| if class == model.classes()[1] { 1.0 } else { -1.0 };
    write_doubles(classes_to, &classes?.iter().map(second).collect::<Vec<f64>>())?;
    let probabilities = model.predict_proba(rows)?;
    let second: Vec<f64> = probabilities.values().iter().skip(1).step_by(2).copied().collect();
    write_doubles(probabilities_to, &second)?;
    Ok(json!({ "seconds": seconds }))
}

fn read(file: &Path, label: Option<String>, to: Option<&Path>) -> anyhow::Result<Value> {
    let mut reader = Reader::new().layout(Layout::Dense);
    if let Some(label) = label {
        reader = reader.label(label);
    }
    let ((sheet, seconds), peak) = peak_of(|| timed(|| reader.read(file)));
    let matrix = sheet?.table.matrix().to_dense()?;
    if let Some(to) = to {
        write_doubles(to, matrix.values())?;
    }
    let sum: f64 = matrix.values().iter().sum();
    Ok(json!({ "seconds": seconds, "peak": peak, "bytes": size_of_val(matrix.values()), "sum": sum }))
}

/// The labels of the labeled rows as -1 and 1, in their order.
fn targets(train: &TrainSet) -> Vec<f64> {
    let labels = train.labels();
    (0..labels.len()).filter_map(|i| labels.get(i)).map(|class| if class == 1 { 1.0 } else { -1.0 }).collect()
}
