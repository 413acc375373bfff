//! Distances, nearest neighbours and similarities of rows. What takes memory says how much before it takes it.

mod distance;
mod nearest;
mod similarity;

pub(crate) use distance::{distance_percentile, for_each_distance, squared_distance};
pub(crate) use nearest::{Nearest, Points, nearest, nearest_among, nearest_point};
pub(crate) use similarity::Similarity;

#[cfg(test)]
mod tests {
    use super::nearest::Query;
    use super::*;
    use crate::data::{Csr, Dense, Matrix, Rows};
    use crate::error::Hint;
    use crate::observer::Watch;
    use crate::random::{Purpose, Stream};

    fn line(values: &[f64]) -> Dense {
        Dense::new(values.len(), 1, values.to_vec()).unwrap()
    }

    #[test]
    fn the_nearest_point_is_the_first_of_the_nearest() {
        let mut stream = Stream::new(9, Purpose::Split, 0);
        for (n, l, d, levels, scale) in
            [(50, 7, 3, 3.0, 1.0), (300, 1100, 6, 2.0, 1.0), (200, 600, 20, 1e9, 1e3), (40, 30, 2, 4.0, 1e20)]
        {
            // With few levels, many points are equally near.
            let mut rows = |n: usize| {
                let value = |_| scale * (levels * stream.unit()).floor() / levels;
                Dense::new(n, d, (0..n * d).map(value).collect()).unwrap()
            };
            let (rows, points) = (rows(n), rows(l));
            let mut nobody = ();
            let watch = Watch::new(&mut nobody);
            let squared = |i: usize, k: usize| squared_distance(rows.row(i), points.row(k));
            let first = |i: usize| (1..l).fold(0, |best, k| if squared(i, k) < squared(i, best) { k } else { best });
            let expected: Vec<usize> = (0..n).map(first).collect();
            assert_eq!(nearest_point(&rows, &points, &watch).unwrap(), expected, "{n} {l} {d}");
            for k in [1, 5, l + 1] {
                let found = nearest_among(&rows, &points, k, &watch).unwrap();
                let query = Query { rows: &rows, points: &points, k: k.min(l), themselves: false };
                assert!(found == query.answer_by_all(&watch).unwrap(), "{k} nearest of {l} to {n} rows of {d}");
                let kept = Points::new(points.clone());
                assert!(found == kept.nearest(&rows, k, &watch).unwrap(), "{l} points kept");
                let few = kept.nearest(&rows.select(&[0, 1, 2]), k, &watch).unwrap();
                assert!(found[..3] == few, "{l} points kept, few rows");
                let found = nearest(&points, k, &watch).unwrap();
                let query = Query { rows: &points, points: &points, k: k.min(l - 1), themselves: true };
                assert!(found == query.answer_by_all(&watch).unwrap(), "{k} nearest others of {l} rows of {d}");
            }
        }
    }

    #[test]
    fn sparse_and_dense_distances_agree() {
        let dense = Dense::new(2, 4, vec![1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 2.5, 0.0]).unwrap();
        let sparse = Matrix::from(dense.clone()).to_sparse();
        let expected = squared_distance(dense.row(0), dense.row(1));
        assert_eq!(expected, 1.0 + 9.0 + 0.25);
        assert_eq!(squared_distance(sparse.row(0), sparse.row(1)), expected);
        assert_eq!(squared_distance(sparse.row(0), dense.row(1)), expected);
    }

    #[test]
    fn distances_to_all_rows_are_those_to_each() {
        let dense = Dense::new(3, 4, vec![1.0, 0.0, 2.0, 0.0, 0.0, 3.0, 2.5, 0.0, 0.0, 0.0, 0.0, 0.1]).unwrap();
        let sparse = Matrix::from(dense.clone()).to_sparse();
        let mut scratch = vec![0.0; 4];
        for i in 0..3 {
            for rows in [&dense as &dyn Rows, &sparse] {
                for_each_distance(rows.row(i), rows, &mut scratch, |j, squared| {
                    let expected = squared_distance(dense.row(i), dense.row(j));
                    assert!((squared - expected).abs() < 1e-12, "{squared} against {expected}");
                });
            }
        }
        assert_eq!(scratch, [0.0; 4]);
    }

    #[test]
    fn nearest_rows_come_first() {
        let found = nearest(&line(&[0.0, 10.0, 1.0, 3.0]), 2, &Watch::new(&mut ())).unwrap();
        assert_eq!(found[0], [(2, 1.0), (3, 9.0)]);
        assert_eq!(found[1], [(3, 49.0), (2, 81.0)]);
        assert!(found.iter().all(|neighbours| neighbours.capacity() == 2), "no more room than they take");
        assert_eq!(nearest(&line(&[0.0, 1.0]), 9, &Watch::new(&mut ())).unwrap()[0].len(), 1);
    }

    fn percentile(rows: &Dense, percentile: f64) -> f64 {
        distance_percentile(rows, percentile, 0, &Watch::new(&mut ())).unwrap()
    }

    #[test]
    fn percentiles_of_distances() {
        let rows = line(&[0.0, 1.0, 3.0]);
        assert_eq!(percentile(&rows, 0.0), 1.0);
        assert_eq!(percentile(&rows, 50.0), 2.0);
        assert_eq!(percentile(&rows, 100.0), 3.0);
        assert_eq!(percentile(&line(&[5.0, 5.0, 5.0, 5.0, 6.0]), 1.0), 1.0);
        assert_eq!(percentile(&line(&[5.0, 5.0]), 1.0), 0.0);
    }

    #[test]
    fn a_graph_of_all_neighbours_is_the_whole_matrix() {
        let rows = line(&[0.0, 1.0, 3.0, 3.5, 7.0]);
        let all = Similarity::All.matrix(&rows, 2, 2.0, u64::MAX, &Watch::new(&mut ())).unwrap();
        let graph = Similarity::Nearest(4).matrix(&rows, 2, 2.0, u64::MAX, &Watch::new(&mut ())).unwrap();
        assert!(graph.is_sparse());
        assert_eq!(all.to_dense().unwrap(), graph.to_dense().unwrap());
    }

    #[test]
    fn too_much_memory_is_refused_before_it_is_taken() {
        let rows = Csr::new(1, vec![0; 1_000_001], vec![], vec![]).unwrap();
        let error = Similarity::All.matrix(&rows, 0, 1.0, 1 << 30, &Watch::new(&mut ())).unwrap_err();
        assert!(error.to_string().contains("GiB"), "{error}");
        assert_eq!(error.hint(), Some(&Hint::Similarities));
    }
}
