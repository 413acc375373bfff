//! The label, mark and description of each method: the same in every report, so that two reports can be compared.

use maud::{Markup, html};

use super::chart::{self, Shape};
use crate::experiment::Contender;

/// The look of a method.
pub(super) struct Look {
    /// The name in text.
    pub label: &'static str,
    /// The shape of the mark, for readers who cannot tell the colours apart.
    pub shape: Shape,
    /// Whether the mark is only an outline.
    pub open: bool,
    /// The description, one sentence.
    pub about: &'static str,
}

pub(super) fn look(method: Contender) -> Look {
    let new = |label, shape, open, about| Look { label, shape, open, about };
    match method {
        Contender::Logistic => {
            new("Logistic", Shape::Plus, false, "One logistic regression on the labeled rows, the supervised baseline.")
        }
        Contender::Initial => new(
            "Initial",
            Shape::Circle,
            true,
            "UDEED's members before the descent: logistic regressions on bootstraps of the labeled rows.",
        ),
        Contender::Lc => new(
            "Lc",
            Shape::Up,
            false,
            "UDEED without diversity: the descent minimises the empirical loss on the labeled rows only.",
        ),
        Contender::Lcd => {
            new("Lcd", Shape::Diamond, false, "UDEED with diversity on the labeled rows, their labels ignored.")
        }
        Contender::Lcud => new(
            "LcUd",
            Shape::Circle,
            false,
            "UDEED: the descent of Lcd, continued with diversity on the unlabeled rows.",
        ),
        Contender::Auto => new(
            "Auto",
            Shape::Hourglass,
            false,
            "Bagged logistic regressions on several views of the rows, weighted by their out-of-bag rows.",
        ),
        Contender::Bagging => {
            new("Bagging", Shape::Square, false, "Logistic regressions on bootstraps of the labeled rows.")
        }
        Contender::Adaboost => new(
            "AdaBoost",
            Shape::Down,
            false,
            "Boosting: each member puts more weight on the errors of those before it; one without error is the last.",
        ),
        Contender::AdaboostDiscard => new(
            "AdaBoost-discard",
            Shape::Down,
            true,
            "AdaBoost as the paper must have run it: by resampling, and a member without error is discarded.",
        ),
        Contender::Assemble => new(
            "ASSEMBLE",
            Shape::Cross,
            false,
            "ASSEMBLE.AdaBoost: boosting in which unlabeled rows have the pseudo-labels of the ensemble.",
        ),
        Contender::Semiboost => new(
            "SemiBoost",
            Shape::Square,
            true,
            "Boosting with pseudo-labels from similar rows; each member is fitted to the most confident of them.",
        ),
        Contender::SelfTraining => new(
            "Self-training",
            Shape::Diamond,
            true,
            "One learner that adds its confident pseudo-labels to the training rows, again and again.",
        ),
        Contender::TriTraining => new(
            "Tri-training",
            Shape::Up,
            true,
            "Three members; where two agree on an unlabeled row, their label trains the third.",
        ),
        Contender::CoForest => new(
            "Co-forest",
            Shape::Left,
            false,
            "A random forest in which each tree learns from the confident pseudo-labels of the other trees.",
        ),
        Contender::CoTraining => new(
            "Co-training",
            Shape::Left,
            true,
            "Two members on different columns (views); the confident pseudo-labels of each train both.",
        ),
        Contender::Setred => new(
            "SETRED",
            Shape::Right,
            false,
            "Self-training with editing: a pseudo-label is kept only if its neighbours agree more than by chance.",
        ),
        Contender::Ssmboost => new(
            "SSMBoost",
            Shape::Right,
            true,
            "Boosting of the margin; the margin of an unlabeled row is the confidence of the vote.",
        ),
        Contender::Regboost => new(
            "RegBoost",
            Shape::Hexagon,
            false,
            "ASSEMBLE with a local smoothness term: weights also grow where neighbouring labels disagree.",
        ),
        Contender::Mcssb => {
            new("MCSSB", Shape::Hexagon, true, "Multi-class boosting that draws similar rows to the same class.")
        }
        Contender::Stacking => new(
            "Stacking",
            Shape::Star,
            false,
            "Different base learners, combined by a logistic regression on their out-of-fold predictions.",
        ),
    }
}

/// The description of a method, one sentence.
///
/// ```
/// use udeed_lab::{Contender, report::about};
///
/// assert!(about(Contender::Lcud).starts_with("UDEED"));
/// ```
pub fn about(method: Contender) -> &'static str {
    look(method).about
}

/// The name of a method in text.
pub(super) fn label(method: Contender) -> &'static str {
    look(method).label
}

/// The CSS class with the colour of a method.
pub(super) fn class(method: Contender) -> String {
    format!("method-{}", method.name())
}

/// The mark of a method in a picture.
pub(super) fn mark(method: Contender, x: f64, y: f64) -> Markup {
    let look = look(method);
    chart::mark(look.shape, look.open, x, y, 3.6)
}

/// The mark of a method in a legend.
pub(super) fn key(method: Contender) -> Markup {
    let look = look(method);
    chart::key(&class(method), look.shape, look.open)
}

/// The mark and name of a method in a table.
pub(super) fn name(method: Contender) -> Markup {
    html! { (key(method)) (label(method)) }
}

/// A legend of methods.
pub(super) fn legend(methods: &[Contender]) -> Markup {
    let entries: Vec<_> = methods.iter().map(|&method| (key(method), label(method).to_owned())).collect();
    chart::legend(&entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_a_mark_of_its_own_and_a_colour() {
        let style = include_str!("style.css");
        let looks: Vec<(Contender, Look)> = Contender::ALL.iter().map(|&method| (method, look(method))).collect();
        for (i, (method, look)) in looks.iter().enumerate() {
            assert!(style.contains(&format!(".{} {{", class(*method))), "{}", class(*method));
            // Of lines alone there is no open mark.
            assert!(!(look.open && matches!(look.shape, Shape::Plus | Shape::Cross | Shape::Star)), "{}", look.label);
            for (_, other) in &looks[..i] {
                assert!((look.shape, look.open) != (other.shape, other.open), "{} {}", look.label, other.label);
                assert_ne!(look.label, other.label);
            }
        }
    }
}
