//! `udeed man`: the manual pages.

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, Command};
use udeed::text::counted;

use crate::output::Written;
use crate::progress::Progress;

/// Write the manual pages
#[derive(Args)]
#[command(after_help = "\
Examples:
  udeed man ~/.local/share/man/man1
  man udeed-fit")]
pub struct Man {
    /// Folder for the pages, one a verb: `udeed.1`, `udeed-fit.1` and so on
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    pub fn run(&self, progress: &Progress) -> anyhow::Result<()> {
        std::fs::create_dir_all(&self.folder).with_context(|| format!("{}: cannot make", self.folder.display()))?;
        let mut command = whole(crate::help::command());
        command.build();
        let pages = write_pages(&command, "udeed", &self.folder)?;
        Written::to(&self.folder).tell_of(&counted(pages, "page"), progress);
        Ok(())
    }
}

/// The command with no option hidden: pages leave out what is said of those that are.
fn whole(command: Command) -> Command {
    command.mut_args(|option| option.hide_short_help(false)).mut_subcommands(whole)
}

/// Writes the page of a command and those of its verbs; how many they are.
fn write_pages(command: &Command, name: &str, folder: &Path) -> anyhow::Result<usize> {
    let mut pages = 1;
    for verb in command.get_subcommands() {
        pages += write_pages(verb, &format!("{name}-{}", verb.get_name()), folder)?;
    }
    let page = clap_mangen::Man::new(command.clone()).title(name.to_uppercase()).manual("udeed");
    udeed::file::write_file(&folder.join(format!("{name}.1")), |out| page.render(out))?;
    Ok(pages)
}
