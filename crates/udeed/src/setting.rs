//! Settings of methods and base learners as their cards have them: name, description, kind, range and default.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::words::Words;

/// A setting of a method or of a base learner, from its declaration.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Setting {
    /// Name.
    pub name: &'static str,
    /// Description.
    pub doc: String,
    /// Kind of its values.
    #[serde(flatten)]
    pub kind: Kind,
    /// Allowed values of a number.
    pub range: Option<Range>,
    /// Default, as JSON.
    pub default: Value,
}

/// The kind of a setting's values.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", content = "words", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// A non-negative integer.
    Whole,
    /// A number.
    Number,
    /// A number, or `auto`.
    NumberOrAuto,
    /// A non-negative integer, or null for no limit.
    WholeOrNull,
    /// True or false.
    Flag,
    /// One of several words, each with its description.
    Word(Vec<[String; 2]>),
    /// Some of several words.
    SomeWords(Vec<[String; 2]>),
    /// Names of columns.
    Columns,
    /// A base learner.
    Base,
    /// Several base learners.
    Bases,
    /// Settings of trees.
    Tree,
    /// A number of features: one of several words, a count or a share.
    Features(Vec<[String; 2]>),
    /// Class prior of the unlabeled rows.
    Prior,
}

/// The range of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    low: f64,
    high: f64,
    /// Whether each bound is excluded.
    open: [bool; 2],
}

impl Range {
    /// All numbers above 0.
    pub(crate) const POSITIVE: Range = Range { low: 0.0, high: f64::INFINITY, open: [true, true] };
    /// 0 and all numbers above.
    pub(crate) const NOT_NEGATIVE: Range = Range { low: 0.0, high: f64::INFINITY, open: [false, true] };
    /// Shares above 0.
    pub(crate) const SHARE: Range = Range { low: 0.0, high: 1.0, open: [true, false] };
    /// Probabilities below 1.
    pub(crate) const UNSURE: Range = Range { low: 0.0, high: 1.0, open: [false, true] };
    /// Percentages.
    pub(crate) const PERCENT: Range = Range::between(0.0, 100.0);
    /// Between 0 and 1, both excluded.
    pub(crate) const WITHIN_ONE: Range = Range { low: 0.0, high: 1.0, open: [true, true] };
    /// Largest count: all counts of the library fit into 32 bits.
    const COUNT: f64 = u32::MAX as f64;

    /// Counts of at least `least`.
    pub(crate) const fn at_least(least: u32) -> Range {
        Range::between(least as f64, Range::COUNT)
    }

    /// Numbers between two bounds, both included.
    pub(crate) const fn between(low: f64, high: f64) -> Range {
        Range { low, high, open: [false, false] }
    }

    /// The lower and the upper bound, if finite, and whether each is excluded.
    pub fn bounds(&self) -> [(Option<f64>, bool); 2] {
        let finite = |bound: f64| bound.is_finite().then_some(bound);
        [(finite(self.low), self.open[0]), (finite(self.high), self.open[1])]
    }

    fn contains(&self, value: f64) -> bool {
        let above = if self.open[0] { value > self.low } else { value >= self.low };
        let below = if self.open[1] { value < self.high } else { value <= self.high };
        above && below
    }

    /// The expectation that an error names in place of `value`.
    fn expected(&self, value: f64) -> String {
        match (self.high == Range::COUNT, value > self.high) {
            (true, true) => format!("at most {}", self.high),
            _ => self.to_string(),
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { low, high, open } = self;
        match *self {
            Range::POSITIVE => f.write_str("a positive number"),
            Range::NOT_NEGATIVE => f.write_str("0 or a positive number"),
            _ if *high == Range::COUNT => write!(f, "at least {low}"),
            _ if open == &[false, false] || open == &[true, true] => write!(f, "between {low} and {high}"),
            _ if open[0] => write!(f, "above {low} and at most {high}"),
            _ => write!(f, "at least {low} and below {high}"),
        }
    }
}

impl Serialize for Range {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        let [(low, above), (high, below)] = self.bounds();
        let bounds =
            serde_json::json!({ "low": low, "above": above, "high": high, "below": below, "text": self.to_string() });
        bounds.serialize(to)
    }
}

/// A type of setting values.
pub(crate) trait SettingValue: Serialize {
    fn kind() -> Kind;

    /// The range if the declaration gives none.
    fn range() -> Option<Range> {
        None
    }

    /// Refuses invalid values.
    fn check(&self, _name: &'static str, _range: Option<Range>) -> Result<()> {
        Ok(())
    }
}

pub(crate) fn check_number(name: &'static str, value: f64, range: Option<Range>) -> Result<()> {
    match range {
        Some(range) if !range.contains(value) => Err(Error::setting(name, value, range.expected(value))),
        None if !value.is_finite() => Err(Error::setting(name, value, "a number")),
        _ => Ok(()),
    }
}

impl SettingValue for usize {
    fn kind() -> Kind {
        Kind::Whole
    }

    fn range() -> Option<Range> {
        Some(Range::at_least(0))
    }

    fn check(&self, name: &'static str, range: Option<Range>) -> Result<()> {
        check_number(name, *self as f64, range)
    }
}

impl SettingValue for Option<usize> {
    fn kind() -> Kind {
        Kind::WholeOrNull
    }

    fn check(&self, name: &'static str, range: Option<Range>) -> Result<()> {
        self.map_or(Ok(()), |count| count.check(name, range))
    }
}

impl SettingValue for f64 {
    fn kind() -> Kind {
        Kind::Number
    }

    fn check(&self, name: &'static str, range: Option<Range>) -> Result<()> {
        check_number(name, *self, range)
    }
}

/// The words of a type, each with its description.
pub(crate) fn words<W: Words>() -> Vec<[String; 2]> {
    W::WORDS.iter().map(|(_, word, doc)| [(*word).to_owned(), prose(doc)]).collect()
}

impl<W: Words + Serialize> SettingValue for W {
    fn kind() -> Kind {
        Kind::Word(words::<W>())
    }
}

/// Types of which any value is allowed, or which is checked elsewhere.
macro_rules! any_value {
    ($($type:ty => $kind:expr;)+) => {
        $(impl $crate::setting::SettingValue for $type {
            fn kind() -> $crate::setting::Kind {
                $kind
            }
        })+
    };
}

pub(crate) use any_value;

any_value! {
    u64 => Kind::Whole;
    bool => Kind::Flag;
    Vec<String> => Kind::Columns;
}

/// The card entry of a declared setting.
pub(crate) fn setting<V: SettingValue>(name: &'static str, doc: &str, default: &V, range: Option<Range>) -> Setting {
    let default = serde_json::to_value(default).unwrap_or_default();
    Setting { name, doc: prose(doc), kind: V::kind(), range: range.or(V::range()), default }
}

/// The text of a doc comment up to its example, one line per paragraph.
pub(crate) fn prose(doc: &str) -> String {
    let text = doc.split("```").next().unwrap_or(doc);
    let lines = text.lines().map(str::trim);
    let mut paragraphs = vec![String::new()];
    for line in lines {
        match (line.is_empty(), paragraphs.last_mut()) {
            (true, Some(last)) if !last.is_empty() => paragraphs.push(String::new()),
            (false, Some(last)) => {
                if !last.is_empty() {
                    last.push(' ');
                }
                last.push_str(line);
            }
            _ => {}
        }
    }
    paragraphs.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_says_what_it_holds() {
        let texts = [
            (Range::POSITIVE, "a positive number"),
            (Range::SHARE, "above 0 and at most 1"),
            (Range::UNSURE, "at least 0 and below 1"),
            (Range::PERCENT, "between 0 and 100"),
            (Range::at_least(2), "at least 2"),
        ];
        for (range, text) in texts {
            assert_eq!(range.to_string(), text);
        }
        assert_eq!(Range::at_least(2).expected(1e10), "at most 4294967295");
        for range in [Range::POSITIVE, Range::NOT_NEGATIVE, Range::SHARE, Range::PERCENT, Range::at_least(0)] {
            assert!(!range.contains(f64::NAN) && !range.contains(f64::INFINITY) && !range.contains(-1.0), "{range}");
            assert!(range.contains(1.0), "{range}");
        }
        assert!(!Range::POSITIVE.contains(0.0) && Range::NOT_NEGATIVE.contains(0.0));
        assert!(Range::SHARE.contains(1.0) && !Range::UNSURE.contains(1.0));
    }

    #[test]
    fn prose_ends_where_the_example_begins() {
        assert_eq!(prose(" One\n two.\n\n Three.\n\n ```\n code\n ```\n"), "One two.\nThree.");
    }
}
