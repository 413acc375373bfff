//! Rounds: when the unlabeled rows got their pseudo-labels, and from which members.

/// When each unlabeled row got its first pseudo-label that a member learned from, and who gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LabelRounds {
    /// The round, from 1 on; 0 for a row that never got one.
    pub(crate) rounds: Vec<u32>,
    /// The members that gave it, a bit for each; none where it is not the work of single members.
    pub(crate) by: Option<Vec<u8>>,
}

impl LabelRounds {
    /// No row has a pseudo-label.
    pub(crate) fn new(n_unlabeled: usize) -> Self {
        LabelRounds { rounds: vec![0; n_unlabeled], by: None }
    }

    /// The same, where single members, eight at most, give labels.
    pub(crate) fn by_members(n_unlabeled: usize) -> Self {
        LabelRounds { by: Some(vec![0; n_unlabeled]), ..LabelRounds::new(n_unlabeled) }
    }

    /// An unlabeled row, counted from 0 among these, gets a pseudo-label in a round, counted from 0. The first label counts, and
    /// all members that give it in this round.
    pub(crate) fn note(&mut self, row: usize, round: usize, members: &[usize]) {
        let round = u32::try_from(round + 1).unwrap_or(u32::MAX);
        if self.rounds[row] == 0 {
            self.rounds[row] = round;
        }
        if let Some(by) = self.by.as_mut().filter(|_| self.rounds[row] == round) {
            members.iter().for_each(|member| by[row] |= 1 << member);
        }
    }

    /// In a round, counted from 0, a member learns from the unlabeled rows that have a weight.
    pub(crate) fn note_weights(&mut self, round: usize, weights: &[f64]) {
        let learned = weights.iter().enumerate().filter(|&(_, &weight)| weight > 0.0);
        learned.for_each(|(row, _)| self.note(row, round, &[]));
    }

    /// The earlier of two members' rounds, row by row.
    pub(crate) fn or_earlier(mut self, other: &LabelRounds) -> Self {
        for (own, &other) in self.rounds.iter_mut().zip(&other.rounds) {
            // Never is later than any round.
            if own.wrapping_sub(1) > other.wrapping_sub(1) {
                *own = other;
            }
        }
        self
    }

    /// Whether the rounds are consistent for `n_unlabeled` rows: a row has members that labeled it if it has a round.
    pub(crate) fn is_sound(&self, n_unlabeled: usize) -> bool {
        let by_somebody = |by: &Vec<u8>| {
            by.len() == n_unlabeled && by.iter().zip(&self.rounds).all(|(&by, &round)| (by > 0) == (round > 0))
        };
        self.rounds.len() == n_unlabeled && self.by.as_ref().is_none_or(by_somebody)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_counts_with_all_who_gave_the_label_in_it() {
        let mut rounds = LabelRounds::by_members(3);
        rounds.note(0, 0, &[1]);
        rounds.note(0, 0, &[2]);
        rounds.note(0, 1, &[0]);
        rounds.note(2, 1, &[0]);
        assert_eq!((rounds.rounds, rounds.by), (vec![1, 0, 2], Some(vec![0b110, 0, 1])));
    }

    #[test]
    fn the_earlier_of_two_rounds_is_not_never() {
        let rounds = |rounds: [u32; 4]| LabelRounds { rounds: rounds.to_vec(), by: None };
        assert_eq!(rounds([0, 3, 0, 1]).or_earlier(&rounds([2, 2, 0, 4])), rounds([2, 2, 0, 1]));
    }
}
