//! Data sets that come with the crate.

use crate::error::{Error, Place, Result};
use crate::format::{Format, Reader, Sheet};
use crate::text::listed;

/// A data set that comes with the crate.
///
/// ```
/// let ionosphere = udeed::format::built_in("ionosphere")?;
/// let sheet = ionosphere.read()?;
/// assert_eq!((sheet.table.n_rows(), sheet.table.columns().len()), (351, 34));
/// # Ok::<(), udeed::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct BuiltIn {
    /// Name.
    pub name: &'static str,
    /// Description of its rows.
    pub about: &'static str,
    /// Authors, source and licence.
    pub attribution: &'static str,
    bytes: &'static [u8],
}

macro_rules! built_in {
    ($name:literal, $about:literal, $attribution:literal) => {
        BuiltIn {
            name: $name,
            about: $about,
            attribution: $attribution,
            bytes: include_bytes!(concat!("../../data/", $name, ".csv.gz")),
        }
    };
}

impl BuiltIn {
    /// All of them.
    pub const ALL: [BuiltIn; 7] = [
        built_in!(
            "ionosphere",
            "radar returns, good or bad, from 17 antenna pulses",
            "Sigillito, Wing, Hutton, Baker 1989; UCI, doi 10.24432/C5W01B, CC BY 4.0"
        ),
        built_in!(
            "diabetes",
            "Pima women, tested positive for diabetes or not",
            "National Institute of Diabetes and Digestive and Kidney Diseases 1990; donated to UCI by V. Sigillito"
        ),
        built_in!(
            "vote",
            "votes of the 1984 US House, by party",
            "Congressional Quarterly Almanac 1984, donated by J. Schlimmer; UCI, doi 10.24432/C5C01P, CC BY 4.0"
        ),
        built_in!(
            "house",
            "the same votes, only rows with none unknown",
            "Congressional Quarterly Almanac 1984, donated by J. Schlimmer; UCI, doi 10.24432/C5C01P, CC BY 4.0"
        ),
        built_in!(
            "sonar",
            "sonar echoes of mines and rocks in 60 bands",
            "Sejnowski, Gorman 1988; UCI, doi 10.24432/C5T01Q, CC BY 4.0"
        ),
        built_in!(
            "wdbc",
            "cell nuclei of breast tumours, benign or malignant",
            "Wolberg, Mangasarian, Street, Street 1993; UCI, doi 10.24432/C5DW2B, CC BY 4.0"
        ),
        built_in!(
            "labor",
            "Canadian labour contracts, good or bad",
            "Labour Canada, donated by S. Matwin 1988; UCI, CC BY 4.0"
        ),
    ];

    /// Its rows and labels.
    ///
    /// # Errors
    /// Never, unless the crate was built from a damaged file.
    pub fn read(&self) -> Result<Sheet> {
        self.read_with(&Reader::new())
    }

    /// Its rows and labels, read with the options of a reader: columns left out, another label, another layout.
    ///
    /// # Errors
    /// If the options name a column that the set lacks.
    pub fn read_with(&self, reader: &Reader) -> Result<Sheet> {
        let mut reader = reader.clone().any_memory().format(Format::Csv).delimiter(b',').header(true);
        if !reader.has_label() {
            reader = reader.label("class");
        }
        reader.read_from(self.name, self.bytes)
    }
}

/// The built-in set of a name.
///
/// # Errors
/// If there is none; the message lists all sets.
///
/// ```
/// let error = udeed::format::built_in("iris").unwrap_err();
/// assert!(error.to_string().contains("`ionosphere`"));
/// ```
pub fn built_in(name: &str) -> Result<BuiltIn> {
    BuiltIn::ALL.into_iter().find(|set| set.name == name).ok_or_else(|| {
        Error::input(
            Place::new("the built-in sets"),
            format!("no set {}", crate::text::quoted(name)),
            format!("one of {}", listed(BuiltIn::ALL.iter().map(|set| set.name))),
        )
    })
}
