//! How each method is called and drawn: the same in every picture of every report, so that two reports can be compared.

use maud::{Markup, html};

use super::chart::{self, Shape};
use crate::experiment::Contender;

/// How a method looks, and what it is.
pub(super) struct Look {
    /// What it is called in text.
    pub label: &'static str,
    /// Its mark: shapes tell methods apart where colours cannot.
    pub shape: Shape,
    /// Whether the mark is only an outline.
    pub open: bool,
    /// What it does, in a sentence.
    pub about: &'static str,
}

pub(super) fn look(method: Contender) -> Look {
    let new = |label, shape, open, about| Look { label, shape, open, about };
    match method {
        Contender::Logistic => new(
            "Logistic",
            Shape::Plus,
            false,
            "One logistic regression on the labeled rows: what the labels alone give.",
        ),
        Contender::Initial => new(
            "Initial",
            Shape::Circle,
            true,
            "UDEED's members before the descent: logistic regressions on bootstraps of the labeled rows.",
        ),
        Contender::Lc => {
            new("Lc", Shape::Up, false, "UDEED without diversity: the descent minimises the loss on the labels only.")
        }
        Contender::Lcd => {
            new("Lcd", Shape::Diamond, false, "UDEED with diversity on the labeled rows, their labels ignored.")
        }
        Contender::Lcud => new(
            "LcUd",
            Shape::Circle,
            false,
            "UDEED: first as Lcd, then, from there, with diversity on the unlabeled rows.",
        ),
        Contender::Auto => new(
            "Auto",
            Shape::Hourglass,
            false,
            "Bagged logistic regressions on several views of the rows; rows left out of a bootstrap choose what counts.",
        ),
        Contender::Bagging => {
            new("Bagging", Shape::Square, false, "Logistic regressions on bootstraps of the labeled rows.")
        }
        Contender::Adaboost => new(
            "AdaBoost",
            Shape::Down,
            false,
            "Each member is fitted to what the ones before it got wrong; a member without error is kept and ends it.",
        ),
        Contender::AdaboostDiscard => new(
            "AdaBoost-discard",
            Shape::Down,
            true,
            "AdaBoost as the paper must have run it: by resampling, and a member without error is thrown away.",
        ),
        Contender::Assemble => new(
            "ASSEMBLE",
            Shape::Cross,
            false,
            "ASSEMBLE.AdaBoost: unlabeled rows take the label that the ensemble gives them and are boosted too.",
        ),
        Contender::Semiboost => new(
            "SemiBoost",
            Shape::Square,
            true,
            "Similar rows suggest labels for unlabeled ones; each member is fitted to the surest of them.",
        ),
        Contender::SelfTraining => new(
            "Self-training",
            Shape::Diamond,
            true,
            "One learner that labels the unlabeled rows it is sure of, and learns from these too.",
        ),
        Contender::TriTraining => new(
            "Tri-training",
            Shape::Up,
            true,
            "Three members; where two agree on an unlabeled row, they label it for the third.",
        ),
        Contender::CoForest => new(
            "Co-forest",
            Shape::Left,
            false,
            "A random forest in which the other trees label unlabeled rows for each tree.",
        ),
        Contender::CoTraining => new(
            "Co-training",
            Shape::Left,
            true,
            "Two members that see different columns label the rows they are surest of for both.",
        ),
        Contender::Setred => new(
            "SETRED",
            Shape::Right,
            false,
            "Self-training that keeps a guess only where its neighbours agree more than chance would have it.",
        ),
        Contender::Ssmboost => new(
            "SSMBoost",
            Shape::Right,
            true,
            "Boosting of the margin, which for an unlabeled row is how sure the vote is of it.",
        ),
        Contender::Regboost => new(
            "RegBoost",
            Shape::Hexagon,
            false,
            "ASSEMBLE whose weights also count how much the labels of near rows contradict each other.",
        ),
        Contender::Mcssb => new(
            "MCSSB",
            Shape::Hexagon,
            true,
            "Boosting that moves the votes so that similar rows get the same class, all classes at once.",
        ),
        Contender::Stacking => new(
            "Stacking",
            Shape::Star,
            false,
            "Different base learners, and a logistic regression on what they say of rows they have not seen.",
        ),
    }
}

/// What a method does, in a sentence.
///
/// ```
/// use udeed_lab::{Contender, report::about};
///
/// assert!(about(Contender::Lcud).starts_with("UDEED"));
/// ```
pub fn about(method: Contender) -> &'static str {
    look(method).about
}

/// What a method is called in text.
pub(super) fn label(method: Contender) -> &'static str {
    look(method).label
}

/// The class that gives a method its colour.
pub(super) fn class(method: Contender) -> String {
    format!("method-{}", method.name())
}

/// The mark of a method in a picture.
pub(super) fn mark(method: Contender, x: f64, y: f64) -> Markup {
    let look = look(method);
    chart::mark(look.shape, look.open, x, y, 3.6)
}

/// Its mark as a legend shows it.
pub(super) fn key(method: Contender) -> Markup {
    let look = look(method);
    chart::key(&class(method), look.shape, look.open)
}

/// Its mark and name, as a table shows it.
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
