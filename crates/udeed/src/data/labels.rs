//! Classes, and which rows have one.

use std::collections::{HashMap, HashSet};

use crate::data::Dictionary;
use crate::error::{Error, Place, Result};
use crate::text::{listed, quoted};

/// The label of each row, or that it has none.
///
/// A class is known by its name. Names that are all numbers are brought to one form, so that `1`, `+1` and `1.0` are the
/// same class, and sort as numbers; other names sort as text. A leading zero makes a name text: `007` and `7` are two classes.
///
/// ```
/// use udeed::prelude::*;
///
/// let labels = Labels::new([Some("spam"), None, Some("ham")]);
/// assert_eq!(labels.classes(), ["ham", "spam"]);
/// assert_eq!((labels.get(0), labels.get(1)), (Some(1), None));
///
/// let numbers = Labels::new([Some("+1"), Some("10"), Some("1.0"), Some("-1")]);
/// assert_eq!(numbers.classes(), ["-1", "1", "10"]);
/// assert_eq!(Labels::new([Some("7"), Some("007")]).classes(), ["007", "7"]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    classes: Vec<String>,
    codes: Vec<Option<u32>>,
}

impl Labels {
    /// Takes the label of each row in turn, `None` for an unlabeled one.
    pub fn new<S: AsRef<str>>(labels: impl IntoIterator<Item = Option<S>>) -> Self {
        let mut names = Dictionary::default();
        let codes = labels.into_iter().map(|label| label.map(|name| names.code(name.as_ref()))).collect();
        Labels::from_codes(names.into_names(), codes, ClassNames::Any)
    }

    /// Labels as numbers into a list of names, in any order. What [`Labels::new`] does after it has counted the names.
    pub(crate) fn from_codes(names: Vec<String>, mut codes: Vec<Option<u32>>, kind: ClassNames) -> Self {
        let form = |name: &String| match kind {
            ClassNames::Numbers => number_form(name),
            ClassNames::Any | ClassNames::Text => plain_number(name),
        };
        let numbers: Option<Vec<String>> = names.iter().map(form).collect();
        let are_numbers = numbers.is_some();
        let given = numbers.filter(|_| kind != ClassNames::Text).unwrap_or(names);
        // No name is copied: there may be many, and long ones.
        let mut order: Vec<(String, usize)> = given.into_iter().zip(0..).collect();
        order.sort_by(|(a, _), (b, _)| if are_numbers { compare_numbers(a, b) } else { a.cmp(b) });
        let (mut classes, mut sorted) = (Vec::<String>::new(), vec![0; order.len()]);
        for (name, code) in order {
            if classes.last() != Some(&name) {
                classes.push(name);
            }
            sorted[code] = classes.len() as u32 - 1;
        }
        for code in codes.iter_mut().flatten() {
            *code = sorted[*code as usize];
        }
        Labels { classes, codes }
    }

    /// Labels as indices into given classes, whose names and order stay as they are.
    ///
    /// # Errors
    /// If two classes have the same name, or an index is not that of a class.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let labels = Labels::with_classes(vec!["10".into(), "9".into()], [Some(1), None, Some(0)])?;
    /// assert_eq!((labels.name(0), labels.name(2)), (Some("9"), Some("10")));
    /// assert!(Labels::with_classes(vec!["a".into()], [Some(1)]).is_err());
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn with_classes(classes: Vec<String>, labels: impl IntoIterator<Item = Option<usize>>) -> Result<Self> {
        let wrong = |found: String, expected: String| Err(Error::input(Place::new("the labels"), found, expected));
        let mut seen = HashSet::new();
        if let Some(twice) = classes.iter().find(|&class| !seen.insert(class)) {
            return wrong(format!("two classes named {}", quoted(twice)), "a name of its own for each class".into());
        }
        let codes: Vec<Option<usize>> = labels.into_iter().collect();
        if let Some(outside) = codes.iter().flatten().find(|&&class| class >= classes.len()) {
            return wrong(format!("class number {outside}"), format!("one below {}", classes.len()));
        }
        let codes = codes.into_iter().map(|class| class.map(|class| class as u32)).collect();
        Ok(Labels { classes, codes })
    }

    /// Labels of `n_rows` unlabeled rows.
    pub fn unlabeled(n_rows: usize) -> Self {
        Labels { classes: Vec::new(), codes: vec![None; n_rows] }
    }

    /// The names of the classes, sorted.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The class of row `i` as an index into [`Labels::classes`], or `None` for an unlabeled row.
    pub fn get(&self, i: usize) -> Option<usize> {
        self.codes[i].map(|code| code as usize)
    }

    /// The name of the class of row `i`, or `None` for an unlabeled row.
    pub fn name(&self, i: usize) -> Option<&str> {
        self.get(i).map(|class| self.classes[class].as_str())
    }

    /// Number of rows, labeled or not.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there is no row at all.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Number of labeled rows.
    pub fn n_labeled(&self) -> usize {
        self.codes.iter().flatten().count()
    }

    /// Number of rows of each class, in the order of [`Labels::classes`].
    ///
    /// ```
    /// assert_eq!(udeed::data::Labels::new([Some("b"), None, Some("a"), Some("b")]).counts(), [1, 2]);
    /// ```
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        for &code in self.codes.iter().flatten() {
            counts[code as usize] += 1;
        }
        counts
    }

    /// The labels of the given rows; the classes stay, also those that no row has any more.
    ///
    /// # Panics
    /// If an index is not that of a row.
    pub fn select(&self, indices: &[usize]) -> Self {
        Labels { classes: self.classes.clone(), codes: indices.iter().map(|&i| self.codes[i]).collect() }
    }

    /// The same labels with the given rows unlabeled.
    ///
    /// # Panics
    /// If an index is not that of a row.
    #[must_use]
    pub fn without(mut self, indices: &[usize]) -> Self {
        for &i in indices {
            self.codes[i] = None;
        }
        self
    }

    /// The same labels as indices into other classes, such as those of a model.
    ///
    /// # Errors
    /// If a row has a class that is not among them.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let labels = Labels::new([Some("1.0"), None]);
    /// assert_eq!(labels.aligned(&["-1".into(), "1".into()])?.get(0), Some(1));
    /// assert!(labels.aligned(&["no".into(), "yes".into()]).is_err());
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn aligned(&self, classes: &[String]) -> Result<Self> {
        // Its own name before another way to write it, which must be that of one class only: `1` and `1.0` may be two.
        let find = |name: &String| {
            let mut alike = (0..classes.len()).filter(|&class| same_number(&classes[class], name));
            let only = alike.next().filter(|_| alike.next().is_none());
            classes.iter().position(|class| class == name).or(only)
        };
        let place: Vec<Option<usize>> = self.classes.iter().map(find).collect();
        let mut codes = self.codes.clone();
        for (row, code) in codes.iter_mut().enumerate() {
            let Some(own) = *code else { continue };
            let Some(new) = place[own as usize] else {
                return Err(Error::input(
                    Place::new("the labels").row(row as u64 + 1),
                    format!("the class {}", quoted(&self.classes[own as usize])),
                    format!("one of {}", listed(classes)),
                ));
            };
            *code = Some(new as u32);
        }
        Ok(Labels { classes: classes.to_vec(), codes })
    }

    pub(crate) fn extend_unlabeled(&mut self, n_rows: usize) {
        self.codes.extend(std::iter::repeat_n(None, n_rows));
    }
}

/// Kind of class names in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClassNames {
    /// Numbers, however they are written.
    Numbers,
    /// Numbers if all look like it, else text.
    Any,
    /// Text, even if it looks like numbers.
    Text,
}

/// Two names that are one class because they are the same number.
pub(crate) fn two_spellings(names: &[String]) -> Option<[&String; 2]> {
    let mut seen: HashMap<String, &String> = HashMap::new();
    let numbers: Vec<String> = names.iter().map(|name| plain_number(name)).collect::<Option<_>>()?;
    names.iter().zip(numbers).find_map(|(name, number)| seen.insert(number, name).map(|first| [first, name]))
}

/// Whether two names are the same number: `1` and `1.0`.
pub(crate) fn same_number(a: &str, b: &str) -> bool {
    matches!((plain_number(a), plain_number(b)), (Some(a), Some(b)) if a == b)
}

/// The one form of a name that is a number, or `None` if it is none. Numbers are not written with leading zeros: identifiers
/// are, and `007` need not be `7`.
pub(crate) fn plain_number(name: &str) -> Option<String> {
    let digits = name.trim_start_matches(['+', '-']).as_bytes();
    let is_padded = matches!(digits, [b'0', next, ..] if next.is_ascii_digit());
    if is_padded { None } else { number_form(name) }
}

/// The one form of what is known to be a number.
fn number_form(name: &str) -> Option<String> {
    // Integers first: a label may be an identifier with more digits than a float holds.
    if let Ok(integer) = name.parse::<i128>() {
        return Some(integer.to_string());
    }
    match name.parse::<f64>() {
        // Adding zero makes -0 a plain 0.
        Ok(number) if number.is_finite() => Some((number + 0.0).to_string()),
        _ => None,
    }
}

/// The order of two names that are numbers; names that only rounding makes equal keep an order of their own.
fn compare_numbers(a: &str, b: &str) -> std::cmp::Ordering {
    let number = |name: &str| name.parse::<f64>().unwrap_or(f64::NAN);
    number(a).total_cmp(&number(b)).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_integers_are_not_rounded_together() {
        let labels = Labels::new([Some("9007199254740993"), Some("9007199254740992")]);
        assert_eq!(labels.classes().len(), 2);
    }

    #[test]
    fn classes_that_are_the_same_number_stay_apart() {
        let classes = ["01".to_owned(), "1".to_owned()];
        let labels = Labels::with_classes(classes.to_vec(), [Some(0), Some(1)]).unwrap().aligned(&classes).unwrap();
        assert_eq!((labels.get(0), labels.get(1)), (Some(0), Some(1)));

        let classes = ["1".to_owned(), "1.0".to_owned()];
        let labels = Labels::new([Some("+1")]);
        assert_eq!(labels.aligned(&classes).unwrap().get(0), Some(0), "its own name");
        let other = Labels::with_classes(vec!["1.00".into()], [Some(0)]).unwrap();
        assert!(other.aligned(&classes).is_err(), "either of two classes");
    }

    #[test]
    fn a_leading_zero_makes_a_name_text() {
        for name in ["007", "00", "-01", "+01", "01.5", "00.5"] {
            assert_eq!(plain_number(name), None, "{name}");
            assert!(number_form(name).is_some(), "{name}");
        }
        for name in ["0", "-0", "0.5", "0e3", "10", "-0.0", "1e05"] {
            assert!(plain_number(name).is_some(), "{name}");
        }
        let labels = Labels::new([Some("08"), Some("7"), Some("8"), Some("007")]);
        assert_eq!(labels.classes(), ["007", "08", "7", "8"]);
    }

    #[test]
    fn text_keeps_its_spelling_and_sorts_as_numbers() {
        let names = ["10", "1.0", "9", "1"].map(str::to_owned);
        assert_eq!(two_spellings(&names), Some([&names[1], &names[3]]));
        let labels = Labels::from_codes(names.to_vec(), vec![Some(0), Some(3)], ClassNames::Text);
        assert_eq!(labels.classes(), ["1", "1.0", "9", "10"]);
        assert_eq!((labels.name(0), labels.name(1)), (Some("10"), Some("1")));
        assert_eq!(two_spellings(&["1", "1.0", "other"].map(str::to_owned)), None);
    }

    #[test]
    fn text_among_numbers_keeps_every_name_as_it_is() {
        let labels = Labels::new([Some("1"), Some("1.0"), Some("other")]);
        assert_eq!(labels.classes(), ["1", "1.0", "other"]);
    }

    #[test]
    fn codes_follow_the_sorted_classes() {
        let labels = Labels::new([Some("10"), Some("9"), Some("+9"), None]);
        assert_eq!(labels.classes(), ["9", "10"]);
        assert_eq!((0..4).map(|i| labels.get(i)).collect::<Vec<_>>(), [Some(1), Some(0), Some(0), None]);
        assert_eq!(labels.counts(), [2, 1]);
    }
}
