//! `udeed completions`: what a shell needs to complete calls of the command.

use clap::Args;
use clap_complete::Shell;

use crate::output::write_to;
use crate::progress::Progress;

/// Print completions for a shell
#[derive(Args)]
#[command(after_help = "\
Examples:
  udeed completions bash > ~/.local/share/bash-completion/completions/udeed
  udeed completions zsh > ~/.zfunc/_udeed
  udeed completions fish > ~/.config/fish/completions/udeed.fish
  udeed completions powershell >> $PROFILE")]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub fn run(&self, _progress: &Progress) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::help::command(), "udeed", &mut script);
        write_to(None, |out| Ok(out.write_all(&script)?)).map(drop)
    }
}
