//! Bootstraps of the labeled rows, and logistic regressions fitted to them.

use crate::ensemble::training_rows::Head;
use crate::ensemble::{Members, TrainingRows};
use crate::error::{Hint, Result};
use crate::learner::{Batch, Logistic};
use crate::memory::{check_memory, half_of_memory};
use crate::observer::Watch;
use crate::parallel;
use crate::random::{Purpose, Stream};

/// Fits logistic regressions to bootstraps of the labeled rows, the same bootstraps for each head.
pub(crate) fn bootstrapped(
    prepared: &TrainingRows,
    total: usize,
    lambda: f64,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Vec<Members>> {
    let counts = bootstraps(&prepared.codes, seed, total)?;
    let all = total * prepared.heads.len();
    let fit = |(place, head): (usize, &Head)| {
        let batch = Batch {
            learner: Logistic::new(lambda),
            rows: prepared.labeled.rows(),
            targets: &head.targets,
            counts: &counts,
            weights: &prepared.weights,
            start: &head.logistic,
            before: (place * total, all),
        };
        Ok(Members::from_rows(&batch.fit(watch)?))
    };
    prepared.heads.iter().enumerate().map(fit).collect()
}

/// How often each row is drawn, for each of `total` members.
pub(crate) fn bootstraps(classes: &[u8], seed: u64, total: usize) -> Result<Vec<Vec<u8>>> {
    let bytes = (classes.len() as u64).saturating_mul(total as u64);
    let what = || format!("{total} bootstraps of {} labeled rows", classes.len());
    check_memory(bytes, half_of_memory(), Hint::Members, what)?;
    Ok(parallel::map(total, |member| bootstrap(classes, seed, member as u32)))
}

/// A bootstrap: how often each row is drawn. Bootstraps of a single class are redrawn.
pub(crate) fn bootstrap(classes: &[u8], seed: u64, member: u32) -> Vec<u8> {
    let mut stream = Stream::new(seed, Purpose::Bootstrap, member);
    loop {
        let mut counts = vec![0u8; classes.len()];
        for _ in classes {
            // More than 255 draws of one row are less likely than a hardware error.
            let count = &mut counts[stream.below(classes.len())];
            *count = count.saturating_add(1);
        }
        if has_two_classes(classes, &counts) {
            return counts;
        }
    }
}

/// Whether rows of more than one class have a positive count or weight.
pub(crate) fn has_two_classes<T: Default + PartialOrd>(classes: &[u8], counts: &[T]) -> bool {
    let mut counted = classes.iter().zip(counts).filter(|(_, count)| **count > T::default()).map(|(class, _)| class);
    let first = counted.next();
    counted.any(|class| Some(class) != first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bootstrap_has_both_classes() {
        let mut classes = vec![0; 30];
        classes[7] = 1;
        for member in 0..200 {
            let counts = bootstrap(&classes, 5, member);
            assert!(counts[7] > 0);
            assert_eq!(counts.iter().map(|&count| u32::from(count)).sum::<u32>(), 30);
        }
    }
}
