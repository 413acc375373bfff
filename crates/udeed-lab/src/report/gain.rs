//! The gain from diversity on unlabeled rows: LcUd against the same descent without it.

use std::ops::Range;

use maud::{Markup, html};

use super::chart::{Frame, Picture, Px, Rows, Scale, WIDE, legend, mark, pieces, whisker};
use super::words::{count, listed, signed};
use super::{Section, method, set_names};
use crate::experiment::Entry;
use crate::results::{Results, SetSummary};
use crate::statistics::{Record, Verdict, mean, mean_interval};

/// The number of sizes side by side.
const ABREAST: usize = 3;
/// The distance between two marks in the row of a set.
const LANE: f64 = 9.0;
const MOST_ROWS: usize = 34;
/// Between two sizes.
const GAP: f64 = 26.0;
/// Above the rows, for the sizes.
const HEAD: f64 = 20.0;

pub(super) fn section(results: &Results) -> Option<Section> {
    let methods = &results.experiment.methods;
    let others: Vec<Entry> = [Entry::LC, Entry::LCD].into_iter().filter(|other| methods.contains(other)).collect();
    if !methods.contains(&Entry::LCUD) || others.is_empty() || results.outcomes.is_empty() {
        return None;
    }
    let labels: Vec<&str> = others.iter().map(|&other| other.title()).collect();
    let gains = Gains { results, others, sets: &results.sets };
    let body = html! {
        p {
            "The accuracy of LcUd minus that of " (listed(&labels)) " on the same splits: the gain of the descent from "
            "unlabeled rows. Right of zero LcUd is better. Filled marks are significant differences ("
            (results.verdicts.title()) ", 95 %); lines are 95 % confidence intervals of the mean difference."
        }
        @for sizes in results.experiment.sizes.chunks(ABREAST) {
            @for piece in pieces(results.sets.len(), MOST_ROWS) { (gains.picture(sizes, piece)) }
        }
    };
    Some(Section { id: "gain", title: "Gain from unlabeled rows", body })
}

/// A difference of mean accuracies.
struct Gain {
    mean: f64,
    interval: Option<(f64, f64)>,
    verdict: Option<Verdict>,
}

/// The gains on all data sets.
struct Gains<'a> {
    results: &'a Results,
    others: Vec<Entry>,
    sets: &'a [SetSummary],
}

impl Gains<'_> {
    fn gain(&self, set: &SetSummary, size: usize, other: Entry) -> Option<Gain> {
        let results = self.results;
        let verdict = results.verdict(results.verdicts, &set.name, size, Entry::LCUD, other);
        let lcud = &results.outcome(&set.name, size, Entry::LCUD)?.accuracies;
        let other = &results.outcome(&set.name, size, other)?.accuracies;
        let gains: Vec<f64> = lcud.iter().zip(other).map(|(a, b)| a - b).collect();
        // Within the range of a difference of accuracies.
        let interval = mean_interval(&gains).map(|(low, high)| (low.max(-1.0), high.min(1.0)));
        Some(Gain { mean: mean(&gains)?, interval, verdict })
    }

    /// The ends of all intervals, and zero: every panel has the same axis.
    fn ends(&self) -> Vec<f64> {
        let mut ends = vec![0.0];
        for set in self.sets {
            for &size in &self.results.experiment.sizes {
                for gain in self.others.iter().filter_map(|&other| self.gain(set, size, other)) {
                    let (low, high) = gain.interval.unwrap_or((gain.mean, gain.mean));
                    ends.extend([low, high]);
                }
            }
        }
        ends
    }

    fn picture(&self, sizes: &[usize], piece: Range<usize>) -> Markup {
        let pitch = (LANE * self.others.len() as f64 + 6.0).max(22.0);
        let names = set_names(self.results);
        let rows = Rows::new(&names, names[piece.clone()].to_vec(), pitch, WIDE).below(HEAD);
        let (left, n) = (rows.frame.left, sizes.len() as f64);
        let width = (rows.frame.right - left - GAP * (n - 1.0)) / n;
        let ends = self.ends();
        let drawing = html! {
            (rows.draw())
            @for (i, &size) in sizes.iter().enumerate() {
                @let from = left + (width + GAP) * i as f64;
                @let scale = Scale::covering(ends.iter().copied(), from, from + width);
                @let frame = Frame { left: from, right: from + width, ..rows.frame };
                text.panel x=(Px(from + 0.5 * width)) y=(Px(frame.top - 8.0)) text-anchor="middle" {
                    (count(size, "member"))
                }
                (frame.across(&scale, "gain in accuracy"))
                (self.marks(&rows, &scale, size, piece.clone()))
            }
        };
        let entry = |&m: &Entry| (method::key(m), format!("LcUd \u{2212} {}", m.title()));
        Picture {
            id: format!("gain-{}-{}", sizes.first().unwrap_or(&0), piece.start),
            title: format!("Gain in accuracy with {} members.", listed(sizes)),
            finding: self.finding(sizes, piece),
            legend: legend(&self.others.iter().map(entry).collect::<Vec<_>>()),
            width: WIDE,
            height: rows.height(),
        }
        .draw(&drawing)
    }

    fn marks(&self, rows: &Rows, scale: &Scale, size: usize, piece: Range<usize>) -> Markup {
        let lanes = self.others.len();
        let y = |row: usize, lane: usize| rows.middle(row) + LANE * (lane as f64 - 0.5 * (lanes - 1) as f64);
        let zero = Px(scale.at(0.0));
        html! {
            line.zero x1=(zero) x2=(zero) y1=(Px(rows.frame.top)) y2=(Px(rows.frame.bottom)) {}
            @for (lane, &other) in self.others.iter().enumerate() {
                g class=(method::class(other)) {
                    @for (row, set) in self.sets[piece.clone()].iter().enumerate() {
                        @if let Some(gain) = self.gain(set, size, other) {
                            g {
                                title { (set.name) ": " (signed(gain.mean, 4)) " over " (other.title()) }
                                @if let Some(interval) = gain.interval { (whisker(scale, y(row, lane), interval)) }
                                @let is_open = gain.verdict.is_none_or(|verdict| verdict == Verdict::Tie);
                                (mark(method::look(other).shape, is_open, scale.at(gain.mean), y(row, lane), 3.6))
                            }
                        }
                    }
                }
            }
        }
    }

    fn finding(&self, sizes: &[usize], piece: Range<usize>) -> String {
        let mut sentences = Vec::new();
        for &size in sizes {
            let over = |&other: &Entry| {
                let sets = self.sets[piece.clone()].iter();
                let gains: Vec<Gain> = sets.filter_map(|set| self.gain(set, size, other)).collect();
                let record: Record = gains.iter().filter_map(|gain| gain.verdict).collect();
                let mean = mean(&gains.iter().map(|gain| gain.mean).collect::<Vec<_>>())?;
                Some(format!("{} over {} ({record})", signed(mean, 4), other.title()))
            };
            let over: Vec<String> = self.others.iter().filter_map(over).collect();
            sentences.push(format!("with {}, {}", count(size, "member"), listed(&over)));
        }
        format!("Mean over the data sets, and wins/ties/losses: {}.", sentences.join("; "))
    }
}
