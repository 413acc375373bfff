//! The kernels, compiled from `kernels/descent.cu` by `kernels/compile.sh`.

/// Kernels that are loaded together.
pub(crate) struct Kernels {
    /// What their names begin with.
    pub(crate) name: &'static str,
    /// Their PTX, which the driver compiles for its card.
    pub(crate) ptx: &'static str,
}

/// All kernels; the first ones are those whose names are none of the others'.
pub(crate) const PARTS: [Kernels; 3] = [
    Kernels { name: "any", ptx: include_str!("../kernels/any.ptx") },
    Kernels { name: "fused_single", ptx: include_str!("../kernels/fused_single.ptx") },
    Kernels { name: "fused_double", ptx: include_str!("../kernels/fused_double.ptx") },
];
