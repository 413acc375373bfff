//! Files of rows: CSV, ARFF and LIBSVM, each also gzipped.

mod arff;
mod builtin;
mod chunks;
mod csv;
mod libsvm;
mod number;
mod parallel;
mod reader;
mod sink;
mod source;
mod writer;

pub use builtin::{BuiltIn, built_in};
pub use reader::{Format, HeldSheet, Layout, Reader, Sheet};
pub use writer::Writer;
