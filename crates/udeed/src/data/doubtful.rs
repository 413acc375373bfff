//! Classes that may be missing labels under another name.

/// Words for a value that is missing, in lower case. Readers take the usual ones for unlabeled rows themselves; they are here
/// for labels that come from elsewhere.
const MISSING: &str = "? - . na n/a n.a. #n/a #na <na> nan -nan nat nil none null missing unknown unlabeled";

/// The classes whose names are words for a missing value, such as `None`; and -1 beside at least two others or a word, as
/// scikit-learn writes it for unlabeled rows. Whether they are classes cannot be told from
/// names.
///
/// ```
/// use udeed::data::doubtful_classes;
///
/// let names = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
/// assert_eq!(doubtful_classes(&names(&["ham", "None", "spam", "n/a"])), ["None", "n/a"]);
/// assert_eq!(doubtful_classes(&names(&["-1", "0", "1"])), ["-1"]);
/// assert_eq!(doubtful_classes(&names(&["-1", "spam"])), ["-1"]);
/// assert!(doubtful_classes(&names(&["-1", "1"])).is_empty());
/// ```
pub fn doubtful_classes(classes: &[String]) -> Vec<&str> {
    let is_number = |class: &String| class.parse::<f64>().is_ok();
    let may_be_marked = classes.len() > 2 || !classes.iter().all(is_number);
    let is_mark = |class: &str| may_be_marked && class.parse() == Ok(-1.0);
    let is_doubtful = |class: &&str| is_mark(class) || means_missing(class);
    classes.iter().map(String::as_str).filter(is_doubtful).collect()
}

/// Whether a text is a word for a value that is missing.
pub(crate) fn means_missing(text: &str) -> bool {
    let text = text.trim().to_lowercase();
    text.is_empty() || MISSING.split(' ').any(|word| word == text)
}
