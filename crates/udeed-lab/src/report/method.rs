//! The mark and colour of each method: by its place among all entries, so that two reports can be compared.

use maud::{Markup, html};

use super::chart::{self, Shape};
use crate::experiment::Entry;

/// The number of colours in the style sheet.
const COLOURS: usize = 10;

/// The marks: their shape, and whether they are only an outline. They tell methods apart for readers who cannot tell the
/// colours apart. Their number and that of the colours have no common divisor, so that a pair of both comes back late.
const MARKS: [(Shape, bool); 21] = [
    (Shape::Plus, false),
    (Shape::Circle, true),
    (Shape::Up, false),
    (Shape::Diamond, false),
    (Shape::Circle, false),
    (Shape::Hourglass, false),
    (Shape::Square, false),
    (Shape::Down, false),
    (Shape::Left, false),
    (Shape::Cross, false),
    (Shape::Square, true),
    (Shape::Up, true),
    (Shape::Diamond, true),
    (Shape::Right, false),
    (Shape::Down, true),
    (Shape::Hexagon, false),
    (Shape::Star, false),
    (Shape::Left, true),
    (Shape::Hexagon, true),
    (Shape::Right, true),
    (Shape::Hourglass, true),
];

/// The look of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look {
    /// The shape of the mark.
    pub shape: Shape,
    /// Whether the mark is only an outline.
    pub open: bool,
    /// The number of the colour.
    colour: usize,
}

impl Look {
    /// The look of the method at a place among all entries.
    fn at(place: usize) -> Self {
        let (shape, open) = MARKS[place % MARKS.len()];
        Look { shape, open, colour: place % COLOURS }
    }

    /// The CSS class of the colour.
    fn class(self) -> String {
        format!("colour-{}", self.colour)
    }
}

pub(super) fn look(method: Entry) -> Look {
    Look::at(method.place())
}

/// The CSS class with the colour of a method.
pub(super) fn class(method: Entry) -> String {
    look(method).class()
}

/// The mark of a method in a picture.
pub(super) fn mark(method: Entry, x: f64, y: f64) -> Markup {
    let look = look(method);
    chart::mark(look.shape, look.open, x, y, 3.6)
}

/// The mark of a method in a legend.
pub(super) fn key(method: Entry) -> Markup {
    let look = look(method);
    chart::key(&look.class(), look.shape, look.open)
}

/// The mark and name of a method in a table.
pub(super) fn name(method: Entry) -> Markup {
    html! { (key(method)) (method.title()) }
}

/// A legend of methods.
pub(super) fn legend(methods: &[Entry]) -> Markup {
    let entries: Vec<_> = methods.iter().map(|&method| (key(method), method.title().to_owned())).collect();
    chart::legend(&entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STYLE: &str = include_str!("style.css");

    #[test]
    fn no_two_of_forty_methods_look_the_same() {
        assert!(Entry::all().len() <= 40);
        let looks: Vec<Look> = (0..40).map(Look::at).collect();
        for (i, look) in looks.iter().enumerate() {
            assert!(STYLE.contains(&format!(".{} {{", look.class())), "{look:?}");
            // Of lines alone there is no open mark.
            assert!(!(look.open && matches!(look.shape, Shape::Plus | Shape::Cross | Shape::Star)), "{look:?}");
            for (j, other) in looks[..i].iter().enumerate() {
                assert_ne!(look, other, "{i} {j}");
                // Of the first, not even an outline has the colour of its filled mark; neighbours share nothing.
                assert!(i >= 25 || (look.shape, look.colour) != (other.shape, other.colour), "{i} {j} {look:?}");
                assert!(j + 1 < i || (look.shape != other.shape && look.colour != other.colour), "{i} {look:?}");
            }
        }
    }

    #[test]
    fn the_baselines_auto_and_bagging_look_as_ever() {
        let shapes = ["logistic", "initial", "lc", "lcd", "lcud", "auto", "bagging"].map(|name| {
            let Look { shape, open, colour } = look(Entry::named(name).unwrap());
            (shape, open, colour)
        });
        let expected = [
            (Shape::Plus, false, 0),
            (Shape::Circle, true, 1),
            (Shape::Up, false, 2),
            (Shape::Diamond, false, 3),
            (Shape::Circle, false, 4),
            (Shape::Hourglass, false, 5),
            (Shape::Square, false, 6),
        ];
        assert_eq!(shapes, expected);
    }

    /// The values of a variable of the style sheet in light and dark, as linear RGB.
    fn variable(name: &str) -> Vec<[f64; 3]> {
        let declared = format!("--{name}: #");
        let linear = |text: &str| {
            let value = f64::from(u8::from_str_radix(text, 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        udeed_page::BASE.split(&declared).skip(1).map(|text| [0, 2, 4].map(|at| linear(&text[at..at + 2]))).collect()
    }

    /// The contrast of the Web Content Accessibility Guidelines, which ask 3:1 of marks.
    fn contrast(a: &[f64; 3], b: &[f64; 3]) -> f64 {
        let [a, b] = [a, b].map(|[red, green, blue]| 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05);
        a.max(b) / a.min(b)
    }

    /// The distance of two colours in OKLab.
    fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
        let [a, b] = [a, b].map(|[red, green, blue]| {
            let cone = |r: f64, g: f64, b: f64| (r * red + g * green + b * blue).cbrt();
            let long = cone(0.4122214708, 0.5363325363, 0.0514459929);
            let medium = cone(0.2119034982, 0.6806995451, 0.1073969566);
            let short = cone(0.0883024619, 0.2817188376, 0.6299787005);
            [
                0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
                1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
                0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
            ]
        });
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn colours_stand_out_from_the_page_and_from_each_other() {
        let papers = variable("paper");
        assert_eq!(papers.len(), 2, "light and dark");
        let colours: Vec<Vec<[f64; 3]>> = (0..COLOURS).map(|i| variable(&format!("colour-{i}"))).collect();
        for (theme, paper) in papers.iter().enumerate() {
            for (i, colour) in colours.iter().enumerate() {
                assert!(contrast(&colour[theme], paper) >= 3.0, "colour {i}, theme {theme}");
                for (j, other) in colours[..i].iter().enumerate() {
                    let apart = distance(&colour[theme], &other[theme]);
                    assert!(apart > 0.1, "colours {i} and {j}, theme {theme}: {apart}");
                }
            }
        }
    }
}
