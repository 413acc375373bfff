//! The top of the page: the methods, the data sets and the outcome.

use maud::{Markup, html};

use super::words::{count, listed, number};
use crate::experiment::Entry;
use crate::results::{Ranking, Results};
use crate::statistics::Record;

/// The title of the page.
pub(super) fn title(results: &Results) -> String {
    let sets = match &results.sets[..] {
        [set] => set.name.clone(),
        sets => count(sets.len(), "data set"),
    };
    format!("{} on {sets}", count(results.experiment.methods.len(), "method"))
}

/// The comparison in one sentence.
pub(super) fn sentence(results: &Results) -> String {
    let experiment = &results.experiment;
    let champion = results.champion();
    let others: Vec<&str> =
        experiment.methods.iter().filter(|&&method| method != champion).map(|&method| method.title()).collect();
    let what = match others.len() {
        0 => format!("{} was tried", champion.title()),
        _ => format!("{} was compared with {}", champion.title(), listed(&others)),
    };
    let names: Vec<&str> = results.sets.iter().map(|set| set.name.as_str()).collect();
    let on = if names.len() <= 3 { listed(&names) } else { count(names.len(), "data set") };
    format!(
        "{what} on {on}: {} of each set, ensembles of {} members.",
        count(experiment.n_splits() as usize, "random split"),
        listed(&experiment.sizes)
    )
}

/// The outcome in brief: the champion's record at each size, and the agreement with the paper.
pub(super) fn glance(results: &Results) -> Markup {
    let rivals = results.experiment.methods.len().saturating_sub(1);
    let accuracies = results.paper.as_ref().map_or(&[][..], |paper| &paper.agreement);
    let accuracies = accuracies.iter().filter(|row| ["II", "III", "IV"].contains(&row.table.as_str()));
    html! {
        ul.glance {
            @if rivals > 0 {
                @for &size in &results.experiment.sizes {
                    li { strong { (count(size, "member")) } ": " (fared(results, size)) }
                }
            }
            @for row in accuracies {
                li {
                    strong { "Table " (row.table) " of the paper" } ": "
                    (count(row.cells, "accuracy cell")) " compared, mean absolute "
                    "difference " (number(row.mean_absolute_difference, 4)) ", " (number(100.0 * row.within_002, 0)) "
                    "" % within 0.02."
                }
            }
        }
    }
}

fn fared(results: &Results, size: usize) -> String {
    let champion = results.champion().title();
    let verdicts = results.comparisons.iter().filter(|comparison| comparison.size == size);
    let Record { win, tie, loss } = verdicts.filter_map(|comparison| comparison.pairwise.verdict).collect();
    let all = if results.sets.len() > 1 { " over all data sets and methods" } else { "" };
    let record =
        format!("{champion} wins {win}, ties {tie} and loses {loss} of {}{all}", count(win + tie + loss, "comparison"));
    let record = format!("{record} ({})", results.verdicts.title());
    let ranked = |ranking: &Ranking| {
        let ranked = ranking.ranks.sorted();
        let (_, own) = *ranked.iter().find(|(name, _)| *name == results.champion().name())?;
        let (best, rank) = *ranked.first()?;
        let best = Entry::named(best).ok()?.title();
        let others =
            if best == champion { "the best".to_owned() } else { format!("the best is {best} with {rank:.2}") };
        Some(format!("; its average rank is {own:.2} among {} methods, {others}", ranked.len()))
    };
    let rank = results.rankings.iter().find(|ranking| ranking.size == size).and_then(ranked);
    format!("{record}{}.", rank.unwrap_or_default())
}
