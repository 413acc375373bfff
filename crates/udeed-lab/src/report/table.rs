//! Tables that the page's script can sort.

use maud::{Markup, Render, html};

use super::words::number;

/// A cell of a table.
pub(super) struct Cell {
    shown: Markup,
    /// Words are left-aligned, numbers right-aligned.
    is_words: bool,
    /// The sort key, where it is a number.
    value: Option<f64>,
    /// From -1, a loss, to 1, a win.
    shade: f64,
}

impl Cell {
    /// Words.
    pub fn text(text: &str) -> Self {
        Cell::words(html! { (text) })
    }

    /// Words with markup.
    pub fn words(shown: Markup) -> Self {
        Cell { shown, is_words: true, value: None, shade: 0.0 }
    }

    /// Any markup, sorted by a number.
    pub fn of(shown: Markup, value: Option<f64>) -> Self {
        Cell { shown, is_words: false, value, shade: 0.0 }
    }

    /// A number with the given number of decimals.
    pub fn figure(value: f64, digits: usize) -> Self {
        Cell::of(html! { (number(value, digits)) }, Some(value))
    }

    /// A whole number.
    pub fn count(value: usize) -> Self {
        Cell::of(html! { (value) }, Some(value as f64))
    }

    /// An empty cell.
    pub fn empty() -> Self {
        Cell::of(html! { span.soft { "\u{2013}" } }, None)
    }

    /// The cell, tinted by a win or a loss.
    pub fn shaded(mut self, shade: f64) -> Self {
        self.shade = shade;
        self
    }

    fn draw(&self, is_name: bool) -> Markup {
        // The style sheet has eight shades: the page's policy allows no styles of single cells.
        let shaded = |sign: &str| format!("{sign} shade-{:.0}", (8.0 * self.shade.abs()).ceil().clamp(1.0, 8.0));
        let class = match self.shade {
            shade if shade > 0.0 => Some(shaded("win")),
            shade if shade < 0.0 => Some(shaded("loss")),
            _ if self.is_words => Some("words".to_owned()),
            _ => None,
        };
        let value = self.value.filter(|value| value.is_finite());
        html! {
            @if is_name {
                th scope="row" data-value=[value] { span.row-name { (self.shown) } }
            } @else {
                td class=[class] data-value=[value] { (self.shown) }
            }
        }
    }
}

/// A table; the first cell of each row names it.
pub(super) struct Table {
    /// The caption.
    pub caption: Markup,
    /// The heads of the columns.
    pub heads: Vec<Markup>,
    pub rows: Vec<Vec<Cell>>,
    /// Rows that stay below when others are sorted.
    pub foot: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without a foot.
    pub fn new(
        caption: Markup,
        heads: impl IntoIterator<Item = impl Render>,
        rows: impl IntoIterator<Item = Vec<Cell>>,
    ) -> Self {
        let heads = heads.into_iter().map(|head| head.render()).collect();
        Table { caption, heads, rows: rows.into_iter().collect(), foot: Vec::new() }
    }

    /// The table, sortable, in a box that scrolls.
    pub fn draw(&self) -> Markup {
        self.draw_as("sortable")
    }

    /// The table in a fixed order.
    pub fn draw_fixed(&self) -> Markup {
        self.draw_as("fixed")
    }

    fn draw_as(&self, kind: &str) -> Markup {
        let draw_row =
            |row: &Vec<Cell>| html! { tr { @for (i, cell) in row.iter().enumerate() { (cell.draw(i == 0)) } } };
        let is_words =
            |column: usize| self.rows.first().and_then(|row| row.get(column)).is_some_and(|cell| cell.is_words);
        html! {
            div.box {
                table.(kind).dense[self.heads.len() > 8] {
                    caption { (self.caption) }
                    thead {
                        tr {
                            @for (column, head) in self.heads.iter().enumerate() {
                                th scope="col" class=[is_words(column).then_some("words")] { (head) }
                            }
                        }
                    }
                    tbody { @for row in &self.rows { (draw_row(row)) } }
                    @if !self.foot.is_empty() { tfoot { @for row in &self.foot { (draw_row(row)) } } }
                }
            }
        }
    }
}
