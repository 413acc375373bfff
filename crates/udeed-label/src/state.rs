//! The state that the page shows: the question, the classes with their keys, and the progress of labeling.

use std::collections::HashMap;

use serde_json::{Value, json};
use udeed::labeling::{Origin, Question, Reply};

use crate::cells::{Cell, cells_of, readable, shown};
use crate::desk::{Shared, State};
use crate::error::{Error, Result};

/// The keys of the classes. The letters of what can be done besides are not among them: `c`, `n`, `s`, `u`.
const KEYS: &str = "1234567890abdefghijklmopqrtvwxyz";
/// Number of answers that are shown.
const RECENT: usize = 6;

impl Shared {
    /// The cells of a row on the page.
    pub(crate) fn shown(&self, cells: &[String], all: bool) -> (Vec<Cell>, usize) {
        shown(self.rows.columns(), cells, self.label_column, &self.distributions, self.media.as_ref(), all)
    }
}

/// Everything that a window shows.
///
/// # Errors
/// If the row of the question cannot be read.
pub(crate) fn state(shared: &Shared, state: &mut State, window: &str) -> Result<Value> {
    let is_labeling = state.is_labeling(window);
    // At the end nothing is asked, and the rows may be gone.
    let question = match state.session.question().filter(|_| state.ending.is_none()) {
        Some(question) => question_told(shared, state, question)?,
        None => Value::Null,
    };
    let progress = state.session.progress();
    let keys = KEYS.chars().map(Some).chain(std::iter::repeat(None));
    let class = |((name, all, random), key): (&(String, usize, usize), Option<char>)| json!({ "name": name, "shown": readable(name), "key": key, "count": all, "random": random });
    let point = |(labels, estimate): (usize, udeed::labeling::Estimate)| {
        let [low, high] = estimate.interval();
        json!({ "labels": labels, "share": estimate.share(), "low": low, "high": high,
                "right": estimate.right, "of": estimate.of })
    };
    let curve: Vec<Value> = progress.curve.iter().map(|at| point((at.labels, at.estimate))).collect();
    let recent: Vec<Value> = state
        .session
        .answers()
        .rev()
        .take(RECENT)
        .map(|answer| {
            let label = match &answer.reply {
                Reply::Class(name) => readable(name),
                Reply::NotSure => "not sure".into(),
                Reply::Skip => "skipped".into(),
            };
            let is_class = matches!(answer.reply, Reply::Class(_));
            let predicted = answer.predicted.as_deref().filter(|_| is_class).map(readable);
            json!({ "row": answer.row, "label": label, "predicted": predicted })
        })
        .collect();
    let round = state.round.as_ref();
    Ok(json!({
        "labeling": is_labeling,
        "learning": state.is_learning(),
        "problem": state.problem,
        "question": question,
        "classes": progress.classes.iter().zip(keys).map(class).collect::<Vec<Value>>(),
        "rows": shared.n_rows,
        "labeled": progress.labeled,
        "answered": progress.answered,
        "notSure": progress.not_sure,
        "skipped": progress.skipped,
        "open": progress.open,
        "unjudged": progress.unjudged,
        "estimate": curve.last(),
        "curve": curve,
        "changed": round.and_then(|round| round.changed),
        "cold": round.is_none_or(|round| round.cold),
        "modelLabels": round.map(|round| round.n_labeled),
        "recent": recent,
        "answers": state.answers.path().display().to_string(),
        "ending": state.ending,
    }))
}

fn question_told(shared: &Shared, state: &State, question: Question) -> Result<Value> {
    let Question { row, origin, .. } = question;
    let cells = cells_of(shared.rows.as_ref(), row);
    let cells = cells.map_err(|cause| Error::io(shared.name.clone(), "read", cause))?;
    let (cells, more) = shared.shown(&cells, false);
    let none = HashMap::new();
    let reasons = state.round.as_ref().map_or(&none, |round| &round.reasons);
    let reasons = reasons.get(&row).filter(|_| origin == Origin::Chosen);
    Ok(json!({
        "row": row,
        "origin": origin.name(),
        "label": state.session.label(row).map(readable),
        "cells": cells,
        "more": more,
        "reasons": reasons,
    }))
}
