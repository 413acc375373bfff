//! Linear algebra: Cholesky factors, L-BFGS, eigenvectors, and the space that rows span.

pub(crate) mod cholesky;
pub(crate) mod eigen;
mod lbfgs;
mod row_space;

pub(crate) use lbfgs::{Curvature, minimise};
pub(crate) use row_space::RowSpace;
