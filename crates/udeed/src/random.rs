//! Random numbers: independent ChaCha streams of one random seed.
//!
//! A stream is identified by its [`Purpose`] and an index (a split, a member), so that member 7 of an ensemble draws the
//! same rows whether 20 or 100 members are fitted, on whichever thread. Bounded integers and floats are computed here
//! from raw ChaCha words, not by `rand`'s distributions, so that a seed means the same in every release.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// What a random stream is used for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    Bootstrap = 1,
    RandomStart = 2,
    Split = 3,
    Folds = 4,
    Boosting = 5,
    Pairs = 6,
    SplitFeatures = 7,
    CoForest = 8,
    View = 9,
    Spectral = 10,
    Landmarks = 12,
    Members = 13,
    FourierRows = 16,
    FourierFrequencies = 17,
    FourierPhases = 18,
    Candidates = 19,
    RandomRows = 20,
    LabeledRows = 21,
    Forecast = 22,
    Questions = 23,
    Resample = 24,
}

/// A random stream.
pub(crate) struct Stream(ChaCha8Rng);

impl Stream {
    pub(crate) fn new(seed: u64, purpose: Purpose, index: u32) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream((purpose as u64) << 32 | u64::from(index));
        Stream(rng)
    }

    /// A uniform integer in `0..bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        debug_assert!(bound > 0);
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A uniform number in `[0, 1)`.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Two independent standard normal numbers, by the Box-Muller transform.
    pub(crate) fn normals(&mut self) -> [f64; 2] {
        // 1 - unit is never 0, whose logarithm is infinite.
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        let (sine, cosine) = libm::sincos(std::f64::consts::TAU * self.unit());
        [radius * cosine, radius * sine]
    }

    /// A random seed for work with streams of its own, such as the fits on one split.
    pub(crate) fn seed(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Shuffles items (Fisher-Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}

/// The random seed of a member's base learner. Ensembles with consecutive seeds share no member seed.
pub(crate) fn member_seed(seed: u64, member: usize) -> u64 {
    Stream::new(seed, Purpose::Members, 0).seed().wrapping_add(member as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_for_ever() {
        let mut stream = Stream::new(7, Purpose::Bootstrap, 0);
        let drawn: Vec<usize> = (0..8).map(|_| stream.below(1000)).collect();
        assert_eq!(drawn, FIRST_DRAWS, "a saved seed must mean the same in every release");
    }

    #[test]
    fn streams_differ_by_purpose_index_and_seed() {
        let first = |seed, purpose, index| Stream::new(seed, purpose, index).below(usize::MAX);
        let a = first(1, Purpose::Bootstrap, 0);
        assert_ne!(a, first(1, Purpose::Bootstrap, 1));
        assert_ne!(a, first(1, Purpose::Split, 0));
        assert_ne!(a, first(2, Purpose::Bootstrap, 0));
    }

    #[test]
    fn ensembles_whose_seeds_follow_one_another_have_other_members() {
        let seeds = |seed: u64| (0..100).map(move |member| member_seed(seed, member));
        assert!(seeds(0).all(|of_one| seeds(1).chain(seeds(u64::MAX)).all(|of_other| of_one != of_other)));
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..50).collect();
        Stream::new(1, Purpose::Split, 0).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn normals_have_the_moments_of_the_normal_distribution() {
        let mut stream = Stream::new(3, Purpose::FourierFrequencies, 0);
        let drawn: Vec<f64> = (0..100_000).flat_map(|_| stream.normals()).collect();
        let moment = |power: i32| drawn.iter().map(|x| x.powi(power)).sum::<f64>() / drawn.len() as f64;
        assert!(moment(1).abs() < 0.01, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.02, "{}", moment(2));
        assert!(moment(3).abs() < 0.05, "{}", moment(3));
        assert!((moment(4) - 3.0).abs() < 0.1, "{}", moment(4));
        let products = drawn.chunks_exact(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        assert!(products.abs() / 1e5 < 0.02, "{products}");
    }

    const FIRST_DRAWS: [usize; 8] = [124, 143, 139, 253, 710, 911, 963, 142];
}
