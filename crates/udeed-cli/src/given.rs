//! Settings that are given by their names: `--base` and `--set`.

use clap::Args;
use udeed::Method;

use crate::output::Usage;

#[derive(Args, Clone)]
#[command(next_help_heading = "Any method")]
pub struct Given {
    /// Base learner of methods that can have any: logistic, tree, neighbors or bayes [default: logistic]
    #[arg(long, value_name = "NAME")]
    base: Option<String>,
    /// Any setting of a method, as `udeed methods NAME` lists them: `threshold=0.9`, `base.depth=3`, `co-forest.threshold=0.6`
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_setting)]
    set: Vec<(String, String)>,
}

/// A setting and its value.
fn parse_setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.trim().to_owned(), value.trim().to_owned())),
        _ => Err("expected a name and a value, such as `threshold=0.9`".to_owned()),
    }
}

/// Settings that have other options in a comparison.
const OPTIONS: [(&str, &str); 5] = [
    ("members", "--sizes"),
    ("lambda", "--lambda"),
    ("scaling", "--scaling"),
    ("fourier", "--fourier"),
    ("seed", "--seed"),
];

impl Given {
    fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        let base = self.base.iter().map(|base| ("base", base.as_str()));
        base.chain(self.set.iter().map(|(path, value)| (path.as_str(), value.as_str())))
    }

    /// A method with all that was said, which must be about it.
    pub fn of_one(&self, mut method: Method) -> anyhow::Result<Method> {
        for (path, value) in self.settings() {
            method = match apply(&method, path, value) {
                None => return Err(Usage(format!("`--set {path}`: the method is `{}`", method.name())).into()),
                Some(changed) => changed?,
            };
        }
        Ok(method)
    }

    /// Methods with all that was said about them. Each setting must be one of a method that takes part.
    pub fn of_some(&self, methods: Vec<Method>, takes_part: impl Fn(&Method) -> bool) -> anyhow::Result<Vec<Method>> {
        let mut methods = methods;
        for (path, value) in self.settings() {
            let last = path.rsplit('.').next().unwrap_or(path);
            if let Some((_, option)) = OPTIONS.iter().find(|(name, _)| *name == last) {
                return Err(
                    Usage(format!("`--set {path}`: in a comparison this is `{option}`, the same for all")).into()
                );
            }
            let (mut taken, mut refused) = (false, None);
            for method in &mut methods {
                match apply(method, path, value) {
                    Some(Ok(changed)) => {
                        taken |= takes_part(method);
                        *method = changed;
                    }
                    Some(Err(error)) if takes_part(method) => drop(refused.get_or_insert(error)),
                    _ => {}
                }
            }
            match (taken, refused) {
                (true, _) => {}
                (false, Some(error)) => return Err(error.into()),
                (false, None) => {
                    return Err(Usage(format!("`{path}` is `{value}`, but no method that takes part has it")).into());
                }
            }
        }
        Ok(methods)
    }
}

/// The method with one setting changed; none where the path names another method.
fn apply(method: &Method, path: &str, value: &str) -> Option<udeed::Result<Method>> {
    let own = match path.split_once('.') {
        Some((name, rest)) if Method::NAMES.contains(&name) => (name == method.name()).then_some(rest)?,
        _ => path,
    };
    Some(method.with_setting(own, value))
}
