//! Files of rows: CSV, ARFF and LIBSVM, each also gzipped.

mod arff;
mod builtin;
mod csv;
mod libsvm;
mod reader;
mod writer;

pub use builtin::{BuiltIn, built_in};
pub use reader::{Format, Layout, Reader, Sheet};
pub use writer::Writer;
