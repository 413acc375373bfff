//! Numbers and lists as text.

use crate::statistics::p_value;

/// A number with the given number of decimals, and a typographic minus.
pub(super) fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        // Zero after rounding has no sign.
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.to_owned(),
        Some(rest) => format!("\u{2212}{rest}"),
        None => text,
    }
}

/// A number with its sign, for differences.
pub(super) fn signed(value: f64, digits: usize) -> String {
    let text = number(value, digits);
    if value > 0.0 { format!("+{text}") } else { text }
}

/// `p = 0.0120`, or `p < 0.0001`.
pub(super) fn probability(p: f64) -> String {
    let text = p_value(p);
    if text.starts_with('<') { format!("p {text}") } else { format!("p = {text}") }
}

/// `1 set`, `2 sets`.
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(T::to_string).collect();
    match items.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// A text cut to the given room, with an ellipsis.
pub(super) fn shortened(text: &str, room: f64, width: impl Fn(&str) -> f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept) + width("m") > room {
            kept.pop();
            break;
        }
    }
    kept + "\u{2026}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_a_sign_where_it_means_something() {
        assert_eq!(number(-0.0004, 3), "0.000");
        assert_eq!(number(-0.0123, 3), "\u{2212}0.012");
        assert_eq!(signed(0.0123, 3), "+0.012");
        assert_eq!(probability(0.01234), "p = 0.0123");
        assert_eq!(probability(1e-9), "p < 0.0001");
    }

    #[test]
    fn lists_read_as_prose() {
        assert_eq!(listed(&[20, 50, 100]), "20, 50 and 100");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed::<usize>(&[]), "");
        assert_eq!(count(1, "set") + ", " + &count(2, "set"), "1 set, 2 sets");
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let width = |text: &str| text.chars().count() as f64;
        assert_eq!(shortened("ionosphere", 20.0, width), "ionosphere");
        assert_eq!(shortened("ünïcödé-set", 6.0, width), "ünïcö…");
    }
}
