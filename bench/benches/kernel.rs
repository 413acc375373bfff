//! The arithmetic on small sizes: what to look at while a kernel is being changed.

use divan::Bencher;
use divan::counter::ItemsCount;
use udeed::data::{Csr, Dense, Rows};
use udeed::method::udeed::{EnsembleLoss, Loss, Objective, Precision};

fn main() {
    divan::main();
}

/// Numbers between -1 and 1 that are the same in every run.
fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| (i.wrapping_mul(2_654_435_761) % 2_001) as f64 / 1_000.0 - 1.0).collect()
}

/// Times the loss of `m` members and its gradient on rows.
fn bench_step(bencher: Bencher<'_, '_>, rows: &dyn Rows, m: usize) {
    let loss = EnsembleLoss {
        labeled: rows,
        targets: &vec![1.0; rows.n_rows()],
        counts: &vec![1.0; rows.n_rows()],
        diversity: Some(rows),
        loss: Loss::Logistic,
        gamma: 1.0,
        m,
        heads: 1,
        hidden: 0,
        precision: Precision::Double,
        sizes: &[],
    };
    let weights = numbers((rows.n_columns() + 1) * m);
    let mut gradient = vec![0.0; weights.len()];
    bencher.counter(ItemsCount::new(rows.n_rows())).bench_local(|| loss.evaluate(&weights, &mut gradient));
}

#[divan::bench(args = [(54, 20), (54, 100), (8, 100), (241, 100), (54, 97)])]
fn tile(bencher: Bencher<'_, '_>, (d, m): (usize, usize)) {
    let rows = Dense::new(512, d, numbers(512 * d)).expect("as many values as cells");
    bench_step(bencher, &rows, m);
}

#[divan::bench(args = [1_000, 100_000])]
fn sparse(bencher: Bencher<'_, '_>, d: usize) {
    const STORED: usize = 56;
    let columns = (0..512).flat_map(|i| (0..STORED).map(move |k| ((k * (d / STORED) + i) % d) as u32));
    let mut columns: Vec<u32> = columns.collect();
    columns.chunks_mut(STORED).for_each(<[u32]>::sort_unstable);
    let starts = (0..=512).map(|i| i * STORED).collect();
    let rows = Csr::new(d, starts, columns, numbers(512 * STORED)).expect("columns that ascend");
    bench_step(bencher, &rows, 100);
}

/// A step over unlabeled rows on all cores: what exact sums cost.
#[divan::bench(args = [Precision::Double, Precision::Exact], sample_count = 15, sample_size = 1)]
fn precision(bencher: Bencher<'_, '_>, precision: Precision) {
    let (n, d, m) = (200_000, 54, 100);
    let rows = Dense::new(n, d, numbers(n * d)).expect("as many values as cells");
    let labeled = Dense::new(1, d, numbers(d)).expect("as many values as cells");
    let loss = EnsembleLoss {
        labeled: &labeled,
        targets: &[1.0],
        counts: &[1.0],
        diversity: Some(&rows),
        loss: Loss::Logistic,
        gamma: 1.0,
        m,
        heads: 1,
        hidden: 0,
        precision,
        sizes: &vec![0; d],
    };
    let weights: Vec<f64> = numbers((d + 1) * m).iter().map(|w| 0.3 * w).collect();
    let mut gradient = vec![0.0; weights.len()];
    bencher.counter(ItemsCount::new(n)).bench_local(|| loss.evaluate(&weights, &mut gradient));
}

#[divan::bench(args = [100, 1_024, 65_536])]
fn tanh(bencher: Bencher<'_, '_>, count: usize) {
    let scores: Vec<f64> = numbers(count).iter().map(|x| 8.0 * x).collect();
    let mut outputs = scores.clone();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        outputs.copy_from_slice(&scores);
        udeed::bench::tanh_half(divan::black_box(&mut outputs));
    });
}
