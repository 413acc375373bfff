//! Out-of-bag estimates: what members say of the labeled rows that they did not learn from.

use crate::data::{Dense, Matrix, pieces};
use crate::ensemble::Ensemble;
use crate::error::Result;

/// The mean class probabilities of the members for which a row is out of bag, one row of them for each row; not a number where
/// every member has learned from the row. `draws` has for each member how often each row was drawn.
///
/// # Errors
/// If the members cannot see the rows.
pub(crate) fn out_of_bag(ensemble: &Ensemble, draws: &[Vec<u8>], rows: &Matrix) -> Result<Dense> {
    let n = rows.rows().n_rows();
    let mut sums = Dense::zeros(n, ensemble.n_classes())?;
    let mut counts = vec![0.0; n];
    // What all members say of all rows may be more than memory holds.
    for piece in pieces(n, (ensemble.n_members() * ensemble.n_classes() * size_of::<f64>()) as u64) {
        let first = piece.start;
        let some = rows.select(&piece.collect::<Vec<usize>>());
        ensemble.for_each_distribution(&some, &mut |i, member, probabilities| {
            if draws[member][first + i] == 0 {
                sums.row_mut(first + i).iter_mut().zip(probabilities).for_each(|(sum, p)| *sum += p);
                counts[first + i] += 1.0;
            }
        })?;
    }
    // Nothing over nothing is not a number.
    sums.rows_mut().zip(counts).for_each(|(sums, count)| sums.iter_mut().for_each(|sum| *sum /= count));
    Ok(sums)
}
