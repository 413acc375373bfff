//! SETRED: self-training that edits out pseudo-labels contradicted by their neighbours.

use crate::data::Rows;
use crate::ensemble::pseudo_labels::{Predictions, PseudoLabels};
use crate::ensemble::{Ensemble, LabelRounds, Learned, Part, Rule, TrainingRows};
use crate::error::{Error, Result};
use crate::method::Learn;
use crate::method::card::Range;
use crate::method::declare::method;
use crate::neighbors::squared_distance;
use crate::observer::Watch;
use crate::parallel;
use crate::random::{Purpose, Stream};

method! {
    /// SETRED: self-training that drops pseudo-labels contradicted by the neighbours of a row.
    ///
    /// A pseudo-label is kept if significantly fewer neighbours in the relative neighbourhood graph contradict it than expected by
    /// chance. The model has a single member.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let data = built_in("wdbc")?.read()?.into_train()?;
    /// let hidden: Vec<usize> = (0..500).collect();
    /// let model = Setred::new().fit(&data.clone().hide_labels(&hidden))?;
    /// assert!(model.evaluate(data.table(), data.labels())?.accuracy > 0.85);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    Setred = "setred" {
        title: "SETRED",
        python: "SetredClassifier",
        paper: "M. Li and Z.-H. Zhou, \"SETRED: self-training with editing\", PAKDD 2005",
        labels_rows: true,
        size: 1,
    }
    settings {
        learning;
        /// Largest number of rounds.
        rounds: usize = 40;
        /// Number of unlabeled rows, drawn at random, from which a round takes the most confident predictions; 0 for all, which
        /// takes quadratic time.
        pool: usize = 75;
        /// Share of the pool that gets pseudo-labels in a round, stratified by class.
        pick_share: f64 = 0.2, in Range::SHARE;
        /// Significance level of the cut edge weight test by which a pseudo-label is kept.
        significance: f64 = 0.1, in Range::WITHIN_ONE;
        seed;
    }
}

impl Learn for Setred {
    fn learn(&self, prepared: &TrainingRows, watch: &Watch<'_>) -> Result<Learned> {
        let learner = self.base.learner(self.lambda, watch);
        let mut pseudo_labels = PseudoLabels::new(prepared)?;
        let shares = prepared.class_shares();
        let mut left = pseudo_labels.unlabeled();
        let mut rounds = LabelRounds::by_members(left.len());
        let mut stream = Stream::new(self.seed, Purpose::Boosting, 0);
        let critical = normal_quantile(self.significance);
        let mut member = pseudo_labels.learn(&*learner, self.seed, &prepared.start())?;
        for round in 0..self.rounds {
            if left.is_empty() {
                break;
            }
            watch.member(round, self.rounds)?;
            stream.shuffle(&mut left);
            let pool = if self.pool == 0 { left.len() } else { self.pool.min(left.len()) };
            let in_round = |error: Error| error.in_round(round);
            let predictions = Predictions::by(&member, pseudo_labels.rows(), &left[..pool]).map_err(in_round)?;
            let wanted = shares.iter().map(|share| ((share * self.pick_share * pool as f64).round() as usize).max(1));
            let chosen = predictions.most_confident(&wanted.collect::<Vec<usize>>());
            let candidates: Vec<(usize, u8)> =
                chosen.iter().map(|&place| (left[place], predictions.classes[place])).collect();
            let kept = edited(&pseudo_labels, &candidates, &shares, critical, watch)?;
            for &(row, class) in &kept {
                pseudo_labels.add(row, class, 1.0);
                rounds.note(row - pseudo_labels.n_labeled, round, &[0]);
            }
            left.retain(|&row| pseudo_labels.weights[row] == 0.0);
            // All rows were candidates and none was kept: the next round would be the same.
            if kept.is_empty() && self.pool == 0 {
                break;
            }
            if !kept.is_empty() {
                member = pseudo_labels.learn(&*learner, self.seed, &member).map_err(in_round)?;
            }
        }
        let part = Part::alike(vec![member], Rule::Weighted);
        let mut learned = Learned { rounds: Some(rounds), ..Ensemble::whole(prepared.n_classes(), part).into() };
        learned.warn(pseudo_labels.warning(pseudo_labels.any()), watch);
        Ok(learned)
    }
}

/// Data editing: the candidates whose pseudo-labels pass the cut edge weight test.
fn edited(
    pseudo_labels: &PseudoLabels,
    candidates: &[(usize, u8)],
    shares: &[f64],
    critical: f64,
    watch: &Watch<'_>,
) -> Result<Vec<(usize, u8)>> {
    let rows = pseudo_labels.rows();
    let mut known: Vec<(usize, u8)> = (0..pseudo_labels.classes.len())
        .filter(|&i| pseudo_labels.weights[i] > 0.0)
        .map(|i| (i, pseudo_labels.classes[i]))
        .collect();
    let first = known.len();
    known.extend(candidates);
    let points: Vec<usize> = known.iter().map(|&(row, _)| row).collect();
    let keep = |place: usize| {
        watch.ask()?;
        let class = candidates[place].1;
        let edges = relative_neighbors(rows, &points, first + place);
        let weigh = |&(other, distance): &(usize, f64)| (1.0 / (1.0 + distance), known[other].1 != class);
        let edges: Vec<(f64, bool)> = edges.iter().map(weigh).collect();
        Ok(passes_cut_edge_test(&edges, shares[usize::from(class)], critical))
    };
    let kept = parallel::try_map(candidates.len(), keep)?;
    Ok(candidates.iter().zip(kept).filter(|(_, keep)| *keep).map(|(candidate, _)| *candidate).collect())
}

/// The cut edge weight test: whether the weights of edges to other classes sum to less than the critical value under
/// independent labels. Where few edges make that value negative, no edge may lead to another class.
fn passes_cut_edge_test(edges: &[(f64, bool)], share: f64, critical: f64) -> bool {
    let against: f64 = edges.iter().filter(|edge| edge.1).map(|edge| edge.0).sum();
    let (sum, squares) =
        edges.iter().fold((0.0, 0.0), |(sum, squares), edge| (sum + edge.0, squares + edge.0 * edge.0));
    let (mean, deviation) = ((1.0 - share) * sum, (share * (1.0 - share) * squares).sqrt());
    against <= (mean + critical * deviation).max(0.0)
}

/// The neighbours of a point in the relative neighbourhood graph, with their distances: two points are neighbours if no
/// third one is nearer to both than they are to each other.
fn relative_neighbors(rows: &dyn Rows, points: &[usize], of: usize) -> Vec<(usize, f64)> {
    let distance = |a: usize, b: usize| squared_distance(rows.row(points[a]), rows.row(points[b]));
    let mut others: Vec<(usize, f64)> =
        (0..points.len()).filter(|&other| other != of).map(|other| (other, distance(of, other))).collect();
    others.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let mut found = Vec::new();
    for &(other, far) in &others {
        // Only nearer points can lie between; the nearest are tried first.
        let nearer = &others[..others.partition_point(|&(_, near)| near < far)];
        let between = nearer.iter().any(|&(third, _)| distance(other, third) < far);
        if !between {
            found.push((other, far.sqrt()));
        }
    }
    found
}

/// The quantile of the standard normal distribution, to 1e-9, by bisection.
fn normal_quantile(probability: f64) -> f64 {
    let below = |z: f64| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
    let (mut low, mut high) = (-40.0, 40.0);
    while high - low > 1e-10 {
        let middle = 0.5 * (low + high);
        if below(middle) < probability { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dense;

    #[test]
    fn quantiles_are_those_of_tables() {
        assert!((normal_quantile(0.1) + 1.281551565545).abs() < 1e-8);
        assert!(normal_quantile(0.5).abs() < 1e-8);
        assert!((normal_quantile(0.975) - 1.959963984540).abs() < 1e-8);
    }

    #[test]
    fn neighbours_have_nobody_between_them() {
        // On a line only the next on either side is a neighbour; off it another one.
        let rows = Dense::new(5, 2, vec![0.0, 0.0, 1.0, 0.0, 3.0, 0.0, -2.0, 0.0, 0.0, 5.0]).unwrap();
        let found = relative_neighbors(&rows, &[0, 1, 2, 3, 4], 0);
        assert_eq!(found, [(1, 1.0), (3, 2.0), (4, 5.0)]);
        // Two points alone are always neighbours; equal distances do not come between.
        assert_eq!(relative_neighbors(&rows, &[0, 4], 0), [(1, 5.0)]);
    }

    /// By hand: three edges of weight 1/2, half of the labels of this class: mean 0.75, deviation 0.433.
    #[test]
    fn a_guess_needs_neighbours_that_agree() {
        let critical = normal_quantile(0.1);
        let edges = |against: [bool; 3]| against.map(|against| (0.5, against));
        assert!(passes_cut_edge_test(&edges([false; 3]), 0.5, critical), "0 <= 0.195");
        assert!(!passes_cut_edge_test(&edges([true, false, false]), 0.5, critical), "0.5 > 0.195");
        // A single edge is never significant; the label is kept if it agrees.
        assert!(passes_cut_edge_test(&[(0.5, false)], 0.5, critical));
        assert!(!passes_cut_edge_test(&[(0.5, true)], 0.5, critical));
        // Agreeing neighbours are no evidence for a class that nearly all rows have, but the label is kept.
        assert!(passes_cut_edge_test(&[(0.5, false)], 1.0, critical));
        assert!(passes_cut_edge_test(&[], 0.5, critical));
    }
}
