//! The base learner as a setting of a method.

use std::any::Any;
use std::sync::{Arc, LazyLock};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::error::{Error, Result};
// All learners of the list.
use crate::learner::*;
use crate::observer::Watch;
use crate::text::{listed, quoted};

/// A base learner that methods can be set to: its file gives its name, what it is and, with `learner_settings!`, its settings.
pub(crate) trait BaseLearner: Learner + Clone + Default + 'static {
    /// The name in settings.
    const NAME: &'static str;
    /// Description in one sentence.
    const ABOUT: &'static str;

    /// The learner that a method uses. `lambda` is the method's inverse regularisation strength; a learner that takes long
    /// asks `watch` whether to go on.
    fn learner<'a>(&self, _lambda: f64, _watch: &'a Watch<'_>) -> Box<dyn Learner + 'a> {
        Box::new(self.clone())
    }
}

/// Makes [`Base`] of the list.
macro_rules! bases {
    (@bind $settings:ident $of:ident) => { $of };
    (@none $plain:ident) => { Vec::new() };
    (
        bases { $($base:ident $(($settings:ident))? $(= $plain:ident)? => $learned:ident;)+ }
        others { $($other:ident;)* }
    ) => {
        /// The base learner that makes the members, with its settings.
        ///
        /// ```
        /// use udeed::format::built_in;
        /// use udeed::learner::{Base, TreeSettings};
        /// use udeed::method::Bagging;
        ///
        /// let shallow = Base::Tree(TreeSettings { depth: Some(3), ..TreeSettings::default() });
        /// let train = built_in("diabetes")?.read()?.into_train()?;
        /// let model = Bagging::new().base(shallow).fit(&train)?;
        /// assert!(model.evaluate(train.table(), train.labels())?.accuracy > 0.75);
        /// assert_eq!(Base::named("bayes")?, Base::Bayes);
        /// # Ok::<(), udeed::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum Base {
            $(
                #[doc = concat!("`", $(stringify!($settings),)? $(stringify!($plain),)? "`, see [`Base::cards`].")]
                $base $(($settings))?,
            )+
            /// A learner from outside the library, see [`Base::foreign`].
            Foreign(ForeignLearner),
        }

        impl Base {
            /// The names of all base learners.
            pub const NAMES: &'static [&'static str] =
                &[$($(<$settings as BaseLearner>::NAME)? $(<$plain as BaseLearner>::NAME)?),+];

            /// A learner of your own, or of another library, by a name for messages. Its models are not saved.
            pub fn foreign(name: impl Into<String>, learner: impl Learner + 'static) -> Self {
                Base::Foreign(ForeignLearner::new(name, Arc::new(learner)))
            }

            /// One of each of the library, with their defaults. The first is the default.
            pub fn all() -> Vec<Self> {
                vec![$(Base::$base $((<$settings>::default()))?),+]
            }

            /// Name, sentence and settings of each.
            ///
            /// ```
            /// let tree = udeed::learner::Base::cards().iter().find(|card| card.name == "tree").unwrap();
            /// let leaf = tree.settings.iter().find(|setting| setting.name == "leaf").unwrap();
            /// assert_eq!((leaf.default.as_u64(), leaf.range.unwrap().to_string().as_str()), (Some(1), "at least 1"));
            /// ```
            pub fn cards() -> &'static [LearnerCard] {
                static CARDS: LazyLock<Vec<LearnerCard>> = LazyLock::new(|| {
                    vec![$(LearnerCard {
                        name: $(<$settings as BaseLearner>::NAME)? $(<$plain as BaseLearner>::NAME)?,
                        about: $(<$settings as BaseLearner>::ABOUT)? $(<$plain as BaseLearner>::ABOUT)?,
                        settings: $(<$settings>::declared())? $(bases!(@none $plain))?,
                    }),+]
                });
                &CARDS
            }

            /// The name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Base::$base { .. } => $(<$settings as BaseLearner>::NAME)? $(<$plain as BaseLearner>::NAME)?,)+
                    Base::Foreign(_) => ForeignLearner::KIND,
                }
            }

            /// The base learner of a name, with its defaults.
            ///
            /// # Errors
            /// If there is none of that name; the message lists those there are.
            pub fn named(name: &str) -> Result<Self> {
                Self::all()
                    .into_iter()
                    .find(|base| base.name() == name)
                    .ok_or_else(|| Error::setting("base", quoted(name), format!("one of {}", listed(Self::NAMES))))
            }

            /// The base learners that a setting of a method holds.
            pub(crate) fn all_in(setting: &mut dyn Any) -> &mut [Base] {
                if setting.is::<Base>() {
                    return setting.downcast_mut().map(std::slice::from_mut).unwrap_or_default();
                }
                setting.downcast_mut::<Vec<Base>>().map(Vec::as_mut_slice).unwrap_or_default()
            }

            /// Checks its settings.
            ///
            /// # Errors
            /// If one is out of its range.
            pub fn validate(&self) -> Result<()> {
                match self {
                    $($(Base::$base(settings) => <$settings>::validate(settings),)?)+
                    #[allow(unreachable_patterns, reason = "all learners may have settings")]
                    _ => Ok(()),
                }
            }

            /// The learner. `lambda` is the inverse regularisation strength of the method.
            pub(crate) fn learner<'a>(&self, lambda: f64, watch: &'a Watch<'_>) -> Box<dyn Learner + 'a> {
                match self {
                    $(Base::$base $((bases!(@bind $settings settings)))? => {
                        $(BaseLearner::learner(settings as &$settings, lambda, watch))?
                        $(BaseLearner::learner(&<$plain>::default(), lambda, watch))?
                    })+
                    Base::Foreign(foreign) => Box::new(foreign.clone()),
                }
            }
        }

        impl Default for Base {
            fn default() -> Self {
                Base::all().swap_remove(0)
            }
        }

        /// By its name, with settings where it has some.
        impl Serialize for Base {
            fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
                match self {
                    $($(Base::$base(settings) => {
                        let settings: &$settings = settings;
                        to.collect_map([(self.name(), settings)])
                    })?)+
                    Base::Foreign(foreign) => to.collect_map([(self.name(), foreign)]),
                    #[allow(unreachable_patterns, reason = "all learners may have settings")]
                    _ => to.serialize_str(self.name()),
                }
            }
        }

        /// By its name alone, or with settings.
        impl<'de> Deserialize<'de> for Base {
            fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
                let only = match Value::deserialize(from)? {
                    Value::String(name) => return Base::named(&name).map_err(D::Error::custom),
                    Value::Object(settings) if settings.len() == 1 => settings.into_iter().next(),
                    _ => None,
                };
                match only {
                    $($(Some((name, settings)) if name == <$settings as BaseLearner>::NAME => {
                        serde_json::from_value(settings).map(Base::$base).map_err(D::Error::custom)
                    })?)+
                    Some((name, settings)) if name == ForeignLearner::KIND => {
                        serde_json::from_value(settings).map(Base::Foreign).map_err(D::Error::custom)
                    }
                    _ => Err(D::Error::custom(format!("no base learner, expected one of {}", listed(Base::NAMES)))),
                }
            }
        }
    };
}

with_learners!(bases);

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::learner::{Base, NearestNeighbors, TreeSettings};
    use crate::setting::Kind;

    fn read(value: Value) -> Result<Base, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn a_base_learner_is_its_name_alone_or_with_settings() {
        assert_eq!(serde_json::to_string(&Base::Bayes).unwrap(), r#""bayes""#);
        let five = Base::Neighbors(NearestNeighbors { k: 5 });
        assert_eq!(serde_json::to_string(&five).unwrap(), r#"{"neighbors":{"k":5}}"#);
        assert_eq!(read(json!("neighbors")), Ok(five));
        let stump = TreeSettings { depth: Some(1), ..TreeSettings::default() };
        assert_eq!(read(json!({"tree": {"depth": 1}})), Ok(Base::Tree(stump)));
        for base in Base::all() {
            assert_eq!(read(serde_json::to_value(&base).unwrap()), Ok(base));
        }
    }

    #[test]
    fn what_is_no_base_learner_is_refused() {
        for value in [json!(1), json!({}), json!({"bayes": {}}), json!({"tree": {}, "neighbors": {}}), json!({"x": {}})]
        {
            let error = read(value).unwrap_err();
            assert!(error.contains("expected one of `logistic`, `tree`, `neighbors`"), "{error}");
        }
        assert!(read(json!("forest")).unwrap_err().contains("`forest`"));
        assert!(read(json!({"tree": {"height": 1}})).unwrap_err().contains("height"));
    }

    #[test]
    fn a_card_has_the_settings_of_its_learner() {
        let cards = Base::cards();
        assert_eq!(cards.iter().map(|card| card.name).collect::<Vec<_>>(), Base::NAMES);
        for (card, base) in cards.iter().zip(Base::all()) {
            assert_eq!(card.name, base.name());
            assert!(!card.about.is_empty() && card.settings.iter().all(|setting| !setting.doc.is_empty()));
            let stored = serde_json::to_value(&base).unwrap();
            let settings = stored.get(card.name).and_then(Value::as_object).cloned().unwrap_or_default();
            assert_eq!(settings.len(), card.settings.len(), "{}", card.name);
            for setting in &card.settings {
                assert_eq!(settings[setting.name], setting.default, "{}", setting.name);
                let (Kind::Word(words) | Kind::Features(words)) = &setting.kind else { continue };
                assert!(!words.is_empty(), "{}", setting.name);
                for [word, _] in words {
                    assert_eq!(read(json!({card.name: {setting.name: word}})).unwrap().name(), card.name, "{word}");
                }
            }
        }
    }

    #[test]
    fn a_setting_out_of_its_range_is_refused() {
        let refused = |value: Value| read(value).unwrap().validate().unwrap_err().to_string();
        assert_eq!(refused(json!({"tree": {"depth": 0}})), "`depth` is 0, expected at least 1");
        assert_eq!(refused(json!({"tree": {"leaf": 0}})), "`leaf` is 0, expected at least 1");
        assert_eq!(refused(json!({"tree": {"split": 1}})), "`split` is 1, expected at least 2");
        assert_eq!(refused(json!({"tree": {"features": {"count": 0}}})), "`features` is 0, expected at least 1");
        let share = refused(json!({"tree": {"features": {"share": 1.5}}}));
        assert_eq!(share, "`features` is 1.5, expected a share above 0 and up to 1");
        assert_eq!(refused(json!({"neighbors": {"k": 0}})), "`k` is 0, expected at least 1");
        let many = refused(json!({"neighbors": {"k": 1u64 << 32}}));
        assert_eq!(many, "`k` is 4294967296, expected at most 4294967295");
    }
}
