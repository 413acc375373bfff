//! Settings that are one of several words.

/// A type whose values are words. [`words!`](crate::words::words) declares it.
pub trait Words: Copy + PartialEq + 'static {
    /// Each value, its word, and what it means.
    const WORDS: &'static [(Self, &'static str, &'static str)];

    /// Its word.
    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(value, ..)| *value == self).map_or("", |(_, word, _)| word)
    }
}

/// Declares an enum with a word for each value. The words are those of files, options and messages.
macro_rules! words {
    (
        $(#[$about:meta])*
        pub enum $name:ident = $default:ident {
            $($(#[doc = $doc:literal])+ $value:ident = $word:literal,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $doc])+ #[serde(rename = $word)] $value,)+
        }

        impl $crate::words::Words for $name {
            const WORDS: &'static [(Self, &'static str, &'static str)] =
                &[$(($name::$value, $word, concat!($($doc, "\n"),+))),+];
        }

        impl Default for $name {
            fn default() -> Self {
                $name::$default
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($crate::words::Words::word(*self))
            }
        }
    };
}

pub(crate) use words;
