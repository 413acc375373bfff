//! Settings by name and text, for programs in which a person types them.

use serde_json::{Map, Value};

use crate::error::{Error, Result};
use crate::method::Method;
use crate::setting::Kind;
use crate::text::{listed, quoted};

impl Method {
    /// The same method with one setting changed. `path` is the name of the setting, prefixed with `base.` for one of the base
    /// learner. `value` is JSON; words may omit the quotation marks, lists the brackets. [`Method::validate`] checks the
    /// range.
    ///
    /// # Errors
    /// If there is no such setting, or the value is of the wrong kind.
    ///
    /// ```
    /// use udeed::prelude::*;
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
        let kind = self.card().setting(path).map(|setting| &setting.kind);
        *place = match (parsed(value, kind, &before), kind, &before) {
            // What is not given stays: the defaults of a method are not those of trees elsewhere.
            (Value::Object(given), Some(Kind::Tree), Value::Object(all)) => {
                all.clone().into_iter().chain(given).collect()
            }
            (parsed, ..) => parsed,
        };
        serde_json::from_value(all).map_err(|error| refused(quoted(value), expected(kind, &before, &error)))
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), quoted)
}

/// Parses a value: JSON; words may omit the quotation marks, lists the brackets.
fn parsed(text: &str, kind: Option<&Kind>, before: &Value) -> Value {
    let word = |text: &str| match (serde_json::from_str(text), kind) {
        // A column may have a number for a name.
        (Ok(value @ Value::String(_)), _) => value,
        (Ok(value), kind) if kind != Some(&Kind::Columns) => value,
        (_, Some(Kind::Prior)) => number(text).unwrap_or_else(|| text.into()),
        _ => text.into(),
    };
    let list = || Value::Array(text.split(',').map(|item| word(item.trim())).collect());
    match (serde_json::from_str(text), kind, before) {
        (Ok(value @ (Value::Array(_) | Value::Object(_))), ..) => value,
        (_, Some(Kind::Prior), _) if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
            serde_json::json!({ "shares": list() })
        }
        (_, _, Value::Array(_)) => list(),
        (Ok(value), ..) => value,
        (Err(_), Some(Kind::NumberOrAuto), _) | (Err(_), _, Value::Number(_)) => number(text).unwrap_or(text.into()),
        (Err(_), ..) => text.into(),
    }
}

/// A number as people write it and JSON does not allow: `.5`, `5.`, `+5`.
fn number(text: &str) -> Option<Value> {
    let whole = text.parse::<u64>().ok().map(Value::from);
    // None of infinity and of what is no number.
    whole.or_else(|| text.parse::<f64>().ok().and_then(|number| serde_json::Number::from_f64(number).map(Value::from)))
}

/// The expectation that an error names for a refused value.
fn expected(kind: Option<&Kind>, before: &Value, error: &serde_json::Error) -> String {
    match (kind, before) {
        (Some(Kind::NumberOrAuto), _) => "a number or `auto`".into(),
        (Some(Kind::Tree), _) => "settings of trees, such as {\"depth\":3}".into(),
        (Some(Kind::Columns), _) => "names of columns, separated by commas".into(),
        (Some(Kind::Prior), _) => "`labeled`, or the share of each class such as 0.7,0.3".into(),
        (_, Value::Number(number)) if number.is_f64() => "a number".into(),
        (_, Value::Number(_)) => "a whole number from 0 on".into(),
        (_, Value::Bool(_)) => "true or false".into(),
        (_, Value::Null) => "a whole number, or null for no limit".into(),
        // The message of serde lists the allowed words.
        _ => {
            let message = error.to_string();
            message.split_once("expected ").map_or(message.clone(), |(_, expected)| expected.to_owned())
        }
    }
}

/// The object that holds the settings; those of a base learner are nested in its name.
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
