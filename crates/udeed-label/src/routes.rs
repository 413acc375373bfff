//! Requests: what each may do, and its response.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use udeed::labeling::Reply;

use crate::cells::{cells_of, readable, search};
use crate::desk::{Shared, State};
use crate::http::{Request, Response};
use crate::page;
use crate::state::state;

/// Number of rows that a search shows.
const MOST_FOUND: usize = 30;
const JSON: &str = "application/json";

pub(crate) struct Routes {
    shared: Arc<Shared>,
    token: String,
    host: String,
    origin: String,
}

/// What a window sends.
#[derive(Deserialize)]
struct Sent {
    window: String,
}

#[derive(Deserialize)]
struct SentAnswer {
    /// The row that was shown, counted from 0: another one is not answered by mistake.
    row: usize,
    reply: String,
    #[serde(default)]
    label: String,
}

#[derive(Deserialize)]
struct SentRow {
    row: usize,
}

/// A response, or another in its place.
type Answered = Result<Response, Response>;

impl Routes {
    pub(crate) fn new(shared: Arc<Shared>, token: String, port: u16) -> Self {
        let host = format!("127.0.0.1:{port}");
        Routes { shared, token, origin: format!("http://{host}"), host }
    }

    pub(crate) fn answer(&self, request: &Request) -> Response {
        let response = self.route(request).unwrap_or_else(|refusal| refusal);
        let has_policy = response.headers.iter().any(|(name, _)| *name == "Content-Security-Policy");
        let response = match has_policy {
            true => response,
            false => response.header("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'"),
        };
        response
            .header("Cache-Control", "no-store")
            .header("X-Content-Type-Options", "nosniff")
            .header("X-Frame-Options", "DENY")
            .header("Referrer-Policy", "no-referrer")
            .header("Cross-Origin-Resource-Policy", "same-origin")
            .header("Cross-Origin-Opener-Policy", "same-origin")
    }

    fn route(&self, request: &Request) -> Answered {
        let path = self.check(request)?;
        let is_post = matches!(path, "answer" | "undo" | "show" | "take" | "leave" | "finish");
        let expected = if is_post { "POST" } else { "GET" };
        if !matches!(path, "" | "state" | "search" | "cell" | "row" | "media") && !is_post {
            return Err(Response::refusal(404, "there is nothing here"));
        }
        if request.method != expected {
            return Err(Response::refusal(405, "another method was expected").header("Allow", expected));
        }
        match path {
            "" => Ok(page::page(&self.shared.name)),
            "state" => self.state(request),
            "search" => self.search(request),
            "cell" => self.cell(request),
            "row" => self.row(request),
            "media" => self.media(request),
            post => {
                self.check_post(request)?;
                self.change(post, request)
            }
        }
    }

    /// What is asked for, if whoever asks may.
    fn check<'a>(&self, request: &'a Request) -> Result<&'a str, Response> {
        let refused = |words| Err(Response::refusal(403, words));
        // A name that leads here from elsewhere is that of a page which must not reach this machine.
        if request.header("host") != Some(&self.host) {
            return refused("another host was expected");
        }
        if request.has("origin") && request.header("origin") != Some(&self.origin) {
            return refused("the request comes from another page");
        }
        let path = request.path.strip_prefix('/').unwrap_or_default();
        let (token, path) = path.split_once('/').unwrap_or_default();
        let site = request.header("sec-fetch-site");
        // The file that opens the page is of another site: it may be left for the page itself, as whoever knows the token may.
        let is_opened = path.is_empty()
            && request.header("sec-fetch-mode") == Some("navigate")
            && request.header("sec-fetch-dest") == Some("document");
        if request.has("sec-fetch-site") && !matches!(site, Some("same-origin" | "none")) && !is_opened {
            return refused("the request comes from another page");
        }
        match is_same(token, &self.token) {
            true => Ok(path),
            false => refused("the address is not that of the page: `udeed label` prints it"),
        }
    }

    /// What changes something is no form of another page: those can send no such header and no such type.
    fn check_post(&self, request: &Request) -> Result<(), Response> {
        if !request.header("x-udeed-token").is_some_and(|token| is_same(token, &self.token)) {
            return Err(Response::refusal(403, "the token is missing"));
        }
        match request.header("content-type") {
            Some(JSON) => Ok(()),
            _ => Err(Response::refusal(415, "JSON was expected")),
        }
    }

    fn state(&self, request: &Request) -> Answered {
        let window = request.value("window").ok_or_else(|| bad("no window"))?;
        self.told(&mut self.shared.state(), window)
    }

    fn told(&self, own: &mut State, window: &str) -> Answered {
        let told = state(&self.shared, own, window).map_err(|error| failed(&error))?;
        Ok(json_response(&told))
    }

    fn change(&self, what: &str, request: &Request) -> Answered {
        let mut state = self.shared.state();
        let window = sent::<Sent>(request)?.window;
        match what {
            "leave" => {
                state.leave(&window);
                return Ok(Response::new(204, JSON, []));
            }
            "take" => {
                state.take_over(&window);
                return self.told(&mut state, &window);
            }
            _ => {}
        }
        if !state.is_labeling(&window) {
            return Err(conflict("another window labels these rows: take over, or look on"));
        }
        if state.finish {
            return Err(conflict("labeling is finished"));
        }
        match what {
            "answer" => self.reply(&mut state, &sent(request)?)?,
            "undo" => {
                if !self.shared.undo(&mut state).map_err(|error| failed(&error))? {
                    return Err(conflict("there is no answer to take back"));
                }
            }
            "show" => {
                let SentRow { row } = sent(request)?;
                state.session.ask_for(row).map_err(|error| bad(&error.to_string()))?;
            }
            _ => {
                state.finish = true;
                self.shared.notify();
                // The last words come when the model is saved.
                while state.ending.is_none() {
                    state = self.shared.wait(state);
                }
            }
        }
        self.told(&mut state, &window)
    }

    fn reply(&self, state: &mut State, sent: &SentAnswer) -> Result<(), Response> {
        if state.session.question().map(|question| question.row) != Some(sent.row) {
            return Err(conflict("this row is no longer asked for"));
        }
        let reply = match sent.reply.as_str() {
            "label" => Reply::Class(sent.label.clone()),
            "not sure" => Reply::NotSure,
            "skip" => Reply::Skip,
            _ => return Err(bad("no such reply")),
        };
        self.shared.reply(state, reply).map_err(|error| match error {
            crate::Error::Udeed(error) => bad(&error.to_string()),
            error => failed(&error),
        })
    }

    fn search(&self, request: &Request) -> Answered {
        let text = request.value("q").unwrap_or_default();
        let rows = self.shared.rows.as_ref();
        let unreadable = |error: std::io::Error| Response::refusal(500, &error.to_string());
        let found = search(rows, self.shared.n_rows, text, MOST_FOUND + 1).map_err(unreadable)?;
        let cells = rows.read(&found).map_err(unreadable)?;
        let state = self.shared.state();
        let hit = |&row: &usize| {
            let texts = cells.get(&row).into_iter().flatten().enumerate();
            let texts = texts.filter(|(place, text)| Some(*place) != self.shared.label_column && !text.is_empty());
            let begun: Vec<String> =
                texts.take(6).map(|(_, text)| readable(&text.chars().take(40).collect::<String>())).collect();
            json!({ "row": row, "text": begun.join(" · "), "label": state.session.label(row) })
        };
        let hits: Vec<_> = found.iter().take(MOST_FOUND).map(hit).collect();
        Ok(json_response(&json!({ "found": hits, "more": found.len() > MOST_FOUND })))
    }

    /// The cells of the row that a request names.
    fn cells(&self, request: &Request) -> Result<Vec<String>, Response> {
        let row = request.value("row").and_then(|row| row.parse().ok()).filter(|row| *row < self.shared.n_rows);
        let row = row.ok_or_else(|| Response::refusal(404, "there is no such row"))?;
        cells_of(self.shared.rows.as_ref(), row).map_err(|error| Response::refusal(500, &error.to_string()))
    }

    /// The cell that a request names.
    fn one_cell(&self, request: &Request) -> Result<String, Response> {
        let column = request.value("column").and_then(|column| column.parse::<usize>().ok());
        let cell = column.and_then(|column| {
            self.cells(request).map(|mut cells| (column < cells.len()).then(|| cells.swap_remove(column))).transpose()
        });
        cell.unwrap_or_else(|| Err(Response::refusal(404, "there is no such cell")))
    }

    fn cell(&self, request: &Request) -> Answered {
        Ok(Response::new(200, "text/plain; charset=utf-8", readable(&self.one_cell(request)?)))
    }

    fn row(&self, request: &Request) -> Answered {
        let cells = self.cells(request)?;
        let (cells, _) = self.shared.shown(&cells, true);
        Ok(json_response(&json!({ "cells": cells })))
    }

    fn media(&self, request: &Request) -> Answered {
        let cell = self.one_cell(request)?;
        let read = self.shared.media.as_ref().map_or(Ok(None), |media| media.read(&cell));
        let read = read.map_err(|error| Response::refusal(500, &error.to_string()))?;
        let (kind, content) = read.ok_or_else(|| Response::refusal(404, "there is no such picture or sound"))?;
        // Players read a long sound part by part, and again from where somebody listens.
        let Some(part) = request.header("range").and_then(|asked| part_of(asked, content.len())) else {
            return Ok(Response::new(200, kind, content).header("Accept-Ranges", "bytes"));
        };
        let length = content.len();
        if part.start >= length {
            let refusal = Response::refusal(416, "the picture or sound is shorter");
            return Err(refusal.header("Content-Range", format!("bytes */{length}")));
        }
        let range = format!("bytes {}-{}/{length}", part.start, part.end - 1);
        Ok(Response::new(206, kind, &content[part]).header("Accept-Ranges", "bytes").header("Content-Range", range))
    }
}

fn sent<T: DeserializeOwned>(request: &Request) -> Result<T, Response> {
    serde_json::from_slice(&request.body).map_err(|error| bad(&error.to_string()))
}

fn json_response(value: &serde_json::Value) -> Response {
    Response::new(200, JSON, value.to_string())
}

fn bad(words: &str) -> Response {
    Response::refusal(400, words)
}

fn conflict(words: &str) -> Response {
    Response::refusal(409, words)
}

fn failed(error: &crate::Error) -> Response {
    Response::refusal(500, &error.to_string())
}

/// The part of something of some length that a header `Range` asks for. None where it asks for several, or makes no sense:
/// such a header is ignored.
fn part_of(asked: &str, length: usize) -> Option<Range<usize>> {
    let (first, last) = asked.strip_prefix("bytes=")?.split_once('-')?;
    match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) if first <= last => Some(first..length.min(last.saturating_add(1))),
        (Ok(first), Err(_)) if last.is_empty() => Some(first..length),
        (Err(_), Ok(most)) if first.is_empty() => Some(length.saturating_sub(most)..length),
        _ => None,
    }
}

/// Whether two texts are the same, in a time that does not depend on where they differ.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differences, (a, b)| differences | (a ^ b)) == 0
}
