//! The command `udeed`: semi-supervised ensembles from a file of rows to predictions.
//!
//! One file a verb; what verbs share is in `input` (reading rows), `settings`, `output`, `progress` and `terminal`. Results go to
//! standard output, everything else to standard error. Exit codes: 0, 1 (the work failed), 2 (the call was wrong).

mod compare;
mod data;
mod doubt;
mod evaluate;
mod export;
mod fit;
mod forecast;
mod hints;
mod input;
mod inspect;
mod label;
mod laboratory;
mod methods;
mod output;
mod predict;
mod progress;
mod records;
mod reproduce;
mod settings;
mod suggest;
mod terminal;
mod training_rows;

use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::output::{Unsaid, Usage};

#[derive(Parser)]
#[command(name = "udeed", version, max_term_width = 100, propagate_version = true)]
/// Ensembles that are accurate on labeled rows and diverse on unlabeled ones (UDEED, Zhang and Zhou 2010)
#[command(after_help = "Start with `udeed compare`, then `udeed fit ROWS.csv --label COLUMN --out MODEL.safetensors`.")]
struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    verb: Verb,
}

/// What every verb understands.
#[derive(Args)]
struct Common {
    /// Number of threads [default: one per core]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Print only results and errors
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Verb {
    Fit(fit::Fit),
    Predict(predict::Predict),
    Evaluate(evaluate::Evaluate),
    Suggest(suggest::Suggest),
    Doubt(doubt::Doubt),
    Forecast(forecast::Forecast),
    Label(label::Label),
    Inspect(inspect::Inspect),
    Export(export::Export),
    Compare(compare::Compare),
    Reproduce(reproduce::Reproduce),
    Methods(methods::Methods),
    Data(data::Data),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

/// More threads than this, and than cores, only wait for each other: thousands of them for minutes.
const MOST_THREADS: usize = 256;

fn run(cli: Cli) -> anyhow::Result<()> {
    udeed::check_instructions()?;
    if let Some(threads) = cli.common.threads {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (threads, most) = (usize::from(threads), cores.max(MOST_THREADS));
        if threads > most {
            return Err(Usage(format!(
                "`--threads {threads}`: expected at most {most}, where there are {cores} cores"
            ))
            .into());
        }
        rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    }
    let progress = progress::Progress::new(cli.common.quiet);
    match cli.verb {
        Verb::Fit(verb) => verb.run(&progress),
        Verb::Predict(verb) => verb.run(&progress),
        Verb::Evaluate(verb) => verb.run(&progress),
        Verb::Suggest(verb) => verb.run(&progress),
        Verb::Doubt(verb) => verb.run(&progress),
        Verb::Forecast(verb) => verb.run(&progress),
        Verb::Label(verb) => verb.run(&progress),
        Verb::Inspect(verb) => verb.run(&progress),
        Verb::Export(verb) => verb.run(&progress),
        Verb::Compare(verb) => verb.run(&progress),
        Verb::Reproduce(verb) => verb.run(&progress),
        Verb::Methods(verb) => verb.run(),
        Verb::Data(verb) => verb.run(&progress),
    }
}

/// Says what went wrong. A reader that went away, as `head` does, is no failure.
fn report(error: &anyhow::Error) -> ExitCode {
    let label = error.downcast_ref::<udeed_label::Error>();
    let ours = error.downcast_ref::<udeed::Error>().or_else(|| label.and_then(udeed_label::Error::of_library));
    let lab = error.downcast_ref::<udeed_lab::Error>();
    let pipe_closed = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
    };
    if error.chain().any(pipe_closed) || ours.is_some_and(udeed::Error::is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    if let Some(Unsaid(refusal)) = error.downcast_ref() {
        let _ = output::print(|out| writeln!(out, "error: {refusal}"));
        return ExitCode::from(2);
    }
    progress::say(format_args!("error: {error:#}"));
    let hint = ours.and_then(udeed::Error::hint).map(hints::worded);
    let hint = hint.or_else(|| lab.and_then(udeed_lab::Error::hint).as_ref().map(hints::worded_lab));
    if let Some(hint) = hint.or_else(|| label.and_then(udeed_label::Error::hint).map(hints::worded_label)) {
        progress::say(format_args!("hint: {hint}"));
    }
    let usage = ours.is_some_and(udeed::Error::is_usage) || lab.is_some_and(udeed_lab::Error::is_usage);
    ExitCode::from(if usage || error.is::<Usage>() { 2 } else { 1 })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    /// A setting of a method must not have the name of an option.
    #[test]
    fn no_two_options_have_the_same_name() {
        super::Cli::command().debug_assert();
    }
}
