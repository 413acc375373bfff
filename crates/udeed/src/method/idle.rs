//! Settings that change nothing, given the others.

use serde_json::Value;

use crate::learner::Base;
use crate::method::Method;
use crate::method::udeed::{Initial, Udeed, Variant};

impl Method {
    /// Why a setting does not change the ensemble, given the others; none where it may.
    ///
    /// ```
    /// use udeed::prelude::*;
    ///
    /// let lc = Method::named("udeed")?.with_setting("variant", "lc")?;
    /// assert_eq!(lc.idle("gamma"), Some("the variant `lc` has no diversity"));
    /// assert_eq!(lc.idle("rate"), None);
    /// # Ok::<(), udeed::Error>(())
    /// ```
    pub fn idle(&self, setting: &str) -> Option<&'static str> {
        match self {
            Method::Udeed(udeed) => udeed.idle(setting),
            _ if setting == "lambda" && self.base_name().is_some_and(|base| base != Base::Logistic.name()) => {
                Some("only logistic regression is regularised")
            }
            _ => None,
        }
    }

    /// The settings that differ from their defaults and do not change the ensemble, each with the reason.
    pub fn idle_settings(&self) -> Vec<(&'static str, &'static str)> {
        let given = serde_json::to_value(self).unwrap_or_default();
        let changed = self.card().settings.iter().filter(|setting| given[setting.name] != setting.default);
        changed.filter_map(|setting| Some((setting.name, self.idle(setting.name)?))).collect()
    }

    /// The name of its base learner, if it has one.
    fn base_name(&self) -> Option<String> {
        match serde_json::to_value(self).ok()?.get("base")? {
            Value::String(name) => Some(name.clone()),
            Value::Object(settings) => settings.keys().next().cloned(),
            _ => None,
        }
    }
}

impl Udeed {
    fn idle(&self, setting: &str) -> Option<&'static str> {
        let is_random = self.initial == Initial::Random;
        match setting {
            "lambda" if is_random => Some("members that begin at random are not regularised"),
            // Members that begin at random are trained on the loss before the descent.
            "loss" | "precision" if self.steps == 0 && !is_random => Some("there is no descent with 0 steps"),
            "variant" | "gamma" | "rate" | "scale_rate" if self.steps == 0 => Some("there is no descent with 0 steps"),
            "gamma" if self.variant == Variant::Lc => Some("the variant `lc` has no diversity"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::built_in;

    type Given = (&'static str, &'static str);

    /// The decisions of a model that a method with some settings learns.
    fn decisions(name: &str, settings: &[Given]) -> (Method, Vec<f64>) {
        let train = built_in("labor").unwrap().read().unwrap().into_train().unwrap().hide_labels(&[3, 4, 20, 21, 22]);
        let with = |method: Method, (path, value): &Given| method.with_setting(path, value).unwrap();
        let method = settings.iter().fold(Method::named(name).unwrap(), with);
        let model = method.fit(&train).unwrap();
        (method, model.decision(train.table()).unwrap().values().to_vec())
    }

    #[test]
    fn what_is_idle_changes_no_bit() {
        let trees =
            Method::cards().iter().filter(|card| card.setting("base").is_some() && card.setting("lambda").is_some());
        let mut cases: Vec<(&str, Vec<Given>, Given)> =
            trees.map(|card| (card.name, vec![("base", "tree")], ("lambda", "7"))).collect();
        cases.push(("bagging", vec![("base", "bayes")], ("lambda", "7")));
        cases.push(("udeed", vec![("variant", "lc")], ("gamma", "3")));
        cases.push(("udeed", vec![("initial", "random")], ("lambda", "3")));
        for other in [("gamma", "3"), ("rate", "0.9"), ("scale_rate", "true"), ("variant", "lcd"), ("loss", "hinge")] {
            cases.push(("udeed", vec![("steps", "0"), ("members", "5")], other));
        }
        cases.push(("udeed", vec![("steps", "0"), ("members", "5")], ("precision", "single")));
        for (name, settings, idle) in cases {
            let (method, before) = decisions(name, &settings);
            assert!(method.idle(idle.0).is_some(), "{name} {settings:?} {idle:?}");
            let (changed, after) = decisions(name, &[&settings[..], &[idle]].concat());
            assert_eq!(before, after, "{name} {settings:?} {idle:?}");
            assert!(changed.idle_settings().iter().any(|(setting, _)| *setting == idle.0), "{name} {idle:?}");
        }
    }

    #[test]
    fn the_defaults_are_all_of_use() {
        for card in Method::cards() {
            let method = Method::named(card.name).unwrap();
            let idle: Vec<&str> =
                card.settings.iter().map(|s| s.name).filter(|name| method.idle(name).is_some()).collect();
            assert!(idle.is_empty() && method.idle_settings().is_empty(), "{}: {idle:?}", card.name);
        }
        let random = decisions("udeed", &[("initial", "random"), ("steps", "0"), ("members", "4")]);
        let hinge = decisions("udeed", &[("initial", "random"), ("steps", "0"), ("members", "4"), ("loss", "hinge")]);
        assert!(random.0.idle("loss").is_none() && random.1 != hinge.1);
    }
}
