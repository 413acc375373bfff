//! The page of `udeed label` in a real headless Chromium, by keys and by mouse. `make browser` runs these tests; they need one
//! installed, so `cargo test` leaves them out. Screenshots are kept in `target/label-screenshots`.
#![allow(clippy::unwrap_used)]

#[path = "../../udeed-lab/tests/chromium/mod.rs"]
mod chromium;
mod served;

use std::path::{Path, PathBuf};

use chromium::Chromium;
use serde_json::{Value, json};
use served::{Served, outcome, truth, write_points};
use tempfile::TempDir;

const CALL: [&str; 3] = ["rows.csv", "--label", "kind"];

fn kept() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let folder = target.join("label-screenshots");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn keep(browser: &mut Chromium, name: &str, width: u32) {
    let height = browser.evaluate("document.documentElement.scrollHeight").as_f64().unwrap();
    let picture = browser.screenshot(f64::from(width), 0.0, height.min(3000.0));
    assert!(picture.starts_with(b"\x89PNG") && picture.len() > 2000, "{name}: an empty screenshot");
    std::fs::write(kept().join(format!("{name}.png")), picture).unwrap();
}

/// The page, ready to be answered.
fn open(browser: &mut Chromium, served: &Served) {
    browser.open_address(&served.address);
    browser.wait_for("!document.getElementById('desk').hidden");
}

/// A folder with rows of two clouds, of which four are labeled.
fn points(n_rows: usize) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_points(folder.path(), n_rows, 4);
    folder
}

/// The page about the rows in a folder, in a window of a size and theme.
fn page(folder: &Path, call: &[&str], (width, height, theme): (u32, u32, &str)) -> (Served, Chromium) {
    let served = Served::start(folder, call);
    let mut browser = Chromium::start();
    browser.look(width, height, theme);
    open(&mut browser, &served);
    (served, browser)
}

/// The page of some points.
fn page_of(n: usize, screen: (u32, u32, &str)) -> (TempDir, Served, Chromium) {
    let folder = points(n);
    let (served, browser) = page(folder.path(), &CALL, screen);
    (folder, served, browser)
}

fn text(browser: &mut Chromium, id: &str) -> String {
    browser.evaluate(&format!("document.getElementById('{id}').textContent")).as_str().unwrap().to_owned()
}

fn row(browser: &mut Chromium) -> usize {
    let title = text(browser, "row");
    title.strip_prefix("Row ").unwrap_or_else(|| panic!("{title}")).parse::<usize>().unwrap() - 1
}

fn press(browser: &mut Chromium, key: &str) {
    browser.press(key, u32::from(key.as_bytes()[0].to_ascii_uppercase()), key);
}

/// Looks for a row, and shows it.
fn show(browser: &mut Chromium, row: usize) {
    browser.evaluate(&format!(
        "document.getElementById('wanted').value = '#{}', document.getElementById('search').requestSubmit()",
        row + 1
    ));
    browser.wait_for(&format!("document.querySelector('#found button')?.textContent.startsWith('Row {}')", row + 1));
    browser.click("document.querySelector('#found button')");
    // It may have been there already, as a question: shown again, it is drawn anew.
    browser.wait_for(&format!(
        "document.getElementById('row').textContent === 'Row {}' && !document.getElementById('found').firstChild",
        row + 1
    ));
}

/// Waits until another row is shown.
fn wait_for_next(browser: &mut Chromium, row: usize) {
    browser.wait_for(&format!("document.getElementById('row').textContent !== 'Row {}'", row + 1));
}

/// Answers rightly, by the key of the class or by its button.
fn answer(browser: &mut Chromium, by_mouse: bool) {
    let row = row(browser);
    let place = browser.evaluate(&format!(
        "[...document.querySelectorAll('#classes button')].findIndex((own) => own.textContent.startsWith('{} '))",
        truth(row)
    ));
    let place = place.as_i64().unwrap();
    match by_mouse {
        true => browser.click(&format!("document.querySelectorAll('#classes button')[{place}]")),
        false => press(browser, &(place + 1).to_string()),
    }
    wait_for_next(browser, row);
}

fn lines(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("rows.labels.csv")).unwrap().lines().count() - 1
}

#[track_caller]
fn no_complaints(browser: &mut Chromium) {
    let complaints = browser.complaints();
    assert!(complaints.is_empty(), "{complaints:#?}");
}

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn thirty_labels_from_start_to_end() {
    let (folder, served, mut browser) = page_of(120, (1280, 900, "light"));
    assert_eq!(text(&mut browser, "estimate"), "not yet known");
    let mut random = 0;
    for i in 0..8 {
        random += usize::from(text(&mut browser, "origin") == "random row");
        answer(&mut browser, i % 3 == 2);
        assert_eq!(lines(folder.path()), i + 1, "an answer is on the disk at once");
    }
    assert_eq!(random, 1, "every fifth question");

    // Taken back, and answered again.
    let next = row(&mut browser);
    press(&mut browser, "u");
    wait_for_next(&mut browser, next);
    assert!(text(&mut browser, "said").starts_with("Taken back: row "));
    answer(&mut browser, false);
    let next = row(&mut browser);

    // Loaded again, the same question is there, and this window still labels.
    no_complaints(&mut browser);
    open(&mut browser, &served);
    assert_eq!(row(&mut browser), next);
    browser.wait_for("document.getElementById('look-on').hidden && !document.getElementById('answers').disabled");
    press(&mut browser, "s");
    wait_for_next(&mut browser, next);
    let unsure = row(&mut browser);
    browser.click("document.getElementById('not-sure')");
    wait_for_next(&mut browser, unsure);
    for _ in 0..8 {
        answer(&mut browser, false);
    }
    assert!(text(&mut browser, "summary").contains("20 of 120 rows labeled, 16 here, 1 not sure, 1 skipped"));

    // A row is found by its text, and corrected.
    press(&mut browser, "/");
    browser.call("Input.insertText", json!({ "text": "#7" }));
    browser.press("Enter", 13, "\r");
    browser.wait_for("document.querySelectorAll('#found button').length > 0");
    browser.click("document.querySelector('#found button')");
    browser.wait_for("document.getElementById('row').textContent === 'Row 7'");
    assert_eq!(browser.evaluate("document.activeElement.id"), "row");
    answer(&mut browser, false);
    no_complaints(&mut browser);

    // Killed without warning: another process goes on with all of it.
    let told = text(&mut browser, "summary");
    served.kill();
    browser.wait_for("!document.getElementById('problem').hidden");
    assert!(text(&mut browser, "problem").contains("What was answered is kept"));
    let mut served = Served::start(folder.path(), &CALL);
    open(&mut browser, &served);
    assert_eq!(text(&mut browser, "summary"), told);
    let (code, _, error) = outcome(folder.path(), &CALL);
    assert!(code == 1 && error.contains(&format!("in use by process {}", served.id())), "{error}");
    for _ in 0..13 {
        answer(&mut browser, false);
    }
    browser.wait_for("!document.getElementById('model').textContent.includes('newer')");
    assert!(text(&mut browser, "summary").contains(", 30 here"), "{}", text(&mut browser, "summary"));
    let estimate = text(&mut browser, "estimate-why");
    assert!(estimate.contains("random rows were predicted right"), "{estimate}");
    assert!(text(&mut browser, "changed").contains("predictions of unlabeled rows"));
    let curve = browser.evaluate("document.querySelector('#curve svg').getAttribute('aria-label')");
    assert!(curve.as_str().unwrap().starts_with("Estimated accuracy: "), "{curve}");
    for (name, width, height, theme) in [
        ("light", 1280, 900, "light"),
        ("dark", 1280, 900, "dark"),
        ("phone", 390, 844, "light"),
        ("phone-dark", 390, 844, "dark"),
    ] {
        browser.look(width, height, theme);
        assert_eq!(
            browser.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"),
            true
        );
        keep(&mut browser, &format!("points-{name}"), width);
    }

    browser.look(1280, 900, "light");
    no_complaints(&mut browser);
    browser.click("document.getElementById('finish')");
    browser.wait_for("!document.getElementById('ending').hidden");
    let (words, code) = served.last_words();
    assert_eq!(code, 0, "{words}");
    let sentences = text(&mut browser, "sentences");
    assert!(sentences.contains("wrote the model of 34 labels to rows.labeled.safetensors"), "{sentences}");
    let commands = text(&mut browser, "commands");
    assert!(
        commands.starts_with("udeed predict rows.labeled.safetensors rows.csv --out predictions.csv\n"),
        "{commands}"
    );
    assert!(commands.lines().all(|command| words.contains(command)), "{words}");
    keep(&mut browser, "ending", 1280);
    let labeled = std::fs::read_to_string(folder.path().join("rows.labeled.csv")).unwrap();
    let labels = labeled.lines().skip(1).enumerate().filter(|(_, line)| !line.ends_with(','));
    assert!(labels.clone().count() == 34 && labels.clone().all(|(row, line)| line.ends_with(truth(row))));
    no_complaints(&mut browser);
}

/// Rows whose cells would like to be more than text.
fn write_hostile(folder: &Path) {
    let long = "lorem ipsum dolor ".repeat(60_000);
    let mut rows = csv::Writer::from_path(folder.join("rows.csv")).unwrap();
    rows.write_record(["text", "<b>bold</b>", "size", "picture", "kind"]).unwrap();
    for (row, text) in [
        "<script>window.ran = 1; alert(1)</script>",
        "<img src=x onerror=\"window.ran = 2\"><style>* { display: none }</style>",
        &long,
        "a\u{0}b\u{1b}[2J\u{7}\r\n\tc\u{85}",
        "שלום עולם, مرحبا بالعالم \u{202e}gnp.elpmaxe\u{202c}",
        "\"});window.ran = 3;//</script><script>window.ran = 4</script>",
    ]
    .into_iter()
    .enumerate()
    {
        let kind = ["<i>one</i>", "\u{202e}two", "", "", "", ""][row];
        rows.write_record([text, "javascript:window.ran=5", &row.to_string(), "dot.png", kind]).unwrap();
    }
    rows.flush().unwrap();
    std::fs::write(folder.join("dot.png"), POINT).unwrap();
}

/// A picture of one red point.
const POINT: [u8; 69] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8,
    2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, 0x49, 0x44, 0x41, 0x54, 8, 0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0, 0,
    3, 1, 1, 0, 0x18, 0xdd, 0x8d, 0xb0, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn hostile_cells_are_only_text() {
    let folder = tempfile::tempdir().unwrap();
    write_hostile(folder.path());
    let (_served, mut browser) =
        page(folder.path(), &["rows.csv", "--label", "kind", "--drop", "text,picture"], (390, 844, "light"));
    for row in 0..6 {
        press(&mut browser, "/");
        browser.evaluate("document.getElementById('wanted').value = ''");
        browser.call("Input.insertText", json!({ "text": format!("#{}", row + 1) }));
        browser.press("Enter", 13, "\r");
        browser
            .wait_for(&format!("document.querySelector('#found button')?.textContent.startsWith('Row {}')", row + 1));
        browser.click("document.querySelector('#found button')");
        browser.wait_for(&format!("document.getElementById('row').textContent === 'Row {}'", row + 1));
        browser.wait_for("document.querySelector('#cells img')?.naturalWidth === 1");
        let fits = browser.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth");
        assert_eq!(fits, true, "row {row}");
        keep(&mut browser, &format!("hostile-{row}"), 390);
    }
    let cell = "document.querySelector('#cells .text')";
    show(&mut browser, 0);
    assert_eq!(browser.evaluate(&format!("{cell}.textContent")), "<script>window.ran = 1; alert(1)</script>");
    show(&mut browser, 3);
    assert_eq!(browser.evaluate(&format!("{cell}.textContent")), "a␀b␛[2J␇␍\n\tc⟨U+0085⟩");
    show(&mut browser, 4);
    assert_eq!(browser.evaluate(&format!("getComputedStyle({cell}).direction")), "rtl");
    show(&mut browser, 2);
    assert_eq!(browser.evaluate(&format!("{cell}.textContent.length")), 2000);
    browser.click("document.querySelector('#cells button')");
    browser.wait_for(&format!("{cell}.textContent.length === 1080000"));
    assert_eq!(browser.evaluate(&format!("{cell}.getBoundingClientRect().height < 500")), true, "it scrolls by itself");
    // A class by any name is a button.
    let names = browser.evaluate("[...document.querySelectorAll('#classes button')].map((own) => own.textContent)");
    assert_eq!(names, json!(["<i>one</i> 1", "⟨U+202E⟩two 2"]));
    name_class(&mut browser, "<svg onload=window.ran=6>");
    browser.wait_for("document.querySelectorAll('#classes button').length === 3");
    assert_eq!(
        browser.evaluate("[window.ran ?? null, document.scripts.length, document.images.length]"),
        json!([null, 4, 1])
    );
    no_complaints(&mut browser);
}

/// A silent sound of some length: 8000 bytes a second.
fn sound(seconds: u32) -> Vec<u8> {
    let length = 8000 * seconds;
    let mut file = Vec::new();
    file.extend(b"RIFF");
    file.extend((36 + length).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16_u32.to_le_bytes());
    // Plain samples, one channel, their rate, bytes a second, bytes and bits a sample.
    [1_u16, 1].iter().for_each(|number| file.extend(number.to_le_bytes()));
    [8000_u32, 8000].iter().for_each(|number| file.extend(number.to_le_bytes()));
    [1_u16, 8].iter().for_each(|number| file.extend(number.to_le_bytes()));
    file.extend(b"data");
    file.extend(length.to_le_bytes());
    file.resize(file.len() + length as usize, 128);
    file
}

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn sounds_and_pictures_stand_beside_their_names() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sounds")).unwrap();
    // The second is longer than what a player reads ahead.
    for (name, seconds) in [("short.wav", 2), ("long.WAV", 3600)] {
        std::fs::write(folder.path().join("sounds").join(name), sound(seconds)).unwrap();
    }
    std::fs::write(folder.path().join("dot.png"), POINT).unwrap();
    let rows =
        "size,sound,picture,kind\n1,sounds/short.wav,dot.png,\n2,sounds/long.WAV,none.png,\n3,sounds/none.wav,,\n";
    std::fs::write(folder.path().join("rows.csv"), rows).unwrap();
    let (_served, mut browser) = page(folder.path(), &["rows.csv", "--label", "kind"], (800, 900, "light"));
    for (row, seconds, heard_at) in [(0, 2, 1.5), (1, 3600, 3599.0)] {
        show(&mut browser, row);
        let sound = "document.querySelector('#cells audio')";
        browser.wait_for(&format!("{sound}.readyState > 0"));
        assert_eq!(browser.evaluate(&format!("Math.round({sound}.duration)")), seconds);
        let name = browser.evaluate(&format!("{sound}.ariaLabel"));
        assert_eq!(name, ["sound: sounds/short.wav", "sound: sounds/long.WAV"][row]);
        // Its end is heard at once, however long it is.
        browser.evaluate(&format!("{sound}.currentTime = {heard_at}"));
        browser.wait_for(&format!("!{sound}.seeking && {sound}.readyState > 1"));
        assert_eq!(browser.evaluate(&format!("{sound}.currentTime")), heard_at);
    }
    show(&mut browser, 0);
    browser.wait_for("document.querySelector('#cells img')?.naturalWidth === 1");
    assert_eq!(browser.evaluate("document.querySelector('#cells img').alt"), "picture: dot.png");
    // A key that answers does so beside a sound, and not while the sound has the keys.
    browser.evaluate("document.querySelector('#cells audio').focus()");
    press(&mut browser, "s");
    assert_eq!((row(&mut browser), lines(folder.path())), (0, 0));
    keep(&mut browser, "sound", 800);
    // What is not there is text.
    show(&mut browser, 2);
    assert_eq!(browser.evaluate("document.querySelector('#cells audio, #cells img')"), Value::Null);
    assert!(text(&mut browser, "cells").contains("sounds/none.wav"));
    no_complaints(&mut browser);
}

/// Markup that got into the page in spite of all escaping neither runs nor dresses nor loads.
#[test]
#[ignore = "needs Chromium: `make browser`"]
fn only_the_pages_own_scripts_and_styles_are_allowed() {
    let (_folder, served, mut browser) = page_of(30, (1280, 900, "light"));
    let found = browser.evaluate(
        "new Promise((done) => { \
         const script = document.createElement('script'); script.textContent = 'window.ran = 1'; \
         const text = document.createElement('p'); \
         text.innerHTML = '<b style=\"position: fixed\" onclick=\"window.ran = 2\">x</b><img src=\"http://192.0.2.1/x.png\">'; \
         document.body.append(script, text); text.firstChild.click(); \
         const outside = fetch('http://192.0.2.1/').then(() => 'reached', () => 'refused'); \
         outside.then((reached) => done([window.ran ?? null, getComputedStyle(text.firstChild).position, reached])); })",
    );
    assert_eq!(found, json!([null, "static", "refused"]));
    // Another page, on this machine too, gets nothing out of it.
    browser.open_address(&format!("http://127.0.0.1:{}/", served.port));
    let refused = browser.evaluate("document.body.textContent");
    assert!(refused.as_str().unwrap().contains("the address is not that of the page"), "{refused}");
}

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn a_second_window_looks_on_until_it_takes_over() {
    let folder = points(60);
    let served = Served::start(folder.path(), &CALL);
    let (mut first, mut second) = (Chromium::start(), Chromium::start());
    open(&mut first, &served);
    open(&mut second, &served);
    assert_eq!(second.evaluate("document.getElementById('look-on').hidden"), false);
    let before = row(&mut first);
    press(&mut second, "1");
    assert_eq!((row(&mut second), lines(folder.path())), (before, 0), "who looks on changes nothing");
    answer(&mut first, false);
    wait_for_next(&mut second, before);
    second.click("document.getElementById('take')");
    second.wait_for("document.getElementById('look-on').hidden");
    first.wait_for("!document.getElementById('look-on').hidden && document.getElementById('answers').disabled");
    answer(&mut second, true);
    assert_eq!(lines(folder.path()), 2);
    keep(&mut first, "look-on", 800);
    no_complaints(&mut first);
    no_complaints(&mut second);
}

/// A browser takes the way that the desktop opens the page by.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs Chromium: `make browser`"]
fn a_file_leads_to_the_page() {
    let folder = points(30);
    let (served, opened) = Served::opened(folder.path(), &CALL);
    let mut browser = Chromium::start();
    browser.open_address(&format!("file://{opened}"));
    browser.wait_for("document.getElementById('desk')?.hidden === false");
    assert_eq!(browser.evaluate("location.href"), served.address.as_str());
    let before = row(&mut browser);
    answer(&mut browser, false);
    assert_eq!((lines(folder.path()), row(&mut browser) == before), (1, false));
}

/// To look at a row changes nothing, and a correction is taken back to what was before; keys stay.
#[test]
#[ignore = "needs Chromium: `make browser`"]
fn a_row_is_looked_at_and_a_correction_taken_back() {
    let (_folder, _served, mut browser) = page_of(40, (1280, 900, "light"));
    let first = row(&mut browser);
    name_class(&mut browser, "third");
    wait_for_next(&mut browser, first);
    let second = row(&mut browser);
    answer(&mut browser, false);
    let keys = "[...document.querySelectorAll('#classes button')].map((own) => own.textContent).join()";
    let classes = browser.evaluate(keys);
    show(&mut browser, first);
    press(&mut browser, "s");
    wait_for_next(&mut browser, first);
    let said = text(&mut browser, "said");
    assert!(said.starts_with(&format!("Row {}: unchanged. ", first + 1)), "{said}");
    show(&mut browser, first);
    assert!(text(&mut browser, "why").ends_with(" Its label is third."));
    answer(&mut browser, false);
    press(&mut browser, "u");
    browser.wait_for(&format!("document.getElementById('row').textContent === 'Row {}'", first + 1));
    assert!(text(&mut browser, "why").ends_with(" Its label is third."), "{}", text(&mut browser, "why"));
    let recent = text(&mut browser, "recent");
    assert!(recent.contains(&format!("row {}: third", first + 1)) && recent.contains(&format!("row {}: ", second + 1)));
    assert_eq!(browser.evaluate(keys), classes);
    keep(&mut browser, "taken-back", 1280);
    no_complaints(&mut browser);
}

/// Names a new class by keys alone, and answers with it.
fn name_class(browser: &mut Chromium, name: &str) {
    press(browser, "c");
    browser.call("Input.insertText", json!({ "text": name }));
    browser.press("Enter", 13, "\r");
}

/// Counts how often an element is read by a screen reader from now on, in `window.read`.
fn listen(browser: &mut Chromium, id: &str) {
    browser.evaluate(&format!(
        "window.read = 0, new MutationObserver(() => {{ window.read += 1; }})\
         .observe(document.getElementById('{id}'), {{ childList: true, characterData: true, subtree: true }})"
    ));
}

/// Waits for longer than two requests for the state take.
const TWO_POLLS: &str = "new Promise((done) => setTimeout(() => done(true), 5000))";

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn alerts_stay_and_are_read_once() {
    let (_folder, served, mut browser) = page_of(40, (800, 900, "light"));
    let before = row(&mut browser);
    listen(&mut browser, "refusal");
    name_class(&mut browser, "?");
    browser.wait_for("!document.getElementById('refusal').hidden");
    browser.evaluate(TWO_POLLS);
    let refusal = "`class` is `?`, expected a name that does not mean a missing label";
    assert_eq!((text(&mut browser, "refusal"), row(&mut browser)), (refusal.to_owned(), before));
    assert_eq!(browser.evaluate("window.read"), 1, "a refusal is read once");
    keep(&mut browser, "refusal", 800);
    // The name stays to be corrected. Tried again, it is refused again, and read again.
    assert_eq!(browser.evaluate("document.activeElement.value"), "?");
    browser.press("Enter", 13, "\r");
    browser.wait_for("window.read > 1 && !document.getElementById('refusal').hidden");
    // What is typed over it is the name alone.
    browser.press("Escape", 27, "");
    press(&mut browser, "c");
    browser.call("Input.insertText", json!({ "text": "a new one" }));
    assert_eq!(browser.evaluate("document.activeElement.value"), "a new one");
    browser.press("Escape", 27, "");
    answer(&mut browser, false);
    assert_eq!(browser.evaluate("document.getElementById('refusal').hidden"), true, "another answer is not refused");
    assert_eq!(browser.evaluate("document.getElementById('class-name').value"), "", "it was meant for the row before");

    // Without a server: said once, whatever is tried.
    listen(&mut browser, "problem");
    served.kill();
    browser.wait_for("!document.getElementById('problem').hidden");
    press(&mut browser, "s");
    browser.evaluate(TWO_POLLS);
    assert!(text(&mut browser, "problem").starts_with("The server does not answer."));
    assert_eq!(browser.evaluate("[window.read, document.getElementById('refusal').hidden]"), json!([1, true]));
}

/// What cannot be named, seen or reached.
const UNUSABLE: &str = "(() => {
    const found = [];
    for (const own of document.querySelectorAll('button, input, [tabindex]')) {
        if (!own.checkVisibility()) continue;
        const name = own.textContent.trim() || own.labels?.[0]?.textContent.trim();
        if (!name) found.push(`no name: ${own.outerHTML}`);
        const box = own.getBoundingClientRect();
        if (own.matches('button') && !(box.height >= 24 && box.width >= 24)) found.push(`small: ${own.outerHTML}`);
    }
    for (const svg of document.querySelectorAll('svg')) {
        if (!svg.getAttribute('aria-label') && svg.getAttribute('aria-hidden') !== 'true') found.push('a picture without words');
    }
    for (const section of document.querySelectorAll('section[aria-labelledby]')) {
        if (!document.getElementById(section.getAttribute('aria-labelledby'))) found.push(section.id);
    }
    const said = document.getElementById('said');
    if (said.getAttribute('aria-live') !== 'polite' || said.getAttribute('role') !== 'status') found.push('nothing is said');
    return found;
})()";

#[test]
#[ignore = "needs Chromium: `make browser`"]
fn a_keyboard_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rows.csv"), "size,note\n".to_owned() + &"1,a\n2,b\n3,c\n8,d\n9,e\n".repeat(6))
        .unwrap();
    let (_served, mut browser) = page(folder.path(), &["rows.csv", "--label", "kind"], (390, 844, "dark"));
    assert_eq!(text(&mut browser, "class-label"), "Name the first class");
    // Tabs lead to the field of the first class, and Enter answers.
    let mut passed = Vec::new();
    while browser.evaluate("document.activeElement.id") != "class-name" {
        browser.press("Tab", 9, "");
        passed.push(browser.evaluate("document.activeElement.textContent"));
        assert!(passed.len() < 12, "{passed:?}");
    }
    let first = row(&mut browser);
    browser.call("Input.insertText", json!({ "text": "small" }));
    browser.press("Enter", 13, "\r");
    wait_for_next(&mut browser, first);
    let said = text(&mut browser, "said");
    assert!(said.starts_with(&format!("Row {}: small. Next is row ", first + 1)), "{said}");
    // A button keeps the focus: Enter answers row by row.
    browser.evaluate("document.querySelector('#classes button').focus()");
    for _ in 0..3 {
        let now = row(&mut browser);
        browser.press("Enter", 13, "\r");
        wait_for_next(&mut browser, now);
    }
    assert_eq!(browser.evaluate("document.activeElement.textContent"), "small 1");
    // Letters in a field are letters, and single keys can be switched off.
    let now = row(&mut browser);
    press(&mut browser, "c");
    browser.wait_for("document.activeElement.id === 'class-name'");
    press(&mut browser, "1");
    browser.press("Escape", 27, "");
    browser.click("document.getElementById('keys')");
    press(&mut browser, "1");
    assert_eq!((row(&mut browser), lines(folder.path())), (now, 4));
    assert_eq!(browser.evaluate("document.getElementById('class-name').value"), "1");
    let found: Value = browser.evaluate(UNUSABLE);
    assert_eq!(found, json!([]), "{found:#}");
    keep(&mut browser, "keyboard-phone-dark", 390);
    no_complaints(&mut browser);
}
