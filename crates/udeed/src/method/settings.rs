//! Settings by their names, for programs in which a person says them.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::method::Method;
use crate::text::{listed, quoted};

impl Method {
    /// The same method with one setting changed. `path` is its name, `base.` before it for a setting of the base learner;
    /// `value` is written as in JSON, words also without quotation marks. It is not checked further: [`Method::validate`]
    /// does that.
    ///
    /// # Errors
    /// If there is no such setting, or it cannot have that value.
    ///
    /// ```
    /// use udeed::Method;
    ///
    /// let method = Method::named("adaboost")?.with_setting("base", "tree")?.with_setting("base.depth", "2")?;
    /// assert!(method.with_setting("depth", "2").unwrap_err().to_string().contains("`emphasis`"));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn with_setting(&self, path: &str, value: &str) -> Result<Method> {
        let refused = |found: String, expected: String| Error::setting(path.to_owned(), found, expected);
        let unknown = |settings: &Map<String, Value>| {
            let known = settings.keys().filter(|name| *name != "method");
            refused(format!("no setting of `{}`", self.name()), format!("one of {}", listed(known)))
        };
        let mut all = serde_json::to_value(self).map_err(|error| refused(quoted(value), error.to_string()))?;
        let mut place = &mut all;
        for name in path.split('.') {
            place = settings_at(place);
            let Value::Object(settings) = place else {
                let found = format!("no setting of {}", shown(place));
                return Err(refused(found, "a base learner that has it, such as `tree` or `neighbors`".into()));
            };
            if name == "method" || !settings.contains_key(name) {
                return Err(unknown(settings));
            }
            place = &mut settings[name];
        }
        let before = place.clone();
        let word = || Value::String(value.to_owned());
        *place = match (serde_json::from_str(value), &before) {
            (Ok(value), _) => value,
            // A single word is a list of one.
            (Err(_), Value::Array(_)) => Value::Array(vec![word()]),
            (Err(_), _) => word(),
        };
        serde_json::from_value(all).map_err(|error| refused(quoted(value), like(&before, &error)))
    }

    /// The name of every setting, what it means, and its value as JSON.
    ///
    /// ```
    /// use udeed::Method;
    ///
    /// let settings = Method::named("tri-training")?.settings();
    /// assert!(settings.iter().any(|(name, about, value)| *name == "lambda" && about.contains("labels") && value == "1.0"));
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn settings(&self) -> Vec<(&'static str, String, String)> {
        let values = serde_json::to_value(self).unwrap_or_default();
        let about = |(name, about): &(&'static str, &'static str)| {
            let value = values.get(*name).map_or(String::new(), Value::to_string);
            (*name, about.trim().to_owned(), value)
        };
        self.about().iter().map(about).collect()
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), quoted)
}

/// What may stand where a value stands.
fn like(value: &Value, error: &serde_json::Error) -> String {
    match value {
        Value::Number(number) if number.is_f64() => "a number".into(),
        Value::Number(_) => "a whole number from 0 on".into(),
        Value::Bool(_) => "true or false".into(),
        Value::Array(_) => "a list such as [\"a\",\"b\"]".into(),
        Value::Null => "a whole number, or null for no limit".into(),
        // It lists the words there are.
        _ => {
            let told = error.to_string();
            told.split_once("expected ").map_or(told.clone(), |(_, expected)| expected.to_owned())
        }
    }
}

/// Where the settings stand: of a base learner within its name.
fn settings_at(value: &mut Value) -> &mut Value {
    let within = match value {
        Value::Object(only) if only.len() == 1 && only.values().all(Value::is_object) => only.keys().next().cloned(),
        _ => None,
    };
    match within {
        Some(name) => &mut value[name],
        None => value,
    }
}
