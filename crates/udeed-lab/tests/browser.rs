//! The report in a real headless Chromium. `make browser` runs these tests; they need one installed, so `cargo test`
//! leaves them out. Screenshots and printed pages are kept in `target/report-screenshots`.
#![allow(clippy::unwrap_used)]

mod chromium;
mod sample;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use chromium::Chromium;
use serde_json::Value;

/// Width, height and theme of what people read on.
const VIEWS: [(&str, u32, u32, &str); 4] = [
    ("light", 1280, 900, "light"),
    ("dark", 1280, 900, "dark"),
    ("phone", 390, 844, "light"),
    ("phone-dark", 390, 844, "dark"),
];
/// The height of a screenshot: more would be too small to look at.
const SLICE: f64 = 2400.0;

fn kept() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("report-screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The pages, written once for all tests.
fn pages() -> &'static [(&'static str, PathBuf)] {
    static PAGES: OnceLock<Vec<(&str, PathBuf)>> = OnceLock::new();
    PAGES.get_or_init(|| {
        let write = |sample: sample::Sample| {
            let path = kept().join(format!("{}.html", sample.name));
            std::fs::write(&path, udeed_lab::report::html(&(sample.results)().unwrap())).unwrap();
            (sample.name, path)
        };
        sample::SAMPLES.into_iter().map(write).collect()
    })
}

fn page(name: &str) -> &'static Path {
    &pages().iter().find(|(known, _)| *known == name).unwrap().1
}

/// Fails unless a script finds nothing to complain about.
#[track_caller]
fn nothing_found(browser: &mut Chromium, place: &str, script: &str) {
    let found = browser.evaluate(&format!("(() => {{ {script} }})()"));
    assert_eq!(found, Value::Array(Vec::new()), "{place}: {found:#}");
}

/// Pictures that are missing something.
const EMPTY_PICTURES: &str = "
    const pictures = [...document.querySelectorAll('figure')];
    if (!pictures.length) return ['no pictures'];
    return pictures.filter((figure) => {
        const svg = figure.querySelector('svg[role=img]');
        if (!svg) return true;
        const box = svg.getBoundingClientRect(), drawn = svg.getBBox();
        const words = ['title', 'desc'].map((name) => svg.querySelector(`:scope > ${name}`)?.textContent.trim());
        const named = svg.getAttribute('aria-labelledby').split(' ').every((id) => document.getElementById(id));
        return !(box.width > 100 && box.height > 40 && drawn.width > 100 && words.every(Boolean) && named);
    }).map((figure) => figure.id);";

/// Words in pictures that are cut off, or written over each other.
const UNREADABLE_WORDS: &str = "
    const found = [];
    for (const svg of document.querySelectorAll('svg[role=img]')) {
        const frame = svg.getBoundingClientRect();
        const words = [...svg.querySelectorAll('text')].map((text) => ({
            text: [...text.childNodes].filter((n) => n.nodeName !== 'title').map((n) => n.textContent).join(''),
            box: text.getBoundingClientRect() }));
        words.forEach(({ text, box }, i) => {
            const inside = box.left >= frame.left - 1 && box.right <= frame.right + 1
                && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
            if (!inside) found.push(`${svg.closest('figure').id}: cut off: ${text}`);
            for (const other of words.slice(0, i)) {
                const across = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
                const down = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
                if (across > 1 && down > 4) found.push(`${svg.closest('figure').id}: ${text} over ${other.text}`);
            }
        });
    }
    return found;";

/// What makes the page wider than the screen.
const OVERFLOW: &str = "
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll('body *')]
        .filter((e) => !e.closest('.box *') && e.getBoundingClientRect().right > width + 1)
        .map((e) => e.outerHTML.slice(0, 120));";

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn every_page_is_sound_on_every_screen() {
    let mut browser = Chromium::start();
    for (name, path) in pages() {
        for (view, width, height, theme) in VIEWS {
            let place = format!("{name}-{view}");
            browser.look(width, height, theme);
            browser.open(path);
            nothing_found(&mut browser, &place, EMPTY_PICTURES);
            nothing_found(&mut browser, &place, UNREADABLE_WORDS);
            nothing_found(&mut browser, &place, OVERFLOW);
            let complaints = browser.complaints();
            assert!(complaints.is_empty(), "{place}: {complaints:#?}");
            keep_screenshots(&mut browser, &place, f64::from(width));
        }
    }
}

fn keep_screenshots(browser: &mut Chromium, place: &str, width: f64) {
    let height = browser.evaluate("document.documentElement.scrollHeight").as_f64().unwrap();
    // Of equal heights: the rest of a page may be nothing but its margin.
    let slices = (height / SLICE).ceil();
    let at = |slice: u32| (height * f64::from(slice) / slices).round();
    for slice in 0..slices as u32 {
        let picture = browser.screenshot(width, at(slice), at(slice + 1));
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 2000, "{place}: an empty screenshot");
        std::fs::write(kept().join(format!("{place}-{slice:02}.png")), picture).unwrap();
    }
}

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn the_theme_changes_page_and_pictures() {
    let mut browser = Chromium::start();
    let mut colours = |theme: &str| {
        browser.look(1280, 900, theme);
        browser.open(page("small"));
        browser.evaluate(
            "[getComputedStyle(document.body).backgroundColor, \
             getComputedStyle(document.querySelector('.picture text')).fill, \
             getComputedStyle(document.querySelector('.picture .colour-4 .mark')).fill]",
        )
    };
    let (light, dark) = (colours("light"), colours("dark"));
    for i in 0..3 {
        assert!(light[i] != dark[i], "{light} {dark}");
    }
}

/// A page on a usual screen.
fn opened(page: &Path) -> Chromium {
    let mut browser = Chromium::start();
    browser.look(1280, 900, "light");
    browser.open(page);
    browser
}

/// The table of accuracies: the head of a column, and what the table shows.
const TABLE: &str = "document.querySelector('#accuracy table')";

fn sorted_by(browser: &mut Chromium, column: usize) -> (Value, Vec<f64>, Vec<String>) {
    let state = browser.evaluate(&format!(
        "(() => {{ const t = {TABLE}; const rows = [...t.tBodies[0].rows]; return [ \
         t.tHead.rows[0].cells[{column}].getAttribute('aria-sort'), \
         rows.map((row) => Number(row.cells[{column}].dataset.value)), \
         rows.map((row) => row.cells[0].textContent)]; }})()"
    ));
    let values = state[1].as_array().unwrap().iter().map(|value| value.as_f64().unwrap_or(f64::NAN)).collect();
    let names = state[2].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    (state[0].clone(), values, names)
}

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn tables_are_sorted_by_mouse_and_by_keyboard() {
    let mut browser = opened(page("large"));
    let head = |column: usize| format!("{TABLE}.tHead.rows[0].cells[{column}].querySelector('button')");
    let (unsorted, _, written) = sorted_by(&mut browser, 5);
    assert!(unsorted.is_null());

    browser.click(&head(5));
    let (order, values, _) = sorted_by(&mut browser, 5);
    assert!(order == "descending" && values.is_sorted_by(|a, b| a >= b), "{order} {values:?}");
    browser.click(&head(5));
    let (order, values, _) = sorted_by(&mut browser, 5);
    assert!(order == "ascending" && values.is_sorted(), "{order} {values:?}");
    browser.click(&head(5));
    let (order, _, names) = sorted_by(&mut browser, 5);
    assert!(order.is_null() && names == written);

    // From the head of the first column one tab leads to the next.
    browser.evaluate(&format!("{}.focus()", head(0)));
    browser.press("Enter", 13, "\r");
    let (order, _, names) = sorted_by(&mut browser, 0);
    let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
    assert!(order == "ascending" && lower.is_sorted(), "{order} {names:?}");
    browser.press("Tab", 9, "");
    browser.press(" ", 32, " ");
    let (order, values, _) = sorted_by(&mut browser, 1);
    assert!(order == "descending" && values.is_sorted_by(|a, b| a >= b), "{order} {values:?}");
    assert!(sorted_by(&mut browser, 0).0.is_null(), "only one column is marked as sorted");
    let foot = browser.evaluate(&format!("{TABLE}.rows[{TABLE}.rows.length - 1].closest('tfoot') !== null"));
    assert_eq!(foot, true, "sums stay below");
    assert!(browser.complaints().is_empty());
}

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn words_and_differences_are_sorted_too() {
    let mut browser = opened(page("large"));
    let heads = browser.evaluate(
        "(() => { const bad = []; for (const table of document.querySelectorAll('table.sortable')) { \
         for (const head of table.tHead.rows[0].cells) { const button = head.querySelector('button'); \
         if (!button || !button.textContent.trim()) bad.push(table.caption.textContent); button?.click(); \
         if (!head.getAttribute('aria-sort')) bad.push(table.caption.textContent); \
         if (table.tBodies[0].rows.length < 2) bad.push('rows lost'); } } return bad; })()",
    );
    assert_eq!(heads, Value::Array(Vec::new()));
}

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn the_command_can_be_copied() {
    let mut browser = opened(page("small"));
    browser.click("document.querySelector('.copy')");
    let state = browser.evaluate(
        "new Promise((done) => setTimeout(() => done([document.querySelector('.copy').textContent, \
         getSelection().toString(), document.getElementById('command').textContent]), 200))",
    );
    assert!(state[0] == "Copied" || state[0] == "Selected", "{state}");
    assert_eq!(state[1], state[2]);
}

/// Which of the folded tables can be seen.
const FOLDED: &str = "[...document.querySelectorAll('details table')].map((table) => table.checkVisibility())";

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn the_setup_is_folded_on_a_screen_and_open_on_paper() {
    let mut browser = opened(page("small"));
    assert_eq!(browser.evaluate(FOLDED), serde_json::json!([false, false]));
    browser.click("document.querySelector('#settings summary')");
    assert_eq!(browser.evaluate(FOLDED), serde_json::json!([false, true]));
    browser.call("Emulation.setEmulatedMedia", serde_json::json!({ "media": "print" }));
    assert_eq!(browser.evaluate(FOLDED), serde_json::json!([true, true]));
    let overlaps = browser.evaluate(
        "(() => { const [table] = document.querySelectorAll('#sets table'); \
         return table.getBoundingClientRect().bottom > document.querySelector('#settings').getBoundingClientRect().top; })()",
    );
    assert_eq!(overlaps, false, "an open table takes its room");
}

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn hostile_names_are_only_names() {
    let mut browser = opened(page("hostile"));
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
    let counts = browser.evaluate(
        "[document.scripts.length, document.images.length, document.querySelector('#accuracy tbody th').textContent]",
    );
    assert_eq!(counts, serde_json::json!([2, 0, sample::HOSTILE]));
}

/// Markup that got into a page in spite of all escaping neither runs nor dresses.
#[test]
#[ignore = "needs Chromium: `make browser`"]
fn only_the_pages_own_scripts_and_styles_are_allowed() {
    let mut browser = Chromium::start();
    browser.look(1280, 900, "light");
    browser.open(page("small"));
    let found = browser.evaluate(
        "new Promise((done) => { \
         const script = document.createElement('script'); script.textContent = 'window.ran = 1'; \
         const style = document.createElement('style'); style.textContent = 'h1 { position: fixed }'; \
         const text = document.createElement('p'); \
         text.innerHTML = '<b style=\"position: fixed\" onclick=\"window.ran = 2\">x</b>'; \
         document.body.append(script, style, text); text.firstChild.click(); \
         const place = (element) => getComputedStyle(element).position; \
         setTimeout(() => done([window.ran ?? null, place(document.querySelector('h1')), place(text.firstChild)]), 200); })",
    );
    assert_eq!(found, serde_json::json!([null, "static", "static"]));
    assert!(browser.complaints().len() >= 4, "{:#?}", browser.complaints());
}

/// Pictures taller than what a printed page holds: A4 without its margins, in pixels of CSS.
const TALLER_THAN_A_PAGE: &str = "
    return [...document.querySelectorAll('figure')]
        .filter((figure) => figure.getBoundingClientRect().height > 1010)
        .map((figure) => `${figure.id}: ${figure.getBoundingClientRect().height}`);";

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn pages_can_be_printed() {
    let mut browser = Chromium::start();
    for (name, path) in pages() {
        // Who reads in the dark still prints on white.
        browser.look(688, 1010, "dark");
        browser.open(path);
        let pdf = browser.pdf();
        assert!(pdf.starts_with(b"%PDF") && pdf.len() > 20_000, "{name}: {} bytes", pdf.len());
        std::fs::write(kept().join(format!("{name}.pdf")), pdf).unwrap();
        let media = serde_json::json!({ "media": "print" });
        browser.call("Emulation.setEmulatedMedia", media);
        nothing_found(&mut browser, name, TALLER_THAN_A_PAGE);
        nothing_found(&mut browser, name, OVERFLOW);
        let paper = browser.evaluate("getComputedStyle(document.body).backgroundColor");
        assert_eq!(paper, "rgb(255, 255, 255)");
    }
}
