//! The report as text: every picture is there and says what it shows, tags are closed, names are only names, and
//! nothing is loaded. `tests/browser.rs` looks at it in a browser.
#![allow(clippy::unwrap_used)]

mod sample;

use std::collections::HashSet;
use std::sync::OnceLock;

use udeed_lab::{Results, report};

/// Results and the page made of them, for each sample.
fn reports() -> &'static [(&'static str, Results, String)] {
    static REPORTS: OnceLock<Vec<(&str, Results, String)>> = OnceLock::new();
    REPORTS.get_or_init(|| {
        let made = |sample: sample::Sample| {
            let results = (sample.results)().unwrap();
            let page = report::html(&results);
            (sample.name, results, page)
        };
        sample::SAMPLES.into_iter().map(made).collect()
    })
}

fn page(name: &str) -> &'static str {
    &reports().iter().find(|(known, ..)| *known == name).unwrap().2
}

/// An element's opening tag, where it stands, and whether it is the opening or the closing one.
fn tags(page: &str) -> Vec<(&str, &str, usize)> {
    let mut tags = Vec::new();
    let mut place = 0;
    while let Some(begin) = page[place..].find('<').map(|at| place + at) {
        let end = begin + page[begin..].find('>').expect("a tag ends");
        let tag = &page[begin + 1..end];
        let name = tag.trim_start_matches('/').split([' ', '\n']).next().unwrap();
        tags.push((name, tag, begin));
        // What a style sheet or a script says is not markup.
        place = match name {
            "style" | "script" if !tag.starts_with('/') => end + page[end..].find(&format!("</{name}")).unwrap(),
            _ => end + 1,
        };
    }
    tags
}

/// The text of the first element of a name in a piece of markup.
fn content<'a>(markup: &'a str, name: &str) -> &'a str {
    let begin = markup.find(&format!("<{name}")).expect(name);
    let begin = begin + markup[begin..].find('>').unwrap() + 1;
    &markup[begin..begin + markup[begin..].find(&format!("</{name}>")).unwrap()]
}

/// What stands between the tags of each picture.
fn figures(page: &str) -> Vec<&str> {
    page.split("<figure").skip(1).map(|rest| &rest[..rest.find("</figure>").unwrap()]).collect()
}

fn ids(page: &str) -> Vec<&str> {
    figures(page)
        .into_iter()
        .map(|figure| figure.split('"').skip_while(|part| !part.ends_with("id=")).nth(1).unwrap())
        .collect()
}

#[test]
fn every_tag_is_closed() {
    for (name, _, page) in reports() {
        let mut open = Vec::new();
        for (element, tag, place) in tags(page) {
            match element {
                "!DOCTYPE" | "meta" | "link" => {}
                _ if tag.starts_with('/') => {
                    assert_eq!(open.pop(), Some(element), "{name}: {}", &page[place.saturating_sub(80)..place]);
                }
                _ => open.push(element),
            }
        }
        assert!(open.is_empty(), "{name}: {open:?}");
    }
}

#[test]
fn names_and_identities_are_unique_and_meant() {
    for (name, _, page) in reports() {
        let of = |attribute: &str| -> Vec<&str> {
            let begin = format!(" {attribute}=\"");
            page.split(&begin).skip(1).map(|rest| &rest[..rest.find('"').unwrap()]).collect()
        };
        let ids = of("id");
        let unique: HashSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{name}");
        let links = of("href").into_iter().filter_map(|link| link.strip_prefix('#'));
        let labels = of("aria-labelledby").into_iter().flat_map(str::split_whitespace);
        for wanted in links.chain(labels).chain(of("data-copy")) {
            assert!(unique.contains(wanted), "{name}: {wanted}");
        }
    }
}

#[test]
fn every_picture_is_there() {
    let small = ids(page("small"));
    let measures = udeed::diversity::Measure::ALL.map(|measure| format!("diversity-{}-20-0", measure.name()));
    let others = ["accuracy-20-0", "ranks-20", "gain-20-0", "descent-0", "descent-1", "kappa-0", "kappa-1", "paper-20"];
    for id in measures.iter().map(String::as_str).chain(others) {
        assert!(small.contains(&id), "{id}: {small:?}");
    }
    assert_eq!(small.len(), measures.len() + others.len());
    let large = ids(page("large"));
    for size in [20, 50, 100] {
        for id in [format!("accuracy-{size}-0"), format!("ranks-{size}"), format!("paper-{size}")] {
            assert!(large.contains(&id.as_str()), "{id}");
        }
    }
}

#[test]
fn every_picture_has_a_title_axes_and_a_text_alternative() {
    for (name, _, page) in reports() {
        for figure in figures(page) {
            let place = format!("{name}: {}", figure.chars().take(60).collect::<String>());
            let picture = &figure[figure.find("<svg class=\"picture\"").expect(&place)..];
            assert!(picture.contains("role=\"img\""), "{place}");
            let (_, width) = picture.split_once(" width=\"").unwrap();
            let rule = format!(".picture[width=\"{}\"]", width.split('"').next().unwrap());
            assert!(page.contains(&rule), "{place}: the style sheet has no {rule}");
            assert!(content(picture, "title").len() > 10, "{place}");
            assert!(content(picture, "desc").ends_with('.') && content(picture, "desc").len() > 30, "{place}");
            assert!(picture.contains("class=\"axis\"") && picture.contains("class=\"tick\""), "{place}");
            assert!(
                picture.contains("class=\"mark") && !picture.contains("NaN") && !picture.contains("inf "),
                "{place}"
            );
        }
    }
}

#[test]
fn what_is_missing_is_left_out() {
    let single = page("single");
    for section in ["accuracy", "wins", "diversity", "descent", "kappa", "glossary"] {
        assert!(single.contains(&format!("<section id=\"{section}\"")), "{section}");
    }
    for section in ["ranks", "gain", "paper"] {
        assert!(!single.contains(&format!("<section id=\"{section}\"")), "{section}");
        assert!(!single.contains(&format!("href=\"#{section}\"")), "{section}");
    }
}

#[test]
fn results_come_first_and_the_setup_after_them() {
    let order = ["accuracy", "ranks", "wins", "gain", "diversity", "descent", "kappa", "paper", "setup", "glossary"];
    for (name, _, page) in reports() {
        let sections = page.split("<section id=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]);
        let sections: Vec<&str> = sections.collect();
        let expected: Vec<&str> = order.into_iter().filter(|id| sections.contains(id)).collect();
        assert_eq!(sections, expected, "{name}");
        let links = page.split("<li><a href=\"#").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]);
        assert_eq!(links.collect::<Vec<_>>(), expected, "{name}: the contents are in the order of the page");
    }
}

#[test]
fn sets_and_settings_are_folded_away() {
    for (name, results, page) in reports() {
        let opened: Vec<&str> =
            tags(page).into_iter().map(|(_, tag, _)| tag).filter(|t| t.starts_with("details")).collect();
        assert_eq!(opened, ["details id=\"sets\"", "details id=\"settings\""], "{name}: closed until asked for");
        let setup = &page[page.find("<section id=\"setup\"").unwrap()..];
        let sets = content(setup, "details");
        assert!(sets.contains(&format!("Data sets ({})", results.sets.len())), "{name}");
        assert_eq!(content(sets, "tbody").matches("<tr>").count(), results.sets.len(), "{name}");
        let settings = &setup[setup.find("<details id=\"settings\"").unwrap()..];
        assert!(content(settings, "details").contains("<table class=\"fixed"), "{name}");
        assert!(!page[..page.len() - setup.len()].contains("<table class=\"fixed"), "{name}");
    }
}

#[test]
fn results_without_anything_still_make_a_page() {
    let (_, results, _) = &reports()[0];
    let mut empty = results.clone();
    empty.sets.clear();
    empty.outcomes.clear();
    empty.diversity.clear();
    empty.comparisons.clear();
    empty.rankings.clear();
    empty.warnings.clear();
    empty.showcases.clear();
    empty.paper = None;
    assert!(report::html(&empty).contains("<section id=\"glossary\""));
}

#[test]
fn a_single_split_has_no_intervals_and_no_verdicts() {
    let (_, results, _) = &reports()[0];
    let mut results = results.clone();
    for outcome in &mut results.outcomes {
        outcome.accuracies.truncate(1);
        outcome.mean = f64::NAN;
    }
    results.comparisons.iter_mut().for_each(|comparison| comparison.pairwise.verdict = None);
    results.diversity.iter_mut().for_each(|outcome| (outcome.last, outcome.verdict) = (None, None));
    let page = report::html(&results);
    assert!(page.contains("not defined") && !page.contains("class=\"whisker\""));
}

#[test]
fn names_are_only_names() {
    let page = page("hostile");
    let elements: Vec<&str> = tags(page).into_iter().map(|(name, ..)| name).filter(|name| !name.is_empty()).collect();
    assert_eq!(elements.iter().filter(|name| **name == "script").count(), 4, "two scripts, opened and closed");
    assert!(!elements.contains(&"img"));
    assert!(
        page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;'&gt;&lt;img src=x onerror=alert(2)&gt;&amp;amp;")
    );
}

#[test]
fn nothing_is_loaded() {
    for (name, _, page) in reports() {
        for forbidden in ["http:", "https:", " src=\"", "url(", "@import", "<iframe", "<object", "<embed"] {
            assert!(!page.contains(forbidden), "{name}: {forbidden}");
        }
        assert!(page.contains("default-src 'none'") && !page.contains("unsafe-inline"), "{name}");
        // The policy knows styles and scripts by their hashes: an attribute would be ignored.
        assert!(tags(page).iter().all(|(_, tag, _)| !tag.contains(" style=")), "{name}");
    }
}

#[test]
fn pages_are_not_too_large() {
    assert!(page("small").len() < 300_000, "{}", page("small").len());
    assert!(page("large").len() < 3_000_000, "{}", page("large").len());
}

#[test]
fn tables_say_what_the_results_say() {
    let (_, results, page) = &reports()[0];
    let table = &page[page.find("<section id=\"accuracy\"").unwrap()..];
    let table = content(table, "tbody");
    for outcome in &results.outcomes {
        assert!(table.contains(&format!("data-value=\"{}\"", outcome.mean)), "{} {}", outcome.dataset, outcome.method);
        assert!(
            table.contains(&format!("{:.3}", outcome.mean))
                && table.contains(&format!("\u{b1} {:.3}", outcome.std.unwrap()))
        );
    }
    assert!(page.contains(&results.command));
    let settings = content(&page[page.find("<table class=\"fixed").unwrap()..], "tbody");
    assert!(
        settings.contains("gamma</span> 1.0") && !settings.contains("{") && !settings.contains("null"),
        "{settings}"
    );
}
