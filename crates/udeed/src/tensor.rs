//! Tensors by name: the numbers of a model file, in the layout of safetensors.

use std::borrow::Cow;

use safetensors::{Dtype, SafeTensors, View};

use crate::data::{Csr, Dense, Matrix, Rows};

/// A tensor to be written.
pub(crate) struct Tensor {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl Tensor {
    pub(crate) fn vector(values: &[f64]) -> Self {
        Tensor {
            dtype: Dtype::F64,
            shape: vec![values.len()],
            bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    /// Integers, as wide as doubles: tensors are laid out by the width of their numbers.
    pub(crate) fn integers(values: impl Iterator<Item = u64>) -> Self {
        let bytes: Vec<u8> = values.flat_map(u64::to_le_bytes).collect();
        Tensor { dtype: Dtype::U64, shape: vec![bytes.len() / size_of::<u64>()], bytes }
    }

    /// Rows of equal length.
    pub(crate) fn rows(rows: &[Vec<f64>]) -> Self {
        Tensor { shape: vec![rows.len(), rows[0].len()], ..Tensor::vector(&rows.concat()) }
    }

    /// A table of numbers.
    pub(crate) fn table(table: &Dense) -> Self {
        Tensor { shape: vec![table.n_rows(), table.n_columns()], ..Tensor::vector(table.values()) }
    }
}

impl View for Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// Tensors to be written, each under a name that begins with a prefix.
pub(crate) struct TensorWriter<'a> {
    prefix: String,
    tensors: &'a mut Vec<(String, Tensor)>,
}

impl<'a> TensorWriter<'a> {
    pub(crate) fn new(prefix: impl Into<String>, tensors: &'a mut Vec<(String, Tensor)>) -> Self {
        TensorWriter { prefix: prefix.into(), tensors }
    }

    /// The same tensors under a longer prefix.
    pub(crate) fn within(&mut self, name: impl std::fmt::Display) -> TensorWriter<'_> {
        TensorWriter { prefix: format!("{}.{name}", self.prefix), tensors: self.tensors }
    }

    /// Whether there is a tensor of a name.
    pub(crate) fn has(&self, name: &str) -> bool {
        let name = format!("{}.{name}", self.prefix);
        self.tensors.iter().any(|(other, _)| *other == name)
    }

    pub(crate) fn write(&mut self, name: &str, tensor: Tensor) {
        self.tensors.push((format!("{}.{name}", self.prefix), tensor));
    }

    /// Writes rows in their layout: sparse ones with where each begins, and the columns of their values.
    pub(crate) fn write_rows(&mut self, name: &str, rows: &Matrix) {
        match rows {
            Matrix::Dense(rows) => self.write(name, Tensor::vector(rows.values())),
            Matrix::Sparse(rows) => {
                let (starts, columns, values) = rows.parts();
                self.write(&format!("{name}.starts"), Tensor::integers(starts.iter().map(|&start| start as u64)));
                let columns = columns.iter().map(|&column| u64::from(column));
                self.write(&format!("{name}.columns"), Tensor::integers(columns));
                self.write(name, Tensor::vector(values));
            }
        }
    }
}

/// The tensors of a file whose names begin with a prefix. What is not there, or of another type, reads as none.
pub(crate) struct TensorReader<'a> {
    prefix: String,
    tensors: &'a SafeTensors<'a>,
}

impl<'a> TensorReader<'a> {
    /// All tensors of a file.
    pub(crate) fn new(tensors: &'a SafeTensors<'a>) -> Self {
        TensorReader { prefix: String::new(), tensors }
    }

    /// The same tensors under a longer prefix.
    pub(crate) fn within(&self, name: impl std::fmt::Display) -> Self {
        TensorReader { prefix: self.name(name), tensors: self.tensors }
    }

    fn name(&self, name: impl std::fmt::Display) -> String {
        if self.prefix.is_empty() { name.to_string() } else { format!("{}.{name}", self.prefix) }
    }

    /// Whether there is a tensor of a name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(&self.name(name)).is_ok()
    }

    pub(crate) fn vector(&self, name: &str) -> Option<Vec<f64>> {
        let tensor = self.tensors.tensor(&self.name(name)).ok().filter(|tensor| tensor.dtype() == Dtype::F64)?;
        Some(tensor.data().as_chunks().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect())
    }

    /// A vector of finite numbers.
    pub(crate) fn finite(&self, name: &str) -> Option<Vec<f64>> {
        self.vector(name).filter(|values| values.iter().all(|x| x.is_finite()))
    }

    /// Rows of a width, at least one.
    pub(crate) fn finite_rows(&self, name: &str, width: usize) -> Option<Vec<Vec<f64>>> {
        let values = self.finite(name)?;
        let whole = !values.is_empty() && values.len().is_multiple_of(width);
        whole.then(|| values.chunks(width).map(<[f64]>::to_vec).collect())
    }

    pub(crate) fn integers<T: TryFrom<u64>>(&self, name: &str) -> Option<Vec<T>> {
        let tensor = self.tensors.tensor(&self.name(name)).ok().filter(|tensor| tensor.dtype() == Dtype::U64)?;
        let integer = |bytes: &[u8; 8]| T::try_from(u64::from_le_bytes(*bytes)).ok();
        tensor.data().as_chunks().0.iter().map(integer).collect()
    }

    /// Reads what [`TensorWriter::write_rows`] wrote.
    pub(crate) fn matrix(&self, name: &str, (n_rows, n_columns): (usize, usize)) -> Option<Matrix> {
        let values = self.finite(name)?;
        let Some(starts) = self.integers(&format!("{name}.starts")) else {
            return Some(Dense::new(n_rows, n_columns, values).ok()?.into());
        };
        let rows = Csr::new(n_columns, starts, self.integers(&format!("{name}.columns"))?, values).ok()?;
        (rows.n_rows() == n_rows).then(|| rows.into())
    }
}
