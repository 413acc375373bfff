//! Files of rows, plain or gzipped.
//!
//! A format is a folder with a reader, a writer and a card, and a line in the list below. Its enum, its names and its
//! extensions, the words of the command and the lists in messages derive from the two.

mod arff;
mod builtin;
mod cells;
mod chunk_labels;
mod chunks;
mod column_plan;
mod csv;
mod holder;
mod libsvm;
mod number;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod pipeline;
mod reader;
mod sheet;
mod sink;
mod source;
mod writer;

use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::data::Labels;
use crate::error::Result;
use crate::format::options::{ReadOptions, WriteOptions};
use crate::format::sink::{RowSink, Schema};
use crate::format::source::Source;

pub use builtin::{BuiltIn, built_in};
pub use holder::Holder;
pub use options::Layout;
#[cfg(feature = "parquet")]
pub use parquet::{RecordColumn, RecordWriter};
pub use reader::Reader;
pub use sheet::{HeldSheet, PartedSheet, Sheet};
pub use writer::Writer;

pub(crate) use cells::is_missing;

formats! {
    /// Comma-separated values: cells between delimiters, one row a line.
    Csv = csv,
    /// Weka's attribute-relation file.
    Arff = arff,
    /// `label index:value index:value ...`, indices counted from 1.
    Libsvm = libsvm,
    /// Apache Parquet: columns in row groups, compressed. With the cargo feature `parquet`.
    Parquet = parquet if "parquet",
}

/// What a format declares about itself.
struct FormatCard {
    /// The word for it in options and settings: its variant in lower case.
    name: &'static str,
    /// Its name in prose.
    title: &'static str,
    /// File extensions in lower case, the usual one first.
    extensions: &'static [&'static str],
    /// Reads all rows into a sink and returns what describes them.
    read: fn(&ReadOptions, Source<'_>, &mut dyn RowSink) -> Result<Schema>,
    /// Writes rows and labels.
    write: fn(&Sheet, &WriteOptions, &mut dyn Write) -> Result<()>,
    /// The label that stands for each class in a file.
    class_labels: fn(&Labels) -> Vec<String>,
}

/// Declares [`Format`] as a list of variants and the modules with their cards.
macro_rules! formats {
    ($($(#[$doc:meta])* $variant:ident = $module:ident $(if $feature:literal)?,)+) => {
        /// A file format.
        ///
        /// ```
        /// use udeed::format::Format;
        ///
        /// assert_eq!(Format::of("rows.arff.gz"), Some(Format::Arff));
        /// assert_eq!(Format::of("rows"), None);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Format {
            $($(#[$doc])* $(#[cfg(feature = $feature)])? $variant,)+
        }

        impl Format {
            /// All formats.
            pub const ALL: &'static [Format] = &[$($(#[cfg(feature = $feature)])? Format::$variant),+];

            fn card(self) -> &'static FormatCard {
                match self {
                    $($(#[cfg(feature = $feature)])? Format::$variant => &$module::CARD,)+
                }
            }
        }
    };
}
use formats;

impl Format {
    /// The format that the extension of a file name indicates, in upper or lower case; a final `.gz` does not count.
    pub fn of(name: &str) -> Option<Format> {
        let extension = extension(name)?;
        Format::ALL.iter().copied().find(|format| format.extensions().contains(&extension.as_str()))
    }

    /// The format with a [name](Format::name).
    ///
    /// ```
    /// use udeed::format::Format;
    ///
    /// assert_eq!(Format::named("arff"), Some(Format::Arff));
    /// ```
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.iter().copied().find(|format| format.name() == name)
    }

    /// Its name in options and settings, such as `csv`.
    pub fn name(self) -> &'static str {
        self.card().name
    }

    /// Its name in prose, such as `CSV`.
    pub fn title(self) -> &'static str {
        self.card().title
    }

    /// The extensions of its files, without a dot and in lower case; the usual one first.
    pub fn extensions(self) -> &'static [&'static str] {
        self.card().extensions
    }

    /// The usual extension of each format, for messages.
    ///
    /// ```
    /// assert!(udeed::format::Format::usual_extensions().starts_with("`.csv`, `.arff`"));
    /// ```
    pub fn usual_extensions() -> String {
        let dotted = |format: &Format| format!("`.{}`", format.extensions()[0]);
        match Format::ALL {
            [first @ .., last] if !first.is_empty() => {
                format!("{} or {}", first.iter().map(dotted).collect::<Vec<_>>().join(", "), dotted(last))
            }
            all => all.iter().map(dotted).collect(),
        }
    }
}

/// The extension of a file name in lower case, without that of gzip.
fn extension(name: &str) -> Option<String> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    Some(name.rsplit_once('.')?.1.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_has_one_name_and_extensions_of_its_own() {
        for &format in Format::ALL {
            assert_eq!(serde_json::to_string(&format).unwrap(), format!("\"{}\"", format.name()));
            assert_eq!(Format::named(format.name()), Some(format));
            for extension in format.extensions() {
                assert_eq!(Format::of(&format!("rows.{}.GZ", extension.to_uppercase())), Some(format));
            }
        }
    }
}
