//! Readers on text in memory, and the built-in sets.

use std::fmt::Write;

use divan::Bencher;
use divan::counter::BytesCount;
use udeed::format::{Format, Reader, built_in};

fn main() {
    divan::main();
}

const ROWS: usize = 2_000;
const COLUMNS: usize = 54;

/// A value with as many digits as measurements have.
fn value(i: usize, j: usize) -> f64 {
    ((i * COLUMNS + j).wrapping_mul(2_654_435_761) % 100_003) as f64 / 1_000.0
}

fn bench_reader(bencher: Bencher<'_, '_>, reader: &Reader, text: &str) {
    bencher
        .counter(BytesCount::of_str(text))
        .bench_local(|| reader.read_from("text", text.as_bytes()).expect("a text that is right"));
}

#[divan::bench]
fn csv(bencher: Bencher<'_, '_>) {
    let names: Vec<String> = (0..COLUMNS).map(|j| format!("x{j}")).collect();
    let mut text = format!("{},y\n", names.join(","));
    for i in 0..ROWS {
        (0..COLUMNS).for_each(|j| write!(text, "{},", value(i, j)).expect("memory"));
        writeln!(text, "{}", if i % 3 == 0 { "yes" } else { "no" }).expect("memory");
    }
    bench_reader(bencher, &Reader::new().format(Format::Csv).label("y"), &text);
}

#[divan::bench]
fn libsvm(bencher: Bencher<'_, '_>) {
    let mut text = String::new();
    for i in 0..ROWS {
        text.push_str(if i % 3 == 0 { "+1" } else { "-1" });
        (0..COLUMNS).step_by(4).for_each(|j| write!(text, " {}:{}", j + 1, value(i, j)).expect("memory"));
        text.push('\n');
    }
    bench_reader(bencher, &Reader::new().format(Format::Libsvm), &text);
}

#[divan::bench(args = ["diabetes", "ionosphere", "wdbc"])]
fn built_in_set(name: &str) -> usize {
    built_in(name).and_then(|set| set.read()).expect("a built-in set").labels.len()
}
