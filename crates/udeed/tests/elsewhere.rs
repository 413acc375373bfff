//! Unlabeled rows that others hold: statistics that add up, files of prepared rows, and the descent that asks for sums.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::sync::Arc;

use proptest::prelude::*;
use udeed::data::{Blocks, Column, Spill, Statistics};
use udeed::format::{Format, Reader, built_in};
use udeed::method::udeed::{DiversityTerm, Elsewhere, Partial, Precision};
use udeed::prelude::*;
use udeed::prepare::{Preparation, Scaling};

/// The first rows of a set with their labels, and parts of the others.
fn divided(set: &str, n_labeled: usize, parts: usize) -> (TrainSet, Vec<Table>) {
    let all = built_in(set).unwrap().read().unwrap().into_train().unwrap();
    let n = all.table().n_rows();
    let part = |k: usize| -> Vec<usize> { (n_labeled..n).filter(|row| row * parts / n == k).collect() };
    let rest = (0..parts).map(|k| all.table().select(&part(k))).filter(|table| table.n_rows() > 0).collect();
    (all.select(&(0..n_labeled).collect::<Vec<_>>()), rest)
}

fn statistics_of<'a>(tables: impl IntoIterator<Item = &'a Table>) -> Statistics {
    let mut all = tables.into_iter().map(|table| Statistics::of(table).unwrap());
    let first = all.next().unwrap();
    all.fold(first, |mut sum, more| {
        sum.merge(&Statistics::from_bytes(&more.to_bytes()).unwrap()).unwrap();
        sum
    })
}

/// What processes that hold the parts in files do.
fn spilled(folder: &tempfile::TempDir, preparation: &Preparation, parts: &[Table]) -> Vec<std::path::PathBuf> {
    let write = |(k, part): (usize, &Table)| {
        let path = folder.path().join(format!("{k}.rows"));
        let mut writer = Spill::writer(&path).unwrap();
        writer.push(&preparation.apply(part).unwrap()).unwrap();
        writer.finish().unwrap().verify().unwrap();
        path
    };
    parts.iter().enumerate().map(write).collect()
}

#[test]
fn a_descent_over_files_is_that_over_rows_in_memory() {
    // Words and missing values, then more than two classes.
    for (set, classes, variant) in
        [("vote", 2, Variant::LcUd), ("vote", 2, Variant::Lc), ("wdbc", 3, Variant::LcUd), ("labor", 2, Variant::LcUd)]
    {
        for precision in [Precision::Double, Precision::Single] {
            let (mut labeled, parts) = divided(set, 40, 3);
            if classes == 3 {
                let names = (0..40).map(|row| Some(["a", "b", "c"][row % 3]));
                labeled = labeled.with_labels(Labels::new(names)).unwrap();
            }
            let n: usize = parts.iter().map(Table::n_rows).sum();
            let all = statistics_of([labeled.table()].into_iter().chain(&parts));
            let settings = Udeed::new().variant(variant).precision(precision).seed(3);
            let folder = tempfile::tempdir().unwrap();
            let files = spilled(&folder, &Preparation::of(&all, Scaling::MinMax).unwrap(), &parts);
            let ask = move |term: &DiversityTerm, weights: &[f64]| -> udeed::Result<Vec<Partial>> {
                files.iter().map(|path| term.partial(&Spill::open(path)?, weights)).collect()
            };
            let train = labeled.clone().with_elsewhere(all, n).unwrap();
            assert_eq!(train.n_unlabeled(), n);
            let model = settings.clone().on(Arc::new(Elsewhere::new(ask))).fit(&train).unwrap();
            let mut whole = labeled;
            parts.iter().for_each(|part| whole.add_unlabeled(part).unwrap());
            let expected = settings.fit(&whole).unwrap();
            let steps = |model: &Model| model.training().stages.iter().map(|stage| stage.steps).collect::<Vec<_>>();
            assert_eq!(steps(&model), steps(&expected));
            assert_eq!(model.training().n_unlabeled, n);
            let near = if precision == Precision::Double { 1e-9 } else { 1e-4 };
            let (found, expected) = (model.decision(whole.table()).unwrap(), expected.decision(whole.table()).unwrap());
            for (x, y) in found.values().iter().zip(expected.values()) {
                assert!((x - y).abs() < near, "{set}: {x} and {y}");
            }
        }
    }
}

#[test]
fn what_cannot_be_asked_for_is_refused() {
    let (labeled, parts) = divided("ionosphere", 50, 2);
    let n: usize = parts.iter().map(Table::n_rows).sum();
    let all = statistics_of([labeled.table()].into_iter().chain(&parts));
    let train = labeled.clone().with_elsewhere(all.clone(), n).unwrap();
    let refused = |method: &dyn Fn() -> udeed::Result<Model>, expected: &str| {
        let error = method().unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused(&|| Udeed::new().fit(&train), "301 unlabeled rows elsewhere, expected a device that has them");
    refused(&|| SelfTraining::new().fit(&train), "301 unlabeled rows elsewhere");
    refused(&|| Udeed::new().fourier(20).fit(&train), "`fourier` is 20, expected 0 beside rows elsewhere");
    // Bagging learns from the labeled rows alone.
    assert_eq!(Bagging::new().fit(&train).unwrap().training().n_unlabeled, n);
    let answer = |n_parts: usize| {
        let rows: Vec<Matrix> =
            parts.iter().map(|part| Preparation::of(&all, Scaling::MinMax).unwrap().apply(part).unwrap()).collect();
        let ask = move |term: &DiversityTerm, weights: &[f64]| -> udeed::Result<Vec<Partial>> {
            rows[..n_parts].iter().map(|part| term.partial(part.rows(), weights)).collect()
        };
        Udeed::new().on(Arc::new(Elsewhere::new(ask)))
    };
    assert!(answer(2).fit(&train).is_ok());
    refused(&|| answer(1).fit(&train), "rows and for");
    refused(&|| answer(0).fit(&train), "no sums over the rows elsewhere");
    refused(&|| answer(2).hidden(3).fit(&train), "`hidden`");
    let mut mixed = labeled.clone();
    mixed.add_unlabeled(&parts[0]).unwrap();
    assert!(mixed.with_elsewhere(all.clone(), n).is_err());
    for wrong in [0, all.n_rows()] {
        assert!(labeled.clone().with_elsewhere(all.clone(), wrong).is_err());
    }
}

#[test]
fn a_part_without_rows_adds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty.rows");
    let mut writer = Spill::writer(&path).unwrap();
    writer.push(&Dense::new(0, 3, Vec::new()).unwrap().into()).unwrap();
    writer.finish().unwrap();
    let term = DiversityTerm { gamma: 1.0, m: 2, heads: 1, n_rows: 9, precision: Precision::Double, sizes: Vec::new() };
    let partial = term.partial(&Spill::open(&path).unwrap(), &[1.0; 8]).unwrap();
    assert_eq!((partial.n_rows(), partial.loss(&term)), (0, 0.0));
    assert!(partial.gradient(&term).iter().all(|g| *g == 0.0));
    // What is given up leaves nothing.
    let mut writer = Spill::writer(&folder.path().join("never.rows")).unwrap();
    writer.push(&Dense::new(1, 1, vec![1.0]).unwrap().into()).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn files_that_are_not_whole_end_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows");
    let mut writer = Spill::writer(&path).unwrap();
    let dense = Dense::new(5, 3, (0..15).map(f64::from).collect()).unwrap();
    writer.push(&dense.clone().into()).unwrap();
    writer.push(&Csr::new(3, vec![0, 1, 1, 2, 2, 3], vec![2, 0, 1], vec![1.0, 2.0, 3.0]).unwrap().into()).unwrap();
    writer.finish().unwrap();
    let whole = fs::read(&path).unwrap();
    assert_eq!(Spill::open(&path).unwrap().shape(), (10, 3));
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(Spill::open(&path).is_err(), "{length} bytes");
    }
    for place in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        fs::write(&path, &damaged).unwrap();
        assert!(Spill::open(&path).and_then(|spill| spill.verify()).is_err(), "byte {place}");
    }
    assert!(Spill::open(&folder.path().join("none")).unwrap_err().to_string().contains("cannot read"));
    assert!(Spill::writer(&folder.path().join("no/rows")).is_err());
}

fn table(text: &str) -> Table {
    Reader::new().format(Format::Csv).read_from("rows", text.as_bytes()).unwrap().table
}

#[test]
fn columns_are_matched_by_name_and_their_words_united() {
    let all = statistics_of([&table("size,colour\n1,red\n3,blue\n"), &table("colour,size\ngreen,\nred,5\n")]);
    let one = Statistics::of(&table("size,colour\n1,red\n3,blue\n,green\n5,red\n")).unwrap();
    // Of words only the counts mean something: the numbers of levels are others in each part.
    for scaling in [Scaling::MinMax, Scaling::Standard, Scaling::None] {
        assert_eq!(Preparation::of(&all, scaling).unwrap(), Preparation::of(&one, scaling).unwrap());
    }
    assert_eq!(all.n_rows(), one.n_rows());
    let levels = ["blue", "green", "red"].map(str::to_owned).to_vec();
    assert_eq!(all.columns(), [Column::numeric("size"), Column::nominal("colour", levels)]);
    let refused = |other: &str, expected: &str| {
        let mut all = all.clone();
        let error = all.merge(&Statistics::of(&table(other)).unwrap()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    refused("size,hue\n1,red\n", "column `colour`: found no such column");
    refused("size,colour\n1,2\n", "column `colour`: found numbers in some rows and text in others");
    refused("size\n1\n", "found 1 columns, expected 2");
    assert!(Statistics::of(&one_column(&[])).is_err());
    for bytes in [&b""[..], b"{}", b"null"] {
        assert!(Statistics::from_bytes(bytes).is_err());
        assert!(Partial::from_bytes(bytes).is_err());
    }
}

/// Hashed words have so many columns: looked up one by one, their names took minutes.
#[test]
fn a_quarter_of_a_million_columns_are_added_in_no_time() {
    let n = 1 << 18;
    let begun = std::time::Instant::now();
    let sparse = Table::from_matrix(Csr::new(n, vec![0, 1], vec![n as u32 - 1], vec![1.0]).unwrap()).unwrap();
    let mut all = Statistics::of(&sparse).unwrap();
    let bytes = all.to_bytes();
    assert!(bytes.len() < 10 * n, "{} bytes", bytes.len());
    all.merge(&Statistics::from_bytes(&bytes).unwrap()).unwrap();
    // Columns in another order are matched by name.
    let named = |names: &mut dyn Iterator<Item = usize>| {
        let columns = names.map(|name| Column::numeric(name.to_string())).collect();
        Statistics::of(&Table::new(columns, Dense::new(1, n, (0..n).map(|x| x as f64).collect()).unwrap()).unwrap())
    };
    let mut all = named(&mut (0..n)).unwrap();
    all.merge(&named(&mut (0..n).rev()).unwrap()).unwrap();
    let preparation = Preparation::of(&all, Scaling::MinMax).unwrap();
    assert_eq!(preparation.shifts()[..2], [0.0, 1.0]);
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn identifiers_are_refused_before_all_of_them_are_held() {
    let words = |from: usize| {
        let text: String = (from..from + 6000).map(|row| format!("w{row}\n")).collect();
        Statistics::of(&table(&format!("word\n{text}"))).unwrap()
    };
    let mut all = words(0);
    all.merge(&words(3000)).unwrap();
    assert_eq!(all.n_rows(), 12_000);
    let error = all.merge(&words(6000)).unwrap_err().to_string();
    assert!(error.contains("12000 different values in column `word`, expected at most 1000"), "{error}");
    let error = Preparation::of(&all, Scaling::MinMax).unwrap_err().to_string();
    assert!(error.contains("9000 different values in column `word`"), "{error}");
}

fn one_column(values: &[f64]) -> Table {
    Table::from_matrix(Dense::new(values.len(), 1, values.to_vec()).unwrap()).unwrap()
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![4 => -1e3..1e3, 1 => Just(f64::NAN), 1 => Just(0.0), 1 => 1e8..1.0001e8, 1 => -1e-150..1e-150]
}

proptest! {
    /// Counts and ranges are exact, means and deviations within rounding errors.
    #[test]
    fn statistics_of_parts_make_those_of_the_whole(parts in prop::collection::vec(prop::collection::vec(number(), 1..30), 1..6)) {
        let merged = statistics_of(&parts.iter().map(|part| one_column(part)).collect::<Vec<_>>());
        let whole = Statistics::of(&one_column(&parts.concat())).unwrap();
        for scaling in [Scaling::MinMax, Scaling::Standard] {
            let (found, expected) = (Preparation::of(&merged, scaling).unwrap(), Preparation::of(&whole, scaling).unwrap());
            let near = |x: f64, y: f64| (x - y).abs() <= 1e-9 * x.abs().max(y.abs());
            prop_assert!(near(found.factors()[0], expected.factors()[0]), "{found:?} {expected:?}");
            prop_assert!((found.shifts()[0] - expected.shifts()[0]).abs() <= 1e-9 / expected.factors()[0].max(1e-300));
            if scaling == Scaling::MinMax {
                prop_assert_eq!(found.shifts(), expected.shifts());
                prop_assert_eq!(found.factors(), expected.factors());
            }
            prop_assert_eq!(&Preparation::from_bytes(&found.to_bytes()).unwrap(), &found);
        }
        prop_assert_eq!(merged.n_rows(), whole.n_rows());
    }
}
