//! The arithmetic of many linear members over many rows. Nothing here knows what a label is.
//!
//! Weights are stored feature by feature: `weights[j * m + k]` is the weight of feature `j` in member `k`, and the last
//! feature is the constant 1, which rows do not store. The inner loops then run over members, which lie side by side.

mod pass;
mod sigmoid;

pub(crate) use pass::{map_rows, pass};
pub(crate) use sigmoid::{softplus, tanh_half};
