//! The elements of pictures: scales, axes, rows, marks, and the figure with title and text alternative.
//!
//! Pictures are inline SVG and take their colours from the page's style sheet, so that they follow the theme.

use std::fmt;
use std::ops::Range;

use maud::{Markup, Render, html};

use super::words::{number, shortened};

/// The width of a picture as wide as the column.
pub(super) const WIDE: f64 = 860.0;
/// The width of one of several pictures side by side.
pub(super) const SMALL: f64 = 330.0;

/// A coordinate. A tenth of a unit is finer than any screen shows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Px(pub f64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A value that is not finite must not make the whole picture invalid.
        let rounded = if self.0.is_finite() { (self.0 * 10.0).round() / 10.0 + 0.0 } else { 0.0 };
        write!(f, "{rounded}")
    }
}

impl Render for Px {
    fn render_to(&self, buffer: &mut String) {
        buffer.push_str(&self.to_string());
    }
}

/// A linear scale from values to coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// A scale from the values `low` to `high` to the coordinates `from` to `to`.
    pub fn new((low, high): (f64, f64), from: f64, to: f64) -> Self {
        Scale { low, high, from, to }
    }

    /// A scale that covers all finite values with a margin; without any, 0 to 1.
    pub fn covering(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (v.min(l), v.max(h)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        // A single value still needs an axis with more than one tick.
        let air = if high - low > 1e-9 { 0.04 * (high - low) } else { 0.02 * high.abs().max(0.5) };
        Scale::new((low - air, high + air), from, to)
    }

    /// The coordinate of a value.
    pub fn at(&self, value: f64) -> f64 {
        self.from + (value - self.low) / (self.high - self.low) * (self.to - self.from)
    }

    /// The ticks: round values with their labels, as many as have room.
    pub fn ticks(&self, room: impl Fn(&str) -> f64) -> Vec<(f64, String)> {
        let span = self.high - self.low;
        let finest = 10f64.powf((span / 100.0).log10().floor());
        let steps = (0..4).flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * finest * 10f64.powi(power)));
        let mut ticks = Vec::new();
        for step in steps.take_while(|&step| step <= span) {
            let digits = (-step.log10() - 1e-9).ceil().max(0.0) as usize;
            let (first, last) = ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
            ticks = (first..=last).map(|i| i as f64 * step).map(|value| (value, number(value, digits))).collect();
            let apart = (step / span * (self.to - self.from)).abs();
            if ticks.iter().all(|(_, label)| room(label) <= apart) {
                break;
            }
        }
        ticks
    }
}

/// The part of a picture inside its axes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Frame {
    /// The border.
    pub fn outline(&self) -> Markup {
        let (width, height) = (Px(self.right - self.left), Px(self.bottom - self.top));
        html! { rect.outline x=(Px(self.left)) y=(Px(self.top)) width=(width) height=(height) {} }
    }

    /// The horizontal axis: grid lines, tick labels and a title below the frame.
    pub fn across(&self, scale: &Scale, title: &str) -> Markup {
        let room = |label: &str| (text_width(label) + 16.0).max(0.08 * (self.right - self.left));
        html! {
            @for (value, label) in scale.ticks(room) {
                @let x = Px(scale.at(value));
                line.grid x1=(x) x2=(x) y1=(Px(self.top)) y2=(Px(self.bottom)) {}
                text.tick x=(x) y=(Px(self.bottom + 16.0)) text-anchor="middle" { (label) }
            }
            text.axis x=(Px(0.5 * (self.left + self.right))) y=(Px(self.bottom + 34.0)) text-anchor="middle" { (title) }
        }
    }

    /// The vertical axis: grid lines, tick labels and a rotated title left of the frame.
    pub fn up(&self, scale: &Scale, title: &str) -> Markup {
        let (x, y) = (self.left - 50.0, 0.5 * (self.top + self.bottom));
        html! {
            @for (value, label) in scale.ticks(|_| 22.0) {
                @let y = scale.at(value);
                line.grid x1=(Px(self.left)) x2=(Px(self.right)) y1=(Px(y)) y2=(Px(y)) {}
                text.tick x=(Px(self.left - 6.0)) y=(Px(y + 4.0)) text-anchor="end" { (label) }
            }
            text.axis x=(Px(x)) y=(Px(y)) text-anchor="middle" transform={ "rotate(-90 " (Px(x)) " " (Px(y)) ")" } {
                (title)
            }
        }
    }
}

/// A drawing clipped to a frame.
pub(super) fn clipped(frame: &Frame, drawing: &Markup) -> Markup {
    let (x, y) = (Px(frame.left), Px(frame.top));
    let (width, height) = (Px(frame.right - frame.left), Px(frame.bottom - frame.top));
    html! {
        svg x=(x) y=(y) width=(width) height=(height) viewBox={ (x) " " (y) " " (width) " " (height) } { (drawing) }
    }
}

/// Named rows, one below the other.
pub(super) struct Rows<'a> {
    names: Vec<&'a str>,
    pitch: f64,
    /// The part to the right of the names.
    pub frame: Frame,
}

impl<'a> Rows<'a> {
    /// Rows with the given names, some of all, of the given height, in a picture of the given width with room for an
    /// axis.
    pub fn new(all: &[&str], names: Vec<&'a str>, pitch: f64, width: f64) -> Self {
        // The same for all parts of a picture. Names may take a third of it; longer ones are cut.
        let longest = all.iter().map(|name| text_width(name)).fold(30.0, f64::max);
        let left = (longest + 14.0).min(width / 3.0);
        let bottom = 8.0 + pitch * names.len() as f64;
        Rows { names, pitch, frame: Frame { left, right: width - 14.0, top: 8.0, bottom } }
    }

    /// The same rows further down, with room above them.
    pub fn below(mut self, head: f64) -> Self {
        self.frame.top += head;
        self.frame.bottom += head;
        self
    }

    /// The height of a picture of these rows and their axis.
    pub fn height(&self) -> f64 {
        self.frame.bottom + 44.0
    }

    /// The middle of a row.
    pub fn middle(&self, row: usize) -> f64 {
        self.frame.top + self.pitch * (row as f64 + 0.5)
    }

    /// The names, and a background for every other row.
    pub fn draw(&self) -> Markup {
        html! {
            @for (row, name) in self.names.iter().enumerate() {
                @let y = self.middle(row);
                @if row % 2 == 0 {
                    @let (top, width) = (Px(y - 0.5 * self.pitch), Px(self.frame.right + 14.0));
                    rect.band x="0" y=(top) width=(width) height=(Px(self.pitch)) {}
                }
                text.name x=(Px(self.frame.left - 8.0)) y=(Px(y + 4.0)) text-anchor="end" {
                    title { (name) }
                    (shortened(name, self.frame.left - 14.0, text_width))
                }
            }
        }
    }
}

/// The approximate width of a text of 12 units.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars().map(|c| if c.is_ascii() { 6.6 } else { 12.0 }).sum()
}

/// Cuts `count` rows into parts of about equal length, at most `most` each, so that a picture fits on a page.
pub(super) fn pieces(count: usize, most: usize) -> Vec<Range<usize>> {
    let parts = count.div_ceil(most.max(1)).max(1);
    (0..parts).map(|part| part * count / parts..(part + 1) * count / parts).filter(|piece| !piece.is_empty()).collect()
}

/// The outline of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
    Left,
    Right,
    Hexagon,
    Hourglass,
    Plus,
    Cross,
    Star,
}

/// A mark in the current colour; open marks show the background.
pub(super) fn mark(shape: Shape, open: bool, x: f64, y: f64, radius: f64) -> Markup {
    let r = radius;
    let (start, rest) = match shape {
        Shape::Circle => ((-r, 0.0), format!("a{0} {0} 0 1 0 {1} 0a{0} {0} 0 1 0-{1} 0z", Px(r), Px(2.0 * r))),
        Shape::Square => ((-0.9 * r, -0.9 * r), format!("h{0}v{0}h-{0}z", Px(1.8 * r))),
        Shape::Diamond => ((0.0, -1.25 * r), format!("l{0} {0}l-{0} {0}l-{0}-{0}z", Px(1.25 * r))),
        Shape::Up => ((-1.1 * r, 0.9 * r), format!("h{}l-{2} -{}z", Px(2.2 * r), Px(2.0 * r), Px(1.1 * r))),
        Shape::Down => ((-1.1 * r, -0.9 * r), format!("h{}l-{2} {}z", Px(2.2 * r), Px(2.0 * r), Px(1.1 * r))),
        Shape::Left => ((0.9 * r, -1.1 * r), format!("v{}l-{1} -{2}z", Px(2.2 * r), Px(2.0 * r), Px(1.1 * r))),
        Shape::Right => ((-0.9 * r, -1.1 * r), format!("v{}l{1} -{2}z", Px(2.2 * r), Px(2.0 * r), Px(1.1 * r))),
        Shape::Hexagon => {
            let [half, full, high] = [0.55 * r, 1.1 * r, 0.95 * r].map(Px);
            ((-1.1 * r, 0.0), format!("l{half}-{high}h{full}l{half} {high}l-{half} {high}h-{full}z"))
        }
        Shape::Hourglass => ((-r, -r), format!("h{0}l-{0} {0}h{0}z", Px(2.0 * r))),
        Shape::Star => {
            let [full, twice, part, rest] = [1.2 * r, 2.4 * r, 1.7 * r, 2.05 * r].map(Px);
            let upright = format!("h{twice}m-{full}-{full}v{twice}");
            ((-1.2 * r, 0.0), format!("{upright}m-{}-{rest}l{part} {part}m0-{part}l-{part} {part}", Px(0.85 * r)))
        }
        Shape::Plus => ((-1.2 * r, 0.0), format!("h{0}m-{1}-{1}v{0}", Px(2.4 * r), Px(1.2 * r))),
        Shape::Cross => ((-r, -r), format!("l{0} {0}m-{0} 0l{0}-{0}", Px(2.0 * r))),
    };
    let class = match (shape, open) {
        (Shape::Plus | Shape::Cross | Shape::Star, _) => "mark stroke",
        (_, true) => "mark open",
        (_, false) => "mark",
    };
    html! { path class=(class) d={ "M" (Px(x + start.0)) " " (Px(y + start.1)) (rest) } {} }
}

/// A horizontal line over an interval.
pub(super) fn whisker(scale: &Scale, y: f64, (low, high): (f64, f64)) -> Markup {
    html! { line.whisker x1=(Px(scale.at(low))) x2=(Px(scale.at(high))) y1=(Px(y)) y2=(Px(y)) {} }
}

/// A mark in a legend.
pub(super) fn key(class: &str, shape: Shape, open: bool) -> Markup {
    html! { svg.key.(class) viewBox="-7 -7 14 14" aria-hidden="true" { (mark(shape, open, 0.0, 0.0, 4.5)) } }
}

/// A legend: marks and their names.
pub(super) fn legend(entries: &[(Markup, String)]) -> Markup {
    html! {
        ul.legend { @for (key, words) in entries { li { (key) span { (words) } } } }
    }
}

/// A figure: a drawing with a title, a finding in words, and a legend.
pub(super) struct Picture {
    /// Unique in the page.
    pub id: String,
    /// The title.
    pub title: String,
    /// The finding in words, which is also the text alternative.
    pub finding: String,
    /// The legend.
    pub legend: Markup,
    pub width: f64,
    pub height: f64,
}

impl Picture {
    /// The whole figure.
    pub fn draw(&self, drawing: &Markup) -> Markup {
        let (width, height) = (Px(self.width), Px(self.height));
        // How much a picture shrinks and grows is said by the style sheet for each width.
        let is_wide = self.width > 500.0;
        html! {
            figure.wide[is_wide] id=(self.id) {
                figcaption { strong { (self.title) } " " span { (self.finding) } }
                (self.legend)
                div.box {
                    svg.picture viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img"
                        aria-labelledby={ (self.id) "-title " (self.id) "-finding" } {
                        title id={ (self.id) "-title" } { (self.title) }
                        desc id={ (self.id) "-finding" } { (self.finding) }
                        (drawing)
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64, length: f64) -> Vec<String> {
        Scale::new((low, high), 0.0, length).ticks(|_| 60.0).into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(labels(0.68, 0.93, 400.0), ["0.70", "0.75", "0.80", "0.85", "0.90"]);
        assert_eq!(labels(1.0, 7.0, 600.0), ["1", "2", "3", "4", "5", "6", "7"]);
        assert_eq!(labels(-0.012, 0.021, 300.0), ["\u{2212}0.01", "0.00", "0.01", "0.02"]);
        assert_eq!(labels(0.0, 25.0, 300.0), ["0", "5", "10", "15", "20", "25"]);
    }

    #[test]
    fn a_scale_needs_no_values() {
        let scale = Scale::covering([f64::NAN, f64::INFINITY], 0.0, 100.0);
        assert!(scale.at(0.5) == 50.0 && !scale.ticks(|_| 20.0).is_empty());
        let single = Scale::covering([0.7], 0.0, 100.0);
        assert!((single.at(0.7) - 50.0).abs() < 1e-9 && single.ticks(|_| 20.0).len() > 1);
    }

    #[test]
    fn what_is_no_number_is_drawn_somewhere() {
        assert_eq!(Px(f64::NAN).to_string(), "0");
        assert_eq!(Px(-0.01).to_string(), "0");
        assert_eq!(Px(12.34).to_string(), "12.3");
    }

    #[test]
    fn pieces_are_of_about_the_same_length() {
        assert_eq!(pieces(25, 13), [0..12, 12..25]);
        assert_eq!(pieces(3, 13).first(), Some(&(0..3)));
        assert!(pieces(0, 13).is_empty());
    }
}
