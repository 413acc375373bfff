//! What is said on standard error while work goes on: a bar on a terminal, nothing in a pipe.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Says things beside the results, unless asked to be quiet.
pub struct Progress {
    quiet: bool,
}

impl Progress {
    pub fn new(quiet: bool) -> Self {
        Progress { quiet }
    }

    /// A bar that counts to `total`.
    pub fn bar(&self, what: &str, total: usize) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {elapsed}, {eta} left");
        let bar = ProgressBar::new(total as u64).with_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    /// A line of information.
    pub fn note(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            eprintln!("{text}");
        }
    }
}
