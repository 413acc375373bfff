//! The command `udeed`: semi-supervised ensembles from a file of rows to predictions.
//!
//! One file a verb, and one line in the list below; what verbs share is in `input` (reading rows), `settings`, `output`,
//! `progress` and `terminal`. Results go to standard output, everything else to standard error. Exit codes: 0, 1 (the work
//! failed), 2 (the call was wrong).

mod device;
mod hints;
mod input;
mod laboratory;
mod output;
mod progress;
mod records;
mod settings;
mod terminal;
mod training_rows;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgAction, Args, FromArgMatches, Parser, Subcommand};

use crate::output::{Hinted, Unsaid, Usage};
use crate::progress::Progress;

#[derive(Parser)]
#[command(name = "udeed", version, long_version = concat!(env!("CARGO_PKG_VERSION"), env!("UDEED_COMMIT")))]
#[command(max_term_width = 100, propagate_version = true, disable_version_flag = true)]
#[command(disable_help_flag = true, disable_help_subcommand = true)]
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
#[command(next_help_heading = "Running")]
struct Common {
    /// Number of threads [default: one per core]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    #[arg(hide_short_help = true)]
    threads: Option<u16>,
    /// Print only results and errors
    #[arg(long, short, global = true)]
    quiet: bool,
    /// Print the common options
    #[arg(long, short, global = true, action = ArgAction::HelpShort)]
    help: Option<bool>,
    /// Print all options
    #[arg(long, global = true, action = ArgAction::HelpLong)]
    help_all: Option<bool>,
    /// Print the version; `--version` adds the commit
    #[arg(long, short = 'V', global = true, action = ArgAction::Version)]
    version: Option<bool>,
}

/// Makes [`Verb`] of the list of verbs. The file of each has its options and what it does with them.
macro_rules! verbs {
    ($($verb:ident in $file:ident;)+) => {
        $(mod $file;)+

        #[derive(Subcommand)]
        enum Verb {
            $($verb($file::$verb),)+
        }

        impl Verb {
            fn run(&self, progress: &Progress) -> anyhow::Result<()> {
                match self {
                    $(Verb::$verb(verb) => verb.run(progress),)+
                }
            }
        }
    };
}

// In the order of the help.
verbs! {
    Fit in fit;
    Predict in predict;
    Evaluate in evaluate;
    Suggest in suggest;
    Doubt in doubt;
    Forecast in forecast;
    Label in label;
    Inspect in inspect;
    Export in export;
    Compare in compare;
    Reproduce in reproduce;
    Methods in methods;
    Data in data;
    Completions in completions;
    Man in man;
    Help in help;
}

fn main() -> ExitCode {
    if std::env::args_os().len() <= 1 {
        return help::print_first_steps().map_or_else(|error| report(&error), |()| ExitCode::from(2));
    }
    let cli = parsed(std::env::args_os()).unwrap_or_else(|error| refuse_call(&error));
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => report(&error),
    }
}

fn parsed(call: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    help::command().try_get_matches_from(call).and_then(|matches| Cli::from_arg_matches(&matches))
}

/// Says what is wrong with a call, or prints the help that it asks for. The words of the call may drive a terminal: with all
/// of them escaped, it is wrong in the same way.
fn refuse_call(error: &clap::Error) -> ! {
    let printable = |word: OsString| udeed::text::printable(&word.to_string_lossy()).into_owned().into();
    match parsed(std::env::args_os().map(printable)) {
        Err(escaped) if escaped.kind() == error.kind() => escaped.exit(),
        _ => error.exit(),
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
    cli.verb.run(&Progress::new(cli.common.quiet))
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
    if let Some(Hinted { message, hint }) = error.downcast_ref() {
        progress::say(format_args!("error: {message}"));
        progress::say(format_args!("hint: {hint}"));
        return ExitCode::from(1);
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
