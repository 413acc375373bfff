//! Named ways to run the paper's experiments, with what the paper prints and what is inferred kept apart.

use udeed::data::{Labeled, Shares};
use udeed::method::Method;
use udeed::method::udeed::Loss;

use crate::error::{Error, Result};
use crate::experiment::{Experiment, Scale};

/// A way to run the paper's experiments.
///
/// ```
/// use udeed::method::udeed::Loss;
/// use udeed_lab::{Experiment, Protocol, Source};
///
/// let paper = Protocol::named("paper")?;
/// let mut experiment = Experiment::default();
/// paper.apply(&mut experiment, |_, _| false)?;
/// assert_eq!(experiment.udeed.loss, Loss::Printed);
/// assert!(paper.choices().any(|choice| choice.source == Source::Inferred && choice.text.contains("[0, 1]")));
/// # Ok::<(), udeed_lab::Error>(())
/// ```
#[derive(Debug)]
pub struct Protocol {
    /// Its name in options.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub sentence: &'static str,
    /// What it has besides [`SHARED`].
    own: &'static [Choice],
}

/// Where a choice comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The paper prints it.
    Printed,
    /// The paper's figures, or other papers, speak for it.
    Inferred,
    /// It differs from the paper on purpose.
    Ours,
}

impl Source {
    /// All, each with the words for it.
    pub const ALL: [(Source, &'static str); 3] =
        [(Printed, "printed in the paper"), (Inferred, "inferred from figures"), (Ours, "ours on purpose")];
}

/// One choice of a protocol.
#[derive(Debug)]
pub struct Choice {
    /// What is chosen.
    pub text: &'static str,
    /// Where it comes from.
    pub source: Source,
    how: How,
}

/// How a choice changes an experiment.
#[derive(Debug)]
enum How {
    /// It is the default, or a method or [`Protocol`] has it.
    AsItIs,
    Loss(Loss),
    Scale(Scale),
    /// A setting of another method than UDEED: the method, the setting, the value.
    Rival(&'static str, &'static str, &'static str),
    LcStays,
}

use How::{AsItIs, LcStays, Rival};
use Source::{Inferred, Ours, Printed};

const fn choice(source: Source, text: &'static str, how: How) -> Choice {
    Choice { text, source, how }
}

/// What all protocols have.
const SHARED: &[Choice] = &[
    choice(Printed, "50 random splits: half of the rows for testing, a quarter of the others labeled", AsItIs),
    choice(Printed, "20, 50 and 100 members; they begin with bootstraps, lambda 1", AsItIs),
    choice(Printed, "gamma 1, rate 0.25, at most 25 steps", AsItIs),
    choice(Printed, "a stage ends when V or V_div no longer decreases", AsItIs),
    choice(Printed, "LcUd descends on L first, then from there on U; votes are weighted", AsItIs),
    choice(Printed, "verdicts of the paired t-test at 95 %", AsItIs),
    choice(Inferred, "each of both stages has its 25 steps", AsItIs),
    choice(Inferred, "every feature scaled to [0, 1] over the whole set", How::Scale(Scale::WholeSet)),
    choice(Inferred, "splits stratified by class", AsItIs),
    choice(Inferred, "the constant feature is regularised with the others", AsItIs),
    choice(Inferred, "AdaBoost resamples, and discards a member without error (column adaboost-discard)", AsItIs),
    choice(Inferred, "ASSEMBLE draws as many rows as are labeled for every member", AsItIs),
    choice(Inferred, "SemiBoost: the first percentile of the distances is the width", AsItIs),
    choice(Inferred, "SemiBoost compares all rows with all, as in its own paper", Rival("semiboost", "neighbors", "0")),
];

/// The protocols, the default first.
const PROTOCOLS: &[Protocol] = &[
    Protocol {
        name: "paper",
        sentence: "as the paper's figures say that it was run",
        own: &[
            choice(Printed, "the gradient with its factors ln(1 + e^(-+w.x))", How::Loss(Loss::Printed)),
            choice(Inferred, "Lc takes no step: its V_div is 0, which never decreases", LcStays),
        ],
    },
    Protocol {
        name: "corrected",
        sentence: "the same, but the descent follows the gradient of its loss, as elsewhere here",
        own: &[choice(Ours, "the gradient of the loss, for Lc too", How::Loss(Loss::Logistic))],
    },
];

impl Protocol {
    /// The number of splits.
    pub const SPLITS: u32 = 50;
    /// The sizes of the ensembles.
    pub const SIZES: [usize; 3] = [20, 50, 100];
    /// The shares of test and of labeled rows.
    pub const SHARES: Shares = Shares { test: 0.5, labeled: Labeled::Share(0.25) };

    /// All protocols, the default of `udeed reproduce` first.
    pub fn all() -> &'static [Protocol] {
        PROTOCOLS
    }

    /// The protocol of a name.
    ///
    /// # Errors
    /// If there is none; the message lists the known names.
    pub fn named(name: &str) -> Result<&'static Self> {
        PROTOCOLS.iter().find(|protocol| protocol.name == name).ok_or_else(|| {
            let known: Vec<String> = PROTOCOLS.iter().map(|protocol| format!("`{}`", protocol.name)).collect();
            Error::Unknown { what: "protocol", found: name.to_owned(), known: known.join(", ") }
        })
    }

    /// What it chooses, its own first.
    pub fn choices(&self) -> impl Iterator<Item = &'static Choice> {
        self.own.iter().chain(SHARED)
    }

    /// Changes an experiment to run so, but for its sizes and splits. `given` says which settings, by method and name, were
    /// asked for otherwise; these stay.
    ///
    /// # Errors
    /// Never with the protocols that there are.
    pub fn apply(&self, experiment: &mut Experiment, given: impl Fn(&str, &str) -> bool) -> Result<()> {
        for choice in self.choices() {
            match choice.how {
                AsItIs => {}
                LcStays => experiment.lc_stays = true,
                How::Loss(_) if given("udeed", "loss") => {}
                How::Loss(loss) => experiment.udeed.loss = loss,
                How::Scale(scale) => experiment.scale = scale,
                Rival(method, name, _) if given(method, name) => {}
                Rival(method, name, value) => {
                    let rivals = &mut experiment.rivals;
                    let place = rivals.iter().position(|rival| rival.name() == method);
                    let place = place.unwrap_or(rivals.len());
                    rivals.extend((place == rivals.len()).then(|| Method::named(method)).transpose()?);
                    rivals[place] = rivals[place].clone().with_setting(name, value)?;
                }
            }
        }
        Ok(())
    }
}
