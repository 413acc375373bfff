//! Help: `--help` shows the common options of a verb on one screen, `--help-all` all of them. An option that is not common says so
//! where it is declared (`hide_short_help`).

use std::io::Write;

use clap::{Arg, Args, Command, CommandFactory};
use udeed::text::counted;

use crate::Cli;
use crate::output::{Usage, print};
use crate::progress::Progress;

/// The command with all that help says of it.
pub fn command() -> Command {
    with_counts(Cli::command(), "udeed", 0)
}

/// Tells below the help of each verb how many options it leaves out; some are those of all verbs.
fn with_counts(command: Command, name: &str, of_all: usize) -> Command {
    let hidden = of_all + command.get_arguments().filter(|option| option.is_hide_short_help_set()).count();
    let global = |option: &&Arg| option.is_global_set() && option.is_hide_short_help_set();
    let of_all = of_all + command.get_arguments().filter(global).count();
    let command = command.mut_subcommands(|verb| {
        let name = format!("{name} {}", verb.get_name());
        with_counts(verb, &name, of_all)
    });
    let after = command.get_after_help().map_or(String::new(), |after| format!("{after}\n\n"));
    let count = format!("{after}{}: {name} --help-all", counted(hidden, "more option"));
    let long = command.get_after_long_help().map_or_else(|| after.trim_end().to_owned(), ToString::to_string);
    command.after_long_help(long).after_help(count)
}

/// What a call without any argument prints.
pub fn print_first_steps() -> anyhow::Result<()> {
    let out = &mut std::io::stderr().lock();
    Ok(out.write_all(FIRST_STEPS.as_bytes())?)
}

const FIRST_STEPS: &str = "\
Ensembles that are accurate on labeled rows and diverse on unlabeled ones

Three things to try:
  udeed compare
      what unlabeled rows bring on a built-in set, over 50 random splits
  udeed data split ionosphere train.csv test.csv
      files to try the other verbs on; most rows of train.csv have no label
  udeed fit train.csv --label class --method auto --out model.safetensors
      a model, and how it fares; then `udeed predict model.safetensors test.csv`

`udeed --help` lists all verbs, `udeed VERB --help` the options of one.
";

/// Print the help of a verb
#[derive(Args)]
#[command(after_help = "Example:\n  udeed help data split")]
pub struct Help {
    /// The verb, such as `fit` or `data split`
    verb: Vec<String>,
}

impl Help {
    pub fn run(&self, _progress: &Progress) -> anyhow::Result<()> {
        let mut command = command();
        command.build();
        let mut found = &mut command;
        for word in &self.verb {
            found = found
                .find_subcommand_mut(word)
                .ok_or_else(|| Usage(format!("`{word}`: no such verb; `udeed --help` lists all")))?;
        }
        let help = found.render_help();
        print(|out| write!(out, "{help}"))
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;

    /// Whatever a terminal shows without scrolling.
    const SCREEN: (usize, usize) = (80, 50);

    fn check(command: &Command, name: &str, checked: &mut usize) {
        // Independent of the terminal that runs the test.
        let help = command.clone().term_width(SCREEN.0).render_help().to_string();
        let (width, height) = (help.lines().map(|line| line.chars().count()).max(), help.lines().count());
        assert!(width <= Some(SCREEN.0) && height <= SCREEN.1, "{name}: {width:?} x {height}\n{help}");
        *checked += 1;
        for verb in command.get_subcommands() {
            check(verb, &format!("{name} {}", verb.get_name()), checked);
        }
    }

    #[test]
    fn the_help_of_every_verb_fits_on_a_screen() {
        let mut command = super::command();
        command.build();
        let mut checked = 0;
        check(&command, "udeed", &mut checked);
        assert!(checked > 20, "only {checked} verbs");
        let fit = command.find_subcommand("fit").unwrap();
        let (few, all) = (fit.clone().render_help().to_string(), fit.clone().render_long_help().to_string());
        for (option, is_common) in [("--gamma", true), ("--smoothness", false), ("--longest-line", false)] {
            assert_eq!((few.contains(option), all.contains(option)), (is_common, true), "{option}");
        }
        assert!(few.contains("more options: udeed fit --help-all") && !all.contains("more options"));
        let widest = super::FIRST_STEPS.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(SCREEN.0), "{widest:?}");
    }
}
