//! Words for messages: quoted names, lists, sizes.

/// Text from a file between backticks, cut short and without control characters, so that hostile input cannot flood or
/// drive the terminal.
///
/// ```
/// assert_eq!(udeed::quoted("a\u{1b}[2Jb"), "`a\\u{1b}[2Jb`");
/// assert_eq!(udeed::quoted(&"x".repeat(100)).chars().count(), 43);
/// ```
pub fn quoted(text: &str) -> String {
    format!("`{}`", shown(text))
}

/// What [`quoted`] puts between its backticks.
///
/// ```
/// assert_eq!(udeed::shown("a\u{1b}b"), "a\\u{1b}b");
/// ```
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == LONGEST {
            shown.push('…');
            break;
        }
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A number of bytes for a person.
pub(crate) fn size(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    if gib >= 0.1 { format!("{gib:.1} GiB") } else { format!("{:.1} MiB", gib * 1024.0) }
}

/// A list of names, quoted, cut after a few.
pub(crate) fn listed<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
    const MOST: usize = 8;
    let mut names = names.into_iter();
    let mut shown: Vec<String> = names.by_ref().take(MOST).map(|name| quoted(name.as_ref())).collect();
    let left = names.count();
    if left > 0 {
        shown.push(format!("and {left} more"));
    }
    if shown.is_empty() { "none".into() } else { shown.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_is_cut() {
        assert_eq!(listed(Vec::<String>::new()), "none");
        let names: Vec<String> = (0..10).map(|i| i.to_string()).collect();
        assert!(listed(&names).ends_with("`7`, and 2 more"));
    }
}
