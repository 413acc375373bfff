//! Few rows of many columns in the coordinates of the space that they span, which has no more dimensions than rows.
//!
//! The weights that minimise a loss with a penalty on their length lie in that space (the representer theorem): to search for
//! them there finds the same, in less time. It is what is called the dual, kept in a form in which all learners of the
//! primal work.

use crate::data::{Dense, Matrix, Row, Rows};
use crate::error::Result;
use crate::kernel::{dot, gram, vectorized};

/// Most rows: to find their space takes their third power.
const MOST_ROWS: usize = 2000;

/// The space that rows span.
pub(crate) struct RowSpace {
    /// The rows in its coordinates, with the same lengths and angles.
    pub(crate) rows: Matrix,
    /// The rows that span it, in the order in which each adds a dimension.
    basis: Vec<usize>,
    width: usize,
}

impl RowSpace {
    /// The space of rows; none where there are not fewer of them than columns.
    pub(crate) fn of(rows: &dyn Rows) -> Option<Self> {
        let (n, columns) = rows.shape();
        if n >= columns || n > MOST_ROWS {
            return None;
        }
        RowSpace::of_products(&products(rows), n).ok()
    }

    /// The space of `n` rows that are known by their inner products, which may be those of a kernel.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub(crate) fn of_products(products: &[f64], n: usize) -> Result<Self> {
        let (factor, basis) = pivoted_cholesky(products, n);
        let width = basis.len();
        let rows = Dense::new(n, width, factor.chunks(n.max(1)).flat_map(|row| &row[..width]).copied().collect())?;
        Ok(RowSpace { rows: rows.into(), basis, width })
    }

    /// The space that some of the rows span, and all rows in it as near as they come. `products` has the inner products of each
    /// row with those of `some`.
    ///
    /// # Errors
    /// If memory does not suffice.
    pub(crate) fn of_some(products: &Dense, some: &[usize]) -> Result<Self> {
        let p = some.len();
        let among: Vec<f64> = some.iter().flat_map(|&i| products.get(i)).copied().collect();
        let RowSpace { rows: spanning, basis, width } = RowSpace::of_products(&among, p)?;
        let spanning = spanning.to_dense()?;
        let mut rows = Dense::zeros(products.n_rows(), width)?;
        for (i, to) in rows.rows_mut().enumerate() {
            let of_row = products.get(i);
            vectorized(|| {
                for (s, &b) in basis.iter().enumerate() {
                    let known = spanning.get(b);
                    to[s] = (of_row[b] - dot(&to[..s], &known[..s])) / known[s];
                }
            });
        }
        // Those that span it lie in it to the last bit.
        some.iter().enumerate().for_each(|(k, &i)| rows.row_mut(i).copy_from_slice(spanning.get(k)));
        Ok(RowSpace { rows: rows.into(), basis: basis.into_iter().map(|b| some[b]).collect(), width })
    }

    /// The rows that span the space, in the order in which each adds a dimension.
    pub(crate) fn basis(&self) -> &[usize] {
        &self.basis
    }

    /// Weights of all columns for weights of the coordinates, both with that of a constant feature last. `rows` are those
    /// that the space was made of.
    pub(crate) fn weights(&self, rows: &dyn Rows, own: &[f64]) -> Vec<f64> {
        let shares = self.shares(own, 1);
        let mut weights = vec![0.0; rows.n_columns() + 1];
        for (&i, share) in self.basis.iter().zip(&shares) {
            rows.row(i).for_each(|j, x| weights[j] += share * x);
        }
        weights[rows.n_columns()] = own[self.width];
        weights
    }

    /// Weights of inner products with the rows that span the space, for weights of the coordinates, both with that of a
    /// constant feature last. There are `k` of each, side by side.
    pub(crate) fn shares(&self, own: &[f64], k: usize) -> Vec<f64> {
        let factor = |s: usize, t: usize| match self.rows.rows().row(self.basis[s]) {
            Row::Dense(row) => row[t],
            Row::Sparse { .. } => 0.0,
        };
        let mut shares = own.to_vec();
        vectorized(|| {
            for s in (0..self.width).rev() {
                let mut later = vec![0.0; k];
                let (before, known) = shares.split_at_mut((s + 1) * k);
                for (t, known) in (s + 1..self.width).zip(known.chunks_exact(k)) {
                    let l = factor(t, s);
                    later.iter_mut().zip(known).for_each(|(sum, share)| *sum += l * share);
                }
                let root = factor(s, s);
                before[s * k..].iter_mut().zip(later).for_each(|(share, later)| *share = (*share - later) / root);
            }
        });
        shares
    }
}

/// The inner products of all rows with each other.
fn products(rows: &dyn Rows) -> Vec<f64> {
    let (n, columns) = rows.shape();
    let mut products = vec![0.0; n * n];
    if rows.is_sparse() {
        let mut scratch = vec![0.0; columns];
        for i in 0..n {
            rows.row(i).copy_to(&mut scratch);
            (0..=i).for_each(|j| products[i * n + j] = rows.row(j).dot(&scratch));
            rows.row(i).for_each(|j, _| scratch[j] = 0.0);
        }
    } else {
        let mut turned = vec![0.0; n * columns];
        (0..n).for_each(|i| rows.row(i).for_each(|j, x| turned[j * n + i] = x));
        if let Ok(turned) = Dense::new(columns, n, turned) {
            // The kernel adds a constant feature, last.
            let sums = gram(&turned, &vec![1.0; columns]);
            (0..n).for_each(|i| products[i * n..][..=i].copy_from_slice(&sums[i * (n + 1)..][..=i]));
        }
    }
    (0..n).for_each(|i| (0..i).for_each(|j| products[j * n + i] = products[i * n + j]));
    products
}

/// A factor `L` with `L L' = matrix`, row after row, and the rows by which it was found: the first `r` columns of it are not
/// zero, if `r` of them were needed.
fn pivoted_cholesky(matrix: &[f64], n: usize) -> (Vec<f64>, Vec<usize>) {
    let mut factor = vec![0.0; n * n];
    let mut rest: Vec<f64> = (0..n).map(|i| matrix[i * n + i]).collect();
    let largest = rest.iter().copied().fold(0.0, f64::max);
    let mut basis: Vec<usize> = Vec::new();
    let mut left: Vec<usize> = (0..n).collect();
    while let Some(place) = (0..left.len()).max_by(|&a, &b| rest[left[a]].total_cmp(&rest[left[b]]).then(b.cmp(&a))) {
        let (pivot, step) = (left[place], basis.len());
        // What is left of rows that others span is rounding.
        if rest[pivot].is_nan() || rest[pivot] <= 1e-12 * largest {
            break;
        }
        left.swap_remove(place);
        basis.push(pivot);
        let root = rest[pivot].sqrt();
        factor[pivot * n + step] = root;
        let known: Vec<f64> = factor[pivot * n..][..step].to_vec();
        vectorized(|| {
            for &i in &left {
                let row = &mut factor[i * n..][..=step];
                let value = (matrix[pivot * n + i] - dot(&row[..step], &known)) / root;
                row[step] = value;
                rest[i] -= value * value;
            }
        });
    }
    (factor, basis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::Logistic;
    use crate::observer::Watch;
    use crate::random::{Purpose, Stream};

    #[test]
    fn a_fit_in_the_row_space_is_the_fit() {
        let mut stream = Stream::new(6, Purpose::Split, 0);
        let (n, d) = (25, 60);
        let mut values: Vec<f64> = (0..n * d).map(|_| (4.0 * stream.unit()).floor() - 1.0).collect();
        // A row that others span, and one of zeros.
        for j in 0..d {
            values[7 * d + j] = values[3 * d + j] - 2.0 * values[4 * d + j];
            values[9 * d + j] = 0.0;
        }
        let targets: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect();
        let dense = Matrix::from(Dense::new(n, d, values).unwrap());
        for rows in [dense.clone(), dense.to_sparse().into()] {
            let span = RowSpace::of(rows.rows()).unwrap();
            assert_eq!(span.rows.rows().shape(), (n, n - 2));
            for lambda in [0.01, 1.0, 100.0] {
                let fit = |rows: &dyn Rows| {
                    let mut nobody = ();
                    let watch = &Watch::new(&mut nobody);
                    Logistic::new(lambda).fit(rows, &targets, &vec![1.0; n], None, watch).unwrap().weights
                };
                let (direct, own) = (fit(rows.rows()), fit(span.rows.rows()));
                for (a, b) in span.weights(rows.rows(), &own).iter().zip(direct) {
                    assert!((a - b).abs() < 1e-7, "lambda {lambda}: {a} against {b}");
                }
            }
        }
        assert!(RowSpace::of(&Dense::zeros(4, 4).unwrap()).is_none());
    }

    #[test]
    fn no_rows_span_nothing() {
        let space = RowSpace::of_products(&[], 0).unwrap();
        assert!(space.basis().is_empty() && space.rows.rows().n_rows() == 0);
    }

    #[test]
    fn some_rows_span_the_space_of_all_that_lie_in_it() {
        let (n, d) = (30, 4);
        let rows = Dense::random(n, d, 6);
        let some = [3, 17, 8, 25, 11, 29];
        let product = |i: usize, j: usize| dot(rows.get(i), rows.get(j));
        let products = Dense::new(n, 6, (0..n).flat_map(|i| some.map(|j| product(i, j))).collect()).unwrap();
        let space = RowSpace::of_some(&products, &some).unwrap();
        assert_eq!(space.basis().len(), d);
        assert!(space.basis().iter().all(|i| some.contains(i)));
        let inside = space.rows.to_dense().unwrap();
        for i in 0..n {
            for j in 0..n {
                assert!((dot(inside.get(i), inside.get(j)) - product(i, j)).abs() < 1e-10);
            }
            // A score in the coordinates is the same by inner products with the basis.
            let own = [0.3, -1.0, 2.0, 0.7, 5.0];
            let shares = space.shares(&own, 1);
            let by_basis: f64 = space.basis().iter().zip(&shares).map(|(&b, share)| share * product(i, b)).sum();
            assert!((dot(inside.get(i), &own[..d]) - by_basis).abs() < 1e-10 && shares[d] == 5.0);
            let side_by_side: Vec<f64> = own.iter().flat_map(|w| [1.0, *w, -w]).collect();
            let many = space.shares(&side_by_side, 3);
            assert!(many.chunks_exact(3).zip(&shares).all(|(many, share)| many[1] == *share && many[2] == -share));
        }
    }
}
