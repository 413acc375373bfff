//! Whatever the bytes: a reader or the loader of models answers or refuses, soon, in little memory, in one clean line.
//! And what a writer wrote is read back the same.
//!
//! `PROPTEST_CASES=100000` looks longer, the targets in `fuzz/` as long as they are let.
#![allow(missing_docs, clippy::unwrap_used)]

mod kinds;

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Once, mpsc};
use std::time::{Duration, Instant};

use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};
use serde_json::{Value, json};
use udeed::data::{Column, Dense, DiskTable, HeldTable, Kind, Labels, Matrix, Table};
use udeed::ensemble::Shared;
use udeed::format::{Format, Layout, Reader, Sheet, Writer};
use udeed::memory::Room;
use udeed::method::{Method, Udeed};
use udeed::model::Model;
use udeed::prepare::{Preparation, Scaling};
use udeed::{Error, Hint};

/// The number of cases. What failed is printed, not kept in a file.
fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

// ------------------------------------------------------------------------------------------------ time and memory

const LONGEST: Duration = Duration::from_secs(10);
const MOST_RESIDENT: usize = 1 << 30;

/// Ends the process, after it showed the input, when the work takes too long or the process too much memory: a loop
/// without end must not take the machine with it.
fn within_limits<T>(input: &[u8], work: impl FnOnce() -> T) -> T {
    let (done, running) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let start = Instant::now();
            while running.recv_timeout(Duration::from_millis(20)) == Err(mpsc::RecvTimeoutError::Timeout) {
                if start.elapsed() > LONGEST || memory("VmRSS") > MOST_RESIDENT {
                    let shown = &input[..input.len().min(2000)];
                    // Past the capture of the test harness, which would be lost.
                    let _ = writeln!(std::io::stderr(), "no end in time or memory: {}", shown.escape_ascii());
                    std::process::abort();
                }
            }
        });
        let _done = done;
        work()
    })
}

/// A figure of the process in bytes; 0 where the system does not tell, which is said past the capture of the test harness.
fn memory(name: &str) -> usize {
    static SAY: Once = Once::new();
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        SAY.call_once(|| {
            let _ =
                writeln!(std::io::stderr(), "hostile input: this system does not tell the memory, which is not tested");
        });
        return 0;
    };
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap_or("0");
    line.split_whitespace().next().unwrap().parse::<usize>().unwrap() << 10
}

/// Fails when the address space of the process, which nothing else may use meanwhile, grows beyond what an input of
/// this length deserves. Counts what was asked for, touched or not.
fn in_little_memory<T>(input: &[u8], length: usize, work: impl FnOnce() -> T) -> T {
    let before = memory("VmPeak");
    let result = within_limits(input, work);
    let grown = memory("VmPeak") - before;
    assert!(grown <= (64 << 20) + 200 * length, "{length} bytes cost {} MiB of memory", grown >> 20);
    result
}

/// Runs a test of this file in a process of its own, so that its memory can be told from that of the others.
fn alone(test: &str, work: impl FnOnce()) {
    alone_as(test, test, work);
}

/// Like [`alone`], for a test that does several things each of which has a name.
fn alone_as(test: &str, name: &str, work: impl FnOnce()) {
    const ALONE: &str = "UDEED_TEST_ALONE";
    match std::env::var(ALONE) {
        Ok(alone) if alone == name => return work(),
        Ok(_) => return,
        Err(_) => {}
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--test-threads=1", "--nocapture"]).env(ALONE, name);
    // Of glibc: no address space in reserve for other threads.
    let output = command.env("MALLOC_ARENA_MAX", "1").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let ran = String::from_utf8_lossy(&output.stdout).contains("1 passed");
    assert!(ran, "no test is called {test}");
}

// ----------------------------------------------------------------------------------------------- pieces of hostile text

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(texts).prop_map(str::to_owned)
}

/// Short text in which the characters that mean something somewhere are frequent.
fn odd_text() -> impl Strategy<Value = String> {
    let special: Vec<char> = "'\",;|{}%\\?#:@ \t\r\n\0\u{1b}\u{a0}\u{feff}\u{2028}é😀".chars().collect();
    let character = prop_oneof![3 => select(special), 2 => prop::char::range('a', 'c'), 1 => any::<char>()];
    vec(character, 0..6).prop_map(String::from_iter)
}

fn number() -> impl Strategy<Value = String> {
    const FINITE: &[&str] = &["0", "-0", "1", "+2.5", ".5", "1e3", "1E-320", "1e308", "1.5e308", "-1e308", "0.1"];
    prop_oneof![2 => (-9i32..10).prop_map(|x| x.to_string()), 1 => one_of(FINITE)]
}

fn no_number() -> impl Strategy<Value = String> {
    const WRONG: &[&str] = &["1e999", "inf", "-Infinity", "0x10", "1_0", "--1", "٣", "1e", ".", "1 2", "9z"];
    prop_oneof![3 => one_of(WRONG), 1 => "[1-9]{40,400}"]
}

fn word() -> impl Strategy<Value = String> {
    one_of(&["red", "blue", "x y", "5x", "it's", "50%"])
}

fn missing() -> impl Strategy<Value = String> {
    one_of(&["", "?", "NA", "nan", "NaN"])
}

fn any_cell() -> impl Strategy<Value = String> {
    prop_oneof![4 => number(), 2 => no_number(), 2 => word(), 2 => missing(), 2 => odd_text()]
}

/// A column of a file: how ARFF declares it, and its cells.
#[derive(Debug, Clone)]
struct FileColumn {
    declared: &'static str,
    cells: Vec<String>,
}

/// A column of two classes, of numbers, of words, or of anything.
fn file_column(n: usize) -> impl Strategy<Value = FileColumn> {
    let column = |declared, cell: BoxedStrategy<String>| {
        let cell = prop_oneof![6 => cell, 1 => missing()];
        vec(cell, n).prop_map(move |cells| FileColumn { declared, cells })
    };
    prop_oneof![
        3 => column("{no, yes}", one_of(&["no", "yes"]).boxed()),
        4 => column("numeric", number().boxed()),
        3 => column("{red, blue, 'x y', 5x, \"it's\", '50%', '?', ''}", word().boxed()),
        1 => column("{}", missing().boxed()),
        1 => column("REAL % note", any_cell().boxed()),
    ]
}

/// Columns of one length and their names.
fn file_columns() -> impl Strategy<Value = (Vec<String>, Vec<FileColumn>)> {
    let names = prop_oneof![8 => Just(["class", "a", "b", "d"].map(str::to_owned).to_vec()), 1 => vec(odd_text(), 4)];
    (names, (0usize..9, 1usize..5).prop_flat_map(|(n, width)| vec(file_column(n), width)))
}

fn csv_text() -> impl Strategy<Value = String> {
    let end = select(vec!["\n", "\n", "\n", "\r\n", "\r", "\n\n"]);
    let delimiter = select(vec![",", ",", ",", ",", ";", "\t"]);
    let start = select(vec!["", "", "", "\u{feff}"]);
    (file_columns(), start, delimiter, end, any::<bool>()).prop_map(
        |((names, columns), start, delimiter, end, quoted)| {
            let quote =
                |cell: &str| if quoted { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell.to_owned() };
            let mut text = start.to_owned() + &names[..columns.len()].join(delimiter) + end;
            for i in 0..columns[0].cells.len() {
                let row: Vec<String> = columns.iter().map(|column| quote(&column.cells[i])).collect();
                text += &(row.join(delimiter) + end);
            }
            text
        },
    )
}

/// Text as ARFF wants it, most of the time.
fn arff_quoted(text: &str) -> String {
    if text.contains([' ', '\'', '%', '{', ',']) { format!("'{}'", text.replace('\'', "\\'")) } else { text.to_owned() }
}

/// A dense row, or a sparse one that leaves out what is empty.
fn arff_row(cells: &[&str], sparse: bool) -> String {
    let cells = cells.iter().map(|cell| arff_quoted(cell));
    if !sparse {
        return cells.map(|cell| if cell.is_empty() { "?".into() } else { cell }).collect::<Vec<_>>().join(",");
    }
    let entries = cells.enumerate().filter(|(_, cell)| !cell.is_empty()).map(|(j, cell)| format!("{j} {cell}"));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

fn arff_text() -> impl Strategy<Value = String> {
    let header = prop_oneof![3 => one_of(WRONG_ARFF_HEADER), 1 => odd_text()];
    (
        file_columns(),
        any::<bool>(),
        prop::option::weighted(0.2, header),
        prop::option::weighted(0.2, one_of(WRONG_ARFF_ROWS)),
    )
        .prop_map(|((names, columns), sparse, wrong_header, wrong_row)| {
            let mut lines = vec!["@relation r".to_owned()];
            for (name, column) in names.iter().zip(&columns) {
                lines.push(format!("@attribute {} {}", arff_quoted(name), column.declared));
            }
            lines.extend(wrong_header);
            lines.push("@data".to_owned());
            for i in 0..columns[0].cells.len() {
                let cells: Vec<&str> = columns.iter().map(|column| column.cells[i].as_str()).collect();
                lines.push(arff_row(&cells, sparse));
            }
            lines.extend(wrong_row);
            lines.join("\n") + "\n"
        })
}

const WRONG_ARFF_HEADER: &[&str] = &[
    "@attribute",
    "@attribute e",
    "@attribute 'e numeric",
    "@attribute e {x",
    "@attribute e {{x}}",
    "@attribute e {x,{y},z}",
    "@attribute {x,y}",
    "@attribute e {'x}",
    "@attribute e {x,x}",
    "@attribute e string",
    "@attribute e date 'yyyy'",
    "@attribute \u{1b}[2J string",
    "@attribute e 5",
    "@attribute , numeric",
    "@relation",
    "@data",
    "}",
    "'",
    "% note",
];

#[rustfmt::skip]
const WRONG_ARFF_ROWS: &[&str] = &[
    "{", "}", "{}", "{0}", "{0 }", "{0 {1 2}}", "{0 1, 0 2}", "{1 2, 0 1}", "{0 1", "{,}", "{0,1}", "{0 yes 1 red}",
    "{0 no}, {5}", "'", "'red", "1 2", ",", ",,,", "%", "{%}", "1,red,{2}", "\\", "''", "{'0' 'no'}", "{-1 no}",
    "{2147483648 1}", "{4294967296 1}", "{18446744073709551615 1}", "{18446744073709551616 1}", "{1.5 1}",
];

fn libsvm_text() -> impl Strategy<Value = String> {
    const LABELS: &[&str] = &["1", "-1", "+1", "-1.0", "-1", "?", "", "nan"];
    #[rustfmt::skip]
    const WRONG_TOKENS: &[&str] = &[
        "0:1", "2147483647:1", "2147483648:1", "18446744073709551615:1", "18446744073709551616:1", "-1:1", "+9:1",
        "1:", ":1", ":", "9:inf", "9:1e999", "9:1:2", "qid:7", "1.5:2", "9:٣", "#", "#qid", "one", "\u{1b}[2J", "９:1",
    ];
    let entries = vec((1u32..4, prop_oneof![6 => number(), 1 => one_of(&["nan", "?", "NA"])]), 0..5);
    let row = (one_of(LABELS), entries, prop::option::weighted(0.05, one_of(WRONG_TOKENS))).prop_map(
        |(label, entries, wrong)| {
            let mut row = label;
            let mut index = 0;
            for (step, value) in entries {
                index += step;
                row += &format!(" {index}:{value}");
            }
            row + &wrong.map_or(String::new(), |token| format!(" {token}"))
        },
    );
    (vec(row, 0..8), select(vec!["\n", "\n", "\r\n", "\n\n"])).prop_map(|(rows, end)| rows.join(end) + end)
}

/// A change of bytes: where, how many are removed, and what is put in their place.
type Edit = (Index, usize, Vec<u8>);

/// A few changes; some of them cut off everything that follows.
fn edits() -> impl Strategy<Value = Vec<Edit>> {
    const PIECES: &[&str] =
        &["{", "}", "'", "\"", "\\", "%", ",", "\n", "\r", "\0", ":", "#", "{{", "99999999999", "é"];
    let piece =
        prop_oneof![5 => select(PIECES).prop_map(|piece| piece.as_bytes().to_vec()), 1 => vec(any::<u8>(), 0..4)];
    let removed = prop_oneof![9 => 0usize..4, 1 => Just(1 << 20)];
    vec((any::<Index>(), removed, piece), 1..4)
}

fn edited(mut bytes: Vec<u8>, edits: Vec<Edit>) -> Vec<u8> {
    for (at, removed, piece) in edits {
        let at = at.index(bytes.len() + 1);
        bytes.splice(at..bytes.len().min(at + removed), piece);
    }
    bytes
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A file, shown as text.
#[derive(Clone)]
struct Input {
    bytes: Vec<u8>,
    /// How many bytes it holds when it is unzipped.
    length: usize,
}

impl Input {
    fn plain(bytes: Vec<u8>) -> Self {
        Input { length: bytes.len(), bytes }
    }
}

impl Debug for Input {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.bytes.escape_ascii())
    }
}

/// A file for a reader: rows of the format, whole or damaged, also in a gzip stream that is whole or damaged, and bytes
/// of no format.
fn hostile(text: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = Input> {
    let whole = text.prop_map(String::into_bytes).boxed();
    let damaged = (whole.clone(), edits()).prop_map(|(bytes, edits)| edited(bytes, edits)).boxed();
    let zipped = |edits| {
        (damaged.clone(), edits)
            .prop_map(|(bytes, edits)| Input { bytes: edited(gzipped(&bytes), edits), length: bytes.len() })
    };
    let noise = prop_oneof![vec(any::<u8>(), 0..200), "\\PC{0,100}".prop_map(String::into_bytes)];
    let plain = prop_oneof![6 => whole, 5 => damaged.clone(), 1 => noise];
    prop_oneof![
        8 => plain.prop_map(Input::plain),
        1 => zipped(Just(Vec::new()).boxed()),
        1 => zipped(edits().boxed()),
    ]
}

/// A reader with any options, most of them such that the file has a chance.
fn reader(format: Format) -> impl Strategy<Value = Reader> {
    (prop::bool::weighted(0.7), any::<bool>()).prop_flat_map(move |(header, plain)| {
        let reader = Reader::new().format(format).header(header);
        if plain { Just(reader.label("1")).boxed() } else { with_options(reader, header).boxed() }
    })
}

fn with_options(reader: Reader, header: bool) -> impl Strategy<Value = Reader> {
    const WRONG: &[&str] = &["0", "-9", "99999999999999999999", "", "é"];
    let columns: &[&str] = if header { &["class", "a", "b", "-1"] } else { &["1", "2", "3", "-1"] };
    let column = move || prop_oneof![9 => one_of(columns), 1 => one_of(WRONG)];
    let few_columns = || prop_oneof![3 => Just(Vec::new()), 1 => vec(column(), 1..3)];
    let label = prop::option::of((column(), any::<bool>()));
    let mark = prop::option::weighted(0.2, one_of(&["red", "-1", "1.0"]));
    let layout = select(vec![Layout::Auto, Layout::Dense, Layout::Sparse]);
    let delimiter = prop::option::weighted(0.2, select(b",;\t\" \n\0\xff".to_vec()));
    (label, mark, few_columns(), few_columns(), layout, delimiter).prop_map(
        move |(label, mark, nominal, drop, layout, delimiter)| {
            let mut reader = reader.clone().nominal(nominal).drop(drop).layout(layout);
            if let Some(delimiter) = delimiter {
                reader = reader.delimiter(delimiter);
            }
            if let Some(mark) = mark {
                reader = reader.unlabeled_mark(mark);
            }
            match label {
                Some((column, true)) => reader.label(column),
                Some((column, false)) => reader.label_if_present(column),
                None => reader,
            }
        },
    )
}

/// A reader and a file for it, of any format.
fn reader_and_file() -> impl Strategy<Value = (Reader, Input)> {
    prop_oneof![
        (reader(Format::Csv), hostile(csv_text())).boxed(),
        (reader(Format::Arff), hostile(arff_text())).boxed(),
        (reader(Format::Libsvm), hostile(libsvm_text())).boxed(),
    ]
}

// -------------------------------------------------------------------------------------------------------- readers

/// Reads, and checks the answer or the refusal.
fn read(reader: &Reader, bytes: &[u8]) -> Option<Sheet> {
    checked(within_limits(bytes, || reader.read_from("rows", bytes)))
}

fn checked(answer: udeed::Result<Sheet>) -> Option<Sheet> {
    match answer {
        Ok(sheet) => {
            assert_eq!(sheet.labels.len(), sheet.table.n_rows());
            // Every value finite or missing, every level one of its column, every name once.
            Table::new(sheet.table.columns().to_vec(), sheet.table.matrix().clone()).unwrap();
            Some(sheet)
        }
        Err(error) => {
            assert_clean(&error);
            None
        }
    }
}

/// The share of drawn cases of which something holds.
fn share<S: Strategy>(cases: S, holds: impl Fn(S::Value) -> bool) -> f64 {
    const CASES: usize = 400;
    let mut runner = TestRunner::deterministic();
    let hold = (0..CASES).filter(|_| holds(cases.new_tree(&mut runner).unwrap().current())).count();
    hold as f64 / CASES as f64
}

/// What is refused tells nothing about what is read, and what cannot be learned from nothing about models.
#[test]
fn many_of_the_files_are_read_and_learned_from() {
    let read_any = share(reader_and_file(), |(reader, input)| read(&reader, &input.bytes).is_some());
    let read_both = share(reader_and_two_files(), |(reader, one, other)| {
        read(&reader, &one.bytes).is_some() && read(&reader, &other.bytes).is_some()
    });
    let learned = share(reader_and_two_files(), |(reader, train, _)| {
        let train = read(&reader, &train.bytes).map(|sheet| sheet.into_train().unwrap());
        train.is_some_and(|train| udeed::method::Bagging::new().members(2).fit(&train).is_ok())
    });
    assert!(read_any > 0.15 && read_both > 0.03 && learned > 0.05, "{read_any} {read_both} {learned}");
}

/// A message is one line that can neither flood nor drive a terminal.
fn assert_clean(error: &Error) {
    for text in [error.to_string(), error.hint().map(ToString::to_string).unwrap_or_default()] {
        assert!(!text.contains(char::is_control), "{text:?} holds control characters");
        assert!(text.chars().count() < 1000, "{text:?} is long");
    }
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn csv_is_read_or_refused(reader in reader(Format::Csv), input in hostile(csv_text())) {
        read(&reader, &input.bytes);
    }

    #[test]
    fn arff_is_read_or_refused(reader in reader(Format::Arff), input in hostile(arff_text())) {
        read(&reader, &input.bytes);
    }

    #[test]
    fn libsvm_is_read_or_refused(reader in reader(Format::Libsvm), input in hostile(libsvm_text())) {
        read(&reader, &input.bytes);
    }
}

/// A sheet or why there is none, as text: a missing value is not equal to itself.
fn answer(read: udeed::Result<Sheet>) -> String {
    match read {
        Ok(sheet) => format!("{sheet:?}"),
        Err(error) => format!("{error} ({:?})", error.hint()),
    }
}

/// A pool of threads that lives as long as the tests.
static TWO_THREADS: LazyLock<rayon::ThreadPool> =
    LazyLock::new(|| rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());

proptest! {
    #![proptest_config(cases(4000))]

    /// Values, levels, classes and the first error: all as if the text were read from start to end by one thread.
    #[test]
    fn what_is_read_depends_neither_on_chunks_nor_on_threads(
        (reader, input) in reader_and_file(), chunk in 1usize..40
    ) {
        let whole = answer(reader.read_from("rows", &input.bytes[..]));
        let cut = reader.chunk_size(chunk);
        prop_assert_eq!(&answer(within_limits(&input.bytes, || cut.read_from("rows", &input.bytes[..]))), &whole);
        let installed = TWO_THREADS.install(|| cut.read_from("rows", &input.bytes[..]));
        prop_assert_eq!(&answer(installed), &whole);
    }
}

/// The kind of a column that is told late changes what chunks after it mean, also those that were parsed before.
#[test]
fn a_kind_that_is_told_late_holds_for_what_follows() {
    let text = |last: &str| format!("a,b\n{}x,1\n{}{last},3\n", ",1\n".repeat(500), ",2\n".repeat(500));
    let reader = Reader::new().format(Format::Csv).chunk_size(64);
    assert!(read(&reader, text("y").as_bytes()).is_some());
    let error = reader.read_from("rows", text("7").as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "rows, line 1003, column `a`: found `7`, expected text, like `x` in line 502");
}

#[test]
fn lines_are_counted_whatever_ends_them() {
    for end in ["\n", "\r\n", "\n\n"] {
        let text = ["a,b", "1,2", "3,x"].join(end);
        let line = 1 + text[..text.find('3').unwrap()].matches('\n').count();
        let error = Reader::new().format(Format::Csv).read_from("rows", text.as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with(&format!("rows, line {line}, column `b`")), "{end:?}: {error}");
    }
}

/// A brace among the values is no value, and not a place to stay forever.
#[test]
fn a_brace_in_a_nominal_declaration_is_refused() {
    for declaration in ["@attribute a {{", "@attribute a {{x}}", "@attribute a {x,{"] {
        let text = format!("{declaration}\n@data\nx\n");
        assert!(read(&Reader::new().format(Format::Arff), text.as_bytes()).is_none(), "{declaration}");
    }
}

#[test]
fn an_attribute_without_a_name_is_refused() {
    let text = "@attribute {x,y}\n@data\nx\n";
    assert!(read(&Reader::new().format(Format::Arff), text.as_bytes()).is_none());
}

/// What a sparse row leaves out is the first level, and here there is none.
#[test]
fn a_sparse_row_of_an_attribute_without_levels_is_refused() {
    let text = "@attribute a numeric\n@attribute d {}\n@data\n{0 1}\n{}\n";
    let error = Reader::new().format(Format::Arff).read_from("rows", text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("line 4, column `d`: found a sparse row, and no declared value"), "{error}");
}

/// Numbers sort as numbers and text as text; with both among the names there must still be one order.
#[test]
fn many_classes_of_numbers_and_words_have_an_order() {
    let names = (0..100).map(|i| if i % 3 == 1 { format!("{}x", i * 31 % 100) } else { (i * 7919 % 1000).to_string() });
    let text: String = "a,class\n".to_owned() + &names.map(|name| format!("1,{name}\n")).collect::<String>();
    let sheet = read(&Reader::new().format(Format::Csv).label("class"), text.as_bytes()).unwrap();
    assert_eq!(sheet.labels.classes().len(), 100);
}

/// An unquoted `?` is a missing value also where a quoted one is declared.
#[test]
fn a_question_mark_is_missing_beside_a_level_of_that_name() {
    let text = "@attribute a {'?',x}\n@attribute class {'?',x}\n@data\n?,?\n'?','?'\n";
    let sheet = read(&Reader::new().format(Format::Arff), text.as_bytes()).unwrap();
    assert_eq!((sheet.labels.name(0), sheet.labels.name(1)), (None, Some("?")));
    let values = sheet.table.matrix().to_dense().unwrap();
    assert!(values.get(0)[0].is_nan());
    assert_eq!(values.get(1)[0], 0.0);
}

#[test]
fn a_name_cannot_drive_the_terminal_through_a_hint() {
    let name = format!("\u{1b}[2J{}", "x".repeat(5000));
    let mixed = format!("{name}\n1\nred\n");
    read(&Reader::new().format(Format::Csv), mixed.as_bytes());
    let untyped = format!("@attribute {name} string\n@data\nx\n");
    read(&Reader::new().format(Format::Arff), untyped.as_bytes());
    let identifiers: String = name + "\n" + &(0..1001).map(|i| format!("v{i}\n")).collect::<String>();
    let sheet = read(&Reader::new().format(Format::Csv), identifiers.as_bytes()).unwrap();
    assert_clean(&Preparation::fit(&sheet.table, Scaling::MinMax).unwrap_err());
}

// ------------------------------------------------------------------------------------------- more rows than memory

/// All rows of a table that lies in a file.
fn pieces_together(table: &DiskTable) -> Table {
    let mut pieces = Vec::new();
    let keep = |piece: &Table| {
        pieces.push(piece.clone());
        Ok(())
    };
    table.for_each_piece(keep).unwrap();
    let mut matrices = pieces.iter().map(|piece| piece.matrix().clone());
    let first = matrices.next().unwrap();
    let matrix = matrices.fold(first, |above, below| above.stack(&below).unwrap());
    assert_eq!(matrix.is_sparse(), table.is_sparse());
    assert!(pieces.iter().all(|piece| piece.columns() == table.columns() && piece.naming() == table.naming()));
    Table::new(table.columns().to_vec(), matrix).unwrap()
}

/// The names of the columns and the values; how the columns got their names is compared elsewhere.
fn cells(table: &Table) -> String {
    format!("{:?} {:?}", table.columns(), table.matrix())
}

/// The rows in a temporary file, and how many are labeled.
fn read_to_disk(reader: &Reader, bytes: &[u8]) -> udeed::Result<(Arc<DiskTable>, usize)> {
    FOLDER.with(|folder| {
        let held = reader.hold_from("rows", bytes, Room { most: 0, folder: Some(folder.path()) })?;
        match held.table {
            HeldTable::InFile(table) => Ok((table, held.n_labeled)),
            HeldTable::InMemory(_) => panic!("rows in memory, without room for any"),
        }
    })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn a_file_of_rows_holds_what_memory_would((reader, input) in reader_and_file(), chunk in 1usize..40) {
        match (reader.read_from("rows", &input.bytes[..]), read_to_disk(&reader.chunk_size(chunk), &input.bytes)) {
            (Ok(sheet), Ok((table, n_labeled))) => {
                prop_assert_eq!(table.n_rows(), sheet.table.n_rows());
                prop_assert_eq!(table.naming(), sheet.table.naming());
                prop_assert_eq!(n_labeled, sheet.labels.n_labeled());
                prop_assert_eq!(cells(&pieces_together(&table)), cells(&sheet.table));
            }
            (Err(expected), Err(found)) => prop_assert_eq!(found.to_string(), expected.to_string()),
            // Labels that are only counted may be written in any way.
            (Err(error), Ok(_)) if matches!(error.hint(), Some(Hint::Spellings { .. })) => {}
            (expected, found) => prop_assert!(false, "{expected:?} but {found:?}"),
        }
    }

    /// Wherever the rows are in the end, and whenever they had to leave memory.
    #[test]
    fn rows_are_the_same_wherever_there_is_room(
        (reader, input) in reader_and_file(), chunk in 1usize..40, most in 0u64..4000
    ) {
        let held = FOLDER.with(|folder| {
            let room = Room { most, folder: Some(folder.path()) };
            reader.clone().chunk_size(chunk).hold_from("rows", &input.bytes[..], room)
        });
        match (reader.read_from("rows", &input.bytes[..]), held) {
            (Ok(sheet), Ok(held)) => {
                prop_assert_eq!(held.n_labeled, sheet.labels.n_labeled());
                let found = match &held.table {
                    HeldTable::InMemory(table) => cells(table),
                    HeldTable::InFile(table) => cells(&pieces_together(table)),
                };
                prop_assert_eq!(found, cells(&sheet.table));
            }
            (Err(expected), Err(found)) => prop_assert_eq!(found.to_string(), expected.to_string()),
            // Labels that are only counted may be written in any way.
            (Err(error), Ok(_)) if matches!(error.hint(), Some(Hint::Spellings { .. })) => {}
            (expected, found) => prop_assert!(false, "{expected:?} but {found:?}"),
        }
    }
}

// ------------------------------------------------------------------------------------------------- memory and time

#[test]
fn numbers_in_a_file_cost_no_memory() {
    alone("numbers_in_a_file_cost_no_memory", || {
        proptest!(cases(1500), |((reader, Input { bytes, length }) in reader_and_file())| {
            checked(in_little_memory(&bytes, length, || reader.read_from("rows", &bytes[..])));
        });
        proptest!(cases(300), |(input in like_a_model())| {
            let _ = in_little_memory(&input.bytes, input.length, || load(&input.bytes));
        });
    });
}

/// Text goes by in blocks, vectors grow to their length at once, sparse rows are given back as they become dense.
#[test]
fn reading_takes_no_more_than_twice_the_data() {
    for (test, format) in [
        ("reading_takes_no_more_than_twice_the_data::csv", Format::Csv),
        ("reading_takes_no_more_than_twice_the_data::libsvm", Format::Libsvm),
    ] {
        alone_as("reading_takes_no_more_than_twice_the_data", test, || {
            let (n_rows, n_columns) = (200_000, 100);
            let data = n_rows * n_columns * size_of::<f64>();
            let path = FOLDER.with(|folder| folder.path().join("rows"));
            let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
            let line: String = match format {
                Format::Libsvm => {
                    "1".to_owned() + &(1..=n_columns).map(|j| format!(" {j}:{}", j % 7)).collect::<String>()
                }
                _ => (1..=n_columns).map(|j| (j % 7).to_string()).collect::<Vec<_>>().join(","),
            };
            (0..n_rows).for_each(|_| writeln!(file, "{line}").unwrap());
            file.into_inner().unwrap();
            let sheet = Reader::new().format(format).header(false).read(&path).unwrap();
            assert_eq!((sheet.table.n_rows(), sheet.table.columns().len()), (n_rows, n_columns));
            let peak = memory("VmHWM");
            assert!(peak <= 2 * data, "{} MiB of memory for {} MiB of {format:?}", peak >> 20, data >> 20);
        });
    }
}

/// A dense first row must not make every empty sparse row after it cost a full one.
#[test]
fn empty_sparse_rows_after_a_dense_one_cost_no_memory() {
    alone("empty_sparse_rows_after_a_dense_one_cost_no_memory", || {
        let names: String = (0..2000).map(|i| format!("@attribute v{i} real\n")).collect();
        let text = format!("{names}@data\n{}\n{}", vec!["1"; 2000].join(","), "{}\n".repeat(20_000));
        let reader = Reader::new().format(Format::Arff);
        checked(in_little_memory(text.as_bytes(), text.len(), || reader.read_from("rows", text.as_bytes())));
    });
}

/// An index is a number in the file: also where dense rows are asked for, those between it and the others cost nothing.
#[test]
fn a_large_index_in_dense_rows_costs_no_memory() {
    alone("a_large_index_in_dense_rows_costs_no_memory", || {
        let text = "1 65000:1\n".to_owned() + &"-1 1:1\n".repeat(1000);
        let reader = Reader::new().format(Format::Libsvm).layout(Layout::Dense);
        checked(in_little_memory(text.as_bytes(), text.len(), || reader.read_from("rows", text.as_bytes())));
    });
}

/// A file with few columns is dense by itself, but not among the columns of a wide sparse model.
#[test]
fn few_columns_before_a_wide_sparse_model_cost_no_memory() {
    alone("few_columns_before_a_wide_sparse_model_cost_no_memory", || {
        let wide: String = (1..50_000).map(|i| format!(" {i}:1")).collect();
        let train = format!("1{wide}\n{}", "-1\n".repeat(20));
        let few = "1 1:1\n".repeat(1000);
        let reader = Reader::new().format(Format::Libsvm);
        let train = read(&reader, train.as_bytes()).unwrap();
        let preparation = Preparation::fit(&train.table, Scaling::MinMax).unwrap();
        let rows = read(&reader, few.as_bytes()).unwrap();
        in_little_memory(few.as_bytes(), few.len(), || preparation.apply(&rows.table)).unwrap();
    });
}

/// Generous for a megabyte that is read once, far too little for one that is gone over once a row.
fn soon<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = within_limits(what.as_bytes(), work);
    assert!(start.elapsed() < Duration::from_secs(10), "{what} took {:?}", start.elapsed());
    result
}

#[test]
fn a_megabyte_is_read_soon_whatever_its_shape() {
    let [csv, arff, libsvm] = [Format::Csv, Format::Arff, Format::Libsvm].map(|format| Reader::new().format(format));
    let numbered = |n: usize, line: fn(usize) -> String| (0..n).map(line).collect::<String>();
    let attribute = "@attribute a real\n@data\n";
    let shapes = [
        ("a wide row", csv.clone().header(false), "1,".repeat(500_000)),
        ("many rows", csv.clone().header(false), "1\n".repeat(500_000)),
        ("many levels", csv.clone(), numbered(150_000, |i| format!("v{i}\n"))),
        ("many classes", csv.clone().label("2").header(false), numbered(120_000, |i| format!("1,v{i}\n"))),
        ("a long cell", csv, format!("a\n\"{}", "\"\"".repeat(500_000))),
        ("many values", arff.clone(), format!("{attribute}{}", ",".repeat(1_000_000))),
        ("a long quote", arff.clone(), format!("{attribute}'{}", "\\a".repeat(500_000))),
        ("a sparse row without end", arff.clone(), format!("{attribute}{{{}", "0 1,".repeat(250_000))),
        ("many declarations", arff.clone(), numbered(40_000, |i| format!("@attribute v{i} real\n")) + "@data\n{}\n"),
        (
            "many declared levels",
            arff,
            format!("@attribute a {{{}}}\n@data\nx\n", numbered(150_000, |i| format!("v{i},"))),
        ),
        ("a wide sparse row", libsvm.clone(), format!("1{}", numbered(100_000, |i| format!(" {}:1", i + 1)))),
        ("many empty rows", libsvm.clone(), "1\n".repeat(500_000)),
        ("large indices", libsvm, "1 2147483647:1\n".repeat(70_000)),
    ];
    for (what, reader, text) in shapes {
        checked(soon(what, || reader.read_from("rows", text.as_bytes())));
    }
}

#[test]
fn a_column_is_dropped_from_many_wide_sparse_rows_soon() {
    let wide: String = (1..60_000).map(|i| format!(" {i}:1")).collect();
    let text = format!("1{wide}\n{}", "1\n".repeat(200_000));
    let reader = Reader::new().format(Format::Libsvm).drop(["1"]);
    let sheet = soon("dropping a column", || reader.read_from("rows", text.as_bytes())).unwrap();
    assert_eq!(sheet.table.columns().len(), 59_998);
}

#[test]
fn many_wide_sparse_rows_are_written_soon() {
    let wide: String = (1..60_000).map(|i| format!(" {i}:1")).collect();
    let text = format!("1{wide}\n{}", "-1 1:1\n".repeat(40_000));
    let sheet = read(&Reader::new().format(Format::Libsvm), text.as_bytes()).unwrap();
    for format in [Format::Libsvm, Format::Arff] {
        soon("writing rows", || written(&sheet, format)).unwrap();
    }
}

#[test]
fn rows_with_many_other_levels_are_appended_soon() {
    let table = |prefix: &str| {
        let text: String = "a\n".to_owned() + &(0..40_000).map(|i| format!("{prefix}{i}\n")).collect::<String>();
        read(&Reader::new().format(Format::Csv), text.as_bytes()).unwrap().table
    };
    let (mut above, below) = (table("v"), table("w"));
    soon("appending rows", || above.append(&below)).unwrap();
    assert_eq!(above.n_rows(), 80_000);
}

// ---------------------------------------------------------------------------------------------------- preparation

const SCALINGS: [Scaling; 3] = [Scaling::MinMax, Scaling::Standard, Scaling::None];

/// Two files for one reader.
fn reader_and_two_files() -> impl Strategy<Value = (Reader, Input, Input)> {
    let files = |format, text: BoxedStrategy<String>| (reader(format), hostile(text.clone()), hostile(text));
    prop_oneof![
        files(Format::Csv, csv_text().boxed()),
        files(Format::Arff, arff_text().boxed()),
        files(Format::Libsvm, libsvm_text().boxed()),
    ]
}

fn is_finite(features: &Matrix) -> bool {
    features.to_dense().unwrap().values().iter().all(|x| x.is_finite())
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn what_is_read_is_prepared_or_refused((reader, train, other) in reader_and_two_files()) {
        let Some(train) = read(&reader, &train.bytes) else { return Ok(()) };
        let other = read(&reader, &other.bytes);
        for scaling in SCALINGS {
            let preparation = match Preparation::fit(&train.table, scaling) {
                Ok(preparation) => preparation,
                Err(error) => {
                    assert_clean(&error);
                    continue;
                }
            };
            let features = preparation.apply(&train.table).unwrap();
            prop_assert_eq!(features.rows().n_rows(), train.table.n_rows());
            prop_assert_eq!(features.rows().n_columns(), preparation.features().len());
            prop_assert!(is_finite(&features), "{:?} {:?}", scaling, features);
            if let Some(Err(error)) = other.as_ref().map(|other| preparation.apply(&other.table)) {
                assert_clean(&error);
            }
        }
    }

    #[test]
    fn rows_of_two_files_are_joined_or_refused((reader, train, other) in reader_and_two_files()) {
        let Some(train) = read(&reader, &train.bytes) else { return Ok(()) };
        let Some(other) = read(&reader, &other.bytes) else { return Ok(()) };
        let mut both = train.clone().into_train().unwrap();
        match both.add_unlabeled(&other.table) {
            Ok(()) => prop_assert_eq!(both.table().n_rows(), train.table.n_rows() + other.table.n_rows()),
            Err(error) => assert_clean(&error),
        }
        Table::new(both.table().columns().to_vec(), both.table().matrix().clone()).unwrap();
    }

    #[test]
    fn what_is_read_is_learned_from_or_refused(
        (reader, train, other) in reader_and_two_files(),
        method in select(Method::NAMES),
        chunk in 1usize..40,
    ) {
        let Some(sheet) = read(&reader, &train.bytes) else { return Ok(()) };
        let rows = sheet.into_train().unwrap();
        let method = Method::named(method).unwrap();
        let method = method.clone().with_shared(Shared { members: 2, ..method.shared() });
        let model = match within_limits(&train.bytes, || method.fit(&rows)) {
            Ok(model) => model,
            Err(error) => {
                assert_clean(&error);
                return Ok(());
            }
        };
        let probabilities = model.predict_proba(rows.table()).unwrap();
        prop_assert!(probabilities.values().iter().all(|p| (0.0..=1.0).contains(p)), "{:?}", probabilities);
        prop_assert_eq!(load(&saved(&model)).unwrap(), model.clone());
        let reader = model.reader().format(Format::Csv);
        let whole = reader.read_from("rows", &other.bytes[..]).and_then(|other| model.decision(&other.table));
        match (whole, streamed(&model, &reader.chunk_size(chunk), &other.bytes)) {
            (Ok(whole), Ok(streamed)) => prop_assert_eq!(bits(whole.values()), bits(&streamed)),
            (Err(one), Err(other)) => [one, other].iter().for_each(assert_clean),
            (whole, streamed) => prop_assert!(false, "{:?} but {:?}", whole, streamed),
        }
    }
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// The decisions on rows that are never all in memory.
fn streamed(model: &Model, reader: &Reader, bytes: &[u8]) -> udeed::Result<Vec<f64>> {
    let mut decisions = Vec::new();
    reader.for_each_table_from("rows", bytes, Room { most: 0, folder: None }, &mut |table| {
        decisions.extend_from_slice(model.decision(table)?.values());
        Ok(())
    })?;
    Ok(decisions)
}

#[test]
fn a_file_that_changes_under_its_reader_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.csv");
    let rows = format!("a,b\n{}", "1,2\n".repeat(1_000_000));
    for change in ["truncated", "appended to", "overwritten", "left alone"] {
        std::fs::write(&path, &rows).unwrap();
        let (mut visited, room) = (0, Room { most: 0, folder: None });
        let found = Reader::new().for_each_table(&path, room, &mut |table| {
            let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
            match change {
                "truncated" => file.set_len(2_000_000).unwrap(),
                "appended to" => file.set_len(rows.len() as u64 + 4).unwrap(),
                "overwritten" => file.write_all(&b"a,b\n3,4\n".repeat(100_000)).unwrap(),
                _ => {}
            }
            visited += table.n_rows();
            Ok(())
        });
        match found {
            Ok(()) => assert_eq!((change, visited), ("left alone", 1_000_000)),
            Err(error) => {
                let expected =
                    "rows.csv: found a file that changed while it was read, expected one that stays as it is";
                assert!(error.to_string().ends_with(expected) && change != "left alone", "{change}: {error}");
            }
        }
    }
}

/// Sparse rows are held until the last, and so are dense ones below them; all are the same as if they were read at once.
#[test]
fn rows_of_every_format_are_streamed_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let label = "@attribute a numeric\n@attribute b {x, y}\n@data\n";
    let libsvm: String = (1..200).map(|i| format!("1 1:{i} {}:0.5\n", 2 + i % 7)).collect();
    let sparse: String = (0..200).map(|i| format!("{{0 {i}, 1 {}}}\n", ["x", "y"][i % 2])).collect();
    let dense: String = (0..200).map(|i| format!("{i}, {}\n", ["x", "y", "?"][i % 3])).collect();
    for (format, text) in [
        (Format::Libsvm, libsvm),
        (Format::Arff, format!("{label}{sparse}")),
        (Format::Arff, format!("{label}{dense}")),
        (Format::Arff, format!("{label}{dense}{sparse}{dense}")),
        (Format::Csv, format!("a,b\n{}", dense.replace(' ', ""))),
    ] {
        for layout in [Layout::Auto, Layout::Dense, Layout::Sparse] {
            let reader = Reader::new().format(format).layout(layout).chunk_size(50);
            let whole = reader.read_from("rows", text.as_bytes()).unwrap().table;
            for most in [0, 1 << 20] {
                let mut all: Option<Table> = None;
                let room = Room { most, folder: Some(folder.path()) };
                reader
                    .for_each_table_from("rows", text.as_bytes(), room, &mut |table| match &mut all {
                        Some(all) => all.append(table),
                        none => {
                            *none = Some(table.clone());
                            Ok(())
                        }
                    })
                    .unwrap();
                let all = all.unwrap();
                assert_eq!(names(&all), names(&whole));
                for j in 0..whole.columns().len() {
                    assert_eq!(column_cells(&all, j), column_cells(&whole, j), "{format:?} {layout:?} {most}");
                }
            }
        }
    }
}

/// The mean of the largest numbers that are not refused is a number, and so is what takes the place of a missing one.
#[test]
fn a_missing_value_among_the_largest_numbers_is_filled_with_a_number() {
    let text = "a,b\n1e300,1\n5e299,2\n,3\n";
    let table = read(&Reader::new().format(Format::Csv), text.as_bytes()).unwrap().table;
    let mut filled = 0;
    for scaling in SCALINGS {
        if let Ok(preparation) = Preparation::fit(&table, scaling) {
            assert!(is_finite(&preparation.apply(&table).unwrap()), "{scaling:?}");
            filled += 1;
        }
    }
    assert!(filled > 0, "every scaling refuses the numbers");
}

// ---------------------------------------------------------------------------------------------------- round trips

/// What a cell holds, whatever number stands for it.
#[derive(Debug, Clone, PartialEq)]
enum Cell {
    Missing,
    Number(f64),
    Level(String),
}

/// The cells of a column, row after row.
fn column_cells(table: &Table, j: usize) -> Vec<Cell> {
    let values = table.matrix().to_dense().unwrap();
    let cell = |x: f64| match &table.columns()[j].kind {
        _ if x.is_nan() => Cell::Missing,
        Kind::Numeric => Cell::Number(x),
        Kind::Nominal { levels } => Cell::Level(levels[x as usize].clone()),
    };
    (0..table.n_rows()).map(|i| cell(values.get(i)[j])).collect()
}

fn names(table: &Table) -> Vec<&str> {
    table.columns().iter().map(|column| column.name.as_str()).collect()
}

fn label_names(sheet: &Sheet) -> Vec<Option<&str>> {
    (0..sheet.labels.len()).map(|i| sheet.labels.name(i)).collect()
}

/// Columns of the same names with the same cells; the numbers of the levels may differ.
fn assert_same_cells(found: &Sheet, expected: &Sheet) {
    assert_eq!(names(&found.table), names(&expected.table));
    for j in 0..found.table.columns().len() {
        assert_eq!(column_cells(&found.table, j), column_cells(&expected.table, j), "column {}", j + 1);
    }
    assert_eq!(label_names(found), label_names(expected));
    assert_eq!(found.labels.classes(), expected.labels.classes());
}

/// LIBSVM knows columns by number; one that does not occur is zero.
fn assert_same_entries(found: &Sheet, expected: &Sheet) {
    let columns = |sheet: &Sheet| -> HashMap<String, Vec<Cell>> {
        let cells = (0..sheet.table.columns().len()).map(|j| column_cells(&sheet.table, j));
        let named = names(&sheet.table).into_iter().map(str::to_owned).zip(cells);
        named.filter(|(_, cells)| cells.iter().any(|cell| *cell != Cell::Number(0.0))).collect()
    };
    assert_eq!(columns(found), columns(expected));
    let written = |sheet: &Sheet| -> Vec<Option<String>> {
        let names = Writer::new(Format::Libsvm).class_labels(&sheet.labels);
        (0..sheet.labels.len()).map(|i| sheet.labels.get(i).map(|class| names[class].clone())).collect()
    };
    assert_eq!(written(found), written(expected));
}

fn written(sheet: &Sheet, format: Format) -> udeed::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Writer::new(format).write(sheet, &mut bytes).map(|()| bytes)
}

/// The column in which the labels are written, if there are any.
fn label_of(sheet: &Sheet) -> Option<String> {
    Writer::label_name(sheet)
}

/// Reads what was written, knowing what was written: which column is the label, which ones are nominal.
fn read_back(sheet: &Sheet, format: Format, bytes: &[u8]) -> Sheet {
    let mut reader = Reader::new().format(format);
    let columns = sheet.table.columns().iter().filter(|column| column.kind != Kind::Numeric && format == Format::Csv);
    // Labels of LIBSVM are numbers; elsewhere they stay as they are.
    let label = label_of(sheet).filter(|_| format != Format::Libsvm);
    reader = reader.nominal(columns.map(|column| column.name.clone()).chain(label));
    if let Some(label) = label_of(sheet) {
        reader = reader.label(label);
    }
    let answer = within_limits(bytes, || reader.read_from("rows", bytes));
    answer.unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(bytes)))
}

/// Writes and reads; all of the sheet must be there again, as far as the format tells it.
fn assert_survives(sheet: &Sheet, format: Format) {
    let bytes = written(sheet, format).unwrap();
    let found = read_back(sheet, format, &bytes);
    match format {
        Format::Libsvm => assert_same_entries(&found, sheet),
        Format::Arff => {
            assert_same_cells(&found, sheet);
            assert_eq!(found.table.columns(), sheet.table.columns());
            assert_eq!(found.label, label_of(sheet));
        }
        _ => assert_same_cells(&found, sheet),
    }
}

fn finite() -> impl Strategy<Value = f64> {
    use prop::num::f64::{NORMAL, SUBNORMAL};
    prop_oneof![2 => Just(0.0), 1 => (-9i32..10).prop_map(f64::from), 2 => NORMAL | SUBNORMAL]
}

/// A column and its values, among which some are missing. Not every level need occur.
fn column(text: BoxedStrategy<String>, n: usize) -> impl Strategy<Value = (Column, Vec<f64>)> {
    let value = move |present: BoxedStrategy<f64>| vec(prop_oneof![4 => present, 1 => Just(f64::NAN)], n);
    let levels = prop::collection::hash_set(text.clone(), 1..4);
    let nominal = (text.clone(), levels).prop_flat_map(move |(name, levels)| {
        let codes = (0..levels.len()).prop_map(|code| code as f64).boxed();
        (Just(Column::nominal(name, levels.into_iter().collect())), value(codes))
    });
    let numeric = (text.prop_map(Column::numeric), value(finite().boxed()));
    prop_oneof![numeric, nominal]
}

/// A sheet whose names, levels and classes are texts of this kind.
fn sheet(text: impl Strategy<Value = String> + 'static) -> impl Strategy<Value = Sheet> {
    let text = text.boxed();
    (1usize..6)
        .prop_flat_map(move |n| {
            let classes = vec(prop::option::of(prop_oneof![text.clone(), number_name()]), n);
            (vec(column(text.clone(), n), 1..4), prop::option::of((text.clone(), classes)), any::<bool>())
        })
        .prop_filter_map("a name twice", |(columns, labels, sparse)| {
            let n = columns[0].1.len();
            let values = (0..n).flat_map(|i| columns.iter().map(move |(_, values)| values[i])).collect();
            let matrix = Matrix::from(Dense::new(n, columns.len(), values).unwrap());
            let matrix = if sparse { matrix.to_sparse().into() } else { matrix };
            let columns: Vec<Column> = columns.into_iter().map(|(column, _)| column).collect();
            let (label, labels) = match labels {
                Some((name, labels)) => (Some(name), Labels::new(labels)),
                None => (None, Labels::unlabeled(n)),
            };
            let twice = columns.iter().any(|column| Some(&column.name) == label.as_ref());
            // ARFF takes an attribute of this name for the label.
            let taken = columns.iter().any(|column| column.name.eq_ignore_ascii_case("class"));
            let table = Table::new(columns, matrix).ok().filter(|_| !twice && !taken)?;
            Some(Sheet { table, labels, label, unused_mark: None })
        })
}

fn number_name() -> impl Strategy<Value = String> {
    one_of(&["1", "-1", "+1", "10", "1.5", "1e30", "9007199254740993"])
}

/// CSV trims its cells, takes some words for missing values and a mark at its very start for one of bytes.
fn text_for_csv() -> impl Strategy<Value = String> {
    odd_text().prop_map(|text| {
        let fits = text.trim() == text && !text.starts_with('\u{feff}');
        if fits && !["", "?", "na", "nan"].contains(&text.to_ascii_lowercase().as_str()) {
            text
        } else {
            format!("<{text}>")
        }
    })
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn arff_holds_any_names_levels_and_classes(sheet in sheet(odd_text())) {
        assert_survives(&sheet, Format::Arff);
    }

    #[test]
    fn csv_holds_names_levels_and_classes_that_are_not_blank(sheet in sheet(text_for_csv())) {
        assert_survives(&sheet, Format::Csv);
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_holds_names_levels_and_classes_that_are_not_blank(sheet in sheet(text_for_csv())) {
        assert_survives(&sheet, Format::Parquet);
    }

    #[test]
    fn libsvm_holds_numbers(
        rows in (1usize..5).prop_flat_map(|width| vec(vec(prop_oneof![4 => finite(), 1 => Just(f64::NAN)], width), 1..6)),
        classes in vec(prop::option::of(prop_oneof![number_name(), word()]), 6),
        sparse in any::<bool>(),
    ) {
        let mut table = Table::from_rows(&rows).unwrap();
        if sparse {
            table = Table::from_matrix(table.matrix().to_sparse()).unwrap();
        }
        let labels = Labels::new(classes.into_iter().take(rows.len()));
        assert_survives(&Sheet { table, labels, label: None, unused_mark: None }, Format::Libsvm);
    }
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn what_was_read_is_written_and_read_again((reader, input) in reader_and_file()) {
        let Some(sheet) = read(&reader, &input.bytes) else { return Ok(()) };
        let has_columns = !sheet.table.columns().is_empty();
        let is_class = |name: &&str| name.eq_ignore_ascii_case("class");
        let takes_class = sheet.label.is_none() && names(&sheet.table).iter().any(is_class);
        if !has_columns || takes_class {
            return Ok(());
        }
        for format in [Format::Csv, Format::Arff, Format::Libsvm] {
            let marked = names(&sheet.table).first().is_some_and(|name| name.starts_with('\u{feff}'));
            if format == Format::Csv && marked {
                continue;
            }
            match written(&sheet, format) {
                Ok(_) => assert_survives(&renumbered(&sheet, format), format),
                Err(error) => assert_clean(&error),
            }
        }
    }
}

/// The columns under the numbers that LIBSVM gives to those that have names.
fn renumbered(sheet: &Sheet, format: Format) -> Sheet {
    if format != Format::Libsvm || sheet.table.naming() == udeed::data::Naming::Index {
        return sheet.clone();
    }
    Sheet { table: Table::from_matrix(sheet.table.matrix().clone()).unwrap(), ..sheet.clone() }
}

/// The writer says that it fails "if the format cannot hold the rows": what it does write must be read the same.
fn assert_refused_or_survives(sheet: &Sheet, format: Format) {
    match written(sheet, format) {
        Ok(_) => assert_survives(sheet, format),
        Err(error) => assert_clean(&error),
    }
}

fn sheet_of(name: &str, level: &str, label: Option<&str>, class: &str) -> Sheet {
    let column = Column::nominal(name, vec![level.into(), "other".into()]);
    let table = Table::new(vec![column], Dense::new(3, 1, vec![0.0, 1.0, f64::NAN]).unwrap()).unwrap();
    let labels = Labels::new([Some(class), Some("other"), None]);
    Sheet { table, labels, label: label.map(str::to_owned), unused_mark: None }
}

#[test]
fn csv_refuses_levels_that_it_would_read_as_missing_or_trimmed() {
    for level in ["", "?", "NA", "nan", " x", "x\n"] {
        assert_refused_or_survives(&sheet_of("a", level, Some("y"), "z"), Format::Csv);
    }
}

#[test]
fn csv_refuses_classes_that_it_would_read_as_missing_or_trimmed() {
    for class in ["", "?", "NA", "nan", " x", "x\n"] {
        assert_refused_or_survives(&sheet_of("a", "x", Some("y"), class), Format::Csv);
    }
}

#[test]
fn csv_refuses_names_that_it_would_read_trimmed() {
    for name in [" a", "a\r", "\u{feff}a"] {
        assert_refused_or_survives(&sheet_of(name, "x", Some("y"), "z"), Format::Csv);
        assert_refused_or_survives(&sheet_of("y", "x", Some(name), "z"), Format::Csv);
    }
}

#[test]
fn a_label_without_a_name_does_not_take_that_of_a_column() {
    for format in [Format::Csv, Format::Arff] {
        assert_refused_or_survives(&sheet_of("class", "x", None, "z"), format);
    }
}

#[test]
fn a_numbered_label_does_not_take_the_number_of_a_column() {
    let reader = Reader::new().format(Format::Csv).header(false).label("1");
    let sheet = read(&reader, b"yes,5\nno,6\n").unwrap();
    for format in [Format::Csv, Format::Arff] {
        assert_refused_or_survives(&sheet, format);
    }
}

#[test]
fn libsvm_refuses_classes_that_are_numbers_but_not_finite() {
    let table = Table::from_rows(&[[1.0], [2.0]]).unwrap();
    for class in ["nan", "inf", "1e999"] {
        let labels = Labels::new([Some(class), Some("1")]);
        assert_refused_or_survives(
            &Sheet { table: table.clone(), labels, label: None, unused_mark: None },
            Format::Libsvm,
        );
    }
}

// --------------------------------------------------------------------------------------------------------- models

const TRAINING_ROWS: &str = "1,red,yes\n2,blue,no\n?,red,yes\n4,green,no\n5,,\n";

/// How many models there are below.
const N_MODELS: usize = 2 + kinds::KINDS.len();

/// Models and their files: two whose columns are named or numbered, and one of each kind.
static MODELS: LazyLock<Vec<(Model, Vec<u8>)>> = LazyLock::new(|| {
    let plain = [true, false].map(|header| {
        let text = if header { "size,colour,ok\n" } else { "" }.to_owned() + TRAINING_ROWS;
        let reader = Reader::new().format(Format::Csv).header(header).label("-1");
        let train = reader.read_from("rows", text.as_bytes()).unwrap().into_train().unwrap();
        Udeed::new().members(2).fit(&train).unwrap()
    });
    let with_file = |model: Model| {
        let bytes = saved(&model);
        (model, bytes)
    };
    plain.into_iter().chain(kinds::models()).map(with_file).collect()
});

thread_local! {
    static FOLDER: tempfile::TempDir = tempfile::tempdir().unwrap();
}

fn file_of_this_thread() -> PathBuf {
    FOLDER.with(|folder| folder.path().join("model"))
}

fn saved(model: &Model) -> Vec<u8> {
    let path = file_of_this_thread();
    model.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

fn load(bytes: &[u8]) -> udeed::Result<Model> {
    let path = file_of_this_thread();
    std::fs::write(&path, bytes).unwrap();
    Model::load(&path)
}

fn assert_refused(bytes: &[u8]) {
    assert_clean(&within_limits(bytes, || load(bytes)).unwrap_err());
}

#[test]
fn a_model_is_refused_at_every_shorter_length() {
    let (_, bytes) = &MODELS[0];
    for length in 0..bytes.len() {
        assert_refused(&bytes[..length]);
    }
}

#[test]
fn a_model_with_a_byte_more_at_its_end_is_refused() {
    let (_, bytes) = &MODELS[0];
    for byte in [0, b' ', b'\n', 0xff] {
        assert_refused(&[bytes, &[byte][..]].concat());
    }
}

#[test]
fn a_model_with_any_byte_flipped_is_refused() {
    let (_, bytes) = &MODELS[0];
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        assert_refused(&flipped);
    }
}

/// Bytes that begin like a safetensors file.
fn like_a_model() -> impl Strategy<Value = Input> {
    const SIZES: &[&str] = &["0", "1", "8", "2147483648", "18446744073709551615", "18446744073709551616", "-1", "1e9"];
    #[rustfmt::skip]
    const TEXTS: &[&str] = &[
        "{}", "[", "\\\"", "{\\\"format\\\":1}", "{\\\"format\\\":2}", "{\\\"format\\\":18446744073709551615}",
        "{\\\"format\\\":1,\\\"classes\\\":[[[[[[", "",
    ];
    let dtype = one_of(&["F64", "F32", "U8", "F4", "BOOL", "?"]);
    let tensor = (one_of(&["members", "fill", "checksum", ""]), dtype, vec(one_of(SIZES), 0..3), vec(one_of(SIZES), 2))
        .prop_map(|(name, dtype, shape, offsets)| {
            let (shape, offsets) = (shape.join(","), offsets.join(","));
            format!(r#""{name}":{{"dtype":"{dtype}","shape":[{shape}],"data_offsets":[{offsets}]}}"#)
        });
    let header = (prop::option::of(one_of(TEXTS)), vec(tensor, 0..3)).prop_map(|(text, tensors)| {
        let metadata = text.map(|text| format!(r#""__metadata__":{{"udeed":"{text}"}}"#));
        let entries: Vec<String> = metadata.into_iter().chain(tensors).collect();
        format!("{{{}}}", entries.join(","))
    });
    let length =
        prop_oneof![6 => Just(None), 1 => any::<u64>().prop_map(Some), 1 => (0u64..100_000_000).prop_map(Some)];
    (header, length, vec(any::<u8>(), 0..24)).prop_map(|(header, length, data)| {
        let length = length.unwrap_or(header.len() as u64).to_le_bytes();
        Input::plain([&length[..], header.as_bytes(), &data].concat())
    })
}

#[derive(Debug, Clone)]
struct Tensor {
    name: String,
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// The description and the tensors of a model, and in the last four bytes the checksum of all others.
fn sealed(description: &Value, tensors: &[Tensor]) -> Vec<u8> {
    let view = |dtype, shape: &[usize], bytes| TensorView::new(dtype, shape.to_vec(), bytes).unwrap();
    let mut views: Vec<(&str, TensorView<'_>)> =
        tensors.iter().map(|tensor| (tensor.name.as_str(), view(tensor.dtype, &tensor.shape, &tensor.bytes))).collect();
    views.push(("checksum", view(Dtype::U32, &[1], &[0; 4])));
    let metadata = HashMap::from([("udeed".to_owned(), description.to_string())]);
    let mut bytes = safetensors::serialize(views, Some(metadata)).unwrap();
    let body = bytes.len() - 4;
    let mut crc = Crc::new();
    crc.update(&bytes[..body]);
    bytes[body..].copy_from_slice(&crc.sum().to_le_bytes());
    bytes
}

/// What [`sealed`] takes, out of a file.
fn unsealed(bytes: &[u8]) -> (Value, Vec<Tensor>) {
    let (_, header) = SafeTensors::read_metadata(bytes).unwrap();
    let description = serde_json::from_str(&header.metadata().as_ref().unwrap()["udeed"]).unwrap();
    let file = SafeTensors::deserialize(bytes).unwrap();
    let tensors = file.iter().filter(|(name, _)| *name != "checksum").map(|(name, view)| Tensor {
        name: name.to_owned(),
        dtype: view.dtype(),
        shape: view.shape().to_vec(),
        bytes: view.data().to_vec(),
    });
    (description, tensors.collect())
}

/// Where in a description something stands.
fn pointers(value: &Value, here: &str) -> Vec<String> {
    let mut found = vec![here.to_owned()];
    match value {
        Value::Object(entries) => {
            found.extend(entries.iter().flat_map(|(key, value)| pointers(value, &format!("{here}/{key}"))));
        }
        Value::Array(values) => {
            found.extend(values.iter().enumerate().flat_map(|(i, value)| pointers(value, &format!("{here}/{i}"))));
        }
        _ => {}
    }
    found
}

fn odd_value() -> impl Strategy<Value = Value> {
    #[rustfmt::skip]
    let values = [
        json!(null), json!(0), json!(1), json!(-1), json!(3), json!(u64::MAX), json!(1e308), json!(true), json!(""),
        json!("\u{1b}[2J"), json!("numeric"), json!("none"), json!("index"), json!([]), json!({}),
        json!({"position": {"width": 1}}), json!({"position": {"width": u64::MAX}}),
        json!({"nominal": {"levels": []}}), json!({"nominal": {"levels": ["x", "x"]}}),
    ];
    select(values.to_vec())
}

#[test]
fn a_model_taken_apart_and_sealed_again_is_the_same() {
    for (model, bytes) in MODELS.iter() {
        let (description, tensors) = unsealed(bytes);
        assert_eq!(&load(&sealed(&description, &tensors)).unwrap(), model);
    }
}

/// Numbers of a model under a checksum that fits, a few of them changed in place: the shapes of trees, places of rows, weights.
#[test]
fn a_model_with_other_numbers_is_refused_or_predicts() {
    let config = cases(2000);
    proptest!(config, |(which in 0..N_MODELS, changes in vec((any::<Index>(), any::<Index>(), odd_number()), 1..4))| {
        let (description, mut tensors) = unsealed(&MODELS[which].1);
        for (tensor, place, number) in changes {
            let tensor = tensor.index(tensors.len());
            let bytes = &mut tensors[tensor].bytes;
            if bytes.len() >= 8 {
                let at = 8 * place.index(bytes.len() / 8);
                bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
        }
        let bytes = sealed(&description, &tensors);
        match within_limits(&bytes, || load(&bytes)) {
            Ok(model) => _ = predict_with(&model),
            Err(error) => assert_clean(&error),
        }
    });
}

fn odd_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        select(vec![
            0.0,
            -0.0,
            1.0,
            2.0,
            3.0,
            -1.0,
            0.5,
            7.0,
            40.0,
            1e300,
            -1e300,
            4_294_967_295.0,
            f64::NAN,
            f64::INFINITY
        ]),
        any::<f64>(),
    ]
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn no_bytes_are_taken_for_a_model(
        input in prop_oneof![1 => vec(any::<u8>(), 0..100).prop_map(Input::plain), 3 => like_a_model()]
    ) {
        assert_refused(&input.bytes);
    }

    #[test]
    fn a_damaged_model_is_refused(which in 0..N_MODELS, edits in edits()) {
        let (_, bytes) = &MODELS[which];
        let damaged = edited(bytes.clone(), edits);
        if damaged != *bytes {
            assert_refused(&damaged);
        }
    }

    /// A checksum keeps accidents out, not someone who can compute it.
    #[test]
    fn a_model_that_was_forged_is_refused_or_predicts(
        which in 0..N_MODELS,
        changes in vec((any::<Index>(), odd_value()), 0..3),
        tensor in prop::option::of((any::<Index>(), vec(any::<f64>(), 0..12))),
    ) {
        let (mut description, mut tensors) = unsealed(&MODELS[which].1);
        for (at, value) in changes {
            let places = pointers(&description, "");
            *description.pointer_mut(&places[at.index(places.len())]).unwrap() = value;
        }
        if let Some((at, values)) = tensor {
            let at = at.index(tensors.len());
            let tensor = &mut tensors[at];
            (tensor.dtype, tensor.shape) = (Dtype::F64, vec![values.len()]);
            tensor.bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        }
        let bytes = sealed(&description, &tensors);
        match within_limits(&bytes, || load(&bytes)) {
            Ok(model) => _ = predict_with(&model),
            Err(error) => assert_clean(&error),
        }
    }
}

/// Where scaling or the weights of the vote overflow for every row, the model is refused, not each row.
#[test]
fn a_model_that_can_only_overflow_is_refused() {
    for (_, bytes) in &MODELS[..2] {
        let (description, tensors) = unsealed(bytes);
        for name in ["factor", "shift", "ensemble.0.weights", "logistic.0.weights"] {
            for huge in [1e308, -1e308, f64::MAX] {
                let mut forged = tensors.clone();
                let tensor = forged.iter_mut().find(|tensor| tensor.name == name).unwrap();
                tensor.bytes = huge.to_le_bytes().repeat(tensor.bytes.len() / 8);
                assert_refused(&sealed(&description, &forged));
            }
        }
    }
}

#[test]
fn a_forged_number_of_columns_is_refused_or_predicts() {
    let (mut description, tensors) = unsealed(&MODELS[1].1);
    description["naming"] = json!({"position": {"width": u64::MAX}});
    match load(&sealed(&description, &tensors)) {
        Ok(model) => _ = predict_with(&model),
        Err(error) => assert_clean(&error),
    }
}

#[test]
fn models_as_they_were_written_predict() {
    for (model, _) in MODELS.iter() {
        assert!(predict_with(model) > 0);
    }
}

/// Checks what a model predicts of rows with a header and without, and returns how often it gave probabilities.
fn predict_with(model: &Model) -> usize {
    let mut predicted = 0;
    for header in ["size,colour,ok\n", ""] {
        let text = header.to_owned() + TRAINING_ROWS;
        let Some(sheet) = read(&model.reader().format(Format::Csv), text.as_bytes()) else { continue };
        for model in [Some(model.clone()), model.initial(), Some(model.logistic())].into_iter().flatten() {
            let _ = model.predict(&sheet.table);
            let _ = model.evaluate(&sheet.table, &sheet.labels);
            if let Ok(probabilities) = model.predict_proba(&sheet.table) {
                let are_probabilities = probabilities.values().iter().all(|p| (0.0..=1.0).contains(p));
                assert!(are_probabilities, "{probabilities:?}");
                predicted += 1;
            }
        }
    }
    predicted
}
