//! Nearest neighbours.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::data::{Csr, Dense, Matrix, Rows};
use crate::error::Result;
use crate::learner::base::BaseLearner;
use crate::learner::card::learner_settings;
use crate::learner::sample::{Subsample, rows_with_weight};
use crate::learner::{Learned, Sample, Shape};
use crate::neighbors::nearest_among;
use crate::observer::Watch;
use crate::tensor::{TensorReader, TensorWriter};

learner_settings! {
    /// k-nearest neighbours: a row has the class shares of the `k` training rows nearest to it, each with its weight. Of rows
    /// at the same distance the first ones are taken.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
    NearestNeighbors {
        /// Number of neighbours that vote; all rows, if there are fewer.
        k: usize = 5, in [1 ..];
    }
}

impl NearestNeighbors {
    /// Keeps the rows that have a weight.
    ///
    /// # Errors
    /// If the setting is out of its range, no row has a weight, or a value is not finite.
    pub fn fit(&self, sample: &Sample<'_>) -> Result<Neighbors> {
        self.validate()?;
        let Subsample { rows, classes, weights } = Subsample::gather(sample, &rows_with_weight(sample)?);
        let mut votes = Csr::empty(sample.n_classes);
        classes.iter().zip(weights).for_each(|(&class, weight)| votes.push_row([(usize::from(class), weight)]));
        Ok(Neighbors { k: self.k, rows, votes: votes.into() })
    }
}

learns!(NearestNeighbors => Neighbors);

impl BaseLearner for NearestNeighbors {
    const NAME: &'static str = "neighbors";
    const ABOUT: &'static str = "k-nearest neighbours: the class shares of the training rows nearest to a row";
}

/// Rows that vote for the classes of rows near to them.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbors {
    k: usize,
    rows: Matrix,
    /// The votes of each row, one column a class.
    votes: Matrix,
}

impl Neighbors {
    /// Rows of which the `k` nearest vote. Each has some vote, none of them negative.
    pub(crate) fn new(k: usize, rows: Matrix, votes: Matrix) -> Self {
        Neighbors { k, rows, votes }
    }

    /// Puts the parts together; none if they do not fit.
    pub(crate) fn from_parts(k: usize, rows: Matrix, votes: Matrix) -> Option<Self> {
        let n = rows.rows().n_rows();
        let total = |i: usize| {
            let (mut sum, mut sound) = (0.0, true);
            votes.rows().row(i).for_each(|_, vote| {
                sum += vote;
                sound &= vote >= 0.0;
            });
            if sound { sum } else { f64::NAN }
        };
        // Positive in each row, and finite in all together: no sum of them is 0 or infinite.
        let sound = k > 0 && n > 0 && votes.rows().n_rows() == n && (0..n).all(|i| total(i) > 0.0);
        (sound && (0..n).map(total).sum::<f64>().is_finite()).then_some(Neighbors { k, rows, votes })
    }

    /// The probability of each class for each row, one column a class.
    fn distributions_watched(&self, rows: &dyn Rows, watch: &Watch<'_>) -> Result<Dense> {
        // Some at a time: the neighbours of all would take more memory than the rows.
        const ROWS: usize = 1024;
        let n = rows.n_rows();
        let mut table = Dense::zeros(n, self.votes.rows().n_columns())?;
        for first in (0..n).step_by(ROWS) {
            let some: Vec<usize> = (first..n.min(first + ROWS)).collect();
            let some = Matrix::gather(rows, &some);
            let nearest = nearest_among(some.rows(), self.rows.rows(), self.k, watch)?;
            for (i, nearest) in nearest.into_iter().enumerate() {
                self.count(nearest.into_iter().map(|(j, _)| j), table.row_mut(first + i));
            }
        }
        Ok(table)
    }

    /// The share of each class among the votes of rows.
    fn count(&self, rows: impl Iterator<Item = usize>, to: &mut [f64]) {
        to.fill(0.0);
        rows.for_each(|i| self.votes.rows().row(i).for_each(|class, vote| to[class] += vote));
        let sum: f64 = to.iter().sum();
        to.iter_mut().for_each(|share| *share /= sum);
    }

    /// Number of neighbours that vote.
    pub fn k(&self) -> usize {
        self.k
    }

    /// The rows that vote.
    pub fn rows(&self) -> &Matrix {
        &self.rows
    }

    /// The votes of each, one column a class.
    pub fn votes(&self) -> &Matrix {
        &self.votes
    }
}

impl Learned for Neighbors {
    const NAME: &'static str = "neighbors";

    fn n_classes(&self) -> usize {
        self.votes.rows().n_columns()
    }

    fn distributions(&self, rows: &dyn Rows) -> Result<Dense> {
        self.distributions_watched(rows, &Watch::new(&mut ()))
    }

    fn store(&self, tensors: &mut TensorWriter<'_>) -> Value {
        tensors.write_rows("rows", &self.rows);
        tensors.write_rows("votes", &self.votes);
        json!({ "k": self.k, "rows": self.rows.rows().n_rows() })
    }

    fn load(description: Value, tensors: &TensorReader<'_>, shape: Shape) -> Option<Self> {
        let count = |name: &str| usize::try_from(description.get(name)?.as_u64()?).ok();
        let n = count("rows")?;
        let rows = tensors.matrix("rows", (n, shape.n_features))?;
        Neighbors::from_parts(count("k")?, rows, tensors.matrix("votes", (n, shape.n_classes))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Row;
    use crate::learner::scikit_learn::{assert_near, problems};
    use crate::neighbors::for_each_distance;
    use crate::random::{Purpose, Stream};

    /// One row at a time, the plain way.
    impl Neighbors {
        fn distribution(&self, row: Row<'_>, scratch: &mut [f64], to: &mut [f64]) {
            self.count(self.nearest(row, scratch), to);
        }

        /// The rows that are nearest, nearest first.
        fn nearest(&self, row: Row<'_>, scratch: &mut [f64]) -> impl Iterator<Item = usize> {
            let k = self.k.min(self.rows.rows().n_rows());
            let mut nearest: Vec<(f64, usize)> = Vec::with_capacity(k + 1);
            for_each_distance(row, self.rows.rows(), scratch, |i, squared| {
                if nearest.len() < k || nearest.last().is_some_and(|farthest| squared < farthest.0) {
                    let place = nearest.partition_point(|near| near.0 <= squared);
                    nearest.insert(place, (squared, i));
                    nearest.truncate(k);
                }
            });
            nearest.into_iter().map(|(_, i)| i)
        }
    }

    fn line(values: &[f64]) -> Dense {
        Dense::new(values.len(), 1, values.to_vec()).unwrap()
    }

    fn vote(neighbors: &Neighbors, x: f64) -> Vec<f64> {
        let mut to = vec![f64::NAN; neighbors.n_classes()];
        neighbors.distribution(Row::Dense(&[x]), &mut [0.0], &mut to);
        to
    }

    #[test]
    fn probabilities_are_scikit_learns() {
        for problem in problems() {
            let (rows, queries) = (problem.rows(), problem.queries());
            let weights = problem.weights(false);
            for expected in &problem.neighbors {
                let neighbors = NearestNeighbors { k: expected.k }.fit(&problem.sample(&rows, &weights)).unwrap();
                let mut found = vec![0.0; expected.probabilities.len()];
                for (i, to) in found.chunks_exact_mut(problem.n_classes).enumerate() {
                    neighbors.distribution(queries.row(i), &mut [0.0; 4], to);
                }
                assert_near(&found, &expected.probabilities, 1e-15);
            }
        }
    }

    #[test]
    fn the_nearest_vote_with_their_weights() {
        let rows = line(&[0.0, 1.0, 2.0, 3.0, 1.0]);
        let classes = [0, 1, 2, 1, 0];
        let fit = |k, weights: &[f64]| {
            NearestNeighbors { k }
                .fit(&Sample { rows: &rows, classes: &classes, n_classes: 3, weights, seed: 0 })
                .unwrap()
        };
        assert_eq!(vote(&fit(1, &[1.0; 5]), 0.4), [1.0, 0.0, 0.0]);
        assert_eq!(vote(&fit(3, &[1.0, 2.0, 5.0, 1.0, 1.0]), 1.2), [0.125, 0.25, 0.625]);
        // Row 2 and row 5 are equally far: the first one counts. So do rows 2 and 3 from the middle.
        assert_eq!(vote(&fit(1, &[1.0; 5]), 1.0), [0.0, 1.0, 0.0]);
        assert_eq!(vote(&fit(1, &[1.0; 5]), 1.5), [0.0, 1.0, 0.0]);
        // Without weight a row has no vote.
        assert_eq!(vote(&fit(1, &[1.0, 0.0, 1.0, 1.0, 1.0]), 1.0), [1.0, 0.0, 0.0]);
        assert_eq!(vote(&fit(99, &[1.0; 5]), 7.0), [0.4, 0.4, 0.2]);
        assert!(NearestNeighbors { k: 0 }.validate().is_err());
    }

    #[test]
    fn one_row_or_one_class_is_enough() {
        for values in [&[3.0][..], &[3.0, 4.0, 5.0]] {
            let rows = line(values);
            let (classes, weights) = (vec![1; values.len()], vec![0.3; values.len()]);
            let sample = Sample { rows: &rows, classes: &classes, n_classes: 2, weights: &weights, seed: 0 };
            assert_eq!(vote(&NearestNeighbors { k: 2 }.fit(&sample).unwrap(), 100.0), [0.0, 1.0]);
        }
    }

    #[test]
    fn sparse_rows_vote_the_same() {
        let problem = &problems()[2];
        let dense = problem.rows();
        let thin = dense.values().iter().enumerate().map(|(i, x)| if i % 3 == 0 { *x } else { 0.0 });
        let dense = Dense::new(dense.n_rows(), dense.n_columns(), thin.collect()).unwrap();
        let sparse = Matrix::from(dense.clone()).to_sparse();
        let weights = problem.weights(true);
        let sample = problem.sample(&dense, &weights);
        let from_dense = NearestNeighbors { k: 5 }.fit(&sample).unwrap();
        let from_sparse = NearestNeighbors { k: 5 }.fit(&Sample { rows: &sparse, ..sample }).unwrap();
        assert!(from_sparse.rows().is_sparse());
        let (mut scratch, mut a, mut b) = (vec![0.0; 4], vec![0.0; 3], vec![0.0; 3]);
        for i in 0..dense.n_rows() {
            from_dense.distribution(dense.row(i), &mut scratch, &mut a);
            from_sparse.distribution(sparse.row(i), &mut scratch, &mut b);
            assert_near(&a, &b, 1e-15);
            assert_eq!(scratch, [0.0; 4]);
        }
    }

    #[test]
    fn many_rows_at_once_vote_as_each_alone() {
        // Corners of a cube: many are equally far.
        let mut stream = Stream::new(5, Purpose::Split, 0);
        let mut corners =
            |n: usize| Dense::new(n, 9, (0..9 * n).map(|_| (2.0 * stream.unit()).floor()).collect()).unwrap();
        let (rows, queries) = (corners(700), corners(1100));
        let classes: Vec<u8> = (0..700).map(|i| (i * i % 7 % 3) as u8).collect();
        let weights: Vec<f64> = (0..700).map(|i| [1.0, 0.0, 2.5][i % 3]).collect();
        let sample = Sample { rows: &rows, classes: &classes, n_classes: 3, weights: &weights, seed: 0 };
        for k in [1, 5, 2000] {
            let neighbors = NearestNeighbors { k }.fit(&sample).unwrap();
            let together = neighbors.distributions(&queries).unwrap();
            let mut alone = vec![0.0; 3];
            for i in 0..1100 {
                neighbors.distribution(queries.row(i), &mut [0.0; 9], &mut alone);
                assert_eq!(together.get(i), alone, "row {i}, {k} neighbours");
            }
        }
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let put = |k, votes: &[f64]| {
            let votes = Dense::new(votes.len() / 2, 2, votes.to_vec()).unwrap();
            Neighbors::from_parts(k, line(&[0.0, 1.0]).into(), votes.into())
        };
        assert!(put(3, &[1.0, 0.0, 0.2, 0.8]).is_some());
        assert!(put(0, &[1.0, 0.0, 0.2, 0.8]).is_none());
        assert!(put(3, &[1.0, 0.0]).is_none());
        assert!(put(3, &[1.0, 0.0, 0.0, 0.0]).is_none());
        assert!(put(3, &[1.0, 0.0, -0.2, 0.8]).is_none());
        assert!(put(3, &[1e308, 1e308, 1e308, 1e308]).is_none());
    }
}
