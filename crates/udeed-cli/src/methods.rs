//! `udeed methods`: what there is to fit and compare, and the settings of each.

use std::io::Write;

use clap::Args;
use serde_json::Value;
use udeed::learner::{Base, LearnerCard};
use udeed::method::MethodCard;
use udeed::method::card::Cards;
use udeed::setting::{Kind as SettingKind, Setting};
use udeed_lab::Entry;

use crate::output::{print, print_json, write_wrapped};
use crate::progress::Progress;
use crate::settings::{method_named, shown};

/// List the methods, or the settings of one
#[derive(Args)]
#[command(after_help = "Example:\n  udeed methods co-forest")]
pub struct Methods {
    /// Method whose settings are listed
    method: Option<String>,
    /// Print the cards of the methods and base learners as JSON: all that is known of each
    #[arg(long)]
    json: bool,
}

impl Methods {
    pub fn run(&self, _progress: &Progress) -> anyhow::Result<()> {
        match &self.method {
            None if self.json => print_json(&Cards::all()),
            Some(name) if self.json => print_json(method_named(name)?.card()),
            None => print(|out| list(out)),
            Some(name) => {
                let method = method_named(name)?;
                print(|out| describe(method.card(), out))
            }
        }
    }
}

fn list(out: &mut dyn Write) -> std::io::Result<()> {
    for entry in Entry::all() {
        write_wrapped(out, entry.name(), 18, &entry.sentence())?;
    }
    writeln!(out)?;
    let others = Entry::all().iter().filter(|entry| !matches!(entry, Entry::Method(_)));
    let others: Vec<&str> = others.map(|entry| entry.name()).collect();
    let text = format!(
        "`udeed compare --methods` takes all of these; `udeed fit --method` takes udeed and all but {}. lc, lcd and lcud \
         are variants of udeed (`--variant`).",
        others.join(", ")
    );
    write_wrapped(out, "", 0, &text)
}

/// The settings of a base learner as `--set` names them within a setting of a method.
fn describe_within(
    learner: &LearnerCard,
    of: &Setting,
    defaults: Option<&Value>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    for setting in &learner.settings {
        let default = defaults.map_or(&setting.default, |defaults| &defaults[setting.name]);
        let name = format!("        {}.{} = {}: ", of.name, setting.name, shown(default));
        write_wrapped(out, &name, 12, &setting.doc)?;
    }
    Ok(())
}

fn describe(card: &MethodCard, out: &mut dyn Write) -> std::io::Result<()> {
    write_wrapped(out, "", 0, &format!("{} {}", card.sentence, card.details))?;
    if !card.paper.is_empty() {
        write_wrapped(out, "", 0, card.paper)?;
    }
    writeln!(out)?;
    for setting in &card.settings {
        write_wrapped(out, &format!("{} = ", setting.name), 4, &shown(&setting.default))?;
        write_wrapped(out, "", 4, &setting.doc)?;
        match &setting.kind {
            SettingKind::Word(words) | SettingKind::SomeWords(words) => {
                for [word, about] in words {
                    write_wrapped(out, &format!("    {word}: "), 8, about)?;
                }
            }
            SettingKind::Base | SettingKind::Bases => {
                for learner in Base::cards() {
                    write_wrapped(out, &format!("    {}: ", learner.name), 8, &format!("{}.", learner.about))?;
                    // Of several learners none has a name of its own.
                    if setting.kind == SettingKind::Base {
                        describe_within(learner, setting, None, out)?;
                    }
                }
            }
            SettingKind::Tree => {
                let trees = Base::cards().iter().filter(|learner| learner.name == "tree");
                for learner in trees {
                    describe_within(learner, setting, Some(&setting.default), out)?;
                }
            }
            _ => {}
        }
        if let Some(range) = setting.range.filter(|range| range.to_string() != "at least 0") {
            writeln!(out, "    ({range})")?;
        }
    }
    Ok(())
}
