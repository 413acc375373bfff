//! Linear algebra: Cholesky factors, L-BFGS, eigenvectors, and the space that rows span.

pub(crate) mod cholesky;
pub(crate) mod eigen;
pub(crate) mod lbfgs;
mod row_space;

pub(crate) use lbfgs::minimise;
pub(crate) use row_space::Span;
