//! The HTML report: one self-contained page, without network, scripts or fonts from elsewhere.
//!
//! The page is readable in light and dark, on a phone and on paper. Every picture is inline SVG with a title, axes and
//! a text alternative; every table can be sorted by the heads of its columns. Names from the data are escaped, and the
//! page's content security policy forbids it to load anything.

mod accuracy;
mod chart;
mod comparison;
mod critical_difference;
mod descent;
mod diversity;
mod gain;
mod glossary;
mod header;
mod kappa_error;
mod method;
mod paper_scatter;
mod setup;
mod table;
mod win_tie_loss;
mod words;

pub use comparison::comparison;
pub use critical_difference::critical_difference;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use udeed_page::{BASE, COPY, policy};

use self::chart::{Shape, key, legend};
use crate::experiment::Showcase;
use crate::results::Results;

/// A section of the page.
struct Section {
    id: &'static str,
    title: &'static str,
    body: Markup,
}

/// The page's style sheets and scripts. What is in the page otherwise has neither style nor code of its own.
const STYLES: [&str; 2] = [BASE, include_str!("style.css")];
const SORT: &str = include_str!("sort.js");

/// The report as an HTML page.
///
/// Results come first, the experimental setup and the glossary last. Sections without data are left out: average ranks
/// need several data sets, the gain needs `lcud` beside `lc` or `lcd`, the descent and the kappa-error diagrams need
/// [`Results::showcases`], and the comparison with the paper needs [`Results::paper`].
///
/// ```
/// use udeed_lab::statistics::DecidingTest;
/// use udeed_lab::{Experiment, Journal, Results, Set, report, run};
///
/// let data = udeed::format::built_in("house")?.read()?.into_train()?;
/// let sets = [Set { name: "<house>".into(), data }];
/// let experiment = Experiment { splits: 3, ..Experiment::default() };
/// let trials = run(&experiment, &sets, Journal::in_memory(), &|_, _| {})?;
/// let command = "udeed compare house --splits 3";
/// let results = Results::new(&experiment, &sets, &trials, command, DecidingTest::Corrected)?;
///
/// let page = report::html(&results);
/// assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg"));
/// assert!(page.contains("&lt;house&gt;") && !page.contains("<house>"));
/// # Ok::<(), udeed_lab::Error>(())
/// ```
pub fn html(results: &Results) -> String {
    let unless = |is_empty: bool, section: fn(&Results) -> Section| (!is_empty).then(|| section(results));
    let sections: Vec<Section> = [
        unless(results.outcomes.is_empty(), accuracy::section),
        unless(results.rankings.is_empty(), critical_difference::section),
        win_tie_loss::section(results),
        gain::section(results),
        unless(results.diversity.is_empty(), diversity::section),
        descent::DESCENT.section(results),
        kappa_error::KAPPA_ERROR.section(results),
        paper_scatter::section(results),
        Some(setup::section(results)),
        Some(glossary::section(results)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let content = html! {
        (contents(&sections))
        @for part in &sections { section id=(part.id) { h2 { (part.title) } (part.body) } }
    };
    let page = Page {
        title: header::title(results),
        sentence: header::sentence(results),
        glance: header::glance(results),
        scripts: &[SORT, COPY],
    };
    page.draw(&content)
}

/// What every page has.
struct Page {
    title: String,
    /// What it shows, in one sentence.
    sentence: String,
    /// The figures of most interest, below the sentence.
    glance: Markup,
    scripts: &'static [&'static str],
}

impl Page {
    fn draw(&self, content: &Markup) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                (self.head())
                body {
                    main {
                        header { h1 { (self.title) } p.lead { (self.sentence) } (self.glance) }
                        (content)
                    }
                    @for script in self.scripts { script { (PreEscaped(script)) } }
                }
            }
        };
        page.into_string()
    }

    fn head(&self) -> Markup {
        html! {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&STYLES, self.scripts, "img-src data:"));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="description" content=(self.sentence);
                title { (self.title) " \u{b7} udeed" }
                link rel="icon" href="data:,";
                @for style in STYLES { style { (PreEscaped(style)) } }
            }
        }
    }
}

/// A section with a picture of each showcase.
struct Gallery {
    id: &'static str,
    title: &'static str,
    /// What the pictures show.
    about: &'static str,
    /// The marks in the pictures: class, shape and meaning.
    marks: &'static [(&'static str, Shape, &'static str)],
    is_shown: fn(&Showcase) -> bool,
    picture: fn(&Showcase, usize) -> Markup,
}

impl Gallery {
    /// None where no showcase has something to show.
    fn section(&self, results: &Results) -> Option<Section> {
        let shown: Vec<&Showcase> = results.showcases.iter().filter(|showcase| (self.is_shown)(showcase)).collect();
        let marks: Vec<(Markup, String)> = self
            .marks
            .iter()
            .map(|(class, shape, meaning)| (key(class, *shape, false), (*meaning).to_owned()))
            .collect();
        let body = html! {
            p { (self.about) }
            (legend(&marks))
            div.multiples.pairs { @for (i, showcase) in shown.iter().enumerate() { ((self.picture)(showcase, i)) } }
        };
        (!shown.is_empty()).then_some(Section { id: self.id, title: self.title, body })
    }
}

/// The names of the data sets, in the order of the experiment.
fn set_names(results: &Results) -> Vec<&str> {
    results.sets.iter().map(|set| set.name.as_str()).collect()
}

fn contents(sections: &[Section]) -> Markup {
    html! {
        nav aria-label="Contents" {
            ul {
                @for part in sections { li { a href={ "#" (part.id) } { (part.title) } } }
            }
        }
    }
}
