//! Text for messages: quoted names, lists, numbers of bytes.

use std::borrow::Cow;

/// Text from a file between backticks, cut short and without control characters, so that hostile input cannot flood or
/// drive the terminal.
///
/// ```
/// assert_eq!(udeed::text::quoted("a\u{1b}[2Jb"), "`a\\u{1b}[2Jb`");
/// assert_eq!(udeed::text::quoted(&"x".repeat(100)).chars().count(), 43);
/// ```
pub fn quoted(text: &str) -> String {
    format!("`{}`", shown(text))
}

/// The text that [`quoted`] puts between backticks.
///
/// ```
/// assert_eq!(udeed::text::shown("a\u{1b}b"), "a\\u{1b}b");
/// ```
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        if i == LONGEST {
            shown.push('…');
            break;
        }
        push_printable(&mut shown, c);
    }
    shown
}

/// Text in which nothing drives a terminal: control characters, and those that turn the direction of text or end lines,
/// are escaped. Names from files may hold them.
///
/// ```
/// use udeed::text::printable;
///
/// assert_eq!(printable("a\u{1b}[2Jb\n\u{202e}"), "a\\u{1b}[2Jb\\n\\u{202e}");
/// assert_eq!(printable("größe"), "größe");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(drives_a_terminal) {
        return Cow::Borrowed(text);
    }
    let mut printed = String::new();
    text.chars().for_each(|c| push_printable(&mut printed, c));
    Cow::Owned(printed)
}

fn push_printable(text: &mut String, c: char) {
    if drives_a_terminal(c) {
        text.extend(c.escape_default());
    } else {
        text.push(c);
    }
}

fn drives_a_terminal(c: char) -> bool {
    c.is_control() || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A number of bytes for people, in the unit that suits it.
///
/// ```
/// use udeed::text::byte_size;
///
/// assert_eq!([1000, 5 << 10, 3 << 20].map(byte_size), ["1000 bytes", "5.0 KiB", "3.0 MiB"]);
/// assert_eq!(byte_size(3 << 29), "1.5 GiB");
/// ```
pub fn byte_size(bytes: u64) -> String {
    let of = |unit: u64| bytes as f64 / unit as f64;
    let (kib, mib, gib) = (of(1 << 10), of(1 << 20), of(1 << 30));
    match bytes {
        _ if gib >= 0.1 => format!("{gib:.1} GiB"),
        _ if mib >= 0.1 => format!("{mib:.1} MiB"),
        _ if kib >= 1.0 => format!("{kib:.1} KiB"),
        1 => "1 byte".into(),
        _ => format!("{bytes} bytes"),
    }
}

/// A number of things, whose name ends in `s` unless there is one.
///
/// ```
/// use udeed::text::counted;
///
/// assert_eq!((counted(1, "member"), counted(20, "member")), ("1 member".into(), "20 members".into()));
/// ```
pub fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// A list of names, quoted, cut after a few.
pub fn listed<S: AsRef<str>>(names: impl IntoIterator<Item = S>) -> String {
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
