//! The cells of a row as people read them.

use std::collections::BTreeMap;
use std::io;

use serde::Serialize;

use crate::distribution::{Distributions, Placed};
use crate::media::Media;

/// Longer texts are cut, and shown in full on request.
const LONGEST_TEXT: usize = 2000;
/// Largest number of cells of a row that are shown at first.
const MOST_CELLS: usize = 100;

/// Rows cell by cell, as they are in their file.
pub trait Rows: Send + Sync {
    /// The names of the columns, that of the labels among them.
    fn columns(&self) -> &[String];

    /// The cells of some rows, counted from 0.
    ///
    /// # Errors
    /// If they cannot be read.
    fn read(&self, wanted: &[usize]) -> io::Result<BTreeMap<usize, Vec<String>>>;

    /// The first rows with a cell that matches, up to a limit.
    ///
    /// # Errors
    /// If they cannot be read.
    fn find(&self, matches: &dyn Fn(&str) -> bool, most: usize) -> io::Result<Vec<usize>>;
}

/// The cells of one row.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn cells_of(rows: &dyn Rows, row: usize) -> io::Result<Vec<String>> {
    let gone = || io::Error::other(format!("row {} is gone", row + 1));
    rows.read(&[row])?.remove(&row).ok_or_else(gone)
}

/// A cell on the page.
#[derive(Debug, Serialize)]
pub(crate) struct Cell {
    column: usize,
    name: String,
    text: String,
    /// The number of characters that are not shown.
    more: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<Placed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media: Option<&'static str>,
}

/// The cells of a row on the page, without the label, and the number of those not shown.
pub(crate) fn shown(
    columns: &[String],
    cells: &[String],
    label: Option<usize>,
    distributions: &Distributions,
    media: Option<&Media>,
    all: bool,
) -> (Vec<Cell>, usize) {
    let mut places: Vec<usize> = (0..cells.len()).filter(|&place| Some(place) != label).collect();
    let n_cells = places.len();
    if n_cells > MOST_CELLS && !all {
        // Of wide rows those cells that hold something.
        let is_empty = |place: &usize| matches!(cells[*place].as_str(), "" | "0" | "?");
        let (empty, filled): (Vec<usize>, Vec<usize>) = places.into_iter().partition(is_empty);
        places = filled.into_iter().chain(empty).take(MOST_CELLS).collect();
    }
    let cell = |&place: &usize| {
        let whole = &cells[place];
        let text: String = if all { whole.clone() } else { whole.chars().take(LONGEST_TEXT).collect() };
        Cell {
            column: place,
            name: readable(columns.get(place).map_or("", String::as_str)),
            more: if text.len() < whole.len() { whole.chars().count() - LONGEST_TEXT } else { 0 },
            text: readable(&text),
            number: distributions.placed(place, whole),
            media: media.and_then(|media| media.kind(whole)),
        }
    };
    (places.iter().map(cell).collect(), n_cells - places.len())
}

/// Text without hidden characters: control characters, and those that change the direction of text, become visible signs. Line
/// ends and tabs stay.
pub(crate) fn readable(text: &str) -> String {
    let mut readable = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => readable.push(c),
            '\0'..='\u{1f}' => readable.extend(char::from_u32(0x2400 + c as u32)),
            '\u{7f}' => readable.push('\u{2421}'),
            '\u{80}'..='\u{9f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}' => {
                readable.push_str(&format!("\u{27e8}U+{:04X}\u{27e9}", c as u32));
            }
            _ => readable.push(c),
        }
    }
    readable
}

/// The rows with a cell that contains a text, ignoring case. A number also finds the row of that number.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn search(rows: &dyn Rows, n_rows: usize, text: &str, most: usize) -> io::Result<Vec<usize>> {
    let wanted = text.trim().to_lowercase();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let number = wanted.trim_start_matches('#').parse().ok().filter(|row| (1..=n_rows).contains(row));
    let mut found: Vec<usize> = number.map(|row| row - 1).into_iter().collect();
    let matches = |cell: &str| cell.len() >= wanted.len() && cell.to_lowercase().contains(&wanted);
    for row in rows.find(&matches, most)? {
        if !found.contains(&row) {
            found.push(row);
        }
    }
    found.truncate(most);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_and_nothing_turns() {
        assert_eq!(readable("a\u{0}\u{1b}[2J\r\n\tb\u{7f}"), "a␀␛[2J␍\n\tb␡");
        assert_eq!(readable("x\u{202e}gpj.exe"), "x⟨U+202E⟩gpj.exe");
        assert_eq!(readable("שלום größe 😀"), "שלום größe 😀");
    }

    #[test]
    fn long_texts_and_wide_rows_are_cut() {
        let columns: Vec<String> = (0..300).map(|i| format!("c{i}")).collect();
        let mut cells = vec!["0".to_owned(); 300];
        cells[250] = "é".repeat(5000);
        let none = Distributions::default();
        let (shown, more) = super::shown(&columns, &cells, Some(3), &none, None, false);
        assert_eq!((shown.len(), more, shown[0].column), (100, 199, 250));
        assert_eq!((shown[0].text.chars().count(), shown[0].more), (2000, 3000));
        let (shown, more) = super::shown(&columns, &cells, Some(3), &none, None, true);
        assert_eq!((shown.len(), more, shown[249].more), (299, 0, 0));
    }
}
