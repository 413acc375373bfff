//! What is said on standard error while work goes on: a bar on a terminal, nothing in a pipe.

use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use udeed::text::printable;

/// Says things beside the results, unless asked to be quiet.
#[derive(Clone, Copy)]
pub struct Progress {
    quiet: bool,
}

impl Progress {
    pub fn new(quiet: bool) -> Self {
        Progress { quiet }
    }

    /// A bar that counts to `total`.
    pub fn bar(&self, what: &str, total: usize) -> ProgressBar {
        self.styled(ProgressBar::new(total as u64), what, "{msg} {bar:30} {pos}/{len} {elapsed}, {eta} left")
    }

    /// A sign of life while a file is read.
    pub fn reading(&self, path: &Path) -> ProgressBar {
        self.styled(
            ProgressBar::new_spinner(),
            &format!("reading {}", printable(&path.display().to_string())),
            "{spinner} {msg} {elapsed}",
        )
    }

    fn styled(&self, bar: ProgressBar, what: &str, template: &str) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = bar.with_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    /// A line of information.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            say(text);
        }
    }
}

/// A line on standard error, and no other: a name of a file that holds the end of a line could fake one. That it may be closed
/// or full is no reason to fail.
pub fn say(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{}", printable(&text.to_string()));
}
