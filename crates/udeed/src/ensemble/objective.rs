//! What the descent of UDEED makes small.

use serde::{Deserialize, Serialize};

use crate::data::Rows;
use crate::kernel::{pass, softplus, tanh_half};

/// How the fit to the labels is measured.
///
/// ```
/// assert_eq!(udeed::Loss::default(), udeed::Loss::Logistic);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// `ln(1 + e^(-y w.x))`, the negative binomial likelihood.
    #[default]
    Logistic,
    /// `(f - y)^2`.
    Squared,
    /// `1 - y f`. As in the paper, without a maximum with 0: `f` never exceeds 1.
    Hinge,
}

/// The losses of an ensemble: `total = empirical + gamma * diversity`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Losses {
    /// V_emp: the mean loss of the members on the labeled rows.
    pub empirical: f64,
    /// V_div: the mean product of the outputs of two members. The smaller, the more they differ.
    pub diversity: f64,
    /// V.
    pub total: f64,
}

/// A function of the weights of all members, with its gradient: the seam behind which the arithmetic can change.
pub trait Objective {
    /// The losses at the weights (feature by feature, as in [`Members`](crate::Members)); `gradient` is overwritten with
    /// the gradient of the total.
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> Losses;
}

/// UDEED's loss `V = V_emp(L) + gamma V_div(D)` of `m` linear members.
///
/// With `f_k = tanh(w_k.x / 2)`, its derivative by the score `w_k.x` is `(1 - f_k^2) / 2`, and with `S = sum_k f_k`
///
/// ```text
/// V_emp = 1/(m l)  sum_k sum_L loss(f_k, y)
/// V_div = 2/(m(m-1)) sum_{p<q} mean_D f_p f_q  =  mean_D (S^2 - sum_k f_k^2) / (m(m-1))
///
/// dV/dw_k = 1/(m l) sum_L loss'(w_k.x) x  +  gamma/(m(m-1)|D|) sum_D (S - f_k)(1 - f_k^2) x
/// ```
///
/// where for the logistic loss `loss' = -(y - f_k)/2`. The gradient that the paper prints has further factors
/// `ln(1 + e^(-+w.x))` in its first sum, a misprint: finite differences agree with the form above.
///
/// ```
/// use udeed::{Dense, EnsembleLoss, Loss, Members, Objective};
///
/// let rows = Dense::new(2, 1, vec![0.0, 1.0])?;
/// let loss = EnsembleLoss { labeled: &rows, targets: &[-1.0, 1.0], diversity: Some(&rows), loss: Loss::Logistic, gamma: 1.0, m: 2 };
/// let same = Members::from_rows(&[vec![2.0, -1.0], vec![2.0, -1.0]]);
/// let opposite = Members::from_rows(&[vec![2.0, -1.0], vec![-2.0, 1.0]]);
/// let mut gradient = vec![0.0; 4];
/// assert!(loss.evaluate(opposite.weights(), &mut gradient).diversity < loss.evaluate(same.weights(), &mut gradient).diversity);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct EnsembleLoss<'a> {
    /// The labeled rows L.
    pub labeled: &'a dyn Rows,
    /// Their targets, -1 and 1.
    pub targets: &'a [f64],
    /// The rows D on which the members shall differ. None: V_div is 0.
    pub diversity: Option<&'a dyn Rows>,
    /// How the fit to the labels is measured.
    pub loss: Loss,
    /// How much diversity counts.
    pub gamma: f64,
    /// How many members there are.
    pub m: usize,
}

impl Objective for EnsembleLoss<'_> {
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> Losses {
        gradient.fill(0.0);
        let empirical = self.empirical(weights, gradient);
        let diversity = self.diversity.map_or(0.0, |rows| self.diversity(rows, weights, gradient));
        Losses { empirical, diversity, total: empirical + self.gamma * diversity }
    }
}

impl EnsembleLoss<'_> {
    fn empirical(&self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let share = 1.0 / (self.m as f64 * self.labeled.n_rows() as f64);
        share
            * pass(self.labeled, weights, self.m, Some(gradient), |i, scores| {
                let y = self.targets[i];
                let mut sum = 0.0;
                if self.loss == Loss::Logistic {
                    sum = scores.iter().map(|z| softplus(-y * z)).sum();
                }
                tanh_half(scores);
                for f in scores {
                    let slope = 0.5 * (1.0 - *f * *f);
                    let (value, derivative) = match self.loss {
                        Loss::Logistic => (0.0, -0.5 * (y - *f)),
                        Loss::Squared => ((*f - y) * (*f - y), 2.0 * (*f - y) * slope),
                        Loss::Hinge => (1.0 - y * *f, -y * slope),
                    };
                    sum += value;
                    *f = share * derivative;
                }
                sum
            })
    }

    fn diversity(&self, rows: &dyn Rows, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let m = self.m as f64;
        let share = 1.0 / (m * (m - 1.0) * rows.n_rows() as f64);
        share
            * pass(rows, weights, self.m, Some(gradient), |_, scores| {
                tanh_half(scores);
                let sum: f64 = scores.iter().sum();
                let squares: f64 = scores.iter().map(|f| f * f).sum();
                for f in scores {
                    *f = self.gamma * share * (sum - *f) * (1.0 - *f * *f);
                }
                sum * sum - squares
            })
    }
}
