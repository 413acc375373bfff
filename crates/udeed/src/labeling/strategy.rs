//! Query strategies of active learning.

use crate::words::{Words, words};

words! {
    /// Query strategy: how rows to label are chosen.
    pub enum Strategy = VarianceReduction {
        /// Expected variance reduction: how much a label tells about the rows that are still undecided. Near-duplicates
        /// exclude each other, and no label is needed to begin.
        VarianceReduction = "variance-reduction",
        /// Smallest margin between the two most probable classes.
        Margin = "margin",
        /// Entropy of the members' votes.
        VoteEntropy = "vote-entropy",
        /// Query by committee: mean Kullback-Leibler divergence of the members from their vote. It asks for outliers, and with
        /// few labels it is worse than random rows.
        Committee = "committee",
        /// Random rows.
        Random = "random",
    }
}

impl Strategy {
    /// Every strategy.
    pub fn all() -> impl Iterator<Item = Strategy> {
        Self::WORDS.iter().map(|(strategy, ..)| *strategy)
    }

    /// The strategy of this name.
    ///
    /// ```
    /// use udeed::labeling::Strategy;
    ///
    /// assert_eq!(Strategy::named("margin"), Some(Strategy::Margin));
    /// assert_eq!(Strategy::named("median"), None);
    /// ```
    pub fn named(name: &str) -> Option<Strategy> {
        Self::WORDS.iter().find(|(_, word, _)| *word == name).map(|(strategy, ..)| *strategy)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.word()
    }

    /// Description in a sentence or two.
    pub fn about(self) -> String {
        let about = Self::WORDS.iter().find(|(strategy, ..)| *strategy == self).map_or("", |(.., about)| about);
        about.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether it asks a model.
    pub(crate) fn needs_model(self) -> bool {
        matches!(self, Strategy::Margin | Strategy::VoteEntropy | Strategy::Committee)
    }
}
