//! The probabilities that every method gave before the house was rebuilt: no change of structure may move one.
//!
//! `UDEED_RECORD=1 cargo test -p udeed --test golden` writes them anew. Whoever does so says in the CHANGELOG which rule
//! of which method changed, and why.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;

use udeed::data::{Labeled, Labels, Shares, Table, TrainSet, stratified_split};
use udeed::format::{Layout, Reader, built_in};
use udeed::method::Method;

const SETS: [&str; 3] = ["diabetes", "vote", "wdbc"];
/// Number of test rows that are recorded of each fit.
const ROWS: usize = 12;
const TOLERANCE: f64 = 1e-12;

type Recorded = BTreeMap<String, Vec<f64>>;

/// Training rows, a quarter of them labeled, and some test rows.
fn split(set: &str, layout: Layout) -> (TrainSet, Table) {
    let reader = Reader::new().layout(layout);
    let data = built_in(set).unwrap().read_with(&reader).unwrap().into_train().unwrap();
    assert_eq!(data.table().matrix().is_sparse(), matches!(layout, Layout::Sparse), "{set}");
    let shares = Shares { test: 0.5, labeled: Labeled::Share(0.25) };
    let split = stratified_split(data.labels(), shares, 11, 0).unwrap();
    let rows: Vec<usize> = split.labeled.iter().chain(&split.unlabeled).copied().collect();
    let hidden: Vec<usize> = (split.labeled.len()..rows.len()).collect();
    let test: Vec<usize> = split.test.iter().copied().step_by(split.test.len() / ROWS).take(ROWS).collect();
    (data.select(&rows).hide_labels(&hidden), data.select(&test).table().clone())
}

/// The same rows with a third class, made of every third labeled row of the first.
fn three_classes(train: &TrainSet) -> TrainSet {
    let name = |i: usize| match train.labels().name(i) {
        Some(name) if i.is_multiple_of(3) => Some(format!("{name}-third")),
        name => name.map(str::to_owned),
    };
    let names: Vec<Option<String>> = (0..train.labels().len()).map(name).collect();
    let labels = Labels::new(names);
    TrainSet::new(train.table().clone(), labels).unwrap()
}

fn probabilities(method: &str, train: &TrainSet, test: &Table) -> Vec<f64> {
    let model = Method::named(method).unwrap().fit(train).unwrap();
    let found = model.predict_proba(test).unwrap();
    found.values().to_vec()
}

#[test]
fn no_probability_has_moved() {
    let mut found = Recorded::new();
    for set in SETS {
        for (name, layout) in [("dense", Layout::Dense), ("sparse", Layout::Sparse)] {
            let (train, test) = split(set, layout);
            for method in Method::NAMES {
                found.insert(format!("{set}, {name}, {method}"), probabilities(method, &train, &test));
            }
        }
    }
    let (train, test) = split("wdbc", Layout::Dense);
    let train = three_classes(&train);
    for method in Method::NAMES {
        found.insert(format!("wdbc with four classes, {method}"), probabilities(method, &train, &test));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/probabilities.json");
    if std::env::var_os("UDEED_RECORD").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let lines: Vec<String> =
            found.iter().map(|(name, values)| format!("  {name:?}: {}", serde_json::json!(values))).collect();
        std::fs::write(&path, format!("{{\n{}\n}}\n", lines.join(",\n"))).unwrap();
        return;
    }
    let recorded: Recorded = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let is_recorded = "UDEED_RECORD=1 records a method that is new";
    assert_eq!(recorded.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>(), "{is_recorded}");
    let mut moved = Vec::new();
    for (name, before) in &recorded {
        let now = &found[name];
        assert_eq!(before.len(), now.len(), "{name}");
        let apart = before.iter().zip(now).map(|(before, now)| (before - now).abs());
        // In this order NaN is the largest.
        let largest = apart.max_by(f64::total_cmp).unwrap();
        if largest.is_nan() || largest > TOLERANCE {
            moved.push(format!("{name}: by {largest:e}"));
        }
    }
    assert!(moved.is_empty(), "probabilities moved:\n{}", moved.join("\n"));
}
