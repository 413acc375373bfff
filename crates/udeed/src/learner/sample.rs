//! The rows of a sample that have a weight.

use crate::data::{Matrix, Row};
use crate::error::{Error, Result};
use crate::learner::Sample;
use crate::random::{Purpose, Stream};

/// Checks a sample and returns its rows of a weight above 0, ascending.
///
/// # Errors
/// If there is none, the parts of the sample do not fit together, or one of them has a value that is not finite.
pub(crate) fn rows_with_weight(sample: &Sample<'_>) -> Result<Vec<usize>> {
    let n = sample.rows.n_rows();
    if sample.classes.len() != n || sample.weights.len() != n {
        let found = format!("{} classes and {} weights", sample.classes.len(), sample.weights.len());
        return Err(Error::training(found, format!("one for each of {n} rows")));
    }
    if let Some(class) = sample.classes.iter().find(|&&class| usize::from(class) >= sample.n_classes) {
        return Err(Error::training(format!("a class {class}"), format!("classes below {}", sample.n_classes)));
    }
    if let Some(weight) = sample.weights.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
        return Err(Error::training(format!("a weight of {weight}"), "finite weights from 0 on"));
    }
    if !sample.weights.iter().sum::<f64>().is_finite() {
        return Err(Error::training("weights without a finite sum", "smaller weights"));
    }
    let rows: Vec<usize> = (0..n).filter(|&i| sample.weights[i] > 0.0).collect();
    if rows.is_empty() {
        return Err(Error::training("no row that counts", "at least one of a weight above 0"));
    }
    rows.iter().try_for_each(|&i| check_finite(sample.rows.row(i), i))?;
    Ok(rows)
}

fn check_finite(row: Row<'_>, i: usize) -> Result<()> {
    let (Row::Dense(values) | Row::Sparse { values, .. }) = row;
    // Without a branch for each: this is true for nearly every row there is.
    if values.iter().fold(true, |finite, x| finite & x.is_finite()) {
        return Ok(());
    }
    let mut wrong = None;
    row.for_each(|j, x| {
        if !x.is_finite() {
            wrong = Some((j, x));
        }
    });
    match wrong {
        None => Ok(()),
        Some((j, x)) => Err(Error::training(format!("{x} in row {}, feature {}", i + 1, j + 1), "finite numbers")),
    }
}

impl Sample<'_> {
    /// The rows that count: those of a weight above 0, ascending.
    ///
    /// # Errors
    /// If there is none, the parts of the sample do not fit together, or one of them has a value that is not finite.
    pub fn weighted(&self) -> Result<Vec<usize>> {
        rows_with_weight(self)
    }

    /// Rows for a learner that knows no weights, in their order: repeated by integer weights, else resampled by weight, as many as
    /// have a weight above 0. Two classes stay two.
    ///
    /// # Errors
    /// If no row counts, or the parts of the sample do not fit together.
    ///
    /// ```
    /// use udeed::data::Dense;
    /// use udeed::learner::Sample;
    ///
    /// let rows = Dense::new(3, 1, vec![0.0, 1.0, 2.0])?;
    /// let sample = Sample { rows: &rows, classes: &[0, 1, 1], n_classes: 2, weights: &[1.0, 0.0, 2.0], seed: 7 };
    /// assert_eq!(sample.resampled()?, [0, 2, 2]);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn resampled(&self) -> Result<Vec<usize>> {
        let rows = rows_with_weight(self)?;
        let is_count = |&row: &usize| self.weights[row].fract() == 0.0 && self.weights[row] <= f64::from(u8::MAX);
        if rows.iter().all(is_count) {
            return Ok(rows.into_iter().flat_map(|row| std::iter::repeat_n(row, self.weights[row] as usize)).collect());
        }
        let sums: Vec<f64> = rows
            .iter()
            .scan(0.0, |sum, &row| {
                *sum += self.weights[row];
                Some(*sum)
            })
            .collect();
        let total = sums.last().copied().unwrap_or(0.0);
        let mut stream = Stream::new(self.seed, Purpose::Resample, 0);
        let is_mixed = |rows: &[usize]| rows.iter().any(|&row| self.classes[row] != self.classes[rows[0]]);
        let mut drawn = Vec::new();
        for _ in 0..MOST_DRAWS {
            drawn = (0..rows.len())
                .map(|_| rows[sums.partition_point(|&sum| sum <= stream.unit() * total).min(rows.len() - 1)])
                .collect();
            drawn.sort_unstable();
            if is_mixed(&drawn) || !is_mixed(&rows) {
                return Ok(drawn);
            }
        }
        // One class has next to no weight.
        Ok(drawn)
    }
}

/// How often rows are drawn until there are two classes.
const MOST_DRAWS: usize = 1000;

/// Some rows of a sample, copied.
pub(crate) struct Subsample {
    pub(crate) rows: Matrix,
    pub(crate) classes: Vec<u8>,
    pub(crate) weights: Vec<f64>,
}

impl Subsample {
    /// Copies rows of a sample.
    pub(crate) fn gather(sample: &Sample<'_>, rows: &[usize]) -> Self {
        Subsample {
            rows: Matrix::gather(sample.rows, rows),
            classes: rows.iter().map(|&i| sample.classes[i]).collect(),
            weights: rows.iter().map(|&i| sample.weights[i]).collect(),
        }
    }

    /// The rows as a sample of their own.
    pub(crate) fn sample(&self, n_classes: usize, seed: u64) -> Sample<'_> {
        Sample { rows: self.rows.rows(), classes: &self.classes, n_classes, weights: &self.weights, seed }
    }
}

/// Weights as whole numbers whose sum is below 2^53, so that every sum of them is exact, in whatever order it is taken.
/// The unit is a power of two: the largest that leaves them as they are, or about 2^-52 of their sum; what is below half a
/// unit then becomes 0.
pub(crate) fn whole_weights(weights: &[f64]) -> Vec<f64> {
    let up = 51 - libm::ilogb(weights.iter().sum());
    let fine: Vec<u64> = weights.iter().map(|&weight| libm::rint(libm::scalbn(weight, up)) as u64).collect();
    let down = fine.iter().fold(0, |bits, weight| bits | weight).trailing_zeros();
    fine.into_iter().map(|weight| (weight >> down) as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;

    #[test]
    fn weights_become_whole_and_keep_their_shares() {
        for scale in [1.0, 4.0, 0.125, 1e300_f64.log2().floor().exp2()] {
            assert_eq!(whole_weights(&[3.0, 0.0, 1.0].map(|weight| scale * weight)), [3.0, 0.0, 1.0]);
        }
        for scale in [1.0, 1e-300, 5e-324, 1e300] {
            let weights = [0.5 * scale, 0.0, 2.5 * scale, scale / 3.0];
            let whole = whole_weights(&weights);
            let (sum, total) = (weights.iter().sum::<f64>(), whole.iter().sum::<f64>());
            assert!(total < (1u64 << 53) as f64 && whole.iter().all(|weight| weight.fract() == 0.0), "{whole:?}");
            for (weight, whole) in weights.iter().zip(&whole) {
                assert!((weight / sum - whole / total).abs() < 1e-15, "{weight:e} {whole}");
            }
        }
    }

    #[test]
    fn what_is_no_number_is_refused_where_it_counts() {
        let rows = Dense::new(2, 2, vec![1.0, 2.0, 3.0, f64::NAN]).unwrap();
        let check = |weights: &[f64]| {
            rows_with_weight(&Sample { rows: &rows, classes: &[0, 1], n_classes: 2, weights, seed: 0 })
        };
        let error = check(&[1.0, 1.0]).unwrap_err().to_string();
        assert_eq!(error, "the training rows have NaN in row 2, feature 2, expected finite numbers");
        assert_eq!(check(&[1.0, 0.0]).unwrap(), [0]);
    }

    #[test]
    fn a_sample_that_makes_no_sense_is_refused() {
        let rows = Dense::new(2, 1, vec![0.0, 1.0]).unwrap();
        let check = |classes: &[u8], weights: &[f64]| {
            let sample = Sample { rows: &rows, classes, n_classes: 2, weights, seed: 0 };
            rows_with_weight(&sample).map_err(|error| error.to_string())
        };
        assert_eq!(check(&[0, 1], &[0.0, 2.0]), Ok(vec![1]));
        for (classes, weights, message) in [
            (&[0u8, 1][..], &[0.0, 0.0][..], "no row that counts"),
            (&[0, 1], &[1.0], "2 classes and 1 weights"),
            (&[0, 2], &[1.0, 1.0], "a class 2"),
            (&[0, 1], &[1.0, -1.0], "a weight of -1"),
            (&[0, 1], &[1.0, f64::NAN], "a weight of NaN"),
            (&[0, 1], &[f64::MAX, f64::MAX], "without a finite sum"),
        ] {
            let error = check(classes, weights).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
