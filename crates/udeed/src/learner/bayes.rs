//! Naive Bayes.

use std::f64::consts::TAU;

use serde_json::Value;

use crate::data::{Dense, Row, Rows, fill_rows};
use crate::error::{Error, Hint, Result};
use crate::learner::base::BaseLearner;
use crate::learner::sample::{rows_with_weight, whole_weights};
use crate::learner::{Learned, Sample, Shape};
use crate::tensor::{Tensor, TensorReader, TensorWriter};

/// Gaussian naive Bayes: each feature is normally distributed in each class, as in scikit-learn's `GaussianNB`. Variances are
/// smoothed by 1e-9 of the largest variance of a feature. A class without rows of a weight has probability 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GaussianBayes;

impl GaussianBayes {
    /// Smoothing: what is added to every variance, as a share of the largest.
    pub const SMOOTHING: f64 = 1e-9;

    /// Learns the prior probability of each class, and means and variances in it.
    ///
    /// # Errors
    /// If no row has a weight, or a value or the square of one is not finite.
    pub fn fit(&self, sample: &Sample<'_>) -> Result<Bayes> {
        let rows = rows_with_weight(sample)?;
        let weights = whole_weights(sample.weights);
        let (d, n_classes) = (sample.rows.n_columns(), sample.n_classes);
        // Calls `visit` with the place of each stored value's mean and variance, the value, and its weight.
        let for_each = |visit: &mut dyn FnMut(usize, f64, f64)| {
            for &i in &rows {
                let first = usize::from(sample.classes[i]) * d;
                sample.rows.row(i).for_each(|j, x| visit(first + j, x, weights[i]));
            }
        };
        let mut totals = vec![0.0; n_classes];
        rows.iter().for_each(|&i| totals[usize::from(sample.classes[i])] += weights[i]);
        // A class without rows has mean 0 and variance 0.
        let total_at = |place: usize| if totals[place / d] > 0.0 { totals[place / d] } else { 1.0 };
        let (mut means, mut stored) = (vec![0.0; n_classes * d], vec![0.0; n_classes * d]);
        for_each(&mut |place, x, weight| {
            means[place] += weight * x;
            stored[place] += weight;
        });
        means.iter_mut().enumerate().for_each(|(place, mean)| *mean /= total_at(place));
        // What is not stored is as far from the mean as zero is.
        let apart = |place: usize| (totals[place / d] - stored[place]) * means[place] * means[place];
        let mut variances: Vec<f64> = (0..n_classes * d).map(apart).collect();
        for_each(&mut |place, x, weight| variances[place] += weight * (x - means[place]) * (x - means[place]));
        variances.iter_mut().enumerate().for_each(|(place, variance)| *variance /= total_at(place));
        let smoothing = smoothing(&totals, &means, &variances);
        variances.iter_mut().for_each(|variance| *variance += smoothing);
        if let Some(place) = variances.iter().position(|variance| !variance.is_finite()) {
            let found = format!("numbers in feature {} whose variance is beyond all numbers", place % d + 1);
            return Err(Error::training(found, "smaller numbers").with_hint(Hint::LargeCell));
        }
        let total: f64 = totals.iter().sum();
        Ok(Bayes::new(totals.iter().map(|weight| weight / total).collect(), means, variances))
    }
}

learns!(GaussianBayes => Bayes);

impl BaseLearner for GaussianBayes {
    const NAME: &'static str = "bayes";
    const ABOUT: &'static str = "Gaussian naive Bayes: each feature is normally distributed in each class";
}

/// Smoothing, which is added to every variance: a small share of the largest variance of a feature over all classes. Where no
/// feature varies any number does, as then only the shares of the classes tell them apart.
fn smoothing(totals: &[f64], means: &[f64], variances: &[f64]) -> f64 {
    let d = means.len() / totals.len();
    let total: f64 = totals.iter().sum();
    let variance = |j: usize| {
        let mean: f64 =
            totals.iter().zip(means[j..].iter().step_by(d)).map(|(weight, mean)| weight / total * mean).sum();
        let of_class = |(k, weight): (usize, &f64)| {
            let apart = means[k * d + j] - mean;
            weight / total * (variances[k * d + j] + apart * apart)
        };
        // A class without rows has no part in it, and would make of infinity what is no number.
        totals.iter().enumerate().filter(|(_, weight)| **weight > 0.0).map(of_class).sum::<f64>()
    };
    let smoothing = GaussianBayes::SMOOTHING * (0..d).map(variance).fold(0.0, f64::max);
    if smoothing > 0.0 { smoothing } else { 1.0 }
}

/// Classes with a normal distribution for each feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Bayes {
    priors: Vec<f64>,
    means: Vec<f64>,
    variances: Vec<f64>,
    /// For each class the logarithm of its share and of the height of its densities.
    heights: Vec<f64>,
}

impl Bayes {
    fn new(priors: Vec<f64>, means: Vec<f64>, variances: Vec<f64>) -> Self {
        let d = means.len() / priors.len();
        let height = |(k, &prior): (usize, &f64)| {
            let widths: f64 = variances[k * d..][..d].iter().map(|variance| libm::log(TAU * variance)).sum();
            libm::log(prior) - 0.5 * widths
        };
        let heights = priors.iter().enumerate().map(height).collect();
        Bayes { priors, means, variances, heights }
    }

    /// Puts the parts together; none if they do not fit.
    pub(crate) fn from_parts(priors: Vec<f64>, means: Vec<f64>, variances: Vec<f64>) -> Option<Self> {
        let sound = !priors.is_empty()
            && means.len().is_multiple_of(priors.len())
            && variances.len() == means.len()
            && priors.iter().all(|prior| (0.0..=1.0).contains(prior))
            && means.iter().all(|mean| mean.is_finite())
            && variances.iter().all(|&variance| variance > 0.0 && variance.is_finite());
        sound.then(|| Bayes::new(priors, means, variances))
    }

    /// Writes the probability of each class for a row. `scratch` is as long as the row is wide and all zero, before and after.
    fn distribution(&self, row: Row<'_>, scratch: &mut [f64], to: &mut [f64]) {
        match row {
            Row::Dense(values) => self.distribution_of(values, to),
            Row::Sparse { .. } => {
                row.copy_to(scratch);
                self.distribution_of(scratch, to);
                row.for_each(|j, _| scratch[j] = 0.0);
            }
        }
    }

    fn distribution_of(&self, values: &[f64], to: &mut [f64]) {
        let d = values.len();
        for (k, to) in to.iter_mut().enumerate() {
            let (means, variances) = (&self.means[k * d..][..d], &self.variances[k * d..][..d]);
            let apart = |((x, mean), variance): ((&f64, &f64), &f64)| (x - mean) * (x - mean) / variance;
            let far: f64 = values.iter().zip(means).zip(variances).map(apart).sum();
            *to = self.heights[k] - 0.5 * far;
        }
        let largest = to.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !largest.is_finite() {
            // So far away that the densities of all classes are nothing: only their shares are known.
            to.copy_from_slice(&self.priors);
            return;
        }
        to.iter_mut().for_each(|p| *p = if p.is_nan() { 0.0 } else { libm::exp(*p - largest) });
        let sum: f64 = to.iter().sum();
        to.iter_mut().for_each(|p| *p /= sum);
    }

    /// Number of classes.
    pub fn n_classes(&self) -> usize {
        self.priors.len()
    }

    /// The prior probability of each class.
    pub(crate) fn priors(&self) -> &[f64] {
        &self.priors
    }

    /// For each class the means, the variances, and the logarithm of its share and of the height of its densities.
    pub(crate) fn classes(&self) -> impl Iterator<Item = (&[f64], &[f64], f64)> {
        let d = self.means.len() / self.priors.len();
        let of_class =
            move |(k, &height): (usize, &f64)| (&self.means[k * d..][..d], &self.variances[k * d..][..d], height);
        self.heights.iter().enumerate().map(of_class)
    }
}

impl Learned for Bayes {
    const NAME: &'static str = "bayes";

    fn n_classes(&self) -> usize {
        self.n_classes()
    }

    fn distributions(&self, rows: &dyn Rows) -> Result<Dense> {
        fill_rows(rows, self.n_classes(), |row, scratch, to| self.distribution(row, scratch, to))
    }

    fn store(&self, tensors: &mut TensorWriter<'_>) -> Value {
        tensors.write("priors", Tensor::vector(&self.priors));
        tensors.write("means", Tensor::vector(&self.means));
        tensors.write("variances", Tensor::vector(&self.variances));
        Value::Null
    }

    fn load(_: Value, tensors: &TensorReader<'_>, shape: Shape) -> Option<Self> {
        let [priors, means, variances] = ["priors", "means", "variances"].map(|name| tensors.vector(name));
        let bayes = Bayes::from_parts(priors?, means?, variances?)?;
        let fits = bayes.n_classes() == shape.n_classes
            && Some(bayes.means.len()) == shape.n_classes.checked_mul(shape.n_features);
        fits.then_some(bayes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dense, Matrix, Rows};
    use crate::learner::scikit_learn::{assert_near, problems};

    fn of_row(bayes: &Bayes, row: Row<'_>, d: usize) -> Vec<f64> {
        let (mut scratch, mut to) = (vec![0.0; d], vec![f64::NAN; bayes.n_classes()]);
        bayes.distribution(row, &mut scratch, &mut to);
        assert_eq!(scratch, vec![0.0; d]);
        to
    }

    #[test]
    fn probabilities_are_scikit_learns() {
        for problem in problems() {
            let (rows, queries) = (problem.rows(), problem.queries());
            for weighted in [false, true] {
                let weights = problem.weights(weighted);
                let bayes = GaussianBayes.fit(&problem.sample(&rows, &weights)).unwrap();
                let found: Vec<f64> = (0..queries.n_rows()).flat_map(|i| of_row(&bayes, queries.row(i), 4)).collect();
                // scikit-learn takes the largest variance without the weights, of which 1e-9 is added.
                let most = if weighted { 1e-8 } else { 1e-12 };
                assert_near(&found, &problem.bayes[usize::from(weighted)], most);
            }
        }
    }

    #[test]
    fn a_weight_is_a_row_repeated_and_no_weight_is_no_row() {
        for problem in problems() {
            let rows = Matrix::from(problem.rows());
            let n = problem.classes.len();
            let weights: Vec<f64> = (0..n).map(|i| (i % 3) as f64).collect();
            let times: Vec<usize> = (0..n).flat_map(|i| vec![i; i % 3]).collect();
            let repeated = rows.select(&times);
            let classes: Vec<u8> = times.iter().map(|&i| problem.classes[i]).collect();
            let (n_classes, ones) = (problem.n_classes, vec![1.0; times.len()]);
            let once = Sample { rows: rows.rows(), classes: &problem.classes, n_classes, weights: &weights, seed: 0 };
            let often = Sample { rows: repeated.rows(), classes: &classes, n_classes, weights: &ones, seed: 0 };
            let (once, often) = (GaussianBayes.fit(&once).unwrap(), GaussianBayes.fit(&often).unwrap());
            assert_near(&once.priors, &often.priors, 1e-15);
            assert_near(&once.means, &often.means, 1e-14);
            assert_near(&once.variances, &often.variances, 1e-14);
        }
    }

    #[test]
    fn sparse_rows_give_the_same() {
        let problem = &problems()[3];
        let thin = problem.rows().into_values().into_iter().enumerate().map(|(i, x)| if i % 3 == 0 { x } else { 0.0 });
        let dense = Dense::new(problem.classes.len(), 4, thin.collect()).unwrap();
        let sparse = Matrix::from(dense.clone()).to_sparse();
        let weights = problem.weights(true);
        let sample = problem.sample(&dense, &weights);
        let from_dense = GaussianBayes.fit(&sample).unwrap();
        let from_sparse = GaussianBayes.fit(&Sample { rows: &sparse, ..sample }).unwrap();
        assert_near(&from_dense.means, &from_sparse.means, 1e-15);
        assert_near(&from_dense.variances, &from_sparse.variances, 1e-15);
        for i in 0..dense.n_rows() {
            assert_eq!(of_row(&from_dense, dense.row(i), 4), of_row(&from_dense, sparse.row(i), 4));
        }
    }

    #[test]
    fn nothing_that_varies_is_no_trouble() {
        let fit = |values: &[f64], classes: &[u8]| {
            let rows = Dense::new(classes.len(), values.len() / classes.len(), values.to_vec()).unwrap();
            let weights = vec![1.0; classes.len()];
            GaussianBayes.fit(&Sample { rows: &rows, classes, n_classes: 3, weights: &weights, seed: 0 })
        };
        // A mean whose square is not finite, and deviations from one.
        for huge in [[1e200, 1e200, 0.0], [1e200, -1e200, 0.0], [0.0, 0.0, 1e300]] {
            let error = fit(&huge, &[0, 0, 1]).unwrap_err();
            assert!(error.to_string().contains("feature 1 whose variance is beyond all numbers"), "{error}");
        }
        let fit = |values: &[f64], classes: &[u8]| fit(values, classes).unwrap();
        // All rows alike: the shares are left, wherever a row is.
        let alike = fit(&[5.0; 8], &[0, 0, 0, 2]);
        for row in [[5.0, 5.0], [0.0, 9.0], [1e200, -1e200]] {
            assert_near(&of_row(&alike, Row::Dense(&row), 2), &[0.75, 0.0, 0.25], 1e-15);
        }
        // One feature is constant, and in each class the other is, too.
        let steps = fit(&[7.0, 0.0, 7.0, 0.0, 7.0, 1.0], &[0, 0, 1]);
        assert_eq!(of_row(&steps, Row::Dense(&[7.0, 0.2]), 2), [1.0, 0.0, 0.0]);
        assert_eq!(of_row(&steps, Row::Dense(&[7.0, 0.9]), 2), [0.0, 1.0, 0.0]);
        // One row, one class, no features.
        assert_eq!(of_row(&fit(&[3.0], &[1]), Row::Dense(&[-8.0]), 1), [0.0, 1.0, 0.0]);
        assert_eq!(of_row(&fit(&[3.0, 9.0], &[1, 1]), Row::Dense(&[-8.0]), 1), [0.0, 1.0, 0.0]);
        assert_eq!(of_row(&fit(&[], &[1, 2]), Row::Dense(&[]), 0), [0.0, 0.5, 0.5]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let put = |priors: &[f64], means: &[f64], variances: &[f64]| {
            Bayes::from_parts(priors.to_vec(), means.to_vec(), variances.to_vec())
        };
        assert!(put(&[0.5, 0.5], &[1.0, 2.0], &[1.0, 1.0]).is_some());
        assert!(put(&[], &[], &[]).is_none());
        assert!(put(&[0.5, 0.5], &[1.0], &[1.0]).is_none());
        assert!(put(&[0.5, 0.5], &[1.0, 2.0], &[1.0, 0.0]).is_none());
        assert!(put(&[0.5, 0.5], &[1.0, 2.0], &[1.0, f64::INFINITY]).is_none());
        assert!(put(&[0.5, -0.5], &[1.0, 2.0], &[1.0, 1.0]).is_none());
    }
}
