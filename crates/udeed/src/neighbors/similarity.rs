//! Similarities of rows: of all pairs, or of near ones.

use crate::data::{Csr, Dense, Matrix, Rows};
use crate::error::{Hint, Result};
use crate::memory::{MUCH_MEMORY, check_memory, half_of_memory};
use crate::neighbors::distance::for_each_distance;
use crate::neighbors::nearest::nearest;
use crate::observer::{Warning, Watch};
use crate::parallel;

/// The similarity `exp(-|x - z|^2 / sigma^2)` of the rows from `first` on to all rows.
pub(crate) enum Similarity {
    /// All pairs.
    All,
    /// Pairs in which one row is among the `k` nearest of the other, and each row with itself.
    Nearest(usize),
}

impl Similarity {
    /// Among the `k` nearest; among all pairs if `k` is 0.
    pub(crate) fn among(k: usize) -> Self {
        if k > 0 { Similarity::Nearest(k) } else { Similarity::All }
    }

    /// The largest memory of the matrix, in bytes.
    pub(crate) fn bytes(&self, n_rows: usize, first: usize) -> u64 {
        let (n, rows) = (n_rows as u64, (n_rows - first) as u64);
        match self {
            Similarity::All => rows * n * 8,
            // A row has at most k neighbours, and is on average a neighbour of as many others.
            Similarity::Nearest(k) => n.saturating_mul(2 * (*k as u64).min(n) + 1).saturating_mul(28),
        }
    }

    /// The matrix, with a warning if it takes much memory. It may take `most` bytes; 0 for half of the memory.
    pub(crate) fn matrix(
        &self,
        rows: &dyn Rows,
        first: usize,
        sigma: f64,
        most: u64,
        watch: &Watch<'_>,
    ) -> Result<Matrix> {
        let n = rows.n_rows();
        let bytes = self.bytes(n, first);
        if bytes > MUCH_MEMORY {
            watch.warn(&Warning::Memory { bytes });
        }
        let most = if most > 0 { most } else { half_of_memory() };
        check_memory(bytes, most, Hint::Similarities, || format!("the similarities of {n} rows"))?;
        // Equal rows have no scale: every similarity is 1.
        let scale = if sigma > 0.0 { 1.0 / (sigma * sigma) } else { 0.0 };
        let similar = |squared: f64| libm::exp(-squared * scale);
        match self {
            Similarity::All => {
                let mut matrix = Dense::zeros(n - first, n)?;
                let mut out: Vec<&mut [f64]> = matrix.rows_mut().collect();
                let scratch = || vec![0.0; rows.n_columns()];
                parallel::try_chunks_mut(&mut out, 1, scratch, |scratch, i, out| {
                    for_each_distance(rows.row(first + i), rows, scratch, |j, squared| out[0][j] = similar(squared));
                    watch.ask()
                })?;
                Ok(matrix.into())
            }
            Similarity::Nearest(k) => {
                let mut edges: Vec<Vec<(usize, f64)>> = nearest(rows, *k, watch)?;
                let chosen = edges.clone();
                for (i, neighbours) in chosen.iter().enumerate() {
                    neighbours.iter().for_each(|&(j, squared)| edges[j].push((i, squared)));
                    edges[i].push((i, 0.0));
                }
                let mut matrix = Csr::empty(n);
                for neighbours in &mut edges[first..] {
                    watch.ask()?;
                    // A distance may differ in its last bit between the two directions: the smaller one is used.
                    neighbours.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
                    neighbours.dedup_by_key(|&mut (j, _)| j);
                    matrix.push_row(neighbours.iter().map(|&(j, squared)| (j, similar(squared))));
                }
                Ok(matrix.into())
            }
        }
    }
}
