//! Hints of the library and the laboratory, worded with the options of the command.

use udeed::Hint;
use udeed::format::Format;
use udeed::text::shown;

/// What to try, with options.
pub fn worded(hint: &Hint) -> String {
    words(hint).unwrap_or_else(|| hint.to_string())
}

/// The same of the laboratory.
pub fn worded_lab(hint: &udeed_lab::Hint<'_>) -> String {
    match hint {
        udeed_lab::Hint::Udeed(hint) => worded(hint),
        udeed_lab::Hint::Journal => "go on with the old settings, or choose another `--journal`".into(),
        udeed_lab::Hint::DamagedJournal => {
            "`--journal-repair` leaves damaged lines out and runs their splits again".into()
        }
        udeed_lab::Hint::FormerJournal => {
            "finish it with the version that began it, or choose another `--journal`".into()
        }
        udeed_lab::Hint::JournalInUse => "wait for its end, or choose another `--journal`".into(),
        other => other.to_string(),
    }
}

/// The same of labeling.
pub fn worded_label(hint: udeed_label::Hint) -> String {
    use udeed_label::Hint;
    let text = match hint {
        Hint::InUse => "answer on the page that is open, or label another part: `--part 2/2`",
        Hint::Damaged => "`--repair` leaves damaged lines out; their rows are asked for again",
        Hint::Changed => "go on with the rows as they were, or choose another file of `--answers`",
        Hint::NotAnswers => "choose another file of `--answers`",
        Hint::Port => "choose another `--port`, or none: then any free one is taken",
    };
    text.into()
}

/// None for hints that have no words here yet.
fn words(hint: &Hint) -> Option<String> {
    let text = match hint {
        Hint::Format => format!("name the format: {}", formats()),
        Hint::Driver => "install the driver of the card, which `nvidia-smi` then lists, or say `--device cpu`".into(),
        Hint::DeviceMemory => "say `--precision single`, leave out rows or members, or say `--device cpu`".into(),
        Hint::DenseOnDevice => "sparse rows are for `--device cpu`".into(),
        Hint::OtherDevice => "say `--device cpu`".into(),
        Hint::Encoding => "text of Excel may be converted by `iconv -f WINDOWS-1252 -t UTF-8`".into(),
        Hint::Utf16 => "the text is UTF-16: convert it by `iconv -f UTF-16 -t UTF-8`".into(),
        Hint::MissingWord { column } => {
            let column = shown(column);
            format!("if the word means a missing value, leave the cell empty; if the column is nominal, say `--nominal {column}`")
        }
        Hint::NoHeader => "if the first line is no header, say `--no-header`".into(),
        Hint::NumericHeader => "the first line holds numbers: if it is no header, say `--no-header`".into(),
        Hint::Delimiter { found: '\t' } => "the header holds tabs: say `--delimiter tab`".into(),
        Hint::Delimiter { found } => format!("the header holds `{found}`: say `--delimiter '{found}'`"),
        Hint::Header => "the first line looks like a header: omit `--no-header`".into(),
        Hint::UnnamedColumns => "the rows were read without a header; if they have one, omit `--no-header`".into(),
        Hint::NumberedColumns => "the columns wanted are numbers: if the file has no header, say `--no-header`".into(),
        Hint::NominalOrDrop { column } => {
            format!("if the column is nominal, say `--nominal {0}`; to leave it out, `--drop {0}`", shown(column))
        }
        Hint::Nominal { column } => format!("if its numbers are names, say `--nominal {}`", shown(column)),
        Hint::Spellings { column } => {
            format!("write them alike; if they are two classes, say `--nominal {}`", shown(column))
        }
        Hint::Drop { column } => format!("leave it out: `--drop {}`", shown(column)),
        Hint::Identifier { column } => {
            format!("if the column identifies the rows, leave it out: `--drop {}`", shown(column))
        }
        Hint::NoLabels => "labels are read from the column given by `--label`".into(),
        Hint::ManyClasses => "is this the column of the labels? `--label` names it".into(),
        Hint::Shares => "choose other shares with `--labeled` and `--test`".into(),
        Hint::Scaling => "scale the features: `--scaling minmax` or `--scaling standard`".into(),
        Hint::Calibrated => "fit it with `--calibrated`: rows are then held out in folds".into(),
        Hint::NegativeSparse => "say `--layout dense`, `--scaling standard` or `--scaling none`".into(),
        Hint::LargeFeatures => {
            "the features are too large: scale them with `--scaling standard`, or use `--precision double`".into()
        }
        Hint::Sparse => "keep the rows sparse with `--layout sparse`, or leave out columns with `--drop`".into(),
        Hint::RowsInMemory => {
            "allow more with `--memory`, or use a method that does not need all rows at once, such as `udeed` or `bagging`"
                .into()
        }
        Hint::LongCell => {
            "is there a quote that never closes? If not, allow larger cells with `--longest-line`, such as 128M".into()
        }
        Hint::LongLine => "is this a file of rows? If so, allow longer lines with `--longest-line`".into(),
        Hint::ManyColumns => "is this a file of rows? If so, allow more with `--most-columns`".into(),
        Hint::LongStream => "write the rows to a file, unzipped, and read that, or allow more with `--memory`".into(),
        Hint::RowsOfFile => "allow more with `--memory`, or leave out columns with `--drop`".into(),
        Hint::FullDisk => {
            "the file lies in the folder of `--out`, or without it in the system's temporary folder: name one on a larger disk, \
             or allow more `--memory`"
                .into()
        }
        Hint::Fourier => {
            "use fewer with `--fourier`, or stream unlabeled rows from a file: `udeed fit --unlabeled`".into()
        }
        Hint::Similarities => "use fewer neighbours, such as `--neighbors 5`, or allow more with `--memory`".into(),
        Hint::Suggestions => "ask for fewer with `--count`".into(),
        Hint::Members => "use fewer `--members`, in comparisons smaller `--sizes`".into(),
        Hint::LargeModel => "allow more with `--memory`, or fit the model with fewer `--members`".into(),
        Hint::Views { keep } => format!("leave out the others: `--views {}`", keep.join(",")),
        Hint::ViewsOrMembers { keep } => {
            let members = "or use fewer `--members`, in comparisons smaller `--sizes`";
            format!("leave out the others: `--views {}`, {members}", keep.join(","))
        }
        hint if hint.is_to_mend() => hint.to_string(),
        _ => return None,
    };
    Some(text)
}

/// The option for each format, such as `--format csv`.
fn formats() -> String {
    let options: Vec<String> = Format::ALL.iter().map(|format| format!("`--format {}`", format.name())).collect();
    match options.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hint_has_words() {
        for hint in Hint::examples() {
            let text = words(&hint).unwrap_or_else(|| panic!("{hint:?} has no words in hints.rs"));
            assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn every_format_is_named() {
        let text = worded(&Hint::Format);
        assert!(Format::ALL.iter().all(|format| text.contains(&format!("`--format {}`", format.name()))), "{text}");
    }

    #[test]
    fn hints_of_the_laboratory_name_options() {
        for hint in udeed_lab::Hint::OWN {
            assert!(!worded_lab(&hint).is_empty());
        }
        assert!(worded_lab(&udeed_lab::Hint::Journal).contains("`--journal`"));
        assert!(worded_lab(&udeed_lab::Hint::Udeed(&Hint::Members)).contains("`--members`"));
    }

    #[test]
    fn hints_of_labeling_name_options() {
        for hint in udeed_label::Hint::ALL {
            assert!(worded_label(hint).contains("`--"), "{hint:?}");
        }
    }

    /// A name from a file reaches the terminal without its control characters.
    #[test]
    fn names_are_shown_and_not_obeyed() {
        let column: Box<str> = format!("\u{1b}[2J{}", "x".repeat(5000)).into();
        for hint in [
            Hint::NominalOrDrop { column: column.clone() },
            Hint::Nominal { column: column.clone() },
            Hint::Drop { column: column.clone() },
            Hint::Spellings { column: column.clone() },
            Hint::MissingWord { column: column.clone() },
            Hint::Identifier { column },
        ] {
            for text in [worded(&hint), hint.to_string()] {
                assert!(!text.contains(char::is_control) && text.chars().count() < 300, "{text:?}");
            }
        }
    }
}
