//! The words for hints, without Python: the extension module itself is tested through the package.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../src/hints.rs"]
mod hints;

use hints::{Words, words};
use udeed::Hint;

#[test]
fn every_hint_has_words_or_a_reason_for_none() {
    for hint in Hint::examples() {
        match words(&hint) {
            Words::Say(text) => {
                assert!(!text.is_empty() && !text.contains("--") && !text.ends_with('.'), "{text}");
                assert_eq!(hints::worded(&hint), Some(text));
            }
            Words::Nothing => assert_eq!(hints::worded(&hint), None),
            Words::Unknown => panic!("{hint:?} has no words in hints.rs"),
        }
    }
}

#[test]
fn views_are_a_list() {
    let hint = Hint::Views { keep: &["linear", "relevance"] };
    assert_eq!(hints::worded(&hint).unwrap(), "leave out the others: `views=[\"linear\", \"relevance\"]`");
}
