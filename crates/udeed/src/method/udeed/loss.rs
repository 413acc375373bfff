//! What the descent of UDEED makes small.

use pulp::Simd;

use crate::words::words;
use crate::data::Blocks;
use crate::error::Result;
use crate::kernel::{Real, Visit, pass};
use crate::learner::walk_networks;
use crate::observer::Losses;

words! {
    /// How the fit to the labels is measured.
    pub enum Loss = Logistic {
        /// `ln(1 + e^(-y w.x))`, the negative binomial likelihood.
        Logistic = "logistic",
        /// `(f - y)^2`.
        Squared = "squared",
        /// `1 - y f`. As in the paper, without a maximum with 0: `f` never exceeds 1.
        Hinge = "hinge",
    }
}

words! {
    /// In which numbers the descent reckons.
    pub enum Precision = Double {
        /// Of 64 bits.
        Double = "double",
        /// Of 32 bits, in half of the time. The gradients of blocks of rows are still added up in 64 bits.
        Single = "single",
    }
}

/// A function of the weights of all members, with its gradient: the seam behind which the arithmetic can change.
pub trait Objective {
    /// The losses at the weights (feature by feature, as in [`Members`](crate::Members)); `gradient` is overwritten with
    /// the gradient of the total.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses>;
}

/// UDEED's loss `V = V_emp(L) + gamma V_div(D)` of `m` members, linear ones unless they have hidden units.
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
/// use udeed::{Dense, EnsembleLoss, Loss, Members, Objective, Precision};
///
/// let rows = Dense::new(2, 1, vec![0.0, 1.0])?;
/// let loss = EnsembleLoss {
///     labeled: &rows,
///     targets: &[-1.0, 1.0],
///     counts: &[1.0, 1.0],
///     diversity: Some(&rows),
///     loss: Loss::Logistic,
///     gamma: 1.0,
///     m: 2,
///     heads: 1,
///     hidden: 0,
///     precision: Precision::Double,
/// };
/// let same = Members::from_rows(&[vec![2.0, -1.0], vec![2.0, -1.0]]);
/// let opposite = Members::from_rows(&[vec![2.0, -1.0], vec![-2.0, 1.0]]);
/// let mut gradient = vec![0.0; 4];
/// let [same, opposite] = [same, opposite].map(|members| loss.evaluate(members.weights(), &mut gradient));
/// assert!(opposite?.diversity < same?.diversity);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct EnsembleLoss<'a> {
    /// The labeled rows L.
    pub labeled: &'a dyn Blocks,
    /// Their targets, -1 and 1: for each row one a head.
    pub targets: &'a [f64],
    /// How much each of them counts; `l` is then the sum of these.
    pub counts: &'a [f64],
    /// The rows D on which the members shall differ. None: V_div is 0.
    pub diversity: Option<&'a dyn Blocks>,
    /// How the fit to the labels is measured.
    pub loss: Loss,
    /// How much diversity counts.
    pub gamma: f64,
    /// How many members there are: two at least where they shall differ, which one cannot.
    pub m: usize,
    /// How many questions they answer: one for two classes; for more, whether a row is of each class, members of one question
    /// after those of the other. The losses are summed over them.
    pub heads: usize,
    /// How many hidden units each member has; 0 for linear members. The weights of networks stand there unit by unit, member
    /// after member, feature by feature, and after all of them, member by member, those of the scores, the constant last.
    pub hidden: usize,
    /// In which numbers it is computed.
    pub precision: Precision,
}

impl Objective for EnsembleLoss<'_> {
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses> {
        match self.precision {
            Precision::Double => self.evaluate_in::<f64>(weights, gradient),
            Precision::Single => self.evaluate_in::<f32>(weights, gradient),
        }
    }
}

impl EnsembleLoss<'_> {
    fn evaluate_in<T: Real>(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses> {
        gradient.fill(0.0);
        let share = 1.0 / (self.m as f64 * self.counts.iter().sum::<f64>());
        let differing = self.diversity.map(|rows| (rows, Diversity::new(self, rows.shape().0)));
        // Where the members shall differ on the labeled rows themselves, one walk does both.
        let same = differing.filter(|(rows, _)| std::ptr::addr_eq(*rows, self.labeled)).map(|(_, diversity)| diversity);
        let empirical = Empirical { of: self, share, diversity: same };
        let mut sums = Sums::default();
        for part in self.walk::<T, _>(self.labeled, weights, gradient, &empirical)? {
            sums.empirical += part.sums.empirical;
            sums.diversity += part.sums.diversity;
        }
        if let (Some((rows, diversity)), None) = (differing, same) {
            let parts = self.walk::<T, _>(rows, weights, gradient, &diversity)?;
            sums.diversity = parts.into_iter().map(|part| part.sums.diversity).sum();
        }
        let empirical = share * sums.empirical;
        let diversity = differing.map_or(0.0, |(_, diversity)| diversity.share * sums.diversity);
        Ok(Losses { empirical, diversity, total: empirical + self.gamma * diversity })
    }

    /// One walk over rows: through the hidden units, where there are any.
    fn walk<T: Real, V: Visit<T>>(
        &self,
        rows: &dyn Blocks,
        weights: &[f64],
        gradient: &mut [f64],
        visitor: &V,
    ) -> Result<Vec<V::Tally>> {
        let lanes = self.m * self.heads;
        match self.hidden {
            0 => pass(rows, weights, lanes, Some(gradient), visitor),
            hidden => walk_networks(rows, weights, (lanes, hidden), gradient, visitor),
        }
    }
}

/// `sum_k sum_L loss(f_k, y)`, and on the way [`Diversity`] if it is wanted on the same rows.
struct Empirical<'a> {
    of: &'a EnsembleLoss<'a>,
    /// What each loss counts.
    share: f64,
    diversity: Option<Diversity>,
}

#[derive(Default)]
struct Sums {
    empirical: f64,
    diversity: f64,
}

/// The sums so far, room for something about each member on one row, and for the members of one question.
#[derive(Default)]
struct Tally<T> {
    sums: Sums,
    room: Vec<T>,
    group: Vec<T>,
}

/// Calls `f` with the scores of each question's members, padded with zeros to whole [`Real::LANES`]. What it leaves in their
/// place goes back.
#[inline(always)]
fn each_head<T: Real>(
    heads: usize,
    m: usize,
    scores: &mut [T],
    tally: &mut Tally<T>,
    mut f: impl FnMut(usize, &mut [T], &mut Tally<T>),
) {
    if heads == 1 {
        f(0, scores, tally);
        return;
    }
    let mut group = std::mem::take(&mut tally.group);
    group.resize(m.next_multiple_of(T::LANES), T::default());
    for (head, scores) in scores[..heads * m].chunks_exact_mut(m).enumerate() {
        group[..m].copy_from_slice(scores);
        group[m..].fill(T::default());
        f(head, &mut group, tally);
        scores.copy_from_slice(&group[..m]);
    }
    tally.group = group;
}

impl<T: Real> Visit<T> for Empirical<'_> {
    type Tally = Tally<T>;

    #[inline(always)]
    fn visit<S: Simd>(&self, simd: S, tally: &mut Tally<T>, i: usize, scores: &mut [T]) {
        let heads = self.of.heads;
        each_head(
            heads,
            self.of.m,
            scores,
            tally,
            #[inline(always)]
            |head, scores, tally| self.head(simd, tally, self.of.targets[i * heads + head], i, scores),
        );
    }
}

impl Empirical<'_> {
    /// One question. Loop by loop over all lanes, the padding too, so that each can use vectors.
    #[inline(always)]
    fn head<S: Simd, T: Real>(&self, simd: S, tally: &mut Tally<T>, target: f64, i: usize, scores: &mut [T]) {
        let EnsembleLoss { loss, m, .. } = *self.of;
        let (y, count) = (T::from_double(target), self.of.counts[i]);
        let share = T::from_double(self.share * count);
        let [half, one, two] = [0.5, 1.0, 2.0].map(T::from_double);
        let room = &mut tally.room;
        room.resize(scores.len(), T::default());
        let losses = room.iter_mut().zip(&mut *scores);
        match loss {
            Loss::Logistic => losses.for_each(|(loss, z)| {
                let (f, softplus) = z.tanh_half_and_softplus();
                *loss = softplus + (-y * *z).max(T::default());
                *z = f;
            }),
            Loss::Squared => losses.for_each(|(loss, z)| {
                *z = z.tanh_half();
                *loss = (*z - y) * (*z - y);
            }),
            Loss::Hinge => losses.for_each(|(loss, z)| {
                *z = z.tanh_half();
                *loss = one - y * *z;
            }),
        }
        room[m..].fill(T::default());
        tally.sums.empirical += count * T::sum(simd, room);
        let derivatives = room.iter_mut().zip(&*scores);
        match loss {
            Loss::Logistic => derivatives.for_each(|(r, &f)| *r = share * half * (f - y)),
            Loss::Squared => derivatives.for_each(|(r, &f)| *r = share * two * (f - y) * half * (one - f * f)),
            Loss::Hinge => derivatives.for_each(|(r, &f)| *r = -share * y * half * (one - f * f)),
        }
        match self.diversity {
            None => scores.copy_from_slice(room),
            Some(diversity) => {
                tally.sums.diversity += diversity.differentiate(simd, scores);
                scores.iter_mut().zip(&*room).for_each(|(to, &r)| *to = *to + r);
            }
        }
    }
}

/// `sum_D S^2 - sum_k f_k^2`.
#[derive(Clone, Copy)]
struct Diversity {
    /// What each term counts.
    share: f64,
    gamma: f64,
    m: usize,
    heads: usize,
}

impl Diversity {
    fn new(of: &EnsembleLoss<'_>, n: usize) -> Self {
        let m = of.m as f64;
        Diversity { share: 1.0 / (m * (m - 1.0) * n as f64), gamma: of.gamma, m: of.m, heads: of.heads }
    }

    /// The term of a row; the outputs of the members on it are replaced by its derivatives by their scores.
    #[inline(always)]
    fn differentiate<S: Simd, T: Real>(&self, simd: S, outputs: &mut [T]) -> f64 {
        let sum = T::sum(simd, outputs);
        let squares = T::sum_of_squares(simd, outputs);
        let (factor, one, s) = (T::from_double(self.gamma * self.share), T::from_double(1.0), T::from_double(sum));
        outputs.iter_mut().for_each(|f| *f = factor * (s - *f) * (one - *f * *f));
        sum * sum - squares
    }
}

impl<T: Real> Visit<T> for Diversity {
    type Tally = Tally<T>;

    #[inline(always)]
    fn visit<S: Simd>(&self, simd: S, tally: &mut Tally<T>, _: usize, scores: &mut [T]) {
        scores.iter_mut().for_each(|z| *z = z.tanh_half());
        each_head(
            self.heads,
            self.m,
            scores,
            tally,
            #[inline(always)]
            |_, outputs, tally| tally.sums.diversity += self.differentiate(simd, outputs),
        );
    }
}
