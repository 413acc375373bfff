//! The rows to learn from.

use std::sync::Arc;

use crate::data::{Copies, DiskTable, HeldTable, Labels, Statistics, Table, stratified_folds};
use crate::error::{Error, Hint, Place, Result};
use crate::memory::Room;
use crate::text::{listed, quoted};

/// The least weight beside the largest: of smaller ones products with other numbers would be 0.
const LEAST_WEIGHT: f64 = 1e-100;

/// Rows with their labels, some of them unlabeled.
///
/// ```
/// use udeed::prelude::*;
///
/// let table = Table::from_rows(&[[0.1], [0.9], [0.4]])?;
/// let mut train = TrainSet::new(table, Labels::new([Some("no"), Some("yes"), None]))?;
/// train.add_unlabeled(&Table::from_rows(&[[0.5], [0.6]])?)?;
/// assert_eq!((train.n_labeled(), train.n_unlabeled()), (2, 3));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct TrainSet {
    table: Table,
    labels: Labels,
    /// Further unlabeled rows, that are more than memory holds.
    on_disk: Option<Arc<DiskTable>>,
    /// The statistics of all rows, and the number of unlabeled ones that others hold.
    elsewhere: Option<Arc<(Statistics, usize)>>,
    /// Row weights; none if all are 1.
    weights: Option<Vec<f64>>,
    /// Class weights; none if all are 1.
    class_weights: Option<Vec<f64>>,
    label: Option<String>,
}

impl TrainSet {
    /// Puts labels beside rows.
    ///
    /// # Errors
    /// If there are more or fewer labels than rows.
    pub fn new(table: Table, labels: Labels) -> Result<Self> {
        if table.n_rows() != labels.len() {
            return Err(Error::training(
                format!("{} rows and {} labels", table.n_rows(), labels.len()),
                "a label, or none, for each row",
            ));
        }
        Ok(TrainSet { table, labels, on_disk: None, elsewhere: None, weights: None, class_weights: None, label: None })
    }

    /// The same rows, with the name that the column of the labels has in its source. A model remembers it.
    #[must_use]
    pub fn label(mut self, name: Option<String>) -> Self {
        self.label = name;
        self
    }

    /// The same rows with weights. Weights are relative: a label of weight 2 counts twice as much as one of weight 1, and
    /// multiplying all of them changes nothing. A row of weight 0 is left out. Other weights of unlabeled rows are ignored.
    ///
    /// # Errors
    /// If there are more or fewer weights than rows, one is negative or not finite, or one is nothing beside another.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let table = Table::from_rows(&[[0.1], [0.9]])?;
    /// let train = TrainSet::new(table, Labels::new([Some("no"), Some("yes")]))?;
    /// assert_eq!(train.clone().weights(vec![1.0, 2.5])?.weight(1), 2.5);
    /// assert_eq!(train.clone().weights(vec![0.0, 1.0])?.n_labeled(), 1);
    /// assert!(train.weights(vec![1.0, -1.0]).is_err());
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn weights(mut self, weights: Vec<f64>) -> Result<Self> {
        if weights.len() != self.labels.len() {
            let found = format!("{} rows and {} weights", self.labels.len(), weights.len());
            return Err(Error::training(found, "a weight for each row"));
        }
        if let Some(bad) = weights.iter().position(|weight| !(weight.is_finite() && *weight >= 0.0)) {
            let found = format!("the weight {} in row {}", weights[bad], bad + 1);
            return Err(Error::training(found, "0 or a positive number"));
        }
        let counted: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
        let largest = counted.iter().map(|&i| weights[i]).fold(0.0, f64::max);
        if let Some(&bad) = counted.iter().find(|&&i| weights[i] / largest < LEAST_WEIGHT) {
            let found = format!("the weight {:e} in row {} beside one of {largest:e}", weights[bad], bad + 1);
            return Err(Error::training(found, format!("0, or at least {LEAST_WEIGHT:e} of the largest")));
        }
        let some_do_not = counted.len() < weights.len();
        (self.weights, self.class_weights) = (Some(weights), None);
        Ok(if some_do_not { self.select(&counted) } else { self })
    }

    /// The same rows, the labeled ones first and in this order.
    pub(crate) fn with_labeled_in(&self, order: &[usize]) -> Self {
        let unlabeled = (0..self.labels.len()).filter(|&i| self.labels.get(i).is_none());
        self.select(&order.iter().copied().chain(unlabeled).collect::<Vec<usize>>())
    }

    /// The same rows with balanced class weights: each row's weight is divided by the total of its class.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let table = Table::from_rows(&[[0.1], [0.2], [0.3], [0.9]])?;
    /// let train = TrainSet::new(table, Labels::new([Some("no"), Some("no"), Some("no"), Some("yes")]))?.balanced();
    /// assert_eq!((train.weight(0), train.weight(3)), (4.0 / 6.0, 2.0));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    #[must_use]
    pub fn balanced(mut self) -> Self {
        // Over the largest: sums of large weights would overflow.
        let largest = (0..self.labels.len()).map(|i| self.row_weight(i)).fold(f64::MIN_POSITIVE, f64::max);
        // From the smallest to the largest, so that the order of the rows does not matter.
        let mut rows: Vec<usize> = (0..self.labels.len()).collect();
        rows.sort_by(|&i, &k| self.row_weight(i).total_cmp(&self.row_weight(k)));
        let mut totals = vec![0.0; self.labels.classes().len()];
        for i in rows {
            if let Some(class) = self.labels.get(i) {
                totals[class] += self.row_weight(i) / largest;
            }
        }
        let share = totals.iter().sum::<f64>() / totals.iter().filter(|&&total| total > 0.0).count().max(1) as f64;
        self.weights.iter_mut().flatten().for_each(|weight| *weight /= largest);
        self.class_weights = Some(totals.iter().map(|total| if *total > 0.0 { share / total } else { 1.0 }).collect());
        self
    }

    /// The same rows with weights of whole classes, in the order of the classes of the labels: what a label counts is
    /// multiplied by the weight of its class. Unlike weights of rows they do not say how frequent a class is: where that
    /// matters, as for the shares of classes among new rows, they are left out.
    ///
    /// # Errors
    /// If there are more or fewer weights than classes, or one is not a positive number.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let table = Table::from_rows(&[[0.1], [0.9]])?;
    /// let train = TrainSet::new(table, Labels::new([Some("no"), Some("yes")]))?.class_weights(vec![1.0, 3.0])?;
    /// assert_eq!((train.weight(1), train.row_weight(1)), (3.0, 1.0));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn class_weights(mut self, weights: Vec<f64>) -> Result<Self> {
        let classes = self.labels.classes().len();
        if weights.len() != classes {
            let found = format!("{classes} classes and {} weights", weights.len());
            return Err(Error::training(found, "a weight for each class"));
        }
        let largest = weights.iter().copied().fold(0.0, f64::max);
        if let Some(bad) = weights.iter().position(|weight| !(weight.is_finite() && *weight / largest >= LEAST_WEIGHT))
        {
            let found = format!("the weight {:e} of class {}", weights[bad], quoted(&self.labels.classes()[bad]));
            return Err(Error::training(found, "positive numbers of similar size"));
        }
        self.class_weights = Some(weights);
        Ok(self)
    }

    /// Weight of row `i`: its own times that of its class.
    pub fn weight(&self, i: usize) -> f64 {
        let factors = self.class_weights.as_ref().zip(self.labels.get(i));
        self.row_weight(i) * factors.map_or(1.0, |(factors, class)| factors[class])
    }

    /// Own weight of row `i`, without that of its class.
    pub fn row_weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// The name of the column of the labels, where there is one.
    pub fn label_name(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Adds rows without labels, their columns matched by name.
    ///
    /// # Errors
    /// If a column is missing, or holds another kind of values.
    pub fn add_unlabeled(&mut self, rows: &Table) -> Result<()> {
        self.table.append(rows)?;
        self.labels.extend_unlabeled(rows.n_rows());
        if let Some(weights) = &mut self.weights {
            weights.resize(self.labels.len(), 1.0);
        }
        Ok(())
    }

    /// Adds rows without labels that lie in a temporary file.
    ///
    /// # Errors
    /// If a column is missing, or holds another kind of values; or if there are such rows already.
    fn add_on_disk(&mut self, rows: Arc<DiskTable>) -> Result<()> {
        if self.on_disk.is_some() {
            return Err(Error::training("a second file of rows outside of memory", "one"));
        }
        rows.check_fits(&self.table)?;
        self.on_disk = Some(rows);
        Ok(())
    }

    /// Adds rows without labels, see [`Reader::hold`](crate::format::Reader::hold): to those in memory where there is room for
    /// them and for the features that they become, else they stay in
    /// or go to a temporary file. UDEED then reads them again in every step and never holds more than a few; the model is the
    /// same as with [`TrainSet::add_unlabeled`].
    ///
    /// # Errors
    /// If a column is missing, or holds another kind of values; if the temporary file cannot be written; or if there
    /// are such rows already.
    ///
    /// ```
    /// use udeed::format::{Format, Reader};
    /// use udeed::memory::Room;
    ///
    /// let reader = Reader::new().format(Format::Csv).label("ok");
    /// let mut train = reader.read_from("rows", &b"size,ok\n1,no\n2,no\n8,yes\n9,yes\n"[..])?.into_train()?;
    /// let room = Room { most: 1 << 30, folder: Some(&std::env::temp_dir()) };
    /// let more = Reader::new().format(Format::Csv).hold_from("more", &b"size\n3\n4\n7\n"[..], room)?;
    /// train.add_held(&more.table, room)?;
    /// assert!(train.on_disk().is_none());
    /// assert_eq!(train.n_unlabeled(), 3);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn add_held(&mut self, rows: &HeldTable, room: Room<'_>) -> Result<()> {
        match rows {
            HeldTable::InFile(rows) => self.add_on_disk(Arc::clone(rows)),
            HeldTable::InMemory(rows) if room.holds(rows.n_rows(), self.table.size_below(rows)) => {
                self.add_unlabeled(rows)
            }
            HeldTable::InMemory(rows) => {
                let folder = room.folder(Place::TABLE)?;
                self.add_on_disk(Arc::new(DiskTable::new(rows, folder)?))
            }
        }
    }

    /// The same labeled rows beside `n_rows` unlabeled ones that others hold, who make them ready by the
    /// [`Preparation`](crate::prepare::Preparation) that follows from the statistics of all rows, those here included. Only
    /// UDEED on [`Elsewhere`](crate::method::udeed::Elsewhere) can learn from them.
    ///
    /// # Errors
    /// If there are unlabeled rows here as well, or none elsewhere.
    pub fn with_elsewhere(mut self, all: Statistics, n_rows: usize) -> Result<Self> {
        if self.n_unlabeled() > 0 {
            let found = format!("{} unlabeled rows here beside those elsewhere", self.n_unlabeled());
            return Err(Error::training(found, "all of them elsewhere"));
        }
        if n_rows == 0 || n_rows >= all.n_rows() {
            let found = format!("statistics of {} rows, {n_rows} of them elsewhere", all.n_rows());
            return Err(Error::training(found, "those of all rows, some here and some elsewhere"));
        }
        self.elsewhere = Some(Arc::new((all, n_rows)));
        Ok(self)
    }

    pub(crate) fn elsewhere(&self) -> Option<&(Statistics, usize)> {
        self.elsewhere.as_deref()
    }

    /// The unlabeled rows that lie in a temporary file, if any.
    pub fn on_disk(&self) -> Option<&DiskTable> {
        self.on_disk.as_deref()
    }

    pub(crate) fn shared_on_disk(&self) -> Option<&Arc<DiskTable>> {
        self.on_disk.as_ref()
    }

    /// The rows in memory.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Number of labeled rows.
    pub fn n_labeled(&self) -> usize {
        self.labels.n_labeled()
    }

    /// Number of unlabeled rows.
    pub fn n_unlabeled(&self) -> usize {
        let on_disk = self.on_disk.as_ref().map_or(0, |rows| rows.n_rows());
        let elsewhere = self.elsewhere().map_or(0, |(_, n_rows)| *n_rows);
        self.labels.len() - self.labels.n_labeled() + on_disk + elsewhere
    }

    /// The most classes that can be told apart.
    pub const MOST_CLASSES: usize = 255;

    /// The classes that occur: two at least.
    ///
    /// # Errors
    /// If they are fewer, or more than [`TrainSet::MOST_CLASSES`].
    pub fn classes(&self) -> Result<Vec<String>> {
        let counts = self.labels.counts();
        let present = self.labels.classes().iter().zip(&counts).filter(|&(_, &count)| count > 0);
        let classes: Vec<String> = present.map(|(class, _)| class.clone()).collect();
        let column = self.label.as_ref().map_or(String::new(), |name| format!(" in column {}", quoted(name)));
        match classes.as_slice() {
            [] => Err(Error::training(format!("no labeled row{column}"), "some of two classes at least")
                .with_hint(Hint::NoLabels)),
            [only] => Err(Error::training(format!("one class{column}, {}", quoted(only)), "two at least")
                .with_hint(Hint::OneClass)),
            more if more.len() > Self::MOST_CLASSES => {
                let found = format!("{} classes{column}: {}", more.len(), listed(more));
                Err(Error::training(found, format!("at most {}", Self::MOST_CLASSES)).with_hint(Hint::ManyClasses))
            }
            _ => Ok(classes),
        }
    }

    /// The labels, but those of rows that are copies of earlier ones: of rows with the same features and the same label, in
    /// which a value stands that no other row has, so that they are not the same by chance.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let table = Table::from_rows(&[[0.1], [0.9], [0.9], [0.4]])?;
    /// let train = TrainSet::new(table, Labels::new([Some("no"), Some("yes"), Some("yes"), Some("no")]))?;
    /// assert_eq!(train.distinct_labels().counts(), [2, 1]);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn distinct_labels(&self) -> Labels {
        self.labels.clone().without(&self.copies().into_iter().map(|(copy, _)| copy).collect::<Vec<usize>>())
    }

    /// Deals the labeled rows into folds as [`stratified_folds`] does, copies of a row into the same.
    pub fn folds(&self, n_folds: usize, seed: u64) -> Vec<Vec<usize>> {
        let mut folds = stratified_folds(&self.distinct_labels(), n_folds, seed);
        for (copy, first) in self.copies() {
            if let Some(fold) = folds.iter_mut().find(|fold| fold.binary_search(&first).is_ok()) {
                let place = fold.partition_point(|&row| row < copy);
                fold.insert(place, copy);
            }
        }
        folds
    }

    /// Rows that are copies, each with the first that it is a copy of.
    fn copies(&self) -> Vec<(usize, usize)> {
        let labeled: Vec<usize> = (0..self.labels.len()).filter(|&i| self.labels.get(i).is_some()).collect();
        let classes: Vec<usize> = labeled.iter().filter_map(|&i| self.labels.get(i)).collect();
        let Some(copies) = Copies::among(self.table.matrix().rows(), &labeled, &classes) else { return Vec::new() };
        let pairs = (0..labeled.len()).map(|i| (labeled[i], labeled[copies.first(i)]));
        pairs.filter(|(copy, first)| copy != first).collect()
    }

    /// The given rows with their labels, and all rows that lie in a temporary file.
    ///
    /// # Panics
    /// If an index is not that of a row.
    pub fn select(&self, indices: &[usize]) -> Self {
        let pick = |weights: &Vec<f64>| indices.iter().map(|&i| weights[i]).collect();
        TrainSet {
            table: self.table.select(indices),
            labels: self.labels.select(indices),
            on_disk: self.on_disk.clone(),
            elsewhere: self.elsewhere.clone(),
            weights: self.weights.as_ref().map(pick),
            class_weights: self.class_weights.clone(),
            label: self.label.clone(),
        }
    }

    /// The rows in memory alone.
    pub(crate) fn without_file(self) -> Self {
        TrainSet { on_disk: None, elsewhere: None, ..self }
    }

    /// The same rows with other labels.
    ///
    /// # Errors
    /// If there are more or fewer labels than rows.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let train = TrainSet::new(Table::from_rows(&[[0.1], [0.9]])?, Labels::unlabeled(2))?;
    /// assert_eq!(train.with_labels(Labels::new([None, Some("yes")]))?.n_labeled(), 1);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn with_labels(self, labels: Labels) -> Result<Self> {
        let TrainSet { table, on_disk, elsewhere, weights, label, .. } = self;
        Ok(TrainSet { on_disk, elsewhere, weights, label, ..TrainSet::new(table, labels)? })
    }

    /// The same rows with the labels of some hidden.
    ///
    /// # Panics
    /// If an index is not that of a row.
    #[must_use]
    pub fn hide_labels(mut self, indices: &[usize]) -> Self {
        self.labels = self.labels.without(indices);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Dense, Matrix};

    fn words(n_rows: usize, n_levels: usize) -> Table {
        let levels = (0..n_levels).map(|level| level.to_string()).collect();
        let values = (0..n_rows).map(|i| (i % n_levels) as f64).collect();
        Table::new(vec![Column::nominal("word", levels)], Dense::new(n_rows, 1, values).unwrap()).unwrap()
    }

    /// A column of words is small until it becomes a feature for each word.
    #[test]
    fn rows_that_outgrow_the_room_as_features_go_to_a_file() {
        let train = TrainSet::new(words(2, 2), Labels::new([Some("no"), Some("yes")])).unwrap();
        for (n_levels, most, fits) in [(2, 1 << 18, true), (500, 1 << 18, false), (500, 1 << 25, true)] {
            let mut train = train.clone();
            let room = Room { most, folder: Some(&std::env::temp_dir()) };
            train.add_held(&HeldTable::InMemory(words(1000, n_levels)), room).unwrap();
            assert_eq!((train.on_disk().is_none(), train.n_unlabeled()), (fits, 1000));
        }
        let room = Room { most: 1 << 18, folder: None };
        let error = train.clone().add_held(&HeldTable::InMemory(words(1000, 500)), room).unwrap_err();
        assert_eq!(error.hint(), Some(&Hint::RowsInMemory));
    }

    /// As if all rows were read from one file.
    #[test]
    fn new_words_take_their_place_in_the_order_of_all() {
        let named = |levels: &[&str]| {
            let levels: Vec<String> = levels.iter().map(|&level| level.to_owned()).collect();
            let values = (0..levels.len()).map(|level| level as f64).collect();
            Table::new(vec![Column::nominal("word", levels.clone())], Dense::new(levels.len(), 1, values).unwrap())
                .unwrap()
        };
        for (own, more, all, codes) in [
            (["b", "d"], ["a", "c"], ["a", "b", "c", "d"], [1.0, 3.0, 0.0, 2.0]),
            // An order that was declared stays.
            (["d", "b"], ["a", "c"], ["d", "b", "a", "c"], [0.0, 1.0, 2.0, 3.0]),
        ] {
            let mut train = TrainSet::new(named(&own), Labels::new([Some("no"), Some("yes")])).unwrap();
            train.add_unlabeled(&named(&more)).unwrap();
            let Matrix::Dense(rows) = train.table().matrix() else { panic!("sparse rows") };
            assert_eq!(train.table().columns(), named(&all).columns());
            assert_eq!(rows.values(), codes);
        }
    }

    /// Sparse rows below dense ones become dense.
    #[test]
    fn rows_that_outgrow_the_room_below_others_go_to_a_file() {
        let dense = |n_rows| Matrix::Dense(Dense::zeros(n_rows, 100).unwrap());
        let (dense, sparse) = (dense(2), Matrix::Sparse(dense(1000).to_sparse()));
        let labels = Labels::new([Some("no"), Some("yes")]);
        let sparse = Table::from_matrix(sparse).unwrap();
        let room = Room { most: 1 << 20, folder: Some(&std::env::temp_dir()) };
        for (above, fits) in [(dense.clone(), false), (Matrix::Sparse(dense.to_sparse()), true)] {
            let mut train = TrainSet::new(Table::from_matrix(above).unwrap(), labels.clone()).unwrap();
            train.add_held(&HeldTable::InMemory(sparse.clone()), room).unwrap();
            assert_eq!(train.on_disk().is_none(), fits);
        }
    }
}
