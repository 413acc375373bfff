//! Models: prediction, evaluation, files and ONNX graphs.

mod conformal;
mod description;
mod evaluation;
mod file;
mod held_rows;
mod onnx;
mod tensors;
mod training;
mod transduction;

pub use evaluation::Evaluation;
pub use held_rows::HeldRows;
pub use training::Training;
pub use transduction::Transduction;

pub(crate) use transduction::KeptRows;

use crate::data::{Dense, Labels, Matrix, Rows, Table};
use crate::ensemble::Ensemble;
use crate::ensemble::held_out::OwnVotes;
use crate::ensemble::vote::probabilities;
use crate::error::{Error, Result};
use crate::format::Reader;
use crate::learner::winner;
use crate::method::Method;
use crate::prepare::Preparation;

/// A trained ensemble, with the preparation of the rows it was trained on.
///
/// ```
/// use udeed::prelude::*;
///
/// let train = built_in("vote")?.read()?.into_train()?;
/// let model = Udeed::new().fit(&train)?;
/// assert_eq!(model.classes(), ["democrat", "republican"]);
/// assert_eq!(model.predict(train.table())?[0], "republican");
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("vote.safetensors");
/// model.save(&path)?;
/// assert_eq!(Model::load(&path)?, model);
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(crate) preparation: Preparation,
    pub(crate) classes: Vec<String>,
    pub(crate) label: Option<String>,
    pub(crate) method: Method,
    pub(crate) training: Training,
    pub(crate) ensemble: Ensemble,
    pub(crate) initial: Option<Ensemble>,
    pub(crate) logistic: Ensemble,
    /// The least decision of the second of two classes.
    pub(crate) threshold: f64,
    /// Votes on labeled rows by members that did not learn from them; none without such members.
    pub(crate) held_out: Option<OwnVotes>,
    /// Labels and decisions of the training rows, where they are kept.
    pub(crate) kept_rows: Option<KeptRows>,
}

impl Model {
    /// The names of the classes, sorted.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The column that held the labels of the training rows, where there was one.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// The method and the settings it was trained with.
    pub fn method(&self) -> &Method {
        &self.method
    }

    /// The summary of the training.
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// The preparation of rows: missing values, nominal columns and scales.
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// The members and the weights of their votes.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// A reader for rows to predict: it knows the columns, their kinds, and that of the labels.
    ///
    /// ```
    /// use udeed::format::{Format, Reader};
    /// use udeed::method::Udeed;
    ///
    /// let text = "size,ok\n1,no\n2,no\n8,yes\n9,yes\n";
    /// let train = Reader::new().format(Format::Csv).label("ok").read_from("rows", text.as_bytes())?.into_train()?;
    /// let model = Udeed::new().fit(&train)?;
    /// let rows = model.reader().format(Format::Csv).read_from("new", &b"note,size\nbig,9\nsmall,1\n"[..])?;
    /// assert_eq!(model.predict(&rows.table)?, ["yes", "no"]);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn reader(&self) -> Reader {
        let reader = Reader::new().expect(self.preparation.columns(), self.preparation.naming());
        match &self.label {
            Some(label) => reader.label_if_present(label),
            None => reader,
        }
    }

    /// Like [`Model::decision`], of rows that [`Model::preparation`] has made ready. For many models with the same
    /// preparation.
    ///
    /// # Errors
    /// If the features are so large that a decision is no number.
    pub fn decide(&self, features: &Matrix) -> Result<Dense> {
        self.ensemble.decide(features.rows())
    }

    /// The decision of the vote for each row. Of two classes one column, between -1 and 1: above 0 it is the second class. Of
    /// more one column a class, the largest wins. A tie is the first class, as in scikit-learn.
    ///
    /// # Errors
    /// If the rows lack a column, hold another kind of values in it, or a number so large that it cannot be scaled as the
    /// training rows were.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = Table::from_rows(&[[0.1], [0.2], [0.3], [0.4]])?;
    /// let labels = Labels::new([Some("no"), Some("no"), Some("yes"), Some("yes")]);
    /// let model = Udeed::new().fit(&TrainSet::new(train, labels)?)?;
    /// let error = model.decision(&Table::from_rows(&[[0.2], [f64::MAX]])?).unwrap_err();
    /// assert!(error.to_string().starts_with("the table, row 2, column `1`: found 1.7976931348623157e308"));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn decision(&self, rows: &Table) -> Result<Dense> {
        self.ensemble.decide(&self.preparation.features_of(rows)?)
    }

    /// The number of the class that a row of decisions stands for.
    pub fn class_of(&self, decision: &[f64]) -> usize {
        class_at(self.threshold, decision)
    }

    /// The decision threshold: above it a row is of the second of two classes. 0, unless it was set.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Whether the probabilities are calibrated.
    pub fn is_calibrated(&self) -> bool {
        self.ensemble.calibration.is_some()
    }

    /// Whether the model knows what members say of labeled rows that they did not learn from: of out-of-bag rows, where
    /// members are fitted to bootstraps, or of folds, where probabilities are calibrated.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("labor")?.read()?.into_train()?;
    /// assert!(Bagging::new().fit(&train)?.has_held_out());
    /// assert!(!AdaBoost::new().fit(&train)?.has_held_out());
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn has_held_out(&self) -> bool {
        self.held_out.is_some()
    }

    /// The same model with another threshold, such as [`choose_threshold`](crate::validation::choose_threshold) finds. Probabilities stay
    /// what they are.
    ///
    /// # Errors
    /// If it is not between -1 and 1, or there are more than two classes.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("house")?.read()?.into_train()?;
    /// let model = Udeed::new().fit(&train)?;
    /// let count = |model: &udeed::model::Model| -> udeed::Result<usize> {
    ///     Ok(model.predict(train.table())?.iter().filter(|class| **class == "republican").count())
    /// };
    /// assert!(count(&model.clone().with_threshold(0.6)?)? < count(&model)?);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn with_threshold(mut self, threshold: f64) -> Result<Model> {
        if !(-1.0..=1.0).contains(&threshold) {
            return Err(Error::setting("threshold", threshold, "between -1 and 1"));
        }
        if self.classes.len() != 2 && threshold != 0.0 {
            let found = format!("{} classes", self.classes.len());
            return Err(Error::training(found, "two, between which a threshold decides"));
        }
        self.threshold = threshold;
        Ok(self)
    }

    /// The importance of each column, if all members are trees: the mean decrease of impurity by splits of its features,
    /// each tree weighted by its vote, as scikit-learn has it for forests. They sum to 1, or are all 0 if no tree has a split.
    ///
    /// None where members are no trees or see Fourier features, and of models that earlier versions saved.
    ///
    /// ```
    /// use udeed::learner::{Base, TreeSettings};
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("vote")?.read()?.into_train()?;
    /// let model = Bagging::new().base(Base::named("tree")?).fit(&train)?;
    /// let importances = model.feature_importances().unwrap();
    /// let most = (0..16).max_by(|&a, &b| importances[a].total_cmp(&importances[b])).unwrap();
    /// assert_eq!(train.table().columns()[most].name, "physician_fee_freeze");
    /// assert!(Bagging::new().fit(&train)?.feature_importances().is_none());
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn feature_importances(&self) -> Option<Vec<f64>> {
        if self.preparation.fourier().is_some() {
            return None;
        }
        let of_features = self.ensemble.feature_importances(self.preparation.n_features())?;
        let mut importances = vec![0.0; self.preparation.columns().len()];
        let columns = self.preparation.columns_of_features();
        columns.iter().zip(of_features).for_each(|(&column, own)| importances[column] += own);
        Some(importances)
    }

    /// The number of the class that each member gives each row: member after member for each row. See
    /// [`Ensemble::classify`].
    ///
    /// # Errors
    /// As [`Model::decision`].
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("house")?.read()?.into_train()?;
    /// let model = Bagging::new().members(5).fit(&train)?;
    /// let prepared = model.preparation().apply(train.table())?;
    /// assert_eq!(model.classify(train.table())?, model.ensemble().classify(prepared.rows())?);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn classify(&self, rows: &Table) -> Result<Vec<u8>> {
        self.ensemble.classify_blocks(&self.preparation.features_of(rows)?)
    }

    /// The probability of each class for each row, one column a class. Each row sums to 1.
    ///
    /// # Errors
    /// As [`Model::decision`].
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("house")?.read()?.into_train()?;
    /// let model = Udeed::new().fit(&train)?;
    /// let [democrat, republican] = model.predict_proba(train.table())?.get(0).try_into().unwrap();
    /// assert_eq!(republican > democrat, model.predict(train.table())?[0] == "republican");
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn predict_proba(&self, rows: &Table) -> Result<Dense> {
        self.probabilities(&self.decision(rows)?)
    }

    /// The probabilities that decisions stand for, see [`Model::decision`]: one column a class.
    ///
    /// # Errors
    /// If the memory for them cannot be had.
    pub fn probabilities(&self, decisions: &Dense) -> Result<Dense> {
        let n_rows = decisions.n_rows();
        let mut values = Vec::with_capacity(n_rows * self.classes.len());
        (0..n_rows).for_each(|i| values.extend(probabilities(decisions.get(i))));
        Dense::new(n_rows, self.classes.len(), values)
    }

    /// The class of each row.
    ///
    /// # Errors
    /// As [`Model::decision`].
    pub fn predict(&self, rows: &Table) -> Result<Vec<&str>> {
        let decisions = self.decision(rows)?;
        Ok((0..rows.n_rows()).map(|i| self.classes[self.class_of(decisions.get(i))].as_str()).collect())
    }

    /// How well it does on rows whose labels are known; unlabeled ones are left out.
    ///
    /// # Errors
    /// As [`Model::decision`]; also if no row has a label, or one has a class that the model does not know.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = built_in("house")?.read()?.into_train()?;
    /// let figures = Udeed::new().fit(&train)?.evaluate(train.table(), train.labels())?;
    /// assert!(figures.accuracy > 0.9 && figures.auc.unwrap() > 0.95);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn evaluate(&self, rows: &Table, labels: &Labels) -> Result<Evaluation> {
        let labels = labels.aligned(&self.classes)?;
        Evaluation::at(self.threshold, &self.classes, &self.decision(rows)?, &labels)
    }

    /// The ensemble as it was before a descent: what bagging on the labels alone gives. None for methods without one.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let sheet = built_in("labor")?.read()?;
    /// let model = Udeed::new().fit(&sheet.clone().into_train()?)?;
    /// let before = model.initial().unwrap().evaluate(&sheet.table, &sheet.labels)?;
    /// let alone = model.logistic().evaluate(&sheet.table, &sheet.labels)?;
    /// assert!(before.accuracy > 0.9 && alone.accuracy > 0.9);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    #[must_use]
    pub fn initial(&self) -> Option<Model> {
        self.initial.clone().map(|ensemble| self.with(ensemble))
    }

    /// The ensemble of the first members only. A boosted or bagged ensemble of that size is just this.
    ///
    /// # Panics
    /// If that is none, or more than there are.
    #[must_use]
    pub fn prefix(&self, members: usize) -> Model {
        self.with(self.ensemble.prefix(members))
    }

    /// Logistic regression on the labels alone: a model of one member.
    #[must_use]
    pub fn logistic(&self) -> Model {
        self.with(self.logistic.clone())
    }

    /// Threshold, held-out votes and what became of the rows are those of the whole ensemble.
    fn with(&self, ensemble: Ensemble) -> Model {
        Model { ensemble, threshold: 0.0, held_out: None, kept_rows: None, ..self.clone() }
    }
}

/// The class that decisions stand for: of two classes the second above a threshold.
pub(crate) fn class_at(threshold: f64, decision: &[f64]) -> usize {
    match decision {
        [only] => usize::from(*only > threshold),
        many => winner(many),
    }
}
