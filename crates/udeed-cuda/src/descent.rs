//! The loss of the descent, evaluated on a card.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Instant;

use udeed::data::Blocks;
use udeed::method::udeed::{Device, EnsembleLoss, Loss, Objective, Precision, Stages};
use udeed::observer::Losses;
use udeed::{Error, Hint, Result};

use crate::Cuda;
use crate::driver::{Card, Number, Room, Shape, Value};
use crate::rows::{Halves, Real, Rows, SIDE, Table, power_below};

/// Groups of 8 features that the fused kernels are compiled for.
const GROUPS: [usize; 5] = [2, 4, 6, 7, 8];
/// Members that a warp of a fused kernel owns, and the most warps that a block has.
const OF_WARP: usize = 16;
const MOST_WARPS: usize = 7;
/// Parts of the rows that blocks of a fused kernel walk over; more of them where blocks are small.
const PARTS: usize = 264;
/// Numbers of a slab of scores.
const SLAB: usize = 1 << 25;
/// Blocks of the gradient, about.
const GRADIENT_BLOCKS: usize = 1024;
/// Blocks of the derivatives at most; a block has eight warps.
const DERIVATIVE_BLOCKS: usize = 1024;

impl Device for Cuda {
    fn name(&self) -> String {
        self.card.name().to_owned()
    }

    fn start<'a>(&'a self) -> Result<Box<dyn Stages<'a> + 'a>> {
        self.card.enter()?;
        Ok(Box::new(Descent { card: &self.card, sent: RefCell::default() }))
    }
}

/// A descent, with the rows that it has sent, by their address and form: they lie there as long as the descent.
struct Descent<'a> {
    card: &'a Card,
    sent: RefCell<Vec<(*const (), Form, Rc<Rows<'a>>)>>,
}

/// A form of rows: its precision, whether as halves, and its width.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Double { width: usize },
    Single { width: usize },
    Halves { groups: usize },
}

impl<'a> Descent<'a> {
    fn rows(&self, rows: &'a dyn Blocks, form: Form) -> Result<Rc<Rows<'a>>> {
        let at = std::ptr::from_ref(rows).cast::<()>();
        let known = self
            .sent
            .borrow()
            .iter()
            .find(|(other, as_, _)| (*other, *as_) == (at, form))
            .map(|(.., rows)| rows.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        if rows.is_sparse() {
            let found = "sparse rows";
            return Err(Error::device(self.card.name(), found, "dense ones", Some(Hint::DenseOnDevice)));
        }
        let sent = Rc::new(match form {
            Form::Double { width } => Rows::Double(Table::sent(self.card, rows, width)?),
            Form::Single { width } => Rows::Single(Table::sent(self.card, rows, width)?),
            Form::Halves { groups } => Rows::Halves(Halves::sent(self.card, rows, groups)?),
        });
        self.sent.borrow_mut().push((at, form, sent.clone()));
        Ok(sent)
    }
}

impl<'a> Stages<'a> for Descent<'a> {
    fn objective<'s>(&'s self, loss: EnsembleLoss<'a>) -> Result<Box<dyn Objective + 's>> {
        Ok(Box::new(self.evaluation(loss)?))
    }
}

impl<'a> Descent<'a> {
    fn evaluation(&self, loss: EnsembleLoss<'a>) -> Result<Evaluation<'a>> {
        if loss.hidden > 0 {
            let found = format!("members with {} hidden units", loss.hidden);
            return Err(Error::device(self.card.name(), found, "members without", Some(Hint::OtherDevice)));
        }
        if loss.loss == Loss::Printed {
            let expected = "another: the paper's factors are trained with on the processor";
            return Err(Error::device(self.card.name(), "the loss `printed`", expected, Some(Hint::OtherDevice)));
        }
        if loss.precision == Precision::Exact {
            let expected = "another: the processor takes exact sums";
            return Err(Error::device(self.card.name(), "the precision `exact`", expected, Some(Hint::OtherDevice)));
        }
        let features = loss.labeled.shape().1 + 1;
        let wide = features.next_multiple_of(8);
        let groups =
            GROUPS.into_iter().find(|groups| groups * 8 >= features).filter(|_| loss.m <= MOST_WARPS * OF_WARP);
        let groups = groups.filter(|&groups| fused_shape(groups, &loss).1 <= self.card.shared && loss.heads < 1 << 16);
        let (form, fused) = match loss.precision {
            // `Exact` has been refused.
            Precision::Double | Precision::Exact => {
                // Its instructions came with this capability.
                let fused = groups.filter(|_| self.card.capability >= (9, 0));
                let width = fused.map_or(wide, |groups| groups * 8);
                (Form::Double { width }, fused.map(|groups| (groups, Form::Double { width })))
            }
            Precision::Single => (Form::Single { width: wide }, groups.map(|groups| (groups, Form::Halves { groups }))),
        };
        let labeled = self.rows(loss.labeled, form)?;
        let apart = loss.diversity.filter(|rows| !std::ptr::addr_eq(*rows, loss.labeled));
        let n = loss.diversity.map_or(0, |rows| rows.shape().0);
        let m = loss.m as f64;
        let agreement = loss.diversity.map(|_| 1.0 / (m * (m - 1.0) * n as f64));
        let share = 1.0 / (m * loss.counts.iter().sum::<f64>());
        let walk = |rows| Walk::new(self.card, rows, &loss);
        let own = walk(labeled)?;
        let other = match (apart, fused) {
            (None, _) => None,
            (Some(rows), Some((groups, form))) => {
                Some(Other::Fused(Fused::new(self.card, self.rows(rows, form)?, groups, &loss)?))
            }
            (Some(rows), None) => Some(Other::Walk(walk(self.rows(rows, form)?)?)),
        };
        let room = |values: &[f64]| {
            let room = self.card.room(values.len(), "labels and weights of rows")?;
            room.write(values)?;
            Ok::<_, Error>(room)
        };
        let (targets, counts) = (room(loss.targets)?, room(loss.counts)?);
        let found = own.length() + other.as_ref().map_or(0, Other::length);
        let found = self.card.room(found, "the gradient")?;
        Ok(Evaluation { card: self.card, loss, share, agreement, own, other, targets, counts, found })
    }
}

/// The loss of a stage, with everything it needs on the card.
struct Evaluation<'a> {
    card: &'a Card,
    loss: EnsembleLoss<'a>,
    /// The weight of each empirical loss.
    share: f64,
    /// The weight of each term of the diversity.
    agreement: Option<f64>,
    /// The walk over the labeled rows, with diversity if it is measured on them.
    own: Walk<'a>,
    /// The walk over the other rows.
    other: Option<Other<'a>>,
    targets: Room<'a, f64>,
    counts: Room<'a, f64>,
    /// What the walks find, one after the other: all of it is read at once.
    found: Room<'a, f64>,
}

enum Other<'a> {
    Fused(Fused<'a>),
    Walk(Walk<'a>),
}

impl Other<'_> {
    /// How many numbers it finds.
    fn length(&self) -> usize {
        match self {
            Other::Fused(fused) => fused.length(),
            Other::Walk(walk) => walk.length(),
        }
    }
}

impl Objective for Evaluation<'_> {
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses> {
        self.card.enter()?;
        let scales = self.send(weights)?;
        self.begin_own()?;
        self.begin_other(scales)?;
        let mut found = vec![0.0; self.found.length()];
        self.found.read(&mut found)?;
        let (own, other) = found.split_at(self.own.length());
        gradient.fill(0.0);
        let [empirical, mut diversity] = self.own.end(own, gradient);
        match &self.other {
            None => {}
            Some(Other::Walk(walk)) => diversity = walk.end(other, gradient)[1],
            Some(Other::Fused(fused)) => diversity = fused.end(other, gradient),
        }
        let (empirical, diversity) = (self.share * empirical, self.agreement.unwrap_or_default() * diversity);
        Ok(Losses { empirical, diversity, total: empirical + self.loss.gamma * diversity })
    }
}

impl Evaluation<'_> {
    /// Sends the weights, to all walks before the first begins: the card would wait with them. Returns what they were scaled by.
    fn send(&self, weights: &[f64]) -> Result<Scales> {
        self.own.send(weights, self.loss.m * self.loss.heads)?;
        match &self.other {
            None => Ok(Scales::default()),
            Some(Other::Walk(walk)) => walk.send(weights, self.loss.m * self.loss.heads).map(|()| Scales::default()),
            Some(Other::Fused(fused)) => fused.send(weights),
        }
    }

    /// The weight of the derivatives of the diversity.
    fn slope(&self) -> f64 {
        self.loss.gamma * self.agreement.unwrap_or_default()
    }

    /// Begins the walk over the labeled rows, and does not wait for it.
    fn begin_own(&self) -> Result<()> {
        let labels = Some((&self.targets, &self.counts));
        let diverse = self.agreement.is_some() && self.other.is_none();
        let terms = Terms { labels, share: self.share, diverse, slope: if diverse { self.slope() } else { 0.0 } };
        self.own.begin(&self.loss, &terms, &self.found, 0)
    }

    /// Begins the walk over the other rows, if there are any, and does not wait for it.
    fn begin_other(&self, scales: Scales) -> Result<()> {
        let (slope, place) = (self.slope(), self.own.length());
        match &self.other {
            None => Ok(()),
            Some(Other::Walk(walk)) => {
                walk.begin(&self.loss, &Terms { labels: None, share: 0.0, diverse: true, slope }, &self.found, place)
            }
            Some(Other::Fused(fused)) => fused.begin(scales, slope, &self.found, place),
        }
    }
}

/// What a walk adds up.
struct Terms<'t> {
    /// Targets and weights of the rows; none: no empirical loss.
    labels: Option<(&'t Room<'t, f64>, &'t Room<'t, f64>)>,
    share: f64,
    /// Whether the diversity is added, and the weight of its derivatives.
    diverse: bool,
    slope: f64,
}

impl Terms<'_> {
    /// What the kernels of derivatives take of them.
    fn values(&self, loss: &EnsembleLoss<'_>) -> [Value; 8] {
        let kind = match (self.labels, loss.loss) {
            (None, _) => 0,
            // `Printed` has been refused.
            (_, Loss::Logistic | Loss::Printed) => 1,
            (_, Loss::Squared) => 2,
            (_, Loss::Hinge) => 3,
        };
        let [targets, counts] = match self.labels {
            Some((targets, counts)) => [targets.pointer(), counts.pointer()],
            None => [Value::Pointer(0); 2],
        };
        let [m, heads] = [loss.m, loss.heads].map(|number| Value::Int(number as i32));
        let [share, slope] = [self.share, self.slope].map(Value::Double);
        [m, heads, Value::Int(kind), share, Value::Int(self.diverse.into()), slope, targets, counts]
    }
}

/// A walk with any number of members and features: scores, derivatives, gradient.
struct Walk<'a> {
    card: &'a Card,
    rows: Rc<Rows<'a>>,
    lanes: usize,
    width: usize,
    /// Features of the members, with the constant one.
    features: usize,
    /// Rows of a slab, rows of a part of it, and blocks for the derivatives.
    slab: usize,
    each: usize,
    blocks: usize,
    memory: Scores<'a>,
    parts: Room<'a, f64>,
    values: Room<'a, f64>,
}

/// Weights and scores.
enum Scores<'a> {
    Double(Room<'a, f64>, Room<'a, f64>),
    Single(Room<'a, f32>, Room<'a, f32>),
}

impl<'a> Walk<'a> {
    fn new(card: &'a Card, rows: Rc<Rows<'a>>, loss: &EnsembleLoss<'_>) -> Result<Self> {
        let lanes = (loss.m * loss.heads).next_multiple_of(SIDE);
        let (width, longest) = match &*rows {
            Rows::Double(table) => (table.width, longest(table)),
            Rows::Single(table) => (table.width, longest(table)),
            Rows::Halves(_) => unreachable!("halves are walked over by fused kernels"),
        };
        let slab = ((SLAB / lanes / SIDE).max(1) * SIDE).min(longest);
        let tiles = width.div_ceil(SIDE) * (lanes / SIDE);
        let each = slab.div_ceil((GRADIENT_BLOCKS / tiles).clamp(1, slab / SIDE)).next_multiple_of(SIDE);
        let parts = slab.div_ceil(each);
        let blocks = (slab * loss.heads).div_ceil(8).min(DERIVATIVE_BLOCKS);
        let scores = "the scores of some rows";
        let memory = match &*rows {
            Rows::Double(_) => Scores::Double(card.room(width * lanes, "weights")?, card.room(slab * lanes, scores)?),
            _ => Scores::Single(card.room(width * lanes, "weights")?, card.room(slab * lanes, scores)?),
        };
        Ok(Walk {
            card,
            rows,
            lanes,
            width,
            features: loss.labeled.shape().1 + 1,
            slab,
            each,
            blocks,
            memory,
            parts: card.room(parts * width * lanes, "the gradient")?,
            values: card.room(2 * 8 * blocks, "losses")?,
        })
    }

    /// How many numbers it finds: the gradient, then the sums of losses and diversities.
    fn length(&self) -> usize {
        self.width * self.lanes + 2
    }

    /// Sends the weights of as many members.
    fn send(&self, weights: &[f64], own: usize) -> Result<()> {
        match &self.memory {
            Scores::Double(w, _) => w.write(&self.padded(weights, own)),
            Scores::Single(w, _) => w.write(&self.padded(weights, own)),
        }
    }

    fn padded<T: FromDouble>(&self, weights: &[f64], own: usize) -> Vec<T> {
        let mut padded = vec![T::from_double(0.0); self.width * self.lanes];
        for (to, from) in padded.chunks_exact_mut(self.lanes).zip(weights.chunks_exact(own)) {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = T::from_double(from));
        }
        padded
    }

    /// Begins the walk, whose findings lie in a room from some place on.
    fn begin(&self, loss: &EnsembleLoss<'_>, terms: &Terms<'_>, found: &Room<'_, f64>, place: usize) -> Result<()> {
        match (&*self.rows, &self.memory) {
            (Rows::Double(table), Scores::Double(w, scores)) => {
                let kernels = ["scores_double", "derivatives_double", "gradient_double"];
                self.walk(table, w, scores, loss, terms, kernels)?;
            }
            (Rows::Single(table), Scores::Single(w, scores)) => {
                let kernels = ["scores_single", "derivatives_single", "gradient_single"];
                self.walk(table, w, scores, loss, terms, kernels)?;
            }
            _ => unreachable!("weights have the precision of the rows"),
        }
        let size = self.width * self.lanes;
        let finish = Finish {
            kernel: "finish_double",
            parts: self.parts.pointer(),
            count: self.slab.div_ceil(self.each),
            size,
            scale: 1.0,
            values: (self.values.pointer(), 8 * self.blocks, 2),
            again: false,
        };
        finish.begin(self.card, found.pointer_to(place), found.pointer_to(place + size))
    }

    fn walk<T: Real>(
        &self,
        table: &Table<'_, T>,
        w: &Room<'_, T>,
        scores: &Room<'_, T>,
        loss: &EnsembleLoss<'_>,
        terms: &Terms<'_>,
        kernels: [&'static str; 3],
    ) -> Result<()> {
        let (lanes, width) = (self.lanes, self.width);
        let [int_width, int_lanes] = [width, lanes].map(|number| Value::Int(number as i32));
        let tile = size_of::<T>() * 16;
        let mut again = 0;
        for chunk in &table.chunks {
            for begin in (0..chunk.rows).step_by(self.slab) {
                let here = self.slab.min(chunk.rows - begin);
                let x = chunk.room.pointer_to(begin * width);
                let shape = Shape { grid: (here / SIDE, lanes / SIDE, 1), threads: 256, shared: tile * (68 + 64) };
                self.card.launch(kernels[0], shape, &[x, int_width, w.pointer(), int_lanes, scores.pointer()])?;
                let shape = Shape { grid: (self.blocks, 1, 1), threads: 256, shared: 0 };
                let [first, rows, n] = [chunk.first + begin, here, table.n].map(|number| Value::Long(number as i64));
                let mut values = vec![scores.pointer(), first, rows, n, int_lanes];
                values.extend(terms.values(loss));
                values.extend([Value::Int(again), self.values.pointer()]);
                self.card.launch(kernels[1], shape, &values)?;
                let parts = self.slab.div_ceil(self.each);
                let grid = (width.div_ceil(SIDE), lanes / SIDE, parts);
                let shape = Shape { grid, threads: 256, shared: tile * (64 + 64) };
                let mut values = vec![x, rows, int_width, scores.pointer(), int_lanes];
                values.extend([Value::Int(self.each as i32), Value::Int(again), self.parts.pointer()]);
                self.card.launch(kernels[2], shape, &values)?;
                again = 1;
            }
        }
        Ok(())
    }

    /// Adds the gradient of what it found; returns the sums of losses and diversities.
    fn end(&self, found: &[f64], gradient: &mut [f64]) -> [f64; 2] {
        let (found, sums) = found.split_at(self.width * self.lanes);
        let own = gradient.len() / self.features;
        for (to, from) in gradient.chunks_exact_mut(own).zip(found.chunks_exact(self.lanes)) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
        [sums[0], sums[1]]
    }
}

/// Rows of the longest chunk.
fn longest<T>(table: &Table<'_, T>) -> usize {
    table.chunks.iter().map(|chunk| chunk.rows).max().unwrap_or(SIDE)
}

/// Numbers that weights are rounded to.
trait FromDouble: Number {
    fn from_double(x: f64) -> Self;
}
impl FromDouble for f64 {
    fn from_double(x: f64) -> Self {
        x
    }
}
impl FromDouble for f32 {
    fn from_double(x: f64) -> Self {
        x as f32
    }
}

/// The sum of what parts have found.
struct Finish {
    kernel: &'static str,
    parts: Value,
    count: usize,
    size: usize,
    scale: f64,
    /// Where values lie, how many of each kind there are, and how many kinds.
    values: (Value, usize, usize),
    again: bool,
}

impl Finish {
    fn begin(&self, card: &Card, out: Value, value: Value) -> Result<()> {
        let shape = Shape { grid: (self.size.div_ceil(32), 1, 1), threads: 512, shared: 16 * 33 * 8 };
        let (at, values, kinds) = self.values;
        let [count, size, values, kinds] =
            [self.count, self.size, values, kinds].map(|number| Value::Int(number as i32));
        let scale = Value::Double(self.scale);
        card.launch(
            self.kernel,
            shape,
            &[self.parts, count, size, scale, at, values, kinds, Value::Int(self.again.into()), out, value],
        )
    }
}

/// A walk of the diversity by fused kernels.
struct Fused<'a> {
    card: &'a Card,
    rows: Rc<Rows<'a>>,
    groups: usize,
    warps: usize,
    heads: usize,
    m: usize,
    shared: usize,
    /// Parts at most.
    most: usize,
    weights: AnyRoom<'a>,
    parts: AnyRoom<'a>,
    values: Room<'a, f64>,
}

/// What weights and derivatives of halves are multiplied by, and what undoes it in a score.
#[derive(Clone, Copy, Default)]
struct Scales {
    weights: f32,
    unit: f32,
    derivatives: f32,
}

/// Memory for numbers of either precision.
enum AnyRoom<'a> {
    Double(Room<'a, f64>),
    Single(Room<'a, f32>),
}

impl AnyRoom<'_> {
    fn pointer(&self) -> Value {
        match self {
            AnyRoom::Double(room) => room.pointer(),
            AnyRoom::Single(room) => room.pointer(),
        }
    }
}

/// Warps of a block of a fused kernel, and its bytes of shared memory.
fn fused_shape(groups: usize, loss: &EnsembleLoss<'_>) -> (usize, usize) {
    let warps = loss.m.div_ceil(OF_WARP);
    let shared = match loss.precision {
        Precision::Double | Precision::Exact => {
            2 * 32 * (groups * 8 + 4) * 8 + warps * groups * 32 * 4 * 8 + 2 * warps * 32 * 8
        }
        Precision::Single => 2 * 2 * 64 * (groups | 1) * 16 + 2 * warps * 64 * 4 + warps * 32 * groups * 4 * 8,
    };
    (warps, shared)
}

impl<'a> Fused<'a> {
    fn new(card: &'a Card, rows: Rc<Rows<'a>>, groups: usize, loss: &EnsembleLoss<'_>) -> Result<Self> {
        let (warps, shared) = fused_shape(groups, loss);
        let heads = loss.heads;
        let size = heads * warps * OF_WARP * groups * 8;
        let most = PARTS * (MOST_WARPS / warps).min(4);
        let room = |length, what| {
            Ok::<_, Error>(match &*rows {
                Rows::Double(_) => AnyRoom::Double(card.room(length, what)?),
                _ => AnyRoom::Single(card.room(length, what)?),
            })
        };
        let tiles = match &*rows {
            Rows::Double(table) => longest(table) / 32,
            Rows::Halves(halves) => halves.chunks.iter().map(|(rows, ..)| rows / 64).max().unwrap_or(1),
            Rows::Single(_) => unreachable!("fused kernels take halves"),
        };
        let parts = tiles.min(most);
        let (weights, parts) = (room(size, "weights")?, (room(parts * size, "the gradient")?, parts));
        let values = card.room(parts.1 * heads * warps, "losses")?;
        let (parts, m) = (parts.0, loss.m);
        Ok(Fused { card, rows, groups, warps, heads, m, shared, most, weights, parts, values })
    }

    fn size(&self) -> usize {
        self.heads * self.warps * OF_WARP * self.groups * 8
    }

    /// How many numbers it finds: the gradient, then the sum of diversities.
    fn length(&self) -> usize {
        self.size() + 1
    }

    /// Where the weights of a feature lie, member after member of all heads. Counted: to divide for each takes as long as the card
    /// for some thousand rows.
    fn places(&self, j: usize) -> impl Iterator<Item = usize> {
        let (width, lanes, m) = (self.groups * 8, self.warps * OF_WARP, self.m);
        (0..self.heads).flat_map(move |head| (0..m).map(move |k| (head * lanes + k) * width + j))
    }

    fn send(&self, weights: &[f64]) -> Result<Scales> {
        match (&*self.rows, &self.weights) {
            (Rows::Double(_), AnyRoom::Double(room)) => {
                let mut padded = vec![0.0; self.size()];
                for (j, weights) in weights.chunks_exact(self.m * self.heads).enumerate() {
                    self.places(j).zip(weights).for_each(|(place, &weight)| padded[place] = weight);
                }
                room.write(&padded).map(|()| Scales::default())
            }
            (Rows::Halves(halves), AnyRoom::Single(room)) => self.send_scaled(halves, room, weights),
            _ => unreachable!("weights have the precision of the rows"),
        }
    }

    /// Columns are scaled, and their weights by the inverse; then all weights, so that the largest is well within a half.
    fn send_scaled(&self, halves: &Halves<'_>, room: &Room<'_, f32>, weights: &[f64]) -> Result<Scales> {
        let lanes = self.m * self.heads;
        let mut padded = vec![0.0; self.size()];
        let (mut largest, mut bounds) = (0.0f64, vec![0.0f64; lanes]);
        for (j, (weights, &(scale, most))) in weights.chunks_exact(lanes).zip(&halves.scales).enumerate() {
            let (inverse, most) = (1.0 / f64::from(scale), f64::from(most));
            for ((place, bound), weight) in self.places(j).zip(&mut bounds).zip(weights) {
                let weight = weight * inverse;
                padded[place] = weight as f32;
                largest = largest.max(weight.abs());
                *bound += weight.abs() * most;
            }
        }
        room.write(&padded)?;
        let w_scale = power_below((256.0 / largest.max(1e-30)) as f32);
        // No output exceeds half of its score, nor 1, and no derivative the sum of outputs of its head.
        let bound = bounds.chunks(self.m).map(|head| head.iter().map(|bound| (bound / 2.0).min(1.0)).sum::<f64>());
        Ok(Scales {
            weights: w_scale,
            unit: (std::f64::consts::LOG2_E / f64::from(w_scale)) as f32,
            derivatives: power_below((30_000.0 / bound.fold(1e-20, f64::max)) as f32),
        })
    }

    /// Begins the walk, whose findings lie in a room from some place on.
    fn begin(&self, scales: Scales, slope: f64, found: &Room<'_, f64>, place: usize) -> Result<()> {
        let found = [found.pointer_to(place), found.pointer_to(place + self.size())];
        match &*self.rows {
            Rows::Double(table) => self.begin_double(table, slope, found),
            Rows::Halves(halves) => self.begin_single(halves, scales, slope, found),
            Rows::Single(_) => unreachable!("fused kernels take halves"),
        }
    }

    fn begin_double(&self, table: &Table<'_, f64>, slope: f64, found: [Value; 2]) -> Result<()> {
        let names = ["fused_double_2", "fused_double_4", "fused_double_6", "fused_double_7", "fused_double_8"];
        for (k, chunk) in table.chunks.iter().enumerate() {
            let tiles = chunk.rows / 32;
            let values = [chunk.room.pointer(), Value::Int(tiles as i32), self.weights.pointer()];
            self.launch([names[self.number()], "finish_double"], tiles, &values, slope, k > 0, found)?;
        }
        Ok(())
    }

    fn begin_single(&self, halves: &Halves<'_>, scales: Scales, slope: f64, found: [Value; 2]) -> Result<()> {
        let names = ["fused_single_2", "fused_single_4", "fused_single_6", "fused_single_7", "fused_single_8"];
        for (k, (rows, high, low)) in halves.chunks.iter().enumerate() {
            let tiles = rows / 64;
            let mut values = vec![high.pointer(), low.pointer(), Value::Int(tiles as i32), self.weights.pointer()];
            values.extend([scales.weights, scales.unit, scales.derivatives].map(Value::Float));
            let scale = slope / f64::from(scales.derivatives);
            self.launch([names[self.number()], "finish_single"], tiles, &values, scale, k > 0, found)?;
        }
        Ok(())
    }

    /// Number of the kernel for these groups of features.
    fn number(&self) -> usize {
        GROUPS.iter().position(|&groups| groups == self.groups).unwrap_or(0)
    }

    /// Begins the walk over a chunk, and what adds up its parts, multiplied by a scale.
    fn launch(
        &self,
        [walk, finish]: [&'static str; 2],
        tiles: usize,
        values: &[Value],
        scale: f64,
        again: bool,
        [out, value]: [Value; 2],
    ) -> Result<()> {
        let (parts, size) = (tiles.min(self.most), self.size());
        let shape = Shape { grid: (parts, self.heads, 1), threads: self.warps * 32, shared: self.shared };
        self.card.launch(walk, shape, &[values, &[self.parts.pointer(), self.values.pointer()]].concat())?;
        let finish = Finish {
            kernel: finish,
            parts: self.parts.pointer(),
            count: parts,
            size,
            scale,
            values: (self.values.pointer(), parts * self.heads * self.warps, 1),
            again,
        };
        finish.begin(self.card, out, value)
    }

    /// Adds the gradient of what it found; returns the sum of diversities.
    fn end(&self, found: &[f64], gradient: &mut [f64]) -> f64 {
        for (j, gradient) in gradient.chunks_exact_mut(self.m * self.heads).enumerate() {
            let scale = match &*self.rows {
                Rows::Halves(halves) => 1.0 / f64::from(halves.scales[j].0),
                _ => 1.0,
            };
            self.places(j).zip(gradient).for_each(|(place, to)| *to += scale * found[place]);
        }
        found[self.size()]
    }
}

/// What [`evaluated`] returns.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Evaluated {
    pub losses: Losses,
    /// Milliseconds of the card for the rows of the diversity alone, and for all rows; evaluations do not wait for each other, and
    /// weights are not sent.
    pub diversity: f64,
    pub on_card: f64,
    /// Milliseconds of a call: the median.
    pub called: f64,
}

/// Evaluates a loss on a card as a descent does, and some `times` more to measure it. For tests and measurements: may change in any
/// release.
///
/// # Errors
/// As [`Objective::evaluate`].
#[doc(hidden)]
pub fn evaluated(
    cuda: &Cuda,
    loss: EnsembleLoss<'_>,
    weights: &[f64],
    gradient: &mut [f64],
    times: usize,
) -> Result<Evaluated> {
    cuda.card.enter()?;
    let descent = Descent { card: &cuda.card, sent: RefCell::default() };
    let evaluation = descent.evaluation(loss)?;
    let losses = evaluation.evaluate(weights, gradient)?;
    if times == 0 {
        return Ok(Evaluated { losses, diversity: 0.0, on_card: 0.0, called: 0.0 });
    }
    let scales = evaluation.send(weights)?;
    let alone = cuda.card.timed(|| (0..times).try_for_each(|_| evaluation.begin_other(scales)))?;
    let all = cuda
        .card
        .timed(|| (0..times).try_for_each(|_| evaluation.begin_own().and_then(|()| evaluation.begin_other(scales))))?;
    let mut calls = Vec::new();
    for _ in 0..times {
        let begin = Instant::now();
        evaluation.evaluate(weights, gradient)?;
        calls.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    calls.sort_by(f64::total_cmp);
    let [diversity, on_card] = [alone, all].map(|taken| taken / times as f64);
    Ok(Evaluated { losses, diversity, on_card, called: calls[times / 2] })
}
