//! `udeed export`: a saved model for other programs.

use std::path::PathBuf;

use clap::Args;

use crate::output::{check_outputs, write_to};
use crate::progress::Progress;
use crate::settings::ModelMemory;

/// Write a saved model in a format of other programs
#[derive(Args)]
#[command(after_help = "Example:\n  udeed export model.safetensors --onnx model.onnx")]
pub struct Export {
    /// The model, as `fit` wrote it
    model: PathBuf,
    /// Write an ONNX graph: rows in, `label` and `probabilities` out
    #[arg(long, value_name = "FILE")]
    onnx: PathBuf,
    #[command(flatten)]
    memory: ModelMemory,
}

impl Export {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        check_outputs(&[Some(&self.onnx)], &[Some(&self.model)])?;
        let model = self.memory.load(&self.model)?;
        let graph = model.to_onnx()?;
        write_to(Some(&self.onnx), |out| Ok(out.write_all(&graph)?))?.tell(progress);
        Ok(())
    }
}
