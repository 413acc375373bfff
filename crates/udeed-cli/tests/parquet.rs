//! Parquet files: read as the same rows in CSV, written, refused.
//!
//! The files in `parquet/` were written by pyarrow, polars, pandas and duckdb, with every encoding and compression that they have;
//! `parquet/make.py` says how.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{FRUIT, Folder, text};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet")
}

/// The files, each with its columns that cannot be read.
const FILES: [(&str, &str); 8] = [
    ("pyarrow-snappy.parquet", "day,list,struct"),
    ("pyarrow-gzip.parquet", "day,list,struct"),
    ("pyarrow-lz4.parquet", "day,list,struct"),
    ("pyarrow-zstd.parquet", "day,list,struct"),
    ("polars.parquet", "day,list"),
    ("pandas.parquet", "day,list"),
    ("duckdb.parquet", "day,list,struct"),
    ("spark.parquet", "day,list,struct"),
];

fn with_fixtures() -> Folder {
    let folder = Folder::with("rows.csv", fs::read(fixtures().join("rows.csv")).unwrap());
    for (name, _) in FILES {
        folder.write(name, fs::read(fixtures().join(name)).unwrap());
    }
    folder
}

/// The fruit in CSV and Parquet.
fn fruit() -> Folder {
    Folder::with("fruit.csv", FRUIT).after("data write fruit.csv --label kind --out fruit.parquet")
}

#[test]
fn files_of_every_writer_hold_the_same_rows_as_csv() {
    let folder = with_fixtures();
    let expected = folder.run("data write rows.csv --label kind");
    assert_eq!(expected.lines().count(), 41);
    for (name, drop) in FILES {
        assert_eq!(folder.run(&format!("data write {name} --label kind --drop {drop}")), expected, "{name}");
    }
}

#[test]
fn columns_that_are_no_features_are_refused_by_name() {
    let folder = with_fixtures();
    for (name, drop) in FILES {
        for column in drop.split(',') {
            let others: Vec<&str> = drop.split(',').filter(|other| *other != column).collect();
            let line = format!("data write {name} --label kind --drop {}", others.join(","));
            let kind = match column {
                "day" => "a column of dates",
                "list" => "a column of lists",
                _ => "a column of structs",
            };
            let words = [name, &format!("column `{column}`"), kind, "expected", &format!("`--drop {column}`")];
            folder.fail_with(1, &line, &words);
        }
    }
}

#[test]
fn rows_are_the_same_after_a_round_trip() {
    let folder = with_fixtures();
    folder.run("data write rows.csv --label kind --out copy.parquet");
    assert_eq!(folder.run("data write copy.parquet --label kind"), folder.run("data write rows.csv --label kind"));
    folder.run("data write copy.parquet --label kind --out again.parquet");
    assert_eq!(folder.bytes("again.parquet"), folder.bytes("copy.parquet"));
}

/// The same bits from both formats, whether the unlabeled rows fit into memory or not; `--unlabeled` may be a folder or a pattern.
#[test]
fn a_model_of_parquet_rows_is_that_of_the_same_rows_in_csv() {
    let folder = fruit();
    let row = |i: usize| format!("{},{},{}\n", 100 + i * 7 % 83, i * 5 % 17, ["red", "orange", "green", ""][i % 4]);
    let rows = |range: std::ops::Range<usize>| format!("mass,width,colour\n{}", range.map(row).collect::<String>());
    folder.write("more.csv", rows(0..3000));
    fs::create_dir(folder.file("u")).unwrap();
    for (i, range) in [0..1000, 1000..1001, 1001..3000].into_iter().enumerate() {
        folder.write("part.csv", rows(range));
        folder.run(&format!("data write part.csv --out u/part-{i}.parquet"));
    }
    folder.write("u/_SUCCESS.csv", "");
    folder.run("data write more.csv --out more.parquet");
    let fit =
        |file: &str, options: &str| folder.model(&format!("fit {file} --label kind --folds 0 --members 4 {options}"));
    assert_eq!(fit("fruit.parquet", ""), fit("fruit.csv", ""));
    for memory in ["", "--memory 16K", "--memory 16K --threads 1"] {
        let expected = fit("fruit.csv", &format!("--unlabeled more.csv {memory}"));
        for more in ["more.parquet", "u", "u/*.parquet", "u/part-?.parquet"] {
            assert_eq!(fit("fruit.parquet", &format!("--unlabeled {more} {memory}")), expected, "{more} {memory}");
        }
    }
}

#[test]
fn verbs_read_and_write_parquet() {
    let folder = fruit();
    folder.run("fit fruit.parquet --label kind --folds 0 --out model");
    let expected = folder.run("predict model fruit.csv --proba --coverage 0.5");
    assert_eq!(folder.run("predict model fruit.parquet --proba --coverage 0.5"), expected);
    folder.run("predict model fruit.csv --proba --coverage 0.5 --out p.parquet");
    let read = folder.run("data write p.parquet --label prediction");
    assert_eq!(read.lines().count(), 13, "{read}");
    let first = |text: &str, column: &str| {
        let place = text.lines().next().unwrap().split(',').position(|name| name == column).unwrap();
        text.lines().nth(1).unwrap().split(',').nth(place).unwrap().to_owned()
    };
    for column in ["prediction", "p(apple)", "p(orange)"] {
        assert_eq!(first(&read, column), first(&expected, column), "{column}");
    }
    assert_eq!(folder.run("evaluate model fruit.parquet"), folder.run("evaluate model fruit.csv"));
    for verb in ["suggest", "doubt"] {
        for out in ["csv", "parquet"] {
            folder.run(&format!("{verb} fruit.parquet --label kind --out {verb}.{out}"));
        }
        let [csv, parquet] = ["csv", "parquet"].map(|end| folder.run(&format!("data write {verb}.{end}")));
        assert_eq!(parquet, csv, "{verb}");
    }
    assert!(folder.run("data describe fruit.parquet --label kind").contains("12 rows, 3 columns, dense"));
    let told = folder.told("suggest fruit.parquet --label kind --drop width --out ask.parquet");
    assert!(told.contains("note: the rows of fruit.parquet are written without the columns of `--drop`"), "{told}");
    assert!(!folder.told("suggest fruit.csv --label kind --drop width --out ask.csv").contains("without the columns"));
}

#[test]
fn a_parquet_file_is_known_by_its_first_bytes() {
    let folder = fruit();
    let expected = folder.run("data write fruit.parquet --label kind");
    folder.write("rows", folder.bytes("fruit.parquet"));
    folder.write("wrong.csv", folder.bytes("fruit.parquet"));
    for name in ["./rows", "wrong.csv"] {
        assert_eq!(folder.run(&format!("data write {name} --label kind")), expected, "{name}");
    }
    let mut piped = folder.command("data write - --label kind");
    let output = piped.write_stdin(folder.bytes("fruit.parquet")).assert().success().get_output().stdout.clone();
    assert_eq!(text(&output), expected);
    folder.write("text.parquet", FRUIT);
    folder.fail_with(1, "data write text.parquet", &["text.parquet", "does not begin with `PAR1`", "a Parquet file"]);
}

#[test]
fn many_files_are_predicted_into_a_folder() {
    let folder = fruit();
    folder.run("fit fruit.csv --label kind --folds 0 --out model");
    fs::create_dir(folder.file("new")).unwrap();
    folder.write("new/a.csv", "mass,width,colour\n150,7,red\n");
    folder.write(
        "new/b.arff",
        "@relation r\n@attribute width numeric\n@attribute mass numeric\n@attribute colour {orange}\n@data\n6,120,orange\n",
    );
    folder.run("data write new/a.csv --out new/c.parquet");
    let told = folder.told("predict model new --out p/");
    let files: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("wrote 1 prediction to ")).collect();
    assert_eq!(files, ["p/a.csv", "p/b.csv", "p/c.parquet"], "{told}");
    assert_eq!(text(&folder.bytes("p/a.csv")), "prediction\napple\n");
    assert_eq!(text(&folder.bytes("p/b.csv")), "prediction\norange\n");

    folder.write("p/a.csv", "finished");
    fs::remove_file(folder.file("p/b.csv")).unwrap();
    let told = folder.told("predict model new/* --out p --resume");
    assert!(told.contains("new/a.csv is passed over"), "{told}");
    assert_eq!(text(&folder.bytes("p/a.csv")), "finished");
    assert_eq!(text(&folder.bytes("p/b.csv")), "prediction\norange\n");

    folder.fail_with(2, "predict model new", &["3 files", "expected a folder", "`--out FOLDER/`"]);
    folder.fail_with(2, "predict model new/*.txt --out p/", &["new/*.txt", "no file fits"]);
    folder.fail_with(2, "predict model new/a.csv --resume", &["`--resume`", "expected a folder"]);
    folder.fail_with(2, "predict model new/a.csv p/a.csv --out q/", &["both would go to q/a.csv"]);
    folder.fail_with(2, "predict model new --out new", &["new/a.csv", "read from"]);
}

/// Who predicts many rows joins the predictions with them: by identifiers, whose every digit is kept, by the labels, or by features.
#[test]
fn columns_are_carried_along_beside_the_predictions() {
    let folder = fruit();
    folder.run("fit fruit.csv --label kind --folds 0 --out model");
    let header = "id,mass,width,colour,kind,note\n";
    let first = "007,150,7,red,apple,\"a, b\"\n9007199254740993,120,6,orange,,\n";
    folder.write("new.csv", format!("{header}{first}"));
    let all = "predict model new.csv --columns note,id,kind,mass";
    let expected = "note,id,kind,mass,prediction\n\"a, b\",007,apple,150,apple\n,9007199254740993,,120,orange\n";
    assert_eq!(folder.run(all), expected);
    let proba = folder.run("predict model new.csv --columns id --proba --coverage 0.5");
    assert!(proba.starts_with("id,prediction,p(apple),p(orange),set\n007,apple,0."), "{proba}");
    assert_eq!(
        folder.run("predict model new.csv --columns id --drop id"),
        folder.run("predict model new.csv --columns id")
    );
    let mut piped = folder.command("predict model - --format csv --columns note,id,kind,mass");
    let output = piped.write_stdin(folder.bytes("new.csv")).assert().success().get_output().stdout.clone();
    assert_eq!(text(&output), expected);

    // Whole numbers of Parquet are names of their own, however long; of many files each keeps its rows'.
    folder.write("ids.csv", format!("{header}{}", first.replacen("007", "7", 1)));
    fs::create_dir(folder.file("new")).unwrap();
    folder.run("data write ids.csv --nominal id --out new/a.parquet");
    let row = |i: usize| format!("{i},{},{},red,apple,\n", 100 + i * 7 % 83, i * 5 % 17);
    folder.write("new/b.csv", format!("{header}{}", (0..40_000).map(row).collect::<String>()));
    folder.run("predict model new --columns id,mass,kind --out p/");
    let read = folder.run("data write p/a.parquet --nominal id");
    assert_eq!(read, "id,mass,kind,prediction\n7,150,apple,apple\n9007199254740993,120,,orange\n");
    let many = text(&folder.bytes("p/b.csv")).to_owned();
    for (i, line) in many.lines().skip(1).enumerate() {
        assert!(line.starts_with(&format!("{i},{},apple,", 100 + i * 7 % 83)), "{line}");
    }
    assert_eq!(many.lines().count(), 40_001);
    let parquet = "predict model new/a.parquet --columns id --out q.parquet";
    folder.run(parquet);
    assert_eq!(folder.run("data write q.parquet").lines().nth(2), Some("9007199254740993,orange"));

    for (columns, words) in [
        ("none", ["new.csv", "no column `none`", "a column to carry along among `id`"]),
        ("1", ["new.csv", "no column `1`", "among `id`"]),
    ] {
        folder.fail_with(1, &format!("predict model new.csv --columns {columns} --out never.csv"), &words);
        assert!(!folder.file("never.csv").exists());
    }
    folder.fail_with(2, "predict model new.csv --columns prediction", &["`--columns prediction`", "is called so"]);
    folder.fail_with(2, "predict model new.csv --columns id,id", &["`--columns id`", "named twice"]);
    folder.write("bare.csv", "1,2,x\n3,4,y\n5,1,x\n2,2,y\n");
    folder.run("fit bare.csv --no-header --label 3 --folds 0 --out bare");
    folder.fail_with(1, "predict bare bare.csv --columns 1", &["bare.csv", "columns without names", "is called `1`"]);
    folder.write("rows.libsvm", "1 1:2\n");
    folder.fail_with(1, "predict model rows.libsvm --columns id", &["rows.libsvm", "columns without names"]);
}

/// A file that is broken anywhere gives an error in a sentence, and takes no more memory than whole ones.
#[cfg(unix)]
#[test]
fn broken_files_are_refused_in_little_memory() {
    let folder = with_fixtures();
    for (name, drop) in FILES {
        let whole = folder.bytes(name);
        let n = whole.len();
        let mut cases: Vec<(Vec<u8>, &str)> = [0, 3, 4, 8, 11, n / 2, n - 9, n - 1]
            .into_iter()
            .map(|length| (whole[..length].to_vec(), if length == 0 { "an empty file" } else { "Parquet" }))
            .collect();
        let footer = |length: u32| {
            let mut bytes = whole.clone();
            bytes[n - 8..n - 4].copy_from_slice(&length.to_le_bytes());
            bytes
        };
        cases.extend([u32::MAX, n as u32, n as u32 - 11].map(|length| (footer(length), "metadata of ")));
        cases.extend([0, 1, 40].map(|length| (footer(length), "damaged metadata")));
        cases.push(([b"PARE", &whole[4..n - 4], b"PARE"].concat(), "an encrypted Parquet file"));
        for (bytes, word) in cases {
            folder.write("broken.parquet", bytes);
            let line = format!("data write broken.parquet --label kind --drop {drop}");
            let mut command = assert_cmd::Command::new("sh");
            command.args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\""]).arg(assert_cmd::cargo::cargo_bin!("udeed"));
            let output = command.current_dir(folder.path()).args(line.split(' ')).output().unwrap();
            let message = support::refusal(&output, 1, name);
            assert!(message.contains("broken.parquet") && message.contains(word), "{name}: `{word}` in: {message}");
        }
    }
}

/// A small file that is unpacked to gigabytes is read in little memory, or refused.
#[cfg(unix)]
#[test]
fn files_that_unpack_to_much_take_little_memory() {
    for (name, outcome) in [
        ("alike", "16000 rows, 2 columns"),
        ("paged", "300 rows, 2 columns"),
        (
            "lengths",
            "pages that take more memory than they may, expected at most 0.1 GiB\nhint: allow more with `--memory`",
        ),
    ] {
        let path = fixtures().join(format!("unpacked/{name}.parquet"));
        let mut command = assert_cmd::Command::new("sh");
        command.args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\""]).arg(assert_cmd::cargo::cargo_bin!("udeed"));
        let output = command.args(["data", "describe"]).arg(path).output().unwrap();
        let told = text(&output.stdout) + &text(&output.stderr);
        assert!(told.contains(outcome), "{name}: {told}");
    }
}

/// A stream is copied, as a Parquet file is read from its end: one that never ends does not fill the disk.
#[cfg(target_os = "linux")] // Elsewhere the memory that `ulimit` leaves is not known.
#[test]
fn streams_without_end_are_refused() {
    for (stream, words) in [
        ("cat /dev/zero", "found a file that does not begin with `PAR1`, expected a Parquet file"),
        (
            "printf PAR1; cat /dev/zero",
            "found a longer stream than may be copied, expected at most 0.5 GiB, as it is copied to be read from its end\n\
             hint: write the rows to a file, unzipped, and read that, or allow more with `--memory`",
        ),
    ] {
        let mut command = assert_cmd::Command::new("sh");
        let line = format!("ulimit -v 1048576; ({stream}) 2>&- | \"$0\" data describe - --format parquet");
        let output = command.args(["-c", &line]).arg(assert_cmd::cargo::cargo_bin!("udeed")).output().unwrap();
        let told = support::refusal(&output, 1, stream);
        assert!(told.contains(words), "{stream}: {told}");
    }
}

/// A model of rows without a header takes the columns by their places, whatever they are called.
#[test]
fn columns_of_a_model_without_names_are_taken_by_place() {
    let rows: String = (0..12).map(|i| format!("{},{}\n", i * 5 % 7, i % 4)).collect();
    let labeled: String = rows.lines().zip(["p", "q"].iter().cycle()).map(|(row, y)| format!("{row},{y}\n")).collect();
    let folder = Folder::with("train.csv", labeled);
    folder.run("fit train.csv --no-header --label 3 --folds 0 --method bagging --base tree --out model");
    folder.write("rows.csv", &rows);
    folder.write("named.csv", format!("b,a\n{rows}"));
    folder.run("data write named.csv --out named.parquet");
    let expected = folder.run("predict model rows.csv --proba");
    assert_eq!(folder.run("predict model named.parquet --proba"), expected);
    assert!(folder.run("data describe named.parquet --no-header").contains("\n1 "));
    folder.write("wide.csv", "d,c,b,a\n1,2,3,4\n");
    folder.run("data write wide.csv --out wide.parquet");
    folder.fail_with(1, "predict model wide.parquet", &["found 4 columns, expected 2, or 3 with the labels"]);
}
