//! The page: one document with its own style sheets and scripts, which asks the server how things are.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use udeed_page::{BASE, COPY, policy};

use crate::cells::readable;
use crate::http::Response;

const STYLES: [&str; 2] = [BASE, include_str!("page.css")];
const SCRIPTS: [&str; 4] = [COPY, include_str!("row.js"), include_str!("progress.js"), include_str!("page.js")];

/// What the page may load: from its own address, and nothing else.
const OTHERS: &str = "img-src 'self' data:; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The page about rows of a name.
pub(crate) fn page(name: &str) -> Response {
    let title = format!("Label {}", readable(name));
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " \u{b7} udeed" }
                link rel="icon" href="data:,";
                @for style in STYLES { style { (PreEscaped(style)) } }
            }
            body {
                a.jump href="#question" { "To the row" }
                main {
                    header {
                        h1 dir="auto" { (title) }
                        p.soft #summary {}
                        noscript { p.alert { "This page needs JavaScript. `udeed suggest` works without it." } }
                    }
                    p.alert #problem role="alert" hidden {}
                    p.alert #refusal role="alert" hidden {}
                    (look_on())
                    div #desk hidden { (question()) (progress()) }
                    (ending())
                    p.unseen #said role="status" aria-live="polite" {}
                }
                @for script in SCRIPTS { script { (PreEscaped(script)) } }
            }
        }
    };
    let policy = policy(&STYLES, &SCRIPTS, OTHERS);
    Response::new(200, "text/html; charset=utf-8", page.into_string()).header("Content-Security-Policy", policy)
}

fn look_on() -> Markup {
    html! {
        div.alert #look-on hidden {
            p { "Another window labels these rows. This one looks on and changes nothing." }
            button type="button" #take { "Label here instead" }
        }
    }
}

/// The row and what can be said about it.
fn question() -> Markup {
    html! {
        section #question aria-labelledby="row" {
            div.title { h2 #row tabindex="-1" {} span.tag #origin {} }
            p.soft #why {}
            dl #cells {}
            p { button type="button" #all-cells hidden {} }
            fieldset #answers {
                legend { "Which class?" }
                div.classes #classes {}
                form.line #new-class {
                    label for="class-name" #class-label { "New class" }
                    input #class-name name="class" autocomplete="off" maxlength="100" aria-keyshortcuts="c" dir="auto";
                    button type="submit" { "Add and answer" }
                }
                div.actions {
                    button type="button" #not-sure aria-keyshortcuts="n" { "Not sure " kbd { "n" } }
                    button type="button" #skip aria-keyshortcuts="s" { "Skip " kbd { "s" } }
                    button type="button" #undo aria-keyshortcuts="u" { "Undo " kbd { "u" } }
                }
            }
            form.line #search role="search" {
                label for="wanted" { "Search rows" }
                input #wanted type="search" autocomplete="off" aria-keyshortcuts="/" dir="auto";
                button type="submit" { "Search " kbd { "/" } }
            }
            div #found aria-live="polite" {}
            p.keys {
                label { input type="checkbox" #keys checked; " Single keys answer" }
                span.soft { " A key beside a class gives it, " kbd { "c" } " names a new one, " kbd { "Esc" } " leaves a field." }
            }
        }
    }
}

/// How far labeling is.
fn progress() -> Markup {
    html! {
        aside #progress aria-label="Progress" {
            section aria-labelledby="accuracy-title" {
                h2 #accuracy-title { "Estimated accuracy" }
                p.large #estimate {}
                p.soft #estimate-why {}
                figure #curve {}
            }
            section aria-labelledby="model-title" {
                h2 #model-title { "Model" }
                p #model {}
                p #changed {}
            }
            section aria-labelledby="classes-title" {
                h2 #classes-title { "Classes" }
                table #balance {
                    thead { tr {
                        th scope="col" { "Class" }
                        th scope="col" { "Labels" }
                        th scope="col" { "Of random rows" }
                    } }
                    tbody {}
                }
                p.soft { "Chosen rows are no random sample: only random ones tell how frequent a class is." }
            }
            section aria-labelledby="recent-title" {
                h2 #recent-title { "Last answers" }
                ol #recent {}
            }
            p { button.strong type="button" #finish { "Finish and save the model" } }
        }
    }
}

fn ending() -> Markup {
    html! {
        section #ending hidden aria-labelledby="ending-title" {
            h2 #ending-title tabindex="-1" {}
            ul #sentences {}
            p #go-on { "Go on with:" }
            div.command { pre { code #commands {} } button.copy type="button" data-copy="commands" hidden { "Copy" } }
        }
    }
}
