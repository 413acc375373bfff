//! Bootstraps of the labeled rows, and logistic regressions fitted to them.

use std::collections::BTreeMap;

use crate::ensemble::training_rows::Head;
use crate::ensemble::{Members, TrainingRows};
use crate::error::{Error, Hint, Result};
use crate::learner::{Batch, Logistic};
use crate::memory::{check_memory, half_of_memory};
use crate::observer::Watch;
use crate::parallel;
use crate::random::{Purpose, Stream};

/// Fits logistic regressions to bootstraps of the labeled rows, the same bootstraps for each head.
pub(crate) fn bootstrapped(
    prepared: &TrainingRows,
    draws: &[Vec<u8>],
    lambda: f64,
    watch: &Watch<'_>,
) -> Result<Vec<Members>> {
    let all = draws.len() * prepared.heads.len();
    let fit = |(place, head): (usize, &Head)| {
        let batch = Batch {
            learner: Logistic::new(lambda),
            rows: prepared.labeled.rows(),
            targets: &head.targets,
            counts: draws,
            weights: &prepared.weights,
            start: &head.logistic,
            before: (place * draws.len(), all),
        };
        Ok(Members::from_rows(&batch.fit(watch)?))
    };
    prepared.heads.iter().enumerate().map(fit).collect()
}

/// How often each row is drawn, for each of `total` members.
pub(crate) fn bootstraps(classes: &[u8], seed: u64, total: usize) -> Result<Vec<Vec<u8>>> {
    check_bootstraps(classes.len(), total)?;
    Ok(parallel::map(total, |member| bootstrap(classes, seed, member as u32)))
}

/// The bootstraps of bagging, of tri-training and of the initial members of UDEED: how often each labeled row, given by the
/// number of its class, is drawn for each of `total` members.
///
/// # Errors
/// If all rows are of one class, which is drawn again and again, or the bootstraps do not fit into memory.
///
/// ```
/// let draws = udeed::ensemble::draw_bootstraps(&[0, 0, 1], 7, 20)?;
/// assert!(draws.iter().all(|draw| draw[2] > 0 && draw.iter().sum::<u8>() == 3));
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn draw_bootstraps(classes: &[u8], seed: u64, total: usize) -> Result<Vec<Vec<u8>>> {
    if !has_two_classes(classes, &vec![1; classes.len()]) {
        return Err(Error::training("labels of one class only", "at least two classes"));
    }
    bootstraps(classes, seed, total)
}

/// Refuses more bootstraps than fit into half of the memory.
fn check_bootstraps(n_labeled: usize, total: usize) -> Result<()> {
    let bytes = (n_labeled as u64).saturating_mul(total as u64);
    let what = || format!("{total} bootstraps of {n_labeled} labeled rows");
    check_memory(bytes, half_of_memory(), Hint::Members, what)
}

/// A bootstrap: how often each row is drawn. Bootstraps of a single class are redrawn.
pub(crate) fn bootstrap(classes: &[u8], seed: u64, member: u32) -> Vec<u8> {
    let mut stream = Stream::new(seed, Purpose::Bootstrap, member);
    loop {
        let mut counts = vec![0u8; classes.len()];
        draw(classes.len(), |i| i, &mut counts, &mut stream);
        if has_two_classes(classes, &counts) {
            return counts;
        }
    }
}

/// As [`bootstraps`], in which every rare class keeps its number of rows: without it, many a bootstrap would hold a single row
/// of a class of few, or none. Where no class is rare the draws are the same.
pub(crate) fn stratified_bootstraps(classes: &[u8], seed: u64, total: usize) -> Result<Vec<Vec<u8>>> {
    let rare = rare_classes(classes);
    if rare.is_empty() {
        return bootstraps(classes, seed, total);
    }
    check_bootstraps(classes.len(), total)?;
    let strata = strata(classes, &rare);
    Ok(parallel::map(total, |member| {
        let mut stream = Stream::new(seed, Purpose::Bootstrap, member as u32);
        let mut counts = vec![0u8; classes.len()];
        for stratum in &strata {
            draw(stratum.len(), |i| stratum[i], &mut counts, &mut stream);
        }
        counts
    }))
}

/// Bootstraps as `draw` makes them of the classes of rows, in which copies of a row are drawn together or not at all: the row
/// is out of bag only for members that do not know it.
pub(crate) fn bootstraps_of_distinct(
    prepared: &TrainingRows,
    draw: impl Fn(&[u8]) -> Result<Vec<Vec<u8>>>,
) -> Result<Vec<Vec<u8>>> {
    let Some(copies) = &prepared.copies else { return draw(&prepared.codes) };
    let classes: Vec<u8> = copies.distinct().into_iter().map(|i| prepared.codes[i]).collect();
    Ok(copies.together(&draw(&classes)?))
}

/// Draws `n` of `n` rows with replacement; `row` gives each of them by its place.
fn draw(n: usize, row: impl Fn(usize) -> usize, counts: &mut [u8], stream: &mut Stream) {
    for _ in 0..n {
        // More than 255 draws of one row are less likely than a hardware error.
        let count = &mut counts[row(stream.below(n))];
        *count = count.saturating_add(1);
    }
}

/// The classes with so few labeled rows that a bootstrap may miss them, and less than half of an equal share.
fn rare_classes(classes: &[u8]) -> Vec<u8> {
    /// Of more rows, nine in ten bootstraps draw at least two thirds.
    const FEW: usize = 15;
    let mut counts = BTreeMap::new();
    classes.iter().for_each(|&class| *counts.entry(class).or_insert(0usize) += 1);
    let equal = classes.len() / counts.len().max(1);
    counts.into_iter().filter(|&(_, count)| count < FEW && 2 * count < equal).map(|(class, _)| class).collect()
}

/// The rows of each rare class, and all others.
fn strata(classes: &[u8], rare: &[u8]) -> Vec<Vec<usize>> {
    let mut strata = vec![Vec::new(); rare.len() + 1];
    for (i, class) in classes.iter().enumerate() {
        strata[rare.iter().position(|other| other == class).unwrap_or(rare.len())].push(i);
    }
    strata
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
    fn rare_classes_keep_their_number() {
        let mut classes = vec![0; 60];
        [3, 20, 41].into_iter().for_each(|i| classes[i] = 1);
        let draws = stratified_bootstraps(&classes, 5, 100).unwrap();
        for draw in &draws {
            let rare = draw.iter().zip(&classes).filter(|(_, class)| **class == 1).map(|(&n, _)| u32::from(n));
            assert_eq!(rare.sum::<u32>(), 3);
            assert_eq!(draw.iter().map(|&n| u32::from(n)).sum::<u32>(), 60);
        }
        assert!(draws.iter().any(|draw| draw[3] == 0), "every row is out of some bag");
        // One in three is not rare.
        let common: Vec<u8> = (0..60).map(|i| u8::from(i % 3 == 0)).collect();
        assert_eq!(stratified_bootstraps(&common, 5, 9).unwrap(), bootstraps(&common, 5, 9).unwrap());
    }

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
