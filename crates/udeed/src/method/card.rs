//! Method cards: what the command, the report and the Python package say about each method.

use serde::Serialize;

use crate::ensemble::Lambda;
use crate::error::{Error, Result};
use crate::learner::{Base, LearnerCard, TreeSettings};
use crate::method::Method;
use crate::method::auto::Prior;
use crate::setting::{Kind, Setting, SettingValue, any_value, check_number, words};
use crate::view::View;

pub(crate) use crate::setting::Range;

/// The description of a method and its settings, from its declaration: the single source for the command, the laboratory,
/// the report and the Python package.
///
/// ```
/// use udeed::prelude::*;
///
/// let card = Method::named("semiboost")?.card();
/// assert_eq!((card.title, card.python), ("SemiBoost", "SemiBoostClassifier"));
/// assert!(card.setting("pick").is_some() && card.setting("gamma").is_none());
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct MethodCard {
    /// Name in options and files.
    pub name: &'static str,
    /// Name in prose.
    pub title: &'static str,
    /// Description in one sentence.
    pub sentence: String,
    /// Further description.
    pub details: String,
    /// Reference of its paper; empty if there is none.
    pub paper: &'static str,
    /// Class in the Python package.
    pub python: &'static str,
    /// Whether it can stream unlabeled rows from a file; other methods need all of them in memory.
    pub streams: bool,
    /// Whether the first members of an ensemble are the ensemble of that size.
    pub grows: bool,
    /// Whether it gives unlabeled rows pseudo-labels, in rounds.
    pub labels_rows: bool,
    /// Whether it can run on a [`Device`](crate::method::udeed::Device).
    pub on_device: bool,
    /// Settings.
    pub settings: Vec<Setting>,
}

impl MethodCard {
    /// The setting of that name.
    pub fn setting(&self, name: &str) -> Option<&Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }
}

/// The cards of all methods and base learners.
///
/// ```
/// let cards = udeed::method::card::Cards::all();
/// assert!(cards.methods.iter().any(|card| card.name == "adaboost") && cards.bases.iter().any(|card| card.name == "tree"));
/// ```
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct Cards {
    /// Methods, see [`Method::cards`].
    pub methods: &'static [MethodCard],
    /// Base learners, see [`Base::cards`].
    pub bases: &'static [LearnerCard],
}

impl Cards {
    /// All cards.
    pub fn all() -> Self {
        Cards { methods: Method::cards(), bases: Base::cards() }
    }
}

impl SettingValue for Lambda {
    fn kind() -> Kind {
        Kind::NumberOrAuto
    }

    fn check(&self, name: &'static str, range: Option<Range>) -> Result<()> {
        check_number(name, self.value(), range)
    }
}

impl SettingValue for Base {
    fn kind() -> Kind {
        Kind::Base
    }

    fn check(&self, _: &'static str, _: Option<Range>) -> Result<()> {
        self.validate()
    }
}

impl SettingValue for Vec<Base> {
    fn kind() -> Kind {
        Kind::Bases
    }

    fn check(&self, name: &'static str, _: Option<Range>) -> Result<()> {
        if self.is_empty() {
            return Err(Error::setting(name, "empty", "at least one base learner"));
        }
        self.iter().try_for_each(Base::validate)
    }
}

impl SettingValue for TreeSettings {
    fn kind() -> Kind {
        Kind::Tree
    }

    fn check(&self, _: &'static str, _: Option<Range>) -> Result<()> {
        self.validate()
    }
}

// `Learn::check` of their methods checks them.
any_value! {
    Vec<View> => Kind::SomeWords(words::<View>());
    Prior => Kind::Prior;
}
