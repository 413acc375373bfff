//! The descent of single fits: the loss V and its two parts, step by step.

use maud::{Markup, html};
use udeed::observer::{Losses, Step};

use super::Gallery;
use super::chart::{Frame, Picture, Px, Scale, Shape, mark, text_width};
use super::words::{count, number};
use crate::experiment::Showcase;

const WIDTH: f64 = 430.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 12.0;
/// The height of the name of a stage, above the panels.
const NAME: f64 = 16.0;
const PANEL: f64 = 96.0;
const GAP: f64 = 14.0;

/// A part of the loss: its CSS class, its name, and its value.
type Part = (&'static str, &'static str, fn(&Losses) -> f64);

const PARTS: [Part; 3] = [
    ("loss-total", "V", |losses| losses.total),
    ("loss-empirical", "V_emp", |losses| losses.empirical),
    ("loss-diversity", "V_div", |losses| losses.diversity),
];

pub(super) const DESCENT: Gallery = Gallery {
    id: "descent",
    title: "The descent",
    about: "LcUd on the first split of a data set: the loss V = V_emp + \u{3b3} V_div, the empirical loss V_emp on the labeled \
            rows, and the diversity loss V_div, which is lower where members differ more. The first stage measures V_div on \
            the labeled rows, the second on the unlabeled rows, so V and V_div jump between the stages (dashed). A stage ends \
            with the first step that does not lower both V and V_div; that step is rejected.",
    marks: &[("loss-total", Shape::Circle, "step"), ("rejected", Shape::Cross, "rejected step")],
    is_shown: |showcase| !showcase.steps.is_empty(),
    picture,
};

/// A stage: the index of its first step, and its steps.
type Stage<'a> = (usize, &'a [Step]);

fn stages(steps: &[Step]) -> Vec<Stage<'_>> {
    let mut begin = 0;
    let mut stages = Vec::new();
    for stage in steps.chunk_by(|a, b| a.stage == b.stage) {
        stages.push((begin, stage));
        begin += stage.len();
    }
    stages
}

fn picture(showcase: &Showcase, place: usize) -> Markup {
    let stages = stages(&showcase.steps);
    let last = showcase.steps.len().saturating_sub(1).max(1) as f64;
    let across = Scale::new((-0.5, last + 0.5), LEFT, WIDTH - RIGHT);
    let head = NAME * stages.len() as f64 + 6.0;
    let bottom = head + PANEL * 3.0 + GAP * 2.0;
    let drawing = html! {
        @for (i, part) in PARTS.iter().enumerate() {
            @let top = head + (PANEL + GAP) * i as f64;
            (panel(&stages, part, &across, Frame { left: LEFT, right: WIDTH - RIGHT, top, bottom: top + PANEL }))
        }
        @for place in 0..stages.len() { (stage_marks(place, &stages, &across, bottom)) }
        text.axis x=(Px(0.5 * (LEFT + WIDTH - RIGHT))) y=(Px(bottom + 34.0)) text-anchor="middle" {
            "step of the stage"
        }
    };
    Picture {
        id: format!("descent-{place}"),
        title: format!("Descent on {}, {}.", showcase.dataset, count(showcase.size, "member")),
        finding: finding(&stages),
        legend: html! {},
        width: WIDTH,
        height: bottom + 44.0,
    }
    .draw(&drawing)
}

/// The name of a stage, its first step, and the numbers of its steps.
fn stage_marks(place: usize, stages: &[Stage], across: &Scale, bottom: f64) -> Markup {
    let (begin, stage) = stages[place];
    let is_last = place + 1 == stages.len();
    let edge = across.at(begin as f64 - 0.5);
    let words = stage.first().map_or(String::new(), |step| step.stage.to_string());
    let line = NAME * place as f64 + 13.0;
    let is_far_right = edge + 5.0 + text_width(&words) > WIDTH - RIGHT;
    let (x, anchor) = if is_far_right { (WIDTH - RIGHT, "end") } else { (edge + 5.0, "start") };
    let unit = across.at(1.0) - across.at(0.0);
    let every =
        [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter().find(|&every| every as f64 * unit >= 20.0).unwrap_or(1000);
    // Not where the numbers of the next stage begin.
    let has_room = |step: &usize| is_last || (stage.len() - step) as f64 * unit >= 18.0;
    html! {
        @if begin > 0 { line.stage x1=(Px(edge)) x2=(Px(edge)) y1=(Px(line + 5.0)) y2=(Px(bottom)) {} }
        text.tick x=(Px(x)) y=(Px(line)) text-anchor=(anchor) { (words) }
        @for step in (0..stage.len()).step_by(every).filter(has_room) {
            text.tick x=(Px(across.at((begin + step) as f64))) y=(Px(bottom + 16.0)) text-anchor="middle" { (step) }
        }
    }
}

fn panel(stages: &[Stage], &(class, name, loss): &Part, across: &Scale, frame: Frame) -> Markup {
    let steps = || stages.iter().flat_map(|(_, stage)| stage.iter());
    let kept = steps().filter(|step| step.accepted).map(|step| loss(&step.losses));
    let (low, high) = kept.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (v.min(low), v.max(high)));
    let span = (high - low).max(1e-6);
    // A rejected step far away would flatten all others: it is drawn at the edge.
    let shown = |step: &Step| match loss(&step.losses) {
        loss if step.accepted || loss.is_nan() => loss,
        loss => loss.max(low - span).min(high + span),
    };
    let up = Scale::covering(steps().map(shown), frame.bottom - 4.0, frame.top + 4.0);
    html! {
        (frame.up(&up, name))
        (frame.outline())
        g class=(class) {
            @for &(begin, stage) in stages {
                (path(stage, |i, step| (across.at((begin + i) as f64), up.at(shown(step)))))
            }
        }
    }
}

/// A line through the accepted steps, and a dashed one to the rejected step.
fn path(stage: &[Step], at: impl Fn(usize, &Step) -> (f64, f64)) -> Markup {
    let points = stage.iter().enumerate().map(|(i, step)| (at(i, step), step.accepted));
    // A step whose loss is not finite is not drawn.
    let points: Vec<(f64, f64, bool)> =
        points.filter(|((_, y), _)| y.is_finite()).map(|((x, y), accepted)| (x, y, accepted)).collect();
    let joined = |points: &[(f64, f64, bool)]| -> String {
        points.iter().map(|(x, y, _)| format!("{} {}", Px(*x), Px(*y))).collect::<Vec<_>>().join("L")
    };
    let kept = points.iter().take_while(|(_, _, accepted)| *accepted).count();
    html! {
        @if kept > 0 { path.loss d={ "M" (joined(&points[..kept])) } {} }
        @for &(x, y, _) in &points[..kept] { (mark(Shape::Circle, false, x, y, 1.6)) }
        @if kept > 0 && kept < points.len() { path.loss.rejected d={ "M" (joined(&points[kept - 1..=kept])) } {} }
        @for &(x, y, _) in &points[kept..] { (mark(Shape::Cross, false, x, y, 3.6)) }
    }
}

fn finding(stages: &[Stage]) -> String {
    let sentences = stages.iter().filter_map(|(_, stage)| {
        let kept = stage.iter().filter(|step| step.accepted);
        let (first, last) = (kept.clone().next()?, kept.clone().next_back()?);
        let fall = |part: fn(&Losses) -> f64| {
            format!("from {} to {}", number(part(&first.losses), 4), number(part(&last.losses), 4))
        };
        Some(format!(
            "{}: {} accepted, V {}, V_div {}{}.",
            capitalised(&first.stage.to_string()),
            count(kept.count().saturating_sub(1), "step"),
            fall(|losses| losses.total),
            fall(|losses| losses.diversity),
            if stage.iter().all(|step| step.accepted) { "" } else { "; the next step was rejected" }
        ))
    });
    sentences.collect::<Vec<_>>().join(" ")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
