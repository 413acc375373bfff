//! Hints of the library, worded with the parameters of the Python package.

use udeed::Hint;
use udeed::format::Format;
use udeed::method::Method;
use udeed::text::quoted;

/// What to try, with parameters; None for hints that make no sense in Python.
pub fn worded(hint: &Hint) -> Option<String> {
    match words(hint) {
        Words::Say(text) => Some(text),
        Words::Nothing => None,
        Words::Unknown => Some(hint.to_string()),
    }
}

/// What Python says in place of a hint.
#[derive(Debug, PartialEq, Eq)]
pub enum Words {
    /// These words.
    Say(String),
    /// Nothing: it makes no sense there.
    Nothing,
    /// It has no words here yet.
    Unknown,
}

/// The words for a hint.
pub fn words(hint: &Hint) -> Words {
    let text = match hint {
        Hint::UnnamedColumns => "X has no column names: pass a data frame with the columns of `fit`".into(),
        Hint::NumberedColumns => "`fit` saw an array without column names: pass one here too, not a data frame".into(),
        Hint::Nominal { column } => {
            format!("if the numbers in column {} are names, pass them as text, as in `fit`", quoted(column))
        }
        Hint::Identifier { column } => format!("if column {} identifies the rows, leave it out of X", quoted(column)),
        Hint::NoLabels => "`unlabeled` says which labels mean none".into(),
        Hint::ManyClasses => "does y hold classes?".into(),
        Hint::Scaling => "scale the features: `scaling=\"minmax\"` or `scaling=\"standard\"`".into(),
        Hint::Calibrated => "fit it with `calibrated=True`: rows are then held out in folds".into(),
        Hint::NegativeSparse => "pass `X.toarray()`, or set `scaling=\"standard\"` or `scaling=\"none\"`".into(),
        Hint::LargeFeatures => {
            "the features are too large: set `scaling=\"standard\"`, or `precision=\"double\"`".into()
        }
        Hint::LargeCell => "if the number stands for a missing value, pass NaN".into(),
        Hint::Sparse => "keep X sparse, or leave out columns".into(),
        Hint::Driver => {
            "install the driver of the card, which `nvidia-smi` then lists, or pass `device=\"cpu\"`".into()
        }
        Hint::DeviceMemory => "pass `precision=\"single\"`, fewer rows or members, or `device=\"cpu\"`".into(),
        Hint::DenseOnDevice => "pass `X.toarray()`, or `device=\"cpu\"`".into(),
        Hint::OtherDevice => "pass `device=\"cpu\"`".into(),
        Hint::Fourier => "use fewer with `fourier`".into(),
        Hint::Similarities => "use fewer neighbours, such as `neighbors=5`, or allow more with `memory`".into(),
        Hint::Suggestions => "ask for fewer with `n`".into(),
        Hint::Members => "use fewer `members`".into(),
        Hint::LargeModel => "fit it with fewer `members`, or read it where there is more memory".into(),
        Hint::Views { keep } => format!("leave out the others: {}", views(keep)),
        Hint::ViewsOrMembers { keep } => format!("leave out the others: {}, or use fewer `members`", views(keep)),
        // Files are those of unlabeled rows, whose columns are known.
        Hint::Format => {
            let endings = Format::usual_extensions();
            format!("a name that ends in {endings} tells the format; other rows may come as batches: an iterator of frames")
        }
        Hint::Encoding
        | Hint::Utf16
        | Hint::MissingWord { .. }
        | Hint::LongCell
        | Hint::LongLine
        | Hint::ManyColumns
        | Hint::Delimiter { .. } => hint.to_string(),
        Hint::Header | Hint::HeaderForUnnamed | Hint::WidthOfTraining | Hint::IndexedColumns => {
            "files have a header if X has column names, and none if it has not".into()
        }
        Hint::FullDisk => {
            "the file lies in the folder that `tempfile.gettempdir()` tells: set `TMPDIR` to one on a larger disk, or allow \
             more `memory`"
                .into()
        }
        Hint::RowsInMemory => {
            let streaming: Vec<&str> =
                Method::cards().iter().filter(|card| card.streams).map(|card| card.python).collect();
            format!("allow more `memory`, or fit an estimator that reads unlabeled rows from a file: {}", streaming.join(", "))
        }
        // No rows are written, no parameter chooses columns of files, and Parquet files are read by pyarrow.
        Hint::WithoutParquet
        | Hint::LongStream
        | Hint::NoHeader
        | Hint::NumericHeader
        | Hint::NominalOrDrop { .. }
        | Hint::Spellings { .. }
        | Hint::Drop { .. }
        | Hint::DeclareLevels
        | Hint::WriteAs { .. } => return Words::Nothing,
        // scikit-learn's splitters divide the rows.
        Hint::Shares => return Words::Nothing,
        // Rows of X are in memory, whatever their number.
        Hint::RowsOfFile => return Words::Nothing,
        hint if hint.is_to_mend() => hint.to_string(),
        _ => return Words::Unknown,
    };
    Words::Say(text)
}

/// The parameter for some views.
fn views(keep: &[&str]) -> String {
    let names: Vec<String> = keep.iter().map(|view| format!("\"{view}\"")).collect();
    format!("`views=[{}]`", names.join(", "))
}
