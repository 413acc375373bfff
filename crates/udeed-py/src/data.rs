//! Rows and labels from numpy arrays.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use udeed::Hint;
use udeed::data::{Column, Csr, Dense, HeldTable, Kind, Labels, Matrix, Naming, Table, TrainSet};
use udeed::format::{Holder, Reader};
use udeed::memory::{Room, half_of_memory};
use udeed::method::Method;
use udeed::observer::Observer;

use crate::distributed::Statistics;
use crate::ensemble::from_json;
use crate::error::exception;
use crate::observer::run;

/// Names of columns, with the levels of those that are nominal.
pub type Columns = Vec<(String, Option<Vec<String>>)>;

/// The classes that look like missing labels.
#[pyfunction]
pub fn doubtful_classes(classes: Vec<String>) -> Vec<String> {
    udeed::data::doubtful_classes(&classes).into_iter().map(str::to_owned).collect()
}

/// The bootstraps of members: how often each labeled row is drawn, by the number of its class.
#[pyfunction]
pub fn bootstraps<'py>(
    py: Python<'py>,
    codes: PyReadonlyArray1<'py, u8>,
    seed: u64,
    members: usize,
) -> PyResult<Bound<'py, PyArray2<u8>>> {
    let draws = udeed::ensemble::draw_bootstraps(codes.as_slice()?, seed, members).map_err(exception)?;
    PyArray1::from_vec(py, draws.concat()).reshape([members, codes.len()])
}

/// Tri-training's shuffles of the given lengths, from one stream: for tests that redo it.
#[pyfunction]
pub fn shuffles(seed: u64, lengths: Vec<usize>) -> Vec<Vec<usize>> {
    udeed::bench::shuffles(seed, &lengths)
}

/// Rows as Python hands them over: an object with these attributes.
#[derive(FromPyObject)]
pub struct Rows<'py> {
    values: Values<'py>,
    /// None: numbered.
    columns: Option<Columns>,
}

/// The values of rows.
#[derive(FromPyObject)]
enum Values<'py> {
    /// Every value, in C order.
    Dense(Bound<'py, PyArray2<f64>>),
    /// The number of columns, and the three arrays of compressed sparse rows.
    Sparse(usize, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>),
}

impl Rows<'_> {
    pub fn n_rows(&self) -> usize {
        match &self.values {
            Values::Dense(array) => array.shape()[0],
            Values::Sparse(_, starts, ..) => starts.len().saturating_sub(1),
        }
    }

    /// The rows as a matrix: dense ones are lent, sparse ones get the library's narrower indices.
    fn matrix(&self) -> PyResult<Matrix> {
        match &self.values {
            Values::Dense(array) => {
                let (n_rows, n_columns) = (array.shape()[0], array.shape()[1]);
                Ok(Dense::shared(n_rows, n_columns, Arc::new(Lent::new(array)?)).map_err(exception)?.into())
            }
            Values::Sparse(n_columns, starts, columns, values) => {
                let starts = narrow::<usize>(&starts.readonly(), "indptr")?;
                let columns = narrow::<u32>(&columns.readonly(), "indices")?;
                let values = values.readonly().as_slice()?.to_vec();
                Ok(Csr::new(*n_columns, starts, columns, values).map_err(exception)?.into())
            }
        }
    }

    /// The rows as a table: with their columns, else with those of a model, or numbered ones.
    pub fn table(&self, of_model: Option<Columns>) -> PyResult<Table> {
        let matrix = self.matrix()?;
        let Some(columns) = self.columns.clone().or(of_model) else {
            return Table::from_matrix(matrix).map_err(exception);
        };
        Table::new(columns.into_iter().map(column).collect(), matrix).map_err(exception)
    }

    /// Refuses the rows if the members' votes on them would exceed memory.
    pub fn check_votes(&self, members: usize) -> PyResult<()> {
        check_memory(self.n_rows(), "rows", members, bytes_of_votes(members))
    }
}

/// The names of columns, with the levels of those that are nominal.
pub fn columns_of(columns: &[Column]) -> Columns {
    let levels = |kind: &Kind| match kind {
        Kind::Nominal { levels } => Some(levels.clone()),
        Kind::Numeric => None,
    };
    columns.iter().map(|column| (column.name.clone(), levels(&column.kind))).collect()
}

/// A column of words where there are levels, else of numbers.
fn column((name, levels): (String, Option<Vec<String>>)) -> Column {
    match levels {
        Some(levels) => Column::nominal(name, levels),
        None => Column::numeric(name),
    }
}

/// What the votes of all members on one row take: they lie in a list of their own, then once more among those of all rows.
fn bytes_of_votes(members: usize) -> u128 {
    2 * members as u128 + 24
}

/// Refuses what takes more than half of the memory: to ask for too much would end the process.
fn check_memory(count: usize, what: &str, members: usize, bytes_each: u128) -> PyResult<()> {
    let bytes = u64::try_from(count as u128 * bytes_each).unwrap_or(u64::MAX);
    let found = || format!("X has {count} {what}, for which {members} members");
    udeed::memory::check_memory(bytes, half_of_memory(), Hint::Members, found).map_err(exception)
}

/// Whole numbers of another width.
fn narrow<T: TryFrom<i64>>(array: &PyReadonlyArray1<'_, i64>, name: &str) -> PyResult<Vec<T>> {
    let refused = |value: i64| {
        let expected = if value < 0 { "from 0 on".to_owned() } else { format!("of at most {}", u32::MAX) };
        PyValueError::new_err(format!("X has {value} in `{name}`, expected an index {expected}"))
    };
    let whole = |&value: &i64| T::try_from(value).map_err(|_| refused(value));
    array.as_slice()?.iter().map(whole).collect()
}

/// The memory of a numpy array, lent to the library.
struct Lent {
    pointer: *const f64,
    length: usize,
    /// Keeps the memory alive: numpy neither frees nor moves the data of an array to which there is a reference.
    _array: Py<PyArray2<f64>>,
}

// SAFETY: `Lent` only ever reads the memory behind `pointer`, which stays where it is while `_array` is held (see there);
// a reference to a Python object may be held and dropped by any thread, `Py` is `Send` and `Sync`.
#[allow(unsafe_code)]
unsafe impl Send for Lent {}
// SAFETY: as above; shared access is read-only.
#[allow(unsafe_code)]
unsafe impl Sync for Lent {}

impl Lent {
    fn new(array: &Bound<'_, PyArray2<f64>>) -> PyResult<Self> {
        let pointer: *const f64 = array.data();
        // The array has the processor's byte order: extracting it as one of f64 has checked that.
        if !array.is_c_contiguous() || !pointer.is_aligned() {
            return Err(PyValueError::new_err(
                "X is not aligned in C order, expected `np.require(X, requirements=\"CA\")`",
            ));
        }
        Ok(Lent { pointer, length: array.len(), _array: array.clone().unbind() })
    }
}

impl AsRef<[f64]> for Lent {
    #[allow(unsafe_code)]
    fn as_ref(&self) -> &[f64] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: numpy allocated `length` values of f64 at `pointer`: the array is C-contiguous and aligned (checked in
        // `new`) and alive (`_array`). Nothing in Rust writes to it. As with every numpy function that frees the
        // interpreter, Python code must not write to an array while it is being read from; the package says so.
        unsafe { std::slice::from_raw_parts(self.pointer, self.length) }
    }
}

/// Unlabeled rows of a fit beside those of its array: in memory, or in a temporary file where they are more than may be there.
#[pyclass(frozen, module = "udeed._core")]
pub struct Held {
    rows: HeldTable,
    source: String,
    memory: u64,
    folder: Option<PathBuf>,
}

#[pymethods]
impl Held {
    /// Number of rows.
    #[getter]
    pub fn n_rows(&self) -> usize {
        match &self.rows {
            HeldTable::InMemory(table) => table.n_rows(),
            HeldTable::InFile(table) => table.n_rows(),
        }
    }

    /// Whether they lie in a temporary file.
    #[getter]
    pub fn is_in_file(&self) -> bool {
        matches!(self.rows, HeldTable::InFile(_))
    }
}

/// Bytes of memory for rows, 0 for half of the machine's, and a folder for more of them.
type Place = (u64, PathBuf);

impl Held {
    /// Holds what `read` makes of the name and the room of unlabeled rows for a method.
    fn new(
        method: &Method,
        n_columns: usize,
        (memory, folder): Place,
        read: impl FnOnce(&str, Room<'_>) -> PyResult<HeldTable>,
    ) -> PyResult<Self> {
        let memory = if memory == 0 { half_of_memory() } else { memory };
        let room = method.room(memory, n_columns, &folder);
        let source = match room.folder {
            Some(_) => "`unlabeled_X`".to_owned(),
            None => format!("`unlabeled_X`, which {} needs in memory as a whole", method.card().python),
        };
        let rows = read(&source, room)?;
        let (memory, streams) = (room.most, room.folder.is_some());
        Ok(Held { rows, source, memory, folder: streams.then_some(folder) })
    }

    fn add_to(&self, train: &mut TrainSet) -> PyResult<()> {
        let room = Room { most: self.memory, folder: self.folder.as_deref() };
        train.add_held(&self.rows, room).map_err(|error| exception(error.in_source(&self.source, 0)))
    }
}

/// Holds unlabeled rows for the method of some settings, batch by batch.
#[pyfunction]
pub fn hold(
    py: Python<'_>,
    settings: &str,
    batches: &Bound<'_, PyIterator>,
    n_columns: usize,
    place: Place,
) -> PyResult<Held> {
    Held::new(&from_json(settings)?, n_columns, place, |source, room| {
        let mut holder = Holder::new(source, room);
        for batch in batches {
            let table = batch?.extract::<Rows<'_>>()?.table(None)?;
            holder.push(table).map_err(|error| exception(error.in_source(source, 0)))?;
            py.check_signals()?;
        }
        holder.finish().map_err(exception)
    })
}

/// The same for the rows of a file, of which only the given columns are read: by name, or without names all of them.
#[pyfunction]
pub fn hold_file(
    py: Python<'_>,
    settings: &str,
    path: PathBuf,
    columns: Columns,
    is_named: bool,
    place: Place,
    n_jobs: usize,
) -> PyResult<Held> {
    let naming = if is_named { Naming::Given } else { Naming::Position { width: columns.len() } };
    let columns: Vec<Column> = columns.into_iter().map(column).collect();
    Held::new(&from_json(settings)?, columns.len(), place, |_, room| {
        let (most, folder) = (room.most, room.folder.map(Path::to_path_buf));
        let reader = Reader::new().expect(&columns, naming);
        let read = move |_: &mut dyn Observer| reader.hold(&path, Room { most, folder: folder.as_deref() });
        run(py, n_jobs, false, None, read)?.0.map(|sheet| sheet.table).map_err(exception)
    })
}

/// Rows to learn from, as Python hands them over: an object with these attributes.
#[derive(FromPyObject)]
pub struct Training<'py> {
    rows: Rows<'py>,
    pub classes: Vec<String>,
    /// The class of each row, negative for none.
    codes: PyReadonlyArray1<'py, i64>,
    weights: Option<PyReadonlyArray1<'py, f64>>,
    /// Whether every class counts alike.
    balanced: bool,
    /// Weights of the classes.
    class_weights: Option<PyReadonlyArray1<'py, f64>>,
    /// Further rows, none of which has a label.
    unlabeled: Option<PyRef<'py, Held>>,
    /// The statistics of all rows, the number of those that others hold, and who asks these for sums.
    elsewhere: Option<(PyRef<'py, Statistics>, usize, Option<Py<PyAny>>)>,
}

impl Training<'_> {
    /// Refuses the labeled rows if the members' votes on them would exceed memory.
    pub fn check_votes(&self, members: usize) -> PyResult<()> {
        let n_labeled = self.codes.as_slice()?.iter().filter(|&&code| code >= 0).count();
        // A bootstrap counts each row in one byte, and is gone before the members vote.
        check_memory(n_labeled, "labeled rows", members, bytes_of_votes(members))
    }

    /// The rows with their labels and weights, as the library takes them.
    pub fn train_set(&self) -> PyResult<TrainSet> {
        self.train_set_of(None)
    }

    /// As [`Training::train_set`]; rows without names have the columns of a model, in its order.
    pub fn train_set_of(&self, of_model: Option<Columns>) -> PyResult<TrainSet> {
        let codes = self.codes.as_slice()?.iter().map(|&code| usize::try_from(code).ok());
        let labels = Labels::with_classes(self.classes.clone(), codes).map_err(exception)?;
        let train = TrainSet::new(self.rows.table(of_model)?, labels).map_err(exception)?;
        let mut train = match &self.weights {
            Some(weights) => train.weights(weights.as_slice()?.to_vec()).map_err(exception)?,
            None => train,
        };
        if let Some(rows) = &self.unlabeled {
            rows.add_to(&mut train)?;
        }
        if let Some((statistics, n_rows, _)) = &self.elsewhere {
            train = train.with_elsewhere(statistics.0.clone(), *n_rows).map_err(exception)?;
        }
        match &self.class_weights {
            Some(weights) => train.class_weights(weights.as_slice()?.to_vec()).map_err(exception),
            None => Ok(if self.balanced { train.balanced() } else { train }),
        }
    }

    /// Who asks others for sums over their rows; nobody for a method that never does.
    pub fn asker(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.elsewhere.as_ref().and_then(|(_, _, ask)| ask.as_ref()).map(|ask| ask.clone_ref(py))
    }

    /// Whether others hold rows.
    pub fn has_elsewhere(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// Number of the rows beside those with labels.
    pub fn n_more(&self) -> usize {
        self.unlabeled.as_ref().map_or(0, |rows| rows.n_rows())
    }

    /// The rows that are there for the library: not those of weight 0.
    pub fn kept(&self) -> PyResult<Vec<usize>> {
        let places = self.places()?;
        Ok((0..places.len()).filter(|&row| places[row].is_some()).collect())
    }

    /// Where each row is once those of weight 0, which are not there for the library, are gone.
    pub fn places(&self) -> PyResult<Vec<Option<usize>>> {
        let mut next = 0..self.codes.as_slice()?.len();
        let Some(weights) = &self.weights else { return Ok(next.map(Some).collect()) };
        Ok(weights.as_slice()?.iter().map(|&weight| if weight > 0.0 { next.next() } else { None }).collect())
    }
}
