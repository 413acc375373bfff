//! Transduction: the class of each training row, and the round in which it got its label.

use crate::data::{Dense, Labels, Rows, TrainSet};
use crate::ensemble::LabelRounds;
use crate::error::{Error, Result};
use crate::learner::n_heads;
use crate::model::Model;
use crate::tensor::{Tensor, TensorReader, TensorWriter};

/// The classes of the training rows, in their order, and where they come from.
///
/// See [`Model::transduction`] for an example.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Transduction {
    /// The class of each row, as an index into [`Model::classes`]: its label, or the prediction for an unlabeled row.
    pub classes: Vec<usize>,
    /// The probability of each class for each row, one column a class: 1 for a label.
    pub probabilities: Dense,
    /// The round in which each row was labeled: 0 for a label that was given, -1 for a row that no member ever learned
    /// from. Only methods that label rows ([`MethodCard::labels_rows`](crate::method::MethodCard::labels_rows)) have rounds from 1
    /// on.
    pub rounds: Vec<i64>,
    /// The members that gave each unlabeled row its label in that round, none for other rows. None where single members do not
    /// label rows: in boosting, and in co-forest, where all other trees label rows for a tree.
    pub by: Option<Vec<Vec<usize>>>,
}

impl Transduction {
    /// Rows of two classes that a model keeps by default; of more classes this many over their number.
    pub const MOST_ROWS: usize = 100_000;

    /// Whether `n_rows` rows of `n_classes` classes take no more memory than `most` rows of two classes.
    pub fn holds(most: usize, n_rows: usize, n_classes: usize) -> bool {
        n_rows.saturating_mul(n_heads(n_classes)) <= most
    }
}

/// Training rows as a model keeps them: labels, decisions on unlabeled rows, and the rounds in which these were labeled.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct KeptRows {
    /// The class of each row that has a label.
    labels: Vec<Option<u8>>,
    /// The decisions on the unlabeled rows.
    decisions: Dense,
    rounds: Option<LabelRounds>,
}

impl Model {
    /// The class of each training row and its probability, and for methods that label rows the round in which each was labeled.
    /// None for a model of [`Method::fit`](crate::method::Method::fit), which does not keep them:
    /// [`Method::fit_keeping_rows`](crate::method::Method::fit_keeping_rows) does.
    ///
    /// # Errors
    /// If the memory for them cannot be had.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("wdbc")?.read()?.into_train()?.hide_labels(&(50..569).collect::<Vec<usize>>());
    /// let method = Method::from(SelfTraining::new());
    /// let (model, _) = method.fit_keeping_rows(&train, 1000, &mut ())?;
    /// let rows = model.transduction()?.unwrap();
    /// // The first row has its label, others got theirs in some round.
    /// assert_eq!((model.classes()[rows.classes[0]].as_str(), rows.rounds[0]), ("malignant", 0));
    /// assert!(rows.rounds.iter().filter(|&&round| round > 0).count() > 100);
    /// assert_eq!(method.fit(&train)?.transduction()?, None);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn transduction(&self) -> Result<Option<Transduction>> {
        let Some(kept) = &self.kept_rows else { return Ok(None) };
        let (n, k) = (kept.labels.len(), self.classes.len());
        let (mut classes, mut rounds) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let said = self.probabilities(&kept.decisions)?;
        let mut probabilities = Dense::zeros(n, k)?;
        let mut by: Option<Vec<Vec<usize>>> =
            kept.rounds.as_ref().and_then(|rounds| rounds.by.as_ref()).map(|_| vec![Vec::new(); n]);
        let mut next = 0..;
        for (row, label) in kept.labels.iter().enumerate() {
            if let Some(class) = *label {
                probabilities.row_mut(row)[usize::from(class)] = 1.0;
                classes.push(usize::from(class));
                rounds.push(0);
                continue;
            }
            let i: usize = next.next().unwrap_or_default();
            probabilities.row_mut(row).copy_from_slice(said.get(i));
            classes.push(self.class_of(kept.decisions.get(i)));
            let round = kept.rounds.as_ref().map_or(0, |rounds| rounds.rounds[i]);
            rounds.push(if round == 0 { -1 } else { i64::from(round) });
            if let (Some(by), Some(bits)) = (&mut by, kept.rounds.as_ref().and_then(|rounds| rounds.by.as_ref())) {
                by[row] = (0..8).filter(|member| bits[i] >> member & 1 == 1).collect();
            }
        }
        Ok(Some(Transduction { classes, probabilities, rounds, by }))
    }

    /// The same model, which keeps what became of the rows that it was trained on: what it predicts of those without a label. A
    /// model that keeps that already stays as it is.
    ///
    /// # Errors
    /// If the rows are not those of the model, or its method labels rows: only
    /// [`Method::fit_keeping_rounds`](crate::method::Method::fit_keeping_rounds) knows in which rounds.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("wdbc")?.read()?.into_train()?.hide_labels(&(50..569).collect::<Vec<usize>>());
    /// let method = Method::from(Bagging::new());
    /// let later = method.fit(&train)?.keep_rows(&train)?;
    /// assert_eq!(later.transduction()?, method.fit_keeping_rows(&train, 1000, &mut ())?.0.transduction()?);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn keep_rows(&self, train: &TrainSet) -> Result<Model> {
        if self.kept_rows.is_some() {
            return Ok(self.clone());
        }
        if self.method.card().labels_rows {
            return Err(Error::training("a model that labeled them in rounds", "one that keeps rounds since its fit"));
        }
        let labels = train.labels();
        let unlabeled: Vec<usize> = (0..labels.len()).filter(|&row| labels.get(row).is_none()).collect();
        let decisions =
            self.decision(&train.table().select(&unlabeled)).map_err(|error| error.among_rows(&unlabeled))?;
        Ok(self.clone().keeping(&labels.aligned(&self.classes)?, decisions, None))
    }

    /// Number of training rows whose classes the model keeps.
    pub fn n_kept_rows(&self) -> usize {
        self.kept_rows.as_ref().map_or(0, |kept| kept.labels.len())
    }

    /// The same model with the classes of its training rows. `labels` are in the order of the model's classes.
    pub(crate) fn keeping(mut self, labels: &Labels, decisions: Dense, rounds: Option<LabelRounds>) -> Self {
        let labels = (0..labels.len()).map(|i| labels.get(i).map(|class| class as u8)).collect();
        self.kept_rows = Some(KeptRows { labels, decisions, rounds });
        self
    }
}

impl KeptRows {
    /// Writes labels, decisions and rounds.
    pub(super) fn store(&self, tensors: &mut TensorWriter<'_>) {
        // 0 for none.
        tensors
            .write("labels", Tensor::integers(self.labels.iter().map(|label| label.map_or(0, |c| u64::from(c) + 1))));
        tensors.write("decisions", Tensor::table(&self.decisions));
        let Some(LabelRounds { rounds, by }) = &self.rounds else { return };
        tensors.write("rounds", Tensor::integers(rounds.iter().map(|&round| u64::from(round))));
        if let Some(by) = by {
            tensors.write("by", Tensor::integers(by.iter().map(|&bits| u64::from(bits))));
        }
    }

    /// Whether there is what [`KeptRows::store`] writes.
    pub(super) fn is_stored(tensors: &TensorReader<'_>) -> bool {
        ["labels", "decisions", "rounds", "by"].iter().any(|name| tensors.has(name))
    }

    /// Reads what [`KeptRows::store`] wrote; none where it makes no sense.
    pub(super) fn load(tensors: &TensorReader<'_>, n_classes: usize) -> Option<Self> {
        let label = |code: u64| match code {
            0 => Some(None),
            code if code <= n_classes as u64 => Some(Some(u8::try_from(code - 1).ok()?)),
            _ => None,
        };
        let labels: Vec<Option<u8>> = tensors.integers("labels")?.into_iter().map(label).collect::<Option<_>>()?;
        let n = labels.iter().filter(|label| label.is_none()).count();
        let decisions = tensors.finite("decisions")?;
        let sound = decisions.iter().all(|decision| decision.abs() <= 1.0);
        let decisions = Dense::new(n, n_heads(n_classes), decisions).ok().filter(|_| sound)?;
        let by: Option<Vec<u8>> = if tensors.has("by") { Some(tensors.integers("by")?) } else { None };
        let rounds = match tensors.has("rounds") {
            true => Some(LabelRounds { rounds: tensors.integers("rounds")?, by }),
            false if by.is_some() => return None,
            false => None,
        };
        let sound = rounds.iter().all(|rounds| rounds.is_sound(n));
        sound.then_some(KeptRows { labels, decisions, rounds })
    }

    /// Whether these can be the rows that a model was trained on.
    pub(super) fn fits(&self, model: &Model) -> bool {
        let mut counts = vec![0; model.classes.len()];
        self.labels.iter().flatten().for_each(|&class| counts[usize::from(class)] += 1);
        counts == model.training.class_counts
            && self.decisions.n_rows() == model.training.n_unlabeled
            && self.rounds.is_some() == model.method.card().labels_rows
    }
}
