//! The methods that can be compared, each under its name in options, tables and files.

use serde::{Deserialize, Serialize};
use udeed::Variant;

use crate::error::{Error, Result};

macro_rules! contenders {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal,)+) => {
        /// A method in a comparison.
        ///
        /// ```
        /// use udeed_lab::Contender;
        ///
        /// assert_eq!(Contender::named("lcud")?.name(), "lcud");
        /// assert!(Contender::named("magic").unwrap_err().to_string().contains("`semiboost`"));
        /// # Ok::<(), udeed_lab::Error>(())
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Contender {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Contender {
            /// All of them, in the order in which tables show them.
            pub const ALL: &'static [Contender] = &[$(Contender::$name),+];

            /// Its name in options, tables and files.
            pub fn name(self) -> &'static str {
                match self { $(Contender::$name => $word,)+ }
            }
        }
    };
}

contenders! {
    /// Logistic regression on the labeled rows.
    Logistic = "logistic",
    /// UDEED's members before the descent.
    Initial = "initial",
    /// UDEED without diversity.
    Lc = "lc",
    /// UDEED with diversity on the labeled rows.
    Lcd = "lcd",
    /// UDEED.
    Lcud = "lcud",
    /// The automatic ensemble.
    Auto = "auto",
    /// Bagging.
    Bagging = "bagging",
    /// AdaBoost.
    Adaboost = "adaboost",
    /// AdaBoost as the paper must have run it: by resampling, and a member without error is discarded.
    AdaboostDiscard = "adaboost-discard",
    /// ASSEMBLE.AdaBoost.
    Assemble = "assemble",
    /// SemiBoost.
    Semiboost = "semiboost",
    /// Self-training.
    SelfTraining = "self-training",
    /// Tri-training.
    TriTraining = "tri-training",
    /// Co-forest.
    CoForest = "co-forest",
    /// Co-training.
    CoTraining = "co-training",
    /// SETRED.
    Setred = "setred",
    /// SSMBoost.
    Ssmboost = "ssmboost",
    /// RegBoost.
    Regboost = "regboost",
    /// MCSSB.
    Mcssb = "mcssb",
    /// Stacking.
    Stacking = "stacking",
}

impl Contender {
    /// The contender of a name.
    ///
    /// # Errors
    /// If there is none; the message lists the known names.
    pub fn named(name: &str) -> Result<Self> {
        Self::ALL.iter().copied().find(|contender| contender.name() == name).ok_or_else(|| {
            let known: Vec<String> = Self::ALL.iter().map(|contender| format!("`{}`", contender.name())).collect();
            Error::Unknown { what: "method", found: name.to_owned(), known: known.join(", ") }
        })
    }

    /// The library's method that runs it; none for what begins with UDEED's initial members.
    pub fn method(self) -> Option<&'static str> {
        match self {
            Contender::Logistic | Contender::Initial => None,
            Contender::AdaboostDiscard => Some("adaboost"),
            other if other.variant().is_some() => None,
            other => Some(other.name()),
        }
    }

    /// Its variant of UDEED, if it is one.
    pub(super) fn variant(self) -> Option<Variant> {
        match self {
            Contender::Lc => Some(Variant::Lc),
            Contender::Lcd => Some(Variant::Lcd),
            Contender::Lcud => Some(Variant::LcUd),
            _ => None,
        }
    }
}
