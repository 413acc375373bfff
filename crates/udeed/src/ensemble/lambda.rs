//! Inverse regularisation strength of logistic regression, given or chosen.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Inverse regularisation strength: a number, or chosen by out-of-bag rows.
///
/// ```
/// use udeed::prelude::*;
///
/// assert_eq!(Bagging::new().lambda(10.0).lambda, Lambda::Fixed(10.0));
/// assert_eq!(serde_json::to_string(&Lambda::Auto).unwrap(), "\"auto\"");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Lambda {
    /// This number.
    Fixed(f64),
    /// Chosen by the likelihood of out-of-bag rows.
    Auto,
}

impl Lambda {
    /// The number; 1 until one is chosen.
    pub(crate) fn value(self) -> f64 {
        match self {
            Lambda::Fixed(lambda) => lambda,
            Lambda::Auto => 1.0,
        }
    }
}

impl From<f64> for Lambda {
    fn from(lambda: f64) -> Self {
        Lambda::Fixed(lambda)
    }
}

/// A number, or the word `auto`.
impl Serialize for Lambda {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Lambda::Fixed(lambda) => to.serialize_f64(*lambda),
            Lambda::Auto => to.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Lambda {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let lambda = match Value::deserialize(from)? {
            Value::String(word) if word == "auto" => Some(Lambda::Auto),
            Value::Number(number) => number.as_f64().map(Lambda::Fixed),
            _ => None,
        };
        lambda.ok_or_else(|| D::Error::custom("expected a number or `auto`"))
    }
}
