//! The settings of all methods as options: one for each name that a card has, `--set` for the rest.

use std::collections::BTreeSet;
use std::path::Path;

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use udeed::data::{Labeled, Shares};
use udeed::ensemble::Shared;
use udeed::format::Reader;
use udeed::learner::Base;
use udeed::method::{Method, MethodCard, Udeed};
use udeed::model::Model;
use udeed::setting::{Kind as SettingKind, Setting};
use udeed_lab::Entry;

use crate::output::Usage;
use crate::progress::Progress;

/// Settings without an option made from the cards: the command has options of these names, which mean more or something else.
/// `--set` reaches all of them.
const OWN_OPTIONS: [&str; 3] = ["folds", "members", "memory"];
/// Settings that are common enough for `--help`; the others are in `--help-all`.
const COMMON: [&str; 5] = ["gamma", "lambda", "scaling", "base", "seed"];
/// Settings that a comparison has as methods and sizes.
const OF_COMPARISONS: [(&str, &str); 2] = [("members", "`--sizes`"), ("variant", "`--methods lc,lcd,lcud`")];

/// Settings of methods by their names, as they were given.
#[derive(Clone, Default)]
pub struct Settings {
    given: Vec<Given>,
}

#[derive(Clone)]
struct Given {
    /// As it was said: `--gamma` or `--set gamma`.
    option: String,
    /// Its path: `gamma`, `base.depth`, `auto.gamma`.
    path: String,
    value: String,
}

/// The name of an option.
fn kebab(setting: &str) -> String {
    setting.replace('_', "-")
}

/// The cards that have a setting.
fn owners(setting: &str) -> Vec<(&'static MethodCard, &'static Setting)> {
    Method::cards().iter().filter_map(|card| Some((card, card.setting(setting)?))).collect()
}

/// The names of all settings, in the order of the cards.
fn names() -> Vec<&'static str> {
    let mut seen = BTreeSet::new();
    let all = Method::cards().iter().flat_map(|card| card.settings.iter().map(|setting| setting.name));
    all.filter(|name| !OWN_OPTIONS.contains(name) && seen.insert(*name)).collect()
}

/// A default as a person writes it.
pub fn shown(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(word) => word.clone(),
        serde_json::Value::Array(items) if items.is_empty() => "none".to_owned(),
        serde_json::Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(","),
        serde_json::Value::Number(number) => number.as_f64().map_or(number.to_string(), |number| number.to_string()),
        serde_json::Value::Object(only) if only.len() == 1 => only.keys().cloned().collect(),
        serde_json::Value::Object(all) => {
            all.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// What the settings of several methods have, each with its methods; what most have first.
fn grouped<'a>(owners: &[(&'a MethodCard, &Setting)], of: impl Fn(&Setting) -> String) -> Vec<(String, Vec<&'a str>)> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (card, setting) in owners {
        let value = of(setting);
        match groups.iter_mut().find(|(known, _)| *known == value) {
            Some((_, methods)) => methods.push(card.name),
            None => groups.push((value, vec![card.name])),
        }
    }
    groups.sort_by_key(|(_, methods)| std::cmp::Reverse(methods.len()));
    groups
}

/// The defaults of a setting: one where all methods agree, else that of most, and the others with their methods.
fn defaults(owners: &[(&MethodCard, &Setting)]) -> String {
    let groups = grouped(owners, |setting| shown(&setting.default));
    let others = groups.iter().skip(1).map(|(default, of)| format!("; {}: {default}", of.join(", ")));
    groups.iter().take(1).map(|(default, _)| default.clone()).chain(others).collect()
}

/// The short help of a setting: how its first sentence begins, and the default of most methods.
fn short_help(owners: &[(&MethodCard, &Setting)]) -> String {
    let doc = grouped(owners, |setting| first_sentence(&setting.doc)).swap_remove(0).0;
    let default = grouped(owners, |setting| shown(&setting.default)).swap_remove(0).0;
    format!("{} [default: {default}]", doc.split(": ").next().unwrap_or(&doc))
}

/// The help of a setting: what it means, which methods have it, its default.
fn help(owners: &[(&MethodCard, &Setting)]) -> String {
    let methods: Vec<&str> = owners.iter().map(|(card, _)| card.name).collect();
    let mut doc = grouped(owners, |setting| setting.doc.trim_end_matches('.').to_owned()).swap_remove(0).0;
    let choosing: Vec<(&MethodCard, &Setting)> =
        owners.iter().filter(|(_, setting)| setting.kind == SettingKind::NumberOrAuto).copied().collect();
    if let [(_, setting), ..] = &choosing[..] {
        let names: Vec<&str> = choosing.iter().map(|(card, _)| card.name).collect();
        let auto = setting.doc.split_once("`auto`: ").map_or("", |(_, auto)| auto.trim_end_matches('.'));
        doc = format!("{doc}. `auto` ({}): {auto}", names.join(", "));
    }
    if matches!(owners[0].1.kind, SettingKind::Base | SettingKind::Bases) {
        doc = format!("{doc}: {}", Base::NAMES.join(", "));
    }
    let of = if methods.len() > 10 { String::new() } else { format!("{}: ", methods.join(", ")) };
    if matches!(owners[0].1.kind, SettingKind::Tree) {
        return format!("{of}{doc} [see `udeed methods {}`]", methods[0]);
    }
    format!("{of}{doc} [default: {}]", defaults(owners))
}

fn option(name: &'static str) -> Arg {
    let owners = owners(name);
    let option = Arg::new(name)
        .long(kebab(name))
        .help(short_help(&owners))
        .long_help(help(&owners))
        .help_heading("Settings of methods");
    let option = option.allow_hyphen_values(true).action(ArgAction::Set).hide_short_help(!COMMON.contains(&name));
    match &owners[0].1.kind {
        SettingKind::Flag => {
            let option = option.num_args(0..=1).require_equals(true).default_missing_value("true");
            option.value_name("true|false").value_parser(["true", "false"])
        }
        SettingKind::Word(words) => {
            let words: Vec<PossibleValue> = words
                .iter()
                .map(|[word, about]| PossibleValue::new(word.clone()).help(first_sentence(about)))
                .collect();
            option.value_name(kebab(name).to_uppercase()).value_parser(words)
        }
        SettingKind::SomeWords(_) => option.value_name("WORDS"),
        SettingKind::Whole => option.value_name("N"),
        SettingKind::Number => option.value_name("NUMBER"),
        SettingKind::NumberOrAuto => option.value_name("NUMBER|auto"),
        SettingKind::Base | SettingKind::Bases => option.value_name("BASE"),
        SettingKind::Columns => option.value_name("COLUMNS"),
        SettingKind::Prior => option.value_name("SHARES|labeled"),
        _ => option.value_name("VALUE"),
    }
}

fn first_sentence(text: &str) -> String {
    text.split(". ").next().unwrap_or(text).trim_end_matches('.').to_owned()
}

impl Args for Settings {
    fn augment_args(command: Command) -> Command {
        let command = names().into_iter().fold(command, |command, name| command.arg(option(name)));
        let set = "Any setting of a method, as `udeed methods NAME` lists them: `base.depth=3`";
        let long_set = "Any setting of a method by its name, as `udeed methods NAME` lists them: `confidence=0.9`, \
                        `base.depth=3`, `co-forest.confidence=0.6`";
        command.arg(
            Arg::new("set")
                .long("set")
                .value_name("NAME=VALUE")
                .help(set)
                .long_help(long_set)
                .help_heading("Settings of methods")
                .action(ArgAction::Append),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut given = Vec::new();
        for name in names() {
            if let Some(value) = matches.get_one::<String>(name) {
                given.push(Given { option: format!("--{}", kebab(name)), path: name.to_owned(), value: value.clone() });
            }
        }
        for text in matches.get_many::<String>("set").unwrap_or_default() {
            let Some((path, value)) = text.split_once('=').filter(|(path, _)| !path.trim().is_empty()) else {
                let message = format!("`--set {text}`: expected a name and a value, such as `confidence=0.9`");
                return Err(clap::Error::raw(clap::error::ErrorKind::ValueValidation, format!("{message}\n")));
            };
            let (path, value) = (path.trim().to_owned(), value.trim().to_owned());
            given.push(Given { option: format!("--set {path}"), path, value });
        }
        Ok(Settings { given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Given {
    /// The path within the settings of a method; none where it names another method.
    fn path_in(&self, method: &Method) -> Option<&str> {
        match self.path.split_once('.') {
            Some((name, rest)) if Method::NAMES.contains(&name) => (name == method.name()).then_some(rest),
            _ => Some(&self.path),
        }
    }

    /// Whether a method has the setting.
    fn is_of(&self, method: &Method) -> bool {
        self.path_in(method).is_some() && method.card().setting(self.name_in(method)).is_some()
    }

    /// Whether the value is in the range that a method has for the setting; each method has its own.
    fn fits(&self, method: &Method) -> bool {
        let setting = self.path_in(method).and_then(|path| method.card().setting(path));
        let (Some(range), Ok(value)) = (setting.and_then(|setting| setting.range), self.value.parse::<f64>()) else {
            return true;
        };
        let [(low, above), (high, below)] = range.bounds();
        let low = low.is_none_or(|low| if above { value > low } else { value >= low });
        low && high.is_none_or(|high| if below { value < high } else { value <= high })
    }

    /// The name of the setting, without what is set within it.
    fn name_in(&self, method: &Method) -> &str {
        let path = self.path_in(method).unwrap_or(&self.path);
        path.split('.').next().unwrap_or(path)
    }

    /// Lists the methods that have the setting, where those asked for do not.
    fn not_of(&self, whom: &str) -> Usage {
        let last = self.path.split('.').find(|part| !Method::NAMES.contains(part)).unwrap_or(&self.path);
        let having: Vec<String> = owners(last).iter().map(|(card, _)| format!("`{}`", card.name)).collect();
        Usage(match &having[..] {
            [] => {
                format!("`{}`: no method has a setting `{last}`; `udeed methods NAME` lists those of each", self.option)
            }
            [only] => format!("`{}`: {whom} no such setting; only {only} has it", self.option),
            having => format!("`{}`: {whom} no such setting; {} have it", self.option, having.join(", ")),
        })
    }
}

/// Whether an entry of a comparison runs a method; UDEED for a baseline.
fn is_run_by(entry: &Entry, method: &Method) -> bool {
    entry.card().map_or("udeed", |card| card.name) == method.name()
}

fn checked(method: Method) -> udeed::Result<Method> {
    method.validate().map(|()| method)
}

impl Settings {
    /// A setting that another option implies.
    pub fn with(mut self, option: &str, path: &str, value: impl ToString) -> Self {
        self.given.push(Given { option: option.to_owned(), path: path.to_owned(), value: value.to_string() });
        self
    }

    /// Whether a setting of a method was given, for all methods or for this one.
    pub fn has(&self, method: &str, name: &str) -> bool {
        self.given.iter().any(|given| given.path == name || given.path.split_once('.') == Some((method, name)))
    }

    /// A method with all that was given, which must be about it.
    pub fn method(&self, name: &str) -> anyhow::Result<Method> {
        let mut method = method_named(name)?;
        self.check_twice(|given| given.path_in(&method))?;
        for given in &self.given {
            match given.path_in(&method) {
                None => return Err(Usage(format!("`{}`: the method is `{name}`", given.option)).into()),
                Some(_) if !given.is_of(&method) => return Err(given.not_of(&format!("`{name}` has")).into()),
                Some(path) => method = method.with_setting(path, &given.value)?,
            }
        }
        Ok(method)
    }

    /// Refuses a setting that was given two values, by the path that it has.
    fn check_twice<'a>(&'a self, path: impl Fn(&'a Given) -> Option<&'a str>) -> Result<(), Usage> {
        for (k, given) in self.given.iter().enumerate() {
            let is_same = |other: &&'a Given| path(given).is_some() && path(given) == path(other);
            if let Some(first) = self.given[..k].iter().find(is_same)
                && first.value != given.value
            {
                let (option, other) = (&given.option, &first.option);
                let said = format!("`{option}` is {}, where `{other}` is {}", given.value, first.value);
                return Err(Usage(format!("{said}: expected one of them")));
            }
        }
        Ok(())
    }

    /// Warns of settings that do not change what a method learns.
    pub fn warn_of_idle(&self, method: &Method, progress: &Progress) {
        for given in &self.given {
            if let Some(why) = method.idle(given.name_in(method)) {
                progress.note(format_args!("warning: `{}` does not change the ensemble: {why}", given.option));
            }
        }
    }

    /// Refuses a setting that does not change what a method of a comparison learns, given the others.
    fn check_idle(&self, entries: &[Entry], methods: &[Method]) -> Result<(), Usage> {
        for given in &self.given {
            let mut reason = None;
            let mut is_of_use = false;
            for (entry, method) in entries.iter().flat_map(|entry| methods.iter().map(move |method| (entry, method))) {
                if !is_run_by(entry, method) || !given.is_of(method) || !entry.uses(given.name_in(method)) {
                    continue;
                }
                // A baseline may be a variant of UDEED, and then has its name.
                let variant = method.with_setting("variant", entry.name());
                match variant.as_ref().unwrap_or(method).idle(given.name_in(method)) {
                    Some(why) => reason = Some(why),
                    None => is_of_use = true,
                }
            }
            if let (Some(why), false) = (reason, is_of_use) {
                return Err(Usage(format!("`{}`: changes no method of this comparison: {why}", given.option)));
            }
        }
        Ok(())
    }

    /// UDEED and all other methods for a comparison, each with what was given about it. Each setting must be one of a method
    /// that takes part; a note names those that cannot have the value which others take.
    pub fn methods(&self, entries: &[Entry], progress: &Progress) -> anyhow::Result<(Udeed, Vec<Method>)> {
        let mut methods: Vec<Method> =
            Method::NAMES.iter().map(|name| Method::named(name)).collect::<udeed::Result<_>>()?;
        self.check_twice(|given| Some(&given.path))?;
        let takes_part = |method: &Method| entries.iter().any(|entry| is_run_by(entry, method));
        let uses =
            |method: &Method, name: &str| entries.iter().any(|entry| is_run_by(entry, method) && entry.uses(name));
        for given in &self.given {
            let last = given.path.rsplit('.').next().unwrap_or(&given.path);
            if let Some((_, instead)) = OF_COMPARISONS.iter().find(|(name, _)| *name == last) {
                return Err(Usage(format!("`{}`: in a comparison this is {instead}", given.option)).into());
            }
            let (mut taken, mut refused) = (false, Vec::new());
            // UDEED's settings are those of its members before the descent and of logistic regression, too.
            for method in methods.iter_mut().filter(|method| takes_part(method) || method.name() == "udeed") {
                let Some(path) = given.path_in(method).filter(|_| given.is_of(method)) else { continue };
                let changed = method.with_setting(path, &given.value);
                match changed.and_then(|changed| if given.fits(method) { Ok(changed) } else { checked(changed) }) {
                    Ok(changed) => {
                        taken |= uses(method, given.name_in(method));
                        *method = changed;
                    }
                    // What only some methods can do, such as to choose lambda or to have no neighbours, only these do.
                    Err(error) if takes_part(method) => refused.push((method.name(), error)),
                    Err(_) => {}
                }
            }
            match (taken, refused.is_empty()) {
                (true, _) => {
                    for (name, error) in refused {
                        progress.note(format_args!("note: {name} keeps its own: {error}"));
                    }
                }
                (false, false) => return Err(refused.swap_remove(0).1.into()),
                (false, true) => return Err(given.not_of("the methods of this comparison have").into()),
            }
        }
        self.check_idle(entries, &methods)?;
        match methods.remove(0) {
            Method::Udeed(settings) => Ok((settings, methods)),
            other => Err(Usage(format!("`{}` stands first in the list of methods", other.name())).into()),
        }
    }
}

/// The method of a name, with a random seed; none for `auto`, which is the usual one where labels are chosen or counted.
pub fn seeded_method(name: &str, seed: u64) -> anyhow::Result<Option<Method>> {
    if name == "auto" {
        return Ok(None);
    }
    let method = method_named(name)?;
    let shared = Shared { seed, ..method.shared() };
    Ok(Some(method.with_shared(shared)))
}

/// The method of a name. What only comparisons have a name for is a method with some settings.
pub fn method_named(name: &str) -> anyhow::Result<Method> {
    let Ok(entry) = Entry::named(name).map(Entry::as_method) else { return Ok(Method::named(name)?) };
    match entry {
        Some((method, [])) => Ok(Method::named(method)?),
        Some((method, settings)) => {
            let options = settings.iter().map(|(setting, value)| format!("--{} {value}", kebab(setting)));
            let options = options.collect::<Vec<_>>().join(" ");
            Err(Usage(format!("`{name}` is no method of its own, expected `{method}` with `{options}`")).into())
        }
        None => {
            Err(Usage(format!("`{name}` is no method of its own, only a baseline that `udeed compare` shows")).into())
        }
    }
}

/// The memory that a model file may take, of verbs that read no rows.
#[derive(Args)]
pub struct ModelMemory {
    /// Memory limit for the model file, such as 8G; 256M always pass [default: half of the machine's]
    #[arg(long = "memory", value_name = "SIZE", value_parser = parse_size, hide_short_help = true)]
    limit: Option<u64>,
}

impl ModelMemory {
    /// Reads a model with this limit.
    pub fn load(&self, path: &Path) -> udeed::Result<Model> {
        load_model(path, self.limit)
    }
}

fn load_model(path: &Path, limit: Option<u64>) -> udeed::Result<Model> {
    match limit {
        Some(bytes) => Model::load_within(path, bytes),
        None => Model::load(path),
    }
}

/// The memory that rows may take.
#[derive(Args, Clone)]
pub struct Memory {
    /// Memory limit for the rows of a file, a model file above 256M, and similarities of rows, such as 500M or 8G [default: half
    /// of the machine's]
    ///
    /// `fit` keeps more rows of `--unlabeled` in a temporary file beside the model and reads them again in every step.
    #[arg(long = "memory", value_name = "SIZE", value_parser = parse_size, hide_short_help = true)]
    pub limit: Option<u64>,
}

impl Memory {
    /// The settings with this limit, where a method that takes part has one.
    pub fn of(&self, settings: Settings, mut methods: impl Iterator<Item = &'static MethodCard>) -> Settings {
        match self.limit {
            Some(bytes) if methods.any(|card| card.setting("memory").is_some()) => {
                settings.with("--memory", "memory", bytes)
            }
            _ => settings,
        }
    }

    /// The reader with this limit.
    pub fn reader(&self, reader: Reader) -> Reader {
        match self.limit {
            Some(bytes) => reader.memory(bytes),
            None => reader,
        }
    }

    /// Reads a model with this limit.
    pub fn load(&self, path: &Path) -> udeed::Result<Model> {
        load_model(path, self.limit)
    }

    /// The limit in bytes.
    pub fn most(&self) -> u64 {
        self.limit.unwrap_or_else(udeed::memory::half_of_memory)
    }
}

/// A number of bytes, with K, M, G or T for powers of 1024.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let expected = || "expected a size such as 500M or 8G".to_owned();
    let (number, power) = match text.char_indices().next_back() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => {
            let power = "KMGT".find(unit.to_ascii_uppercase()).ok_or_else(expected)? + 1;
            (&text[..at], power as u32)
        }
        _ => (text, 0),
    };
    let number: u64 = number.parse().map_err(|_| expected())?;
    number.checked_mul(1024u64.pow(power)).filter(|&bytes| bytes > 0).ok_or_else(expected)
}

/// How rows are dealt out for an experiment.
#[derive(Args, Clone, Copy)]
pub struct SharesArgs {
    /// Labeled training rows: a share such as 0.25, or a number such as 10
    #[arg(long, value_name = "SHARE|N", default_value = "0.25", allow_hyphen_values = true)]
    pub labeled: Labeled,
    /// Share of all rows kept for testing
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, allow_hyphen_values = true)]
    pub test: f64,
}

impl From<&SharesArgs> for Shares {
    fn from(shares: &SharesArgs) -> Self {
        Shares { test: shares.test, labeled: shares.labeled }
    }
}

/// An enum of the library as the words of an option.
macro_rules! words {
    ($name:ident, $target:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        #[derive(clap::ValueEnum, Clone, Copy)]
        pub enum $name {
            $(#[value(name = $word)] $variant),+
        }

        impl From<$name> for $target {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => $target::$variant),+
                }
            }
        }
    };
}

pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::{Settings, parse_size};
    use clap::{Args, Command};

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("1"), Ok(1));
        assert_eq!(parse_size("2k"), Ok(2048));
        assert_eq!(parse_size("8G"), Ok(8 << 30));
        for bad in ["", "0", "G", "-1", "1.5G", "9999999999999T", "8GB", "é"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_setting_of_every_method_is_an_option() {
        let command = Settings::augment_args(Command::new("fit"));
        let options: Vec<&str> = command.get_arguments().filter_map(|option| option.get_long()).collect();
        for card in udeed::method::Method::cards() {
            for setting in card.settings.iter().filter(|setting| !super::OWN_OPTIONS.contains(&setting.name)) {
                assert!(options.contains(&super::kebab(setting.name).as_str()), "{}: {}", card.name, setting.name);
            }
        }
    }
}
