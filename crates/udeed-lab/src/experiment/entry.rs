//! The entries of a comparison: baselines, the methods of the library, and variations of them.

use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use udeed::method::udeed::Variant;
use udeed::method::{Method, MethodCard};

use crate::error::{Error, Result};

/// An entry of a comparison. In files it is its name.
///
/// ```
/// use udeed_lab::Entry;
///
/// assert_eq!(Entry::named("lcud")?, Entry::LCUD);
/// assert!(Entry::named("magic").unwrap_err().to_string().contains("`bagging`"));
/// # Ok::<(), udeed_lab::Error>(())
/// ```
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Entry {
    /// A baseline, which begins with UDEED's initial members.
    Baseline(Baseline),
    /// A method with some settings of its own.
    Variation(&'static Variation),
    /// A method of the library.
    Method(&'static MethodCard),
}

/// The baselines: what UDEED's initial members are before, during and after the descent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Logistic regression on the labeled rows.
    Logistic,
    /// UDEED's members before the descent.
    Initial,
    /// UDEED without diversity.
    Lc,
    /// UDEED with diversity on the labeled rows.
    Lcd,
    /// UDEED.
    Lcud,
}

impl Baseline {
    const ALL: [Baseline; 5] = [Baseline::Logistic, Baseline::Initial, Baseline::Lc, Baseline::Lcd, Baseline::Lcud];

    fn text(self) -> Text {
        let [name, title, sentence] = match self {
            Baseline::Logistic => {
                ["logistic", "Logistic", "One logistic regression on the labeled rows, the supervised baseline."]
            }
            Baseline::Initial => [
                "initial",
                "Initial",
                "UDEED's members before the descent: logistic regressions on bootstraps of the labeled rows.",
            ],
            Baseline::Lc => [
                "lc",
                "Lc",
                "UDEED without diversity: the descent minimises the empirical loss on the labeled rows only.",
            ],
            Baseline::Lcd => ["lcd", "Lcd", "UDEED with diversity on the labeled rows, their labels ignored."],
            Baseline::Lcud => {
                ["lcud", "LcUd", "UDEED: the descent of Lcd, continued with diversity on the unlabeled rows."]
            }
        };
        Text { name, title, sentence }
    }

    /// Its variant of UDEED, if it is one.
    pub(super) fn variant(self) -> Option<Variant> {
        match self {
            Baseline::Logistic | Baseline::Initial => None,
            Baseline::Lc => Some(Variant::Lc),
            Baseline::Lcd => Some(Variant::Lcd),
            Baseline::Lcud => Some(Variant::LcUd),
        }
    }
}

/// The name in options, tables and files, the name in texts, and the description.
#[derive(Debug, Clone, Copy)]
struct Text {
    name: &'static str,
    title: &'static str,
    sentence: &'static str,
}

/// A method with some settings of its own, compared beside it.
#[derive(Debug)]
pub struct Variation {
    text: Text,
    method: &'static str,
    settings: Settings,
}

/// Settings by their names, with values as text.
type Settings = &'static [(&'static str, &'static str)];

const VARIATIONS: &[Variation] = &[Variation {
    text: Text {
        name: "adaboost-discard",
        title: "AdaBoost-discard",
        sentence: "AdaBoost as the paper must have run it: by resampling, and a member without error is discarded.",
    },
    method: "adaboost",
    settings: &[("emphasis", "resampling"), ("zero_error", "discard")],
}];

impl Variation {
    /// Its method with its own settings.
    pub(super) fn of(&self, method: Method) -> udeed::Result<Method> {
        self.settings.iter().try_fold(method, |method, (name, value)| method.with_setting(name, value))
    }
}

impl Entry {
    /// Logistic regression on the labeled rows.
    pub const LOGISTIC: Entry = Entry::Baseline(Baseline::Logistic);
    /// UDEED's members before the descent.
    pub const INITIAL: Entry = Entry::Baseline(Baseline::Initial);
    /// UDEED without diversity.
    pub const LC: Entry = Entry::Baseline(Baseline::Lc);
    /// UDEED with diversity on the labeled rows.
    pub const LCD: Entry = Entry::Baseline(Baseline::Lcd);
    /// UDEED.
    pub const LCUD: Entry = Entry::Baseline(Baseline::Lcud);
    /// AdaBoost as the paper must have run it.
    pub const ADABOOST_DISCARD: Entry = Entry::Variation(&VARIATIONS[0]);

    /// All entries, in the order in which tables show them: the baselines, then the methods of the library, each with its
    /// variations. UDEED itself is `lcud`.
    pub fn all() -> &'static [Entry] {
        static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| {
            let mut all = Baseline::ALL.map(Entry::Baseline).to_vec();
            for card in Method::cards().iter().filter(|card| card.name != "udeed") {
                all.push(Entry::Method(card));
                let variations = VARIATIONS.iter().filter(|variation| variation.method == card.name);
                all.extend(variations.map(Entry::Variation));
            }
            all
        });
        &ALL
    }

    /// The entry of a name.
    ///
    /// # Errors
    /// If there is none; the message lists the known names.
    pub fn named(name: &str) -> Result<Self> {
        Self::all().iter().copied().find(|entry| entry.name() == name).ok_or_else(|| {
            let known: Vec<String> = Self::all().iter().map(|entry| format!("`{}`", entry.name())).collect();
            Error::Unknown { what: "method", found: name.to_owned(), known: known.join(", ") }
        })
    }

    /// The name in options, tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Entry::Baseline(baseline) => baseline.text().name,
            Entry::Variation(variation) => variation.text.name,
            Entry::Method(card) => card.name,
        }
    }

    /// The name in texts.
    pub fn title(self) -> &'static str {
        match self {
            Entry::Baseline(baseline) => baseline.text().title,
            Entry::Variation(variation) => variation.text.title,
            Entry::Method(card) => card.title,
        }
    }

    /// The description, one sentence. It stands beside the name and does not repeat it.
    ///
    /// ```
    /// use udeed_lab::Entry;
    ///
    /// assert!(Entry::LCUD.sentence().starts_with("UDEED"));
    /// assert!(Entry::named("bagging")?.sentence().starts_with("Each member"));
    /// # Ok::<(), udeed_lab::Error>(())
    /// ```
    pub fn sentence(self) -> String {
        match self {
            Entry::Baseline(baseline) => baseline.text().sentence.to_owned(),
            Entry::Variation(variation) => variation.text.sentence.to_owned(),
            Entry::Method(card) => without_title(&card.sentence, card.title),
        }
    }

    /// The name of the method that it is, with the settings that make it so; none where no method is the same.
    ///
    /// ```
    /// use udeed_lab::Entry;
    ///
    /// assert_eq!(Entry::LCD.as_method(), Some(("udeed", &[("variant", "lcd")][..])));
    /// assert_eq!(Entry::named("bagging")?.as_method(), Some(("bagging", &[][..])));
    /// assert_eq!(Entry::INITIAL.as_method(), None);
    /// # Ok::<(), udeed_lab::Error>(())
    /// ```
    pub fn as_method(self) -> Option<(&'static str, Settings)> {
        match self {
            Entry::Baseline(Baseline::Logistic | Baseline::Initial) => None,
            Entry::Baseline(Baseline::Lc) => Some(("udeed", &[("variant", "lc")])),
            Entry::Baseline(Baseline::Lcd) => Some(("udeed", &[("variant", "lcd")])),
            Entry::Baseline(Baseline::Lcud) => Some(("udeed", &[("variant", "lcud")])),
            Entry::Variation(variation) => Some((variation.method, variation.settings)),
            Entry::Method(card) => Some((card.name, &[])),
        }
    }

    /// The card of the method that runs it; none for a baseline.
    pub fn card(self) -> Option<&'static MethodCard> {
        match self {
            Entry::Baseline(_) => None,
            Entry::Variation(variation) => Method::cards().iter().find(|card| card.name == variation.method),
            Entry::Method(card) => Some(card),
        }
    }

    /// Whether a setting of its method, of UDEED for a baseline, changes what it learns: a baseline has no use for what comes after
    /// it, and a variation keeps its own.
    ///
    /// ```
    /// use udeed_lab::Entry;
    ///
    /// assert!(Entry::LCUD.uses("gamma") && !Entry::LC.uses("gamma") && !Entry::LOGISTIC.uses("steps"));
    /// assert!(Entry::LOGISTIC.uses("scaling") && !Entry::ADABOOST_DISCARD.uses("zero_error"));
    /// ```
    pub fn uses(self, setting: &str) -> bool {
        const OF_LOGISTIC: [&str; 4] = ["lambda", "scaling", "fourier", "seed"];
        const OF_MEMBERS: [&str; 4] = ["members", "initial", "hidden", "vote"];
        match self {
            Entry::Baseline(Baseline::Logistic) => OF_LOGISTIC.contains(&setting),
            Entry::Baseline(Baseline::Initial) => OF_LOGISTIC.contains(&setting) || OF_MEMBERS.contains(&setting),
            Entry::Baseline(Baseline::Lc) => setting != "gamma",
            Entry::Baseline(Baseline::Lcd | Baseline::Lcud) => true,
            Entry::Variation(variation) => variation.settings.iter().all(|(own, _)| *own != setting),
            Entry::Method(_) => true,
        }
    }

    /// Its place among all entries.
    pub(crate) fn place(self) -> usize {
        Self::all().iter().position(|entry| *entry == self).unwrap_or_default()
    }
}

/// `Title: what it does.` without the title.
fn without_title(sentence: &str, title: &str) -> String {
    let rest = sentence.strip_prefix(title).and_then(|rest| rest.strip_prefix(": "));
    let Some(rest) = rest else { return sentence.to_owned() };
    let mut letters = rest.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Entry {}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl From<Entry> for &'static str {
    fn from(entry: Entry) -> Self {
        entry.name()
    }
}

impl TryFrom<String> for Entry {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        Entry::named(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn baselines_come_first_then_every_method_with_its_variations() {
        let names: Vec<&str> = Entry::all().iter().map(|entry| entry.name()).collect();
        assert_eq!(names[..7], ["logistic", "initial", "lc", "lcd", "lcud", "auto", "bagging"]);
        assert_eq!(names.len(), 5 + Method::NAMES.len() - 1 + VARIATIONS.len());
        for (place, entry) in Entry::all().iter().enumerate() {
            assert_eq!(entry.place(), place);
            assert_eq!(names.iter().filter(|name| **name == entry.name()).count(), 1, "{entry:?}");
            assert!(entry.sentence().ends_with('.') && !entry.title().is_empty(), "{entry:?}");
        }
    }

    #[test]
    fn a_variation_stands_beside_its_method_and_has_settings_of_it() {
        for variation in VARIATIONS {
            let place = Entry::Variation(variation).place();
            assert_eq!(Entry::all()[place - 1].name(), variation.method);
            let plain = Method::named(variation.method).unwrap();
            let varied = variation.of(plain.clone()).unwrap();
            varied.validate().unwrap();
            assert_ne!(varied, plain);
        }
    }

    #[test]
    fn an_entry_is_its_name_in_files() {
        for entry in Entry::all() {
            let written = serde_json::to_value(entry).unwrap();
            assert_eq!(written, entry.name());
            assert_eq!(serde_json::from_value::<Entry>(written).unwrap(), *entry);
        }
        assert!(serde_json::from_str::<Entry>("\"magic\"").unwrap_err().to_string().contains("`logistic`"));
    }
}
