//! The loss that the descent of UDEED minimises.

use pulp::Simd;

use crate::data::{Blocks, Buffer};
use crate::error::Result;
use crate::kernel::{Grid, Precision, Real, Visit, pass, size_exponent};
use crate::learner::walk_networks;
use crate::method::udeed::{DiversityTerm, Loss};
use crate::observer::Losses;

/// A differentiable function of the weights of all members, which the descent minimises.
pub trait Objective {
    /// Computes the losses at the weights (feature by feature, as in [`Members`](crate::ensemble::Members)), and overwrites `gradient`
    /// with the gradient of the total.
    ///
    /// # Errors
    /// If the rows cannot be read.
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses>;
}

/// UDEED's loss `V = V_emp(L) + gamma V_div(D)` of `m` members, linear or with hidden units.
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
/// where `loss' = -(y - f_k)/2` for the logistic loss. The gradient in the paper has further factors `ln(1 + e^(-+w.x))` in
/// its first sum, and is not that of the loss: finite differences confirm the form above. [`Loss::Printed`] is the paper's.
///
/// ```
/// use udeed::data::Dense;
/// use udeed::ensemble::Members;
/// use udeed::method::udeed::{EnsembleLoss, Loss, Objective, Precision};
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
///     sizes: &[],
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
    /// Targets of the labeled rows, -1 or 1: row by row, one per head.
    pub targets: &'a [f64],
    /// Weights of the labeled rows; `l` is their sum.
    pub counts: &'a [f64],
    /// The rows D on which the members are made diverse. None: V_div is 0.
    pub diversity: Option<&'a dyn Blocks>,
    /// Empirical loss.
    pub loss: Loss,
    /// Weight of the diversity loss.
    pub gamma: f64,
    /// Number of members; at least two for a diversity loss.
    pub m: usize,
    /// Number of heads: one for two classes, one per class for more, each class against the rest. The members of a head are
    /// adjacent. The losses are summed over the heads.
    pub heads: usize,
    /// Hidden units of each member; 0 for linear members. The weights of networks come feature by feature, for each feature
    /// member by member, for each member unit by unit; then the output weights, member by member, the constant last.
    pub hidden: usize,
    /// Floating-point precision. With [`Precision::Exact`] the order of the rows D does not matter; that of the labeled rows does.
    pub precision: Precision,
    /// Of each feature the exponent of a power of two that no value in D exceeds, see [`sizes`]. Only exact sums need it.
    pub sizes: &'a [i32],
}

impl Objective for EnsembleLoss<'_> {
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses> {
        match self.precision {
            Precision::Double => self.evaluate_in::<f64>(weights, gradient),
            Precision::Single => self.evaluate_in::<f32>(weights, gradient),
            Precision::Exact => self.evaluate_exactly(weights, gradient),
        }
    }
}

impl EnsembleLoss<'_> {
    /// The diversity term without its rows; none where the loss has none.
    pub fn term(&self) -> Option<DiversityTerm> {
        let n_rows = self.diversity?.shape().0;
        let EnsembleLoss { gamma, m, heads, precision, .. } = *self;
        Some(DiversityTerm { gamma, m, heads, n_rows, precision, sizes: self.sizes.to_vec() })
    }

    /// Whether the diversity is that on the labeled rows.
    pub(super) fn is_of_labeled(&self) -> bool {
        self.diversity.is_some_and(|rows| std::ptr::addr_eq(rows, self.labeled))
    }

    /// Sums over the labeled rows, which are few and in one place, are as in double precision.
    fn evaluate_exactly(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses> {
        match (self.diversity, self.term()) {
            (Some(rows), Some(term)) if !self.is_of_labeled() => {
                let here = EnsembleLoss { diversity: None, ..*self }.evaluate_in::<f64>(weights, gradient)?;
                Ok(term.partial(rows, weights)?.added(&term, here, gradient))
            }
            _ => self.evaluate_in::<f64>(weights, gradient),
        }
    }

    fn evaluate_in<T: Real>(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses> {
        gradient.fill(0.0);
        let share = 1.0 / (self.m as f64 * self.counts.iter().sum::<f64>());
        let differing = self.diversity.zip(self.term().map(|term| Diversity::of(&term)));
        // With diversity on the labeled rows, one pass computes both losses.
        let same = differing.filter(|_| self.is_of_labeled()).map(|(_, diversity)| diversity);
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

    /// One pass over rows, through the hidden units if there are any.
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

/// `sum_k sum_L loss(f_k, y)`, and [`Diversity`] in the same pass if it is measured on the same rows.
struct Empirical<'a> {
    of: &'a EnsembleLoss<'a>,
    /// The weight of each loss.
    share: f64,
    diversity: Option<Diversity>,
}

#[derive(Default)]
pub(super) struct Sums {
    empirical: f64,
    pub(super) diversity: f64,
    /// What exact sums have besides: the lower digits of `diversity`.
    pub(super) rest: f64,
}

/// The sums so far, and scratch space for the members on one row and for the members of one head.
#[derive(Default)]
pub(super) struct Tally<T> {
    pub(super) sums: Sums,
    room: Vec<T>,
    group: Vec<T>,
}

/// Calls `f` with the scores of the members of each head, padded with zeros to whole [`Real::LANES`], and writes back what
/// `f` leaves there.
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
    /// One head. Each loop runs over all lanes, including the padding, so that it vectorises.
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
            Loss::Logistic | Loss::Printed => losses.for_each(|(loss, z)| {
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
            Loss::Printed => derivatives.for_each(|(r, &f)| *r = share * half * (f - y) * *r),
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

/// How much the outputs `f_k` of one row agree: `sum_{p != q} f_p f_q = S^2 - sum_k f_k^2`. Its derivative by `f_k` is
/// `2 (S - f_k)`.
#[derive(Clone, Copy, Default)]
struct Agreement {
    sum: f64,
    squares: f64,
}

impl Agreement {
    #[inline(always)]
    fn of<S: Simd, T: Real>(simd: S, outputs: &[T]) -> Self {
        Agreement { sum: T::sum(simd, outputs), squares: T::sum_of_squares(simd, outputs) }
    }

    #[inline(always)]
    fn value(&self) -> f64 {
        self.sum * self.sum - self.squares
    }

    /// Half of the derivative by an output.
    #[inline(always)]
    fn half_slope<T: Real>(&self) -> impl Fn(T) -> T {
        let sum = T::from_double(self.sum);
        move |output| sum - output
    }
}

/// The sum of [`Agreement`] over the rows D.
#[derive(Clone, Copy)]
pub(super) struct Diversity {
    /// The weight of each term.
    pub(super) share: f64,
    gamma: f64,
    m: usize,
    heads: usize,
}

impl Diversity {
    pub(super) fn of(of: &DiversityTerm) -> Self {
        let m = of.m as f64;
        Diversity { share: 1.0 / (m * (m - 1.0) * of.n_rows as f64), gamma: of.gamma, m: of.m, heads: of.heads }
    }

    /// The term of one row; replaces the outputs of the members by the derivatives of the term by their scores.
    #[inline(always)]
    fn differentiate<S: Simd, T: Real>(&self, simd: S, outputs: &mut [T]) -> f64 {
        let agreement = Agreement::of(simd, outputs);
        let (factor, one, slope) =
            (T::from_double(self.gamma * self.share), T::from_double(1.0), agreement.half_slope());
        outputs.iter_mut().for_each(|f| *f = factor * slope(*f) * (one - *f * *f));
        agreement.value()
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

/// [`Diversity`] without its factors in exact sums.
pub(super) struct ExactDiversity<'a> {
    pub(super) m: usize,
    pub(super) heads: usize,
    pub(super) grid: &'a Grid,
}

impl Visit<f64> for ExactDiversity<'_> {
    type Tally = Tally<f64>;

    #[inline(always)]
    fn visit<S: Simd>(&self, simd: S, tally: &mut Tally<f64>, _: usize, scores: &mut [f64]) {
        let Grid { residual, terms: [high, low], .. } = *self.grid;
        scores.iter_mut().for_each(|z| *z = z.tanh_half());
        each_head(
            self.heads,
            self.m,
            scores,
            tally,
            #[inline(always)]
            |_, outputs, tally| {
                let agreement = Agreement::of(simd, outputs);
                let slope = agreement.half_slope();
                outputs.iter_mut().for_each(|f| *f = residual.round(slope(*f) * (1.0 - *f * *f)));
                let term = agreement.value();
                tally.sums.diversity += high.round(term);
                tally.sums.rest += low.round(term - high.round(term));
            },
        );
    }
}

/// Of each feature the exponent of a power of two that no value exceeds, as [`EnsembleLoss::sizes`] has them.
///
/// # Errors
/// If the rows cannot be read, or a value is too large for exact sums.
///
/// ```
/// use udeed::data::Dense;
/// use udeed::method::udeed::sizes;
///
/// let rows = Dense::new(2, 2, vec![0.5, -3.0, 1.0, 0.2])?;
/// assert_eq!(sizes(&rows)?, [0, 2]);
/// # Ok::<(), udeed::Error>(())
/// ```
pub fn sizes(rows: &dyn Blocks) -> Result<Vec<i32>> {
    /// Rows that are read at a time.
    const ROWS: usize = 1024;
    let (n, d) = rows.shape();
    let (mut largest, mut buffer) = (vec![0.0f64; d], Buffer::default());
    for start in (0..n).step_by(ROWS) {
        let end = n.min(start + ROWS);
        let block = rows.block(start..end, &mut buffer)?;
        for i in 0..end - start {
            block.row(i, d).for_each(|j, x| largest[j] = largest[j].max(x.abs()));
        }
    }
    largest.into_iter().map(size_exponent).collect()
}
