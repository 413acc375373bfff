//! Bad input gets a clear error and loses nothing.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

use support::{FRUIT, Folder, refusal, text};

const CSV: &str = "x,y,ok\n1,2,a\n2,1,b\n3,3,a\n1,0,b\n";
const ARFF: &str = "@relation r\n@attribute x numeric\n@attribute c {red,blue}\n@attribute class {a,b}\n@data\n\
                    1,red,a\n2,blue,b\n";
const LIBSVM: &str = "1 1:0.5 2:1\n-1 1:0.1 3:1\n1 2:3\n-1 3:1\n";

/// Checks that a message is one line, with a hint at most, and says what it should.
fn assert_says(message: &str, parts: &[&str]) {
    let mut lines = message.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("error: ")), "{message}");
    assert!(lines.all(|line| line.starts_with("hint: ")) && message.lines().count() <= 2, "{message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` in: {message}");
    }
}

/// What `fit` says of a file that it must refuse, losing nothing and leaving nothing behind.
fn refused(name: &str, content: impl AsRef<[u8]>, options: &str) -> String {
    let folder = Folder::with(name, content);
    folder.write("old.model", "the old model");
    let message = folder.fail(1, &format!("fit {name} {options} --trace steps --out old.model"));
    assert_eq!(names(&folder), sorted([name, "old.model"]), "{message}");
    assert_eq!(text(&folder.bytes("old.model")), "the old model", "{message}");
    assert_says(&message, &[]);
    message
}

fn names(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    sorted(entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()))
}

fn sorted<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Vec<String> {
    let mut names: Vec<String> = names.into_iter().map(Into::into).collect();
    names.sort();
    names
}

fn gzipped(csv: &str) -> Vec<u8> {
    let folder = Folder::with("rows.csv", csv);
    folder.run("data write rows.csv --out rows.csv.gz");
    folder.bytes("rows.csv.gz")
}

/// A call that may use a gigabyte of memory and five seconds.
#[cfg(unix)]
fn limited(folder: &Folder, line: &str) -> Output {
    let mut command = assert_cmd::Command::new("sh");
    command.args(["-c", "ulimit -v 1048576; exec \"$0\" \"$@\""]).arg(assert_cmd::cargo::cargo_bin!("udeed"));
    command.args(line.split_whitespace()).current_dir(folder.path()).timeout(Duration::from_secs(5));
    command.output().unwrap()
}

/// A call that fails, and what is said of it.
fn refuses(folder: &Folder, code: i32, line: &str, parts: &[&str]) -> String {
    let message = folder.fail(code, line);
    assert_says(&message, parts);
    message
}

/// Bytes that look random and are always the same.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.below(256) as u8).collect()
    }
}

mod csv {
    use super::*;

    /// What is said of rows whose label is `ok`.
    fn told(rows: impl AsRef<[u8]>, words: &[&str]) {
        assert_says(&refused("rows.csv", rows, "--label ok"), words);
    }

    #[test]
    fn a_ragged_row_is_told_by_line_with_both_counts() {
        for (row, found) in [("1,2", "2 cells"), ("1,2,a,4", "4 cells"), ("1", "1 cell")] {
            told(format!("{CSV}{row}\n"), &["rows.csv, line 6", found, "expected 3"]);
        }
    }

    #[test]
    fn lines_are_counted_over_blank_ones_and_inside_quotes() {
        told(format!("{CSV}\n\n1,2\n"), &["rows.csv, line 8"]);
        told("x,n,ok\n1,\"two\nlines\",a\n2,z,b\nzz,z,b\n", &["rows.csv, line 5, column `x`"]);
        told("\n\nx,ok\n1,a\n2,b\ninf,a\n", &["rows.csv, line 6, column `x`"]);
    }

    #[test]
    fn a_number_that_is_none_is_shown_beside_one_that_is() {
        let message = refused("rows.csv", format!("{CSV}1,oops,a\n"), "--label ok");
        assert_says(
            &message,
            &["rows.csv, line 6, column `y`", "found `oops`", "expected a number, like `2` in line 2"],
        );
        assert_says(&message, &["hint: ", "--nominal y", "--drop y"]);
    }

    #[test]
    fn a_number_among_names_is_shown_too() {
        let message = refused("rows.csv", "c,ok\nred,a\n3,b\n", "--label ok");
        assert_says(
            &message,
            &["rows.csv, line 3, column `c`", "found `3`", "expected text, like `red` in line 2", "hint"],
        );
    }

    #[test]
    fn hostile_text_in_a_message_is_cut_and_made_harmless() {
        let message = refused("rows.csv", format!("{CSV}\u{1b}[2J{},2,a\n", "z".repeat(5000)), "--label ok");
        assert!(!message.contains('\u{1b}') && message.len() < 400, "{message}");
    }

    #[test]
    fn infinity_is_refused() {
        for infinite in ["inf", "-inf", "Infinity", "+INF", "1e999", "-1e400"] {
            let message = refused("rows.csv", format!("{CSV}{infinite},2,a\n"), "--label ok");
            let found = format!("found `{infinite}`");
            assert_says(&message, &["rows.csv, line 6, column `x`", &found, "infinite", "expected a finite number"]);
        }
    }

    #[test]
    fn an_unknown_label_column_is_told_with_those_there_are() {
        let message = refused("rows.csv", CSV, "--label species");
        assert_says(&message, &["rows.csv", "`species`", "expected a label column among `x`, `y`, `ok`"]);
        for number in ["0", "4", "-4", "99999999999999999999"] {
            let message = refused("rows.csv", CSV, &format!("--label {number}"));
            assert_says(&message, &["rows.csv", &format!("`{number}`"), "`x`, `y`, `ok`"]);
        }
    }

    #[test]
    fn an_unknown_column_to_drop_or_to_take_as_nominal_is_told() {
        for option in ["--drop z", "--nominal z"] {
            let message = refused("rows.csv", CSV, &format!("--label ok {option}"));
            assert_says(&message, &["rows.csv", "no column `z`", "`x`, `y`, `ok`"]);
        }
    }

    #[test]
    fn another_delimiter_is_hinted_at() {
        for (delimiter, option) in [(";", "--delimiter ';'"), ("\t", "--delimiter tab"), ("|", "--delimiter '|'")] {
            let rows = CSV.replace(',', delimiter);
            for label in ["ok", "-1"] {
                let message = refused("rows.csv", &rows, &format!("--label {label}"));
                assert_says(&message, &["rows.csv", "hint: ", option]);
            }
        }
    }

    #[test]
    fn a_header_alone_is_told() {
        told("x,y,ok\n", &["rows.csv", "found a header and no rows", "expected rows"]);
    }

    #[test]
    fn a_file_with_no_column_beside_the_labels_is_refused_by_name() {
        told("ok\na\nb\n", &["rows.csv", "column"]);
        assert_says(&refused("rows.csv", CSV, "--label ok --drop x,y"), &["rows.csv", "column"]);
    }

    #[test]
    fn duplicate_column_names_are_told_with_their_places() {
        told(
            "x,y,x,ok\n1,2,3,a\n2,3,4,b\n",
            &["rows.csv, line 1", "`x` in columns 1 and 3", "expected", "hint: ", "--no-header"],
        );
    }

    #[test]
    fn bytes_that_are_not_utf8_are_told_with_line_and_column() {
        let rows = |row: &[u8]| [b"x,c,ok\n1,red,a\n".as_slice(), row, b"\n"].concat();
        for (row, place) in [
            (b"\xff,red,b".as_slice(), "rows.csv, line 3, column `x`"),
            (b"1,r\xe9d,b", "rows.csv, line 3, column `c`"),
            (b"1,red,\xc3", "rows.csv, line 3, column `ok`"),
        ] {
            told(rows(row), &[place, "0x", "not UTF-8", "expected"]);
        }
        told(b"x\xff,ok\n1,a\n", &["rows.csv, line 1", "0xff", "UTF-8"]);
    }

    #[test]
    fn a_row_instead_of_the_header_is_noticed() {
        told("1,2,a\n3,4,b\n5,6,a\n", &["rows.csv", "no column `ok`", "`1`, `2`, `a`", "hint: ", "--no-header"]);
    }

    #[test]
    fn a_header_among_rows_without_one_is_noticed() {
        let message = refused("rows.csv", CSV, "--label 3 --no-header");
        assert_says(&message, &["rows.csv, line ", "`x`", "hint: ", "--no-header"]);
    }

    #[test]
    fn a_quote_that_never_closes_is_told_with_its_line() {
        told("x,ok\n1,a\n\"2,b\n3,a\n4,b\n", &["rows.csv, line 3", "quote"]);
    }

    /// In the last column no count of cells gives it away.
    #[test]
    fn a_quote_that_is_open_at_the_end_is_told_with_the_line_it_opened_in() {
        for (rest, line) in [("3,\"a\n4,b\n5,a\n", 4), ("3,a\n4,\"", 5), ("3,a\n\n4,b\n5,\"a\"\"\n", 7)] {
            let message = refused("rows.csv", format!("x,ok\n1,a\n2,b\n{rest}"), "--label ok");
            let expected =
                format!("rows.csv, line {line}: found a quote that does not close before the end of the file");
            assert_says(&message, &[&expected, "expected a closing quote", "hint: ", "doubled"]);
        }
        let many = format!("x,ok\n1,a\n2,\"b\n{}", "3,a\n".repeat(1_000_000));
        told(many, &["rows.csv, line 3: found a quote that does not close"]);
    }

    /// The closing quote that is missing is found in the next quoted cell: the rows up to there would be one.
    #[test]
    fn a_quote_that_closes_in_a_later_row_is_told_with_its_line_and_cell() {
        for (text, line, cell) in [
            ("name,x,ok\n\"a,1,x\n\"b\",2,y\n\"c\",3,x\n\"d\",4,y\n", 2, 1),
            ("x,z,ok\n1,3,\"x\"\n1,3,\"y\n4,4,\"z\"\n4,4,\"x\"\n", 3, 3),
            ("x,z,ok\r\n1,\"2\r\n3,\"4\",a\r\n5,6,b\r\n", 2, 2),
            ("x,\"z,ok\n1,\"2\",a\n3,4,b\n", 1, 2),
        ] {
            let expected = format!("rows.csv, line {line}: found a quote in cell {cell} that closes in a later line");
            for options in ["--label -1", "--label -1 --drop 1", "--label -1 --layout sparse", "--label -1 --memory 1M"]
            {
                assert_says(&refused("rows.csv", text, options), &[&expected, "hint: ", "doubled"]);
            }
        }
        // Where nothing is lost, quotes are as lenient as they were.
        let folder = Folder::with("rows.csv", "n,x,ok\n\"a\nb\" ,1,p\n\"a\"b,2,q\na\"b,3,p\n");
        let described = folder.run("data describe rows.csv --label ok");
        assert!(described.contains("labels: p: 2, q: 1"), "{described}");
    }

    #[test]
    fn a_range_that_cannot_be_scaled_is_refused_by_column() {
        told("big,ok\n1e308,a\n-1e308,b\n", &["column `big`", "1e308", "expected"]);
    }

    #[test]
    fn a_column_of_identifiers_is_refused_with_a_hint() {
        let rows: String = (0..1002).map(|i| format!("id{i},{}\n", ["a", "b"][i % 2])).collect();
        told(format!("name,ok\n{rows}"), &["`name`", "1002", "hint: ", "--drop name"]);
    }

    #[test]
    fn a_delimiter_that_is_none_is_a_wrong_call() {
        let folder = Folder::with("rows.csv", CSV);
        for delimiter in ["ab", "\"", "é"] {
            folder.fail(2, &format!("fit rows.csv --label ok --out model --delimiter {delimiter}"));
        }
    }
}

mod arff {
    use super::*;

    /// What is said of the rows with a part of them changed.
    fn changed(part: &str, by: &str, words: &[&str]) {
        assert!(ARFF.contains(part), "{part}");
        assert_says(&refused("rows.arff", ARFF.replace(part, by), ""), words);
    }

    /// What is said of the rows with one more.
    fn appended(row: &str, words: &[&str]) {
        assert_says(&refused("rows.arff", format!("{ARFF}{row}\n"), ""), words);
    }

    #[test]
    fn an_undeclared_value_is_told_with_those_declared() {
        appended("3,green,a", &["rows.arff, line 8, column `c`", "found `green`", "expected one of `red`, `blue`"]);
        appended("3,red,z", &["rows.arff, line 8, column `class`", "found `z`", "expected one of `a`, `b`"]);
    }

    #[test]
    fn a_nominal_declaration_with_no_end_is_told_by_line() {
        changed("{red,blue}", "{red,blue", &["rows.arff, line 3, column `c`", "without end", "expected `}`"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_brace_inside_a_nominal_declaration_is_refused_at_once() {
        for declaration in ["{red,{blue}", "{{red,blue}", "{red{,blue}"] {
            let folder = Folder::with("rows.arff", ARFF.replace("{red,blue}", declaration));
            let message = refusal(&limited(&folder, "fit rows.arff --out model"), 1, declaration);
            assert_says(&message, &["rows.arff, line 3", "`{"]);
        }
    }

    #[test]
    fn an_attribute_without_a_name_or_a_type_is_refused() {
        for (declaration, told) in [
            ("@attribute", "name"),
            ("@attribute {red,blue}", "name"),
            ("@attribute c", "type"),
            ("@attribute c colour", "`colour`"),
        ] {
            changed("@attribute c {red,blue}", declaration, &["rows.arff, line 3", told, "expected"]);
        }
    }

    #[test]
    fn a_value_declared_twice_is_refused() {
        changed("{red,blue}", "{red,blue,red}", &["rows.arff, line 3, column `c`", "twice"]);
    }

    #[test]
    fn duplicate_attribute_names_are_told_by_the_line_of_the_second() {
        changed("@attribute c ", "@attribute x ", &["rows.arff, line 3", "`x`", "expected"]);
    }

    #[test]
    fn an_attribute_of_another_type_is_refused_with_a_hint() {
        changed("x numeric", "x string", &["rows.arff", "column `x`", "`string`", "hint: ", "--drop x"]);
    }

    #[test]
    fn a_number_that_is_none_and_infinity_are_refused() {
        for (cell, expected) in
            [("oops", "expected a number"), ("inf", "expected a finite number"), ("1e999", "finite")]
        {
            appended(&format!("{cell},red,a"), &["rows.arff, line 8, column `x`", &format!("`{cell}`"), expected]);
        }
    }

    #[test]
    fn a_row_of_another_width_is_told_with_both_counts() {
        appended("3,red", &["rows.arff, line 8", "2 values", "expected 3"]);
    }

    #[test]
    fn sparse_rows_that_make_no_sense_are_refused_by_line() {
        for (row, told) in [
            ("{0 1, 1 red", "without end"),
            ("{3 1}", "`3`"),
            ("{-1 1}", "`-1`"),
            ("{1 red, 0 1}", "order"),
            ("{0 1, 0 2}", "twice"),
            ("{0 1, 1}", "lone"),
            ("{0 1} 2", "end of the row"),
        ] {
            appended(row, &["rows.arff, line 8", told, "expected"]);
        }
    }

    #[test]
    fn a_quote_that_never_closes_is_told() {
        appended("3,'red,a", &["rows.arff, line 8", "no closing quote"]);
    }

    #[test]
    fn a_file_that_ends_before_its_rows_is_told() {
        for (rows, found) in [
            ("@relation r\n@attribute x numeric\n", "the end of the file"),
            ("@relation r\n@attribute x numeric\n@attribute class {a,b}\n@data\n% none\n", "a header and no rows"),
            ("@relation r\n@data\n1\n", "`@data` before any attribute"),
        ] {
            assert_says(&refused("rows.arff", rows, ""), &["rows.arff", &format!("found {found}"), "expected"]);
        }
    }

    #[test]
    fn another_kind_of_file_is_told_from_its_first_line() {
        assert_says(&refused("rows.arff", CSV, ""), &["rows.arff, line 1", "`x`", "expected `@relation`"]);
    }

    #[test]
    fn an_unknown_label_is_told_with_the_attributes() {
        assert_says(&refused("rows.arff", ARFF, "--label kind"), &["rows.arff", "`kind`", "`x`, `c`, `class`"]);
    }
}

mod libsvm {
    use super::*;

    /// What is said of the rows with one more.
    fn appended(row: &str, words: &[&str]) {
        assert_says(&refused("rows.libsvm", format!("{LIBSVM}{row}\n"), ""), words);
    }

    #[test]
    fn indices_that_make_no_sense_are_told_by_line() {
        for (row, found, expected) in [
            ("1 2:1 2:3", "the index 2 twice", "an index over 2"),
            ("1 3:1 1:3", "the index 1 out of order", "an index over 3"),
            ("1 0:1 1:3", "the index 0", "an index from 1"),
            ("1 2147483649:1", "the index 2147483649", "at most 2147483647"),
            ("1 4294967297:1", "the index 4294967297", "at most 2147483647"),
            ("1 99999999999999999999999:1", "the index `99999999999999999999999`", "a whole number from 1"),
            ("1 -1:1", "the index `-1`", "a whole number from 1"),
            ("1 1.5:1", "the index `1.5`", "a whole number from 1"),
            ("1 x:1", "the index `x`", "a whole number from 1"),
            ("1 7", "`7`", "`index:value`"),
        ] {
            appended(row, &[&format!("rows.libsvm, line 5: found {found}, expected {expected}")]);
        }
    }

    #[test]
    fn counting_from_zero_is_hinted_at() {
        assert_says(&refused("rows.libsvm", "1 0:1\n", ""), &["hint: ", "counts from 1"]);
    }

    #[test]
    fn a_value_that_is_no_number_or_infinite_is_told_by_line_and_column() {
        for (value, expected) in
            [("abc", "a number"), ("", "a number"), ("2:3", "a number"), ("inf", "a finite number")]
        {
            appended(&format!("1 2:{value}"), &["rows.libsvm, line 5, column `2`", &format!("`{value}`"), expected]);
        }
    }

    #[test]
    fn a_label_that_is_no_number_is_refused() {
        for label in ["spam", "inf", "1,2"] {
            appended(
                &format!("{label} 1:2"),
                &["rows.libsvm, line 5", &format!("`{label}`"), "expected a label that is a number"],
            );
        }
    }

    #[test]
    fn negative_sparse_values_are_refused_with_what_to_do() {
        let rows: String = (1..=20).map(|i| format!("{} {i}:-{i}\n", i % 2)).collect();
        let message = refused("rows.libsvm", rows, "");
        assert_says(&message, &["column `1`", "-1", "hint: ", "--layout dense", "--scaling"]);
    }

    #[test]
    #[cfg(unix)]
    fn a_large_index_costs_no_memory() {
        let folder = Folder::with("rows.libsvm", format!("{LIBSVM}1 2147483647:1\n"));
        for layout in ["auto", "dense", "sparse"] {
            let output = limited(&folder, &format!("fit rows.libsvm --layout {layout} --threads 2 --out model"));
            assert_eq!(output.status.code(), Some(0), "{layout}: {}", text(&output.stderr));
        }
    }
}

mod any_format {
    use super::*;

    #[test]
    fn an_empty_file_is_told() {
        for (name, empty) in [
            ("rows.csv", ["", "\n", "\n\r\n\n", "\u{feff}"].as_slice()),
            ("rows.arff", &["", "% only a comment\n"]),
            ("rows.libsvm", &["", "\n\n", "# only a comment\n"]),
        ] {
            for rows in empty {
                assert_says(&refused(name, rows, "--label ok"), &[name, "found an empty file", "expected"]);
            }
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_told_by_line() {
        for (name, rows, row, line) in
            [("rows.arff", ARFF, b"3,\xff,a\n", 8), ("rows.libsvm", LIBSVM, b"1 1:\xff\n", 5)]
        {
            let message = refused(name, [rows.as_bytes(), row].concat(), "");
            assert_says(&message, &[&format!("{name}, line {line}"), "0xff", "UTF-8"]);
        }
    }

    #[test]
    fn a_broken_gzip_stream_is_told() {
        let rows: String = (0..300).map(|i| format!("{},{},{}\n", i * 7919 % 1009, i, ["a", "b"][i % 2])).collect();
        let whole = gzipped(&format!("x,y,ok\n{rows}"));
        let mut wrong_sum = whole.clone();
        let at = wrong_sum.len() - 6;
        wrong_sum[at] ^= 0x55;
        for (case, bytes) in [
            ("the header alone", whole[..10].to_vec()),
            ("half", whole[..whole.len() / 2].to_vec()),
            ("all but the last byte", whole[..whole.len() - 1].to_vec()),
            ("a wrong checksum", wrong_sum),
            ("two bytes", whole[..2].to_vec()),
        ] {
            for name in ["rows.csv.gz", "rows.csv"] {
                let message = refused(name, &bytes, "--label ok");
                assert!(message.contains(name) && message.contains("gzip"), "{case}: {message}");
            }
            for name in ["rows.arff.gz", "rows.libsvm.gz"] {
                refused(name, &bytes, "--label ok");
            }
        }
        assert_says(&refused("rows.csv.gz", &whole[..whole.len() / 2], "--label ok"), &["found", "expected"]);
    }

    #[test]
    fn no_labeled_row_is_told_with_file_and_column() {
        for (name, rows, label) in [
            ("rows.csv", "x,ok\n1,\n2,?\n3,NA\n", "--label ok"),
            ("rows.arff", "@relation r\n@attribute x real\n@attribute ok {a,b}\n@data\n1,?\n2,?\n", "--label ok"),
        ] {
            let message = refused(name, rows, label);
            assert_says(&message, &[name, "`ok`", "no labeled row", "expected", "hint: "]);
        }
        assert_says(&refused("rows.libsvm", "? 1:2\n1:3\n", ""), &["rows.libsvm", "no labeled row", "expected"]);
    }

    #[test]
    fn one_class_only_is_told_with_file_and_column() {
        let message = refused("rows.csv", "x,ok\n1,a\n2,\n3,a\n", "--label ok");
        assert_says(&message, &["rows.csv", "`ok`", "one class in column `ok`, `a`", "expected two", "hint: "]);
        assert_says(&refused("rows.libsvm", "1 1:2\n1 1:3\n", ""), &["rows.libsvm", "one class", "`1`"]);
    }

    #[test]
    fn more_classes_than_can_be_told_apart_are_told_with_file_and_column() {
        let rows: String = (0..512).map(|i| format!("{i},class {}\n", i % 256)).collect();
        let message = refused("rows.csv", format!("x,ok\n{rows}"), "--label ok");
        assert_says(&message, &["rows.csv", "256 classes in column `ok`", "expected at most 255", "hint: "]);
    }

    #[test]
    fn a_file_that_is_not_there_is_told_once() {
        let folder = Folder::new();
        let message = refuses(&folder, 1, "fit rows.csv --label ok --out model", &["rows.csv", "No such file"]);
        assert_eq!(message.matches("No such file").count(), 1, "{message}");
    }

    #[test]
    fn a_name_that_is_neither_a_file_nor_a_built_in_set_is_told_as_such() {
        let message = Folder::new().fail(1, "fit rows --label ok --out model");
        assert_says(&message, &["`rows`", "file", "`ionosphere`"]);
    }

    #[test]
    fn a_folder_instead_of_a_file_is_told() {
        let message = Folder::new().fail(1, "fit . --label ok --out model");
        assert_says(&message, &["directory", "expected a file"]);
    }

    #[test]
    fn a_name_that_tells_no_format_is_hinted_at() {
        for name in ["rows.json", "rows.feather", "rows.gz"] {
            assert_says(&refused(name, CSV, "--label ok"), &[name, "format", "hint: ", "--format"]);
        }
    }

    #[test]
    fn errors_in_standard_input_are_told_as_such() {
        let folder = Folder::new();
        let mut command = folder.command("fit - --format csv --label ok --out model");
        let message = refusal(&command.write_stdin(format!("{CSV}1,2\n")).output().unwrap(), 1, "stdin");
        assert_says(&message, &["standard input, line 6", "2 cells"]);
        let message = refusal(&folder.command("fit - --label ok --out model").output().unwrap(), 1, "no format");
        assert_says(&message, &["standard input", "hint: ", "--format"]);
    }

    #[test]
    fn standard_input_cannot_be_both_files() {
        let folder = Folder::new();
        let mut command = folder.command("fit - --unlabeled - --format csv --label ok --out model");
        refusal(&command.write_stdin(CSV).output().unwrap(), 2, "twice");
    }

    #[test]
    fn a_missing_label_option_is_a_wrong_call_that_lists_the_columns() {
        let folder = Folder::with("rows.csv", CSV);
        refuses(&folder, 2, "fit rows.csv --out model", &["rows.csv", "--label", "`x`, `y`, `ok`"]);
    }

    #[test]
    fn unlabeled_rows_that_do_not_fit_are_told_by_their_own_file() {
        let folder = Folder::with("rows.csv", FRUIT);
        for (more, told) in [
            ("mass,width\n1,2\n", vec!["more.csv", "`colour` is missing", "expected `mass`, `width`, `colour`"]),
            ("mass,width,colour\n1,red,red\n", vec!["more.csv, line 2, column `width`", "`red`", "expected a number"]),
            ("mass,width,colour\n1,2\n", vec!["more.csv, line 2", "2 cells"]),
            ("", vec!["more.csv", "an empty file"]),
        ] {
            folder.write("more.csv", more);
            let message = folder.fail(1, "fit rows.csv --label kind --unlabeled more.csv --out model");
            assert_says(&message, &told);
        }
    }

    #[test]
    fn noise_is_refused_by_every_reader_without_a_panic() {
        let mut noise = Noise(1);
        for round in 0..40 {
            let n = 1 + noise.below(600);
            let bytes = noise.bytes(n);
            for name in ["rows.csv", "rows.arff", "rows.libsvm"] {
                let folder = Folder::with(name, &bytes);
                let output = folder.command(&format!("fit {name} --label -1 --out model")).output().unwrap();
                refusal(&output, 1, &format!("{name}, round {round}"));
            }
        }
    }

    #[test]
    #[cfg(unix)]
    fn damaged_files_are_read_or_refused_but_never_panic_or_hang() {
        const PIECES: [&str; 16] =
            ["\"", "'", "\\", "{", "}", ",", "\n", "?", "%", "@data", "nan", "1e308", "9:9", "0", "\u{feff}", "class"];
        let mut noise = Noise(2);
        for round in 0..150 {
            for (name, rows) in [("rows.csv", CSV), ("rows.arff", ARFF), ("rows.libsvm", LIBSVM)] {
                let mut bytes = rows.as_bytes().to_vec();
                for _ in 0..1 + noise.below(4) {
                    let at = noise.below(bytes.len());
                    match noise.below(3) {
                        0 => bytes[at] = noise.below(256) as u8,
                        1 => drop(bytes.drain(at..(at + 3).min(bytes.len()))),
                        _ => drop(bytes.splice(at..at, PIECES[noise.below(PIECES.len())].bytes())),
                    }
                }
                let folder = Folder::with(name, &bytes);
                let output = limited(&folder, &format!("fit {name} --label -1 --folds 0 --threads 1 --out model"));
                if output.status.code() != Some(0) {
                    let rows = String::from_utf8_lossy(&bytes);
                    refusal(&output, 1, &format!("{name}, round {round}: {rows}"));
                }
            }
        }
    }
}

mod settings {
    use super::*;

    #[test]
    fn values_that_make_no_sense_are_wrong_calls_that_name_the_setting() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.write("model", "the old model");
        for (option, told) in [
            ("--members 1", "`members` is 1, expected at least 2"),
            ("--members 0", "`members` is 0, expected at least 2"),
            ("--gamma -1", "`gamma` is -1, expected 0 or a positive number"),
            ("--gamma nan", "`gamma` is `nan`"),
            ("--gamma inf", "`gamma` is `inf`"),
            ("--lambda 0", "`lambda` is 0, expected a positive number"),
            ("--lambda -2", "`lambda` is -2"),
            ("--rate 0", "`rate` is 0, expected a positive number"),
            ("--rate -0.5", "`rate` is -0.5"),
        ] {
            refuses(&folder, 2, &format!("fit rows.csv --label kind --out model {option}"), &[told]);
        }
        assert_eq!(text(&folder.bytes("model")), "the old model");
    }

    #[test]
    fn values_that_cannot_be_read_are_wrong_calls_that_name_the_option() {
        let folder = Folder::with("rows.csv", FRUIT);
        for option in [
            "--members many",
            "--members -3",
            "--gamma much",
            "--steps -1",
            "--seed -1",
            "--threads 0",
            "--variant ld",
            "--scaling log",
            "--loss zero-one",
            "--initial zeros",
            "--vote veto",
            "--layout diagonal",
            "--format avro",
        ] {
            let (_, value) = option.split_once(' ').unwrap();
            folder.fail_with(2, &format!("fit rows.csv --label kind --out model {option}"), &[value]);
        }
    }

    #[test]
    fn compare_refuses_sizes_and_shares_that_make_no_sense() {
        let folder = Folder::new();
        for (option, told) in [
            ("--sizes 20,1", "is 1, expected at least 2"),
            ("--sizes 0", "is 0, expected at least 2"),
            ("--gamma -1", "`gamma` is -1"),
            ("--labeled 0", "`labeled` is 0"),
            ("--labeled 1.5", "`labeled` is 1.5"),
            ("--test 0", "`test` is 0"),
            ("--test 1", "`test` is 1"),
            ("--test -0.5", "`test` is -0.5"),
        ] {
            refuses(&folder, 2, &format!("compare labor --splits 2 {option}"), &[told]);
        }
        for option in ["--splits 0", "--sizes many", "--sizes 20,,30"] {
            folder.fail(2, &format!("compare labor {option}"));
        }
    }

    #[test]
    fn a_setting_is_checked_before_the_rows_are_read() {
        assert_says(&Folder::new().fail(2, "fit nothing.csv --label ok --out model --gamma -1"), &["`gamma`"]);
    }

    #[test]
    fn compare_names_the_set_that_cannot_be_compared() {
        let folder = Folder::with("good.csv", format!("{CSV}{}", &CSV[7..].repeat(4)));
        for (bad, told) in [
            ("x,ok\n1,\n2,\n", "no labeled row"),
            ("x,ok\n1,a\n2,a\n3,a\n4,a\n5,a\n6,a\n7,a\n8,a\n", "one class"),
            ("x,ok\n1,a\n2,a\n3,a\n4,a\n5,a\n6,a\n7,a\n8,b\n", "1 row"),
        ] {
            folder.write("bad.csv", bad);
            let output = folder.command("compare good.csv bad.csv --label ok --splits 2").output().unwrap();
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{message}");
            assert_says(&message, &["bad.csv", told, "expected"]);
        }
    }
}

mod harmless {
    use super::*;

    fn predictions(folder: &Folder, rows: &str, options: &str) -> String {
        folder.write("rows.csv", rows);
        folder.run(&format!("fit rows.csv --label ok --folds 0 --out model {options}"));
        folder.run("predict model rows.csv --proba")
    }

    #[test]
    fn a_constant_column_is_kept_and_changes_nothing() {
        let folder = Folder::new();
        let constant: String =
            CSV.lines().map(|line| format!("{},{line}\n", if line == "x,y,ok" { "k" } else { "7" })).collect();
        for scaling in ["minmax", "standard"] {
            let options = format!("--scaling {scaling}");
            let without = predictions(&folder, CSV, &options);
            assert_eq!(predictions(&folder, &constant, &options), without, "{scaling}");
            assert!(folder.run("inspect model").contains("  k\n"));
            folder.write("later.csv", constant.replace("7,", "-900,"));
            assert_eq!(folder.run("predict model later.csv --proba"), without, "{scaling}");
        }
    }

    #[test]
    fn a_column_of_missing_values_changes_nothing() {
        let folder = Folder::new();
        let empty: String =
            CSV.lines().map(|line| format!("{},{line}\n", if line == "x,y,ok" { "k" } else { "" })).collect();
        assert_eq!(predictions(&folder, &empty, ""), predictions(&folder, CSV, ""));
    }

    #[test]
    fn more_features_than_rows_work() {
        let folder = Folder::new();
        let names: Vec<String> = (0..40).map(|j| format!("f{j}")).collect();
        let row = |i: usize| (0..40).map(|j| format!("{},", (i * 31 + j * 17) % 23)).collect::<String>();
        let rows: String = (0..4).map(|i| format!("{}{}\n", row(i), ["a", "b", "a", "b"][i])).collect();
        let predicted = predictions(&folder, &format!("{},ok\n{rows}", names.join(",")), "");
        let classes: Vec<&str> = predicted.lines().skip(1).map(|line| line.split_once(',').unwrap().0).collect();
        assert_eq!(classes, ["a", "b", "a", "b"]);
    }

    #[test]
    fn without_unlabeled_rows_lcud_warns_and_is_lcd() {
        let folder = Folder::with("rows.csv", CSV);
        let line = "fit rows.csv --label ok --folds 0 --out lcud.model";
        let output = folder.command(line).assert().success().get_output().clone();
        let said = text(&output.stderr);
        assert_eq!(said.matches("warning: ").count(), 1, "{said}");
        assert!(said.contains("no unlabeled rows") && said.contains("`lcd`"), "{said}");
        assert!(folder.run("inspect lcud.model").contains("warning: there are no unlabeled rows"));
        let lcd = folder.command("fit rows.csv --label ok --folds 0 --variant lcd --out lcd.model").assert().success();
        assert!(!text(&lcd.get_output().stderr).contains("warning"));
        let proba = |model: &str| folder.run(&format!("predict {model} rows.csv --proba"));
        assert_eq!(proba("lcud.model"), proba("lcd.model"));
    }

    #[test]
    fn one_labeled_row_a_class_is_enough() {
        let folder = Folder::with("rows.csv", "x,ok\n1,a\n9,b\n2,\n8,\n");
        let output = folder.command("fit rows.csv --label ok --out model").assert().success();
        assert!(text(&output.get_output().stderr).contains("no cross-validation"));
        assert_eq!(folder.run("predict model rows.csv"), "prediction\na\nb\na\nb\n");
    }
}

mod other_columns {
    use super::*;

    fn fruit_model() -> Folder {
        Folder::with("rows.csv", FRUIT).after("fit rows.csv --label kind --folds 0 --out model")
    }

    #[test]
    fn a_missing_column_is_told_with_the_file_and_the_columns_it_has() {
        let folder = fruit_model();
        folder.write("new.csv", "mass,Width,colour,kind\n1,2,red,apple\n");
        for verb in ["predict", "evaluate"] {
            refuses(
                &folder,
                1,
                &format!("{verb} model new.csv"),
                &["new.csv", "`width` is missing", "`Width`", "expected `mass`, `width`, `colour`"],
            );
        }
        folder.write("new.arff", "@relation r\n@attribute mass real\n@attribute colour {red}\n@data\n1,red\n");
        refuses(&folder, 1, "predict model new.arff", &["new.arff", "`width` is missing", "`mass`, `colour`"]);
    }

    #[test]
    fn numbered_rows_for_named_columns_are_refused_with_a_hint() {
        let folder = fruit_model();
        folder.write("new.libsvm", "1 1:150 2:7\n");
        refuses(&folder, 1, "predict model new.libsvm", &["new.libsvm", "`mass` is missing", "hint: "]);
        folder.write("new.csv", "150,7,red\n");
        refuses(
            &folder,
            1,
            "predict model new.csv --no-header",
            &["new.csv", "`mass` is missing", "hint: ", "--no-header"],
        );
    }

    #[test]
    fn named_columns_for_numbered_ones_are_refused_with_a_hint() {
        let folder = Folder::with("rows.libsvm", LIBSVM);
        folder.run("fit rows.libsvm --folds 0 --out model");
        folder.write("new.csv", CSV);
        refuses(&folder, 1, "predict model new.csv", &["new.csv", "`1` is missing", "`x`, `y`, `ok`", "hint: "]);
    }

    #[test]
    fn another_number_of_columns_without_a_header_is_told() {
        let folder = Folder::with("rows.csv", &CSV[7..]);
        folder.run("fit rows.csv --no-header --label -1 --folds 0 --out model");
        for (row, found) in [("1\n", "1 column"), ("1,2,3,4\n", "4 columns")] {
            folder.write("new.csv", row);
            refuses(&folder, 1, "predict model new.csv", &["new.csv", found, "expected 2, or 3 with the labels"]);
        }
    }

    #[test]
    fn a_header_where_the_model_expects_none_is_hinted_at() {
        let folder = Folder::with("rows.csv", &CSV[7..]);
        folder.run("fit rows.csv --no-header --label -1 --folds 0 --out model");
        folder.write("new.csv", CSV);
        refuses(&folder, 1, "predict model new.csv", &["new.csv, line 1", "`x`", "hint: ", "header"]);
    }

    #[test]
    fn text_where_the_model_expects_numbers_is_told_by_line() {
        let folder = fruit_model();
        folder.write("new.csv", "mass,width,colour\n1,2,red\n1,wide,red\n");
        refuses(
            &folder,
            1,
            "predict model new.csv",
            &["new.csv, line 3, column `width`", "found `wide`", "expected a number"],
        );
    }

    #[test]
    fn an_arff_attribute_of_another_kind_is_told_with_the_file() {
        let folder = fruit_model();
        let header =
            "@relation r\n@attribute mass real\n@attribute width real\n@attribute colour {red}\n@data\n1,2,red\n";
        folder.write("new.arff", header.replace("width real", "width {2}"));
        refuses(&folder, 1, "predict model new.arff", &["new.arff", "column `width`", "found", "expected"]);
        folder.write("new.arff", header.replace("{red}", "real").replace(",red", ",3"));
        let message = folder.fail(1, "predict model new.arff");
        assert_says(&message, &["new.arff", "column `colour`", "found a numeric", "expected"]);
        assert!(!message.contains("expected a numeric"), "{message}");
    }

    #[test]
    fn a_class_the_model_does_not_know_is_told_with_file_and_column() {
        let folder = fruit_model();
        folder.write("new.csv", FRUIT.replace("131,6.4,orange,orange", "131,6.4,orange,plum"));
        refuses(
            &folder,
            1,
            "evaluate model new.csv",
            &["new.csv", "`kind`", "`plum`", "expected one of `apple`, `orange`"],
        );
    }

    #[test]
    fn nothing_to_compare_with_is_told_with_file_and_column() {
        let folder = fruit_model();
        for (rows, found) in [
            ("mass,width,colour,kind\n1,2,red,\n", "no labeled row"),
            ("mass,width,colour\n1,2,red\n", "no column `kind`"),
        ] {
            folder.write("new.csv", rows);
            refuses(&folder, 1, "evaluate model new.csv", &["new.csv", found]);
        }
    }
}

mod output {
    use super::*;

    fn ready() -> Folder {
        let folder = Folder::with("rows.csv", FRUIT).after("fit rows.csv --label kind --folds 0 --out model");
        fs::create_dir(folder.file("folder")).unwrap();
        folder
    }

    /// Calls whose work would take far longer than they are given; each ends with an option that wants a path.
    const CALLS: [&str; 4] = [
        "fit rows.csv --label kind --members 2000000 --out",
        "fit rows.csv --label kind --members 2000000 --out new.model --trace",
        "compare ionosphere --splits 1000000 --json",
        "predict model rows.csv --out",
    ];

    /// What is said of a path that cannot be written, at once and leaving nothing behind.
    fn refused_at_once(folder: &Folder, line: &str, path: &str) -> String {
        let before = names(folder);
        let mut command = folder.command(&format!("{line} {path}"));
        let output = command.timeout(Duration::from_secs(5)).output().unwrap();
        let message = refusal(&output, 1, line);
        assert_says(&message, &[&format!("error: {path}: "), "cannot write"]);
        assert!(!message.contains(".udeed-"), "a temporary file is no concern of the user: {message}");
        assert_eq!(names(folder), before, "{line}");
        message
    }

    #[test]
    fn a_folder_is_refused_before_the_work() {
        let folder = ready();
        // `predict` writes into a folder, as it does for many files.
        for line in CALLS.iter().filter(|line| !line.starts_with("predict")) {
            assert_says(&refused_at_once(&folder, line, "folder"), &["directory"]);
        }
        assert_eq!(fs::read_dir(folder.file("folder")).unwrap().count(), 0);
    }

    #[test]
    fn a_path_in_a_missing_folder_is_refused_before_the_work() {
        let folder = ready();
        for line in CALLS {
            let message = refused_at_once(&folder, line, "missing/file");
            assert_eq!(message.matches("there is no folder").count(), 1, "{message}");
        }
    }

    #[test]
    fn a_path_below_a_file_is_refused_before_the_work() {
        let folder = ready();
        for line in CALLS {
            refused_at_once(&folder, line, "rows.csv/file");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_may_not_be_written_is_refused_before_the_work_and_kept() {
        let folder = ready();
        folder.write("kept", "precious");
        let mut permissions = fs::metadata(folder.file("kept")).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(folder.file("kept"), permissions).unwrap();
        for line in CALLS {
            refused_at_once(&folder, line, "kept");
        }
        assert_eq!(text(&folder.bytes("kept")), "precious");
    }

    #[test]
    fn a_set_that_cannot_be_written_there_is_refused() {
        let folder = ready();
        for path in ["folder", "missing/file", "rows.csv/file"] {
            refused_at_once(&folder, "data write labor --out", path);
        }
    }

    #[test]
    fn a_failed_call_keeps_the_file_that_was_there() {
        let folder = ready();
        folder.write("kept.libsvm", "precious");
        folder.write("bad.csv", "mass,width,colour\n1,2,red\nx,2,red\n");
        let before = names(&folder);
        for line in [
            "predict model bad.csv --out kept.libsvm",
            "data write rows.csv --label kind --out kept.libsvm",
            "data write bad.csv --out kept.libsvm",
            "compare bad.csv --label colour --json kept.libsvm",
            "fit bad.csv --label colour --out kept.libsvm",
            "fit rows.csv --label kind --lambda 1e300 --out kept.libsvm",
        ] {
            folder.fail(1, line);
            assert_eq!(text(&folder.bytes("kept.libsvm")), "precious", "{line}");
            assert_eq!(names(&folder), before, "{line}");
        }
    }

    #[test]
    fn the_rows_are_not_overwritten_with_the_model() {
        let folder = Folder::with("rows.csv", FRUIT);
        for line in
            ["fit rows.csv --label kind --out rows.csv", "fit rows.csv --label kind --out model --trace rows.csv"]
        {
            assert!(folder.fail(2, line).contains("rows.csv"), "{line}");
            assert_eq!(text(&folder.bytes("rows.csv")), FRUIT);
        }
        let message = folder.fail(2, "fit rows.csv --label kind --out model --trace model");
        assert!(message.contains("model"), "{message}");
    }

    /// Calls that would replace `rows.csv` or `model`, which they read, under the name at their end.
    const ONTO_ITSELF: [(&str, &str); 12] = [
        ("fit rows.csv --label kind --out", "rows.csv"),
        ("fit rows.csv --label kind --out new.model --trace", "rows.csv"),
        ("fit labor --unlabeled rows.csv --out", "rows.csv"),
        ("predict model rows.csv --out", "rows.csv"),
        ("predict model rows.csv --out", "model"),
        ("export model --onnx", "model"),
        ("data write rows.csv --label kind --drop mass --out", "rows.csv"),
        ("data write rows.csv --to arff --out", "rows.csv"),
        ("data split rows.csv --label kind new.csv", "rows.csv"),
        ("compare rows.csv --label kind --splits 2 --json", "rows.csv"),
        ("compare rows.csv --label kind --splits 2 --html", "rows.csv"),
        ("compare rows.csv --label kind --splits 2 --journal", "rows.csv"),
    ];

    #[test]
    fn no_verb_overwrites_what_it_reads() {
        let folder = ready();
        let model = folder.bytes("model");
        #[cfg(unix)]
        for input in ["rows.csv", "model"] {
            std::os::unix::fs::symlink(input, folder.file(&format!("{input}.link"))).unwrap();
            fs::hard_link(folder.file(input), folder.file(&format!("{input}.hard"))).unwrap();
        }
        let before = names(&folder);
        let ways = if cfg!(unix) { &["", ".link", ".hard"][..] } else { &[""] };
        for (line, input) in ONTO_ITSELF {
            for way in ways {
                let line = format!("{line} {input}{way}");
                refuses(&folder, 2, &line, &[&format!("{input}{way}: cannot be written, it is read from too")]);
                assert_eq!(text(&folder.bytes("rows.csv")), FRUIT, "{line}");
                assert_eq!(folder.bytes("model"), model, "{line}");
                assert_eq!(names(&folder), before, "{line}");
            }
        }
    }

    #[test]
    #[cfg(unix)]
    fn standard_input_is_not_overwritten_with_what_is_made_of_it() {
        let folder = ready();
        for line in ["predict model - --format csv --out rows.csv", "data write - --format csv --out rows.csv"] {
            let mut command = Command::new(assert_cmd::cargo::cargo_bin!("udeed"));
            command.current_dir(folder.path()).args(line.split_whitespace());
            command.stdin(fs::File::open(folder.file("rows.csv")).unwrap());
            let message = refusal(&command.output().unwrap(), 2, line);
            assert_says(&message, &["rows.csv", "it is read from too"]);
            assert_eq!(text(&folder.bytes("rows.csv")), FRUIT);
        }
    }

    /// A built-in set is no file: a file of its name may be made of it.
    #[test]
    fn a_built_in_set_is_written_under_its_name() {
        let folder = Folder::new();
        folder.run("data write labor --out labor");
        assert!(folder.file("labor").exists());
    }

    #[test]
    #[cfg(unix)]
    fn a_link_stays_a_link_also_where_it_led_to_nothing() {
        let folder = ready();
        std::os::unix::fs::symlink("folder/new.csv", folder.file("link")).unwrap();
        folder.run("predict model rows.csv --out link");
        assert!(fs::symlink_metadata(folder.file("link")).unwrap().is_symlink());
        assert!(text(&folder.bytes("folder/new.csv")).starts_with("prediction"));
        std::os::unix::fs::symlink("circle", folder.file("circle")).unwrap();
        refused_at_once(&folder, "predict model rows.csv --out", "circle");
    }

    #[test]
    fn what_a_dead_process_left_is_removed() {
        let folder = ready();
        folder.write(".udeed-aB3dE6.tmp", "half of a model");
        folder.run("predict model rows.csv --out new.csv");
        assert!(!folder.file(".udeed-aB3dE6.tmp").exists());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_told_by_name() {
        let folder = ready();
        for line in [
            "predict model rows.csv --out /dev/full",
            "data write labor --out /dev/full",
            "compare labor --splits 2 --quiet --json /dev/full",
            "fit rows.csv --label kind --out /dev/full",
        ] {
            let output = folder.command(line).output().unwrap();
            let message = text(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{line}: {message}");
            assert_says(&message, &["/dev/full", "No space left"]);
            assert_eq!(message.matches("No space left").count(), 1, "{line}: {message}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn results_that_cannot_be_shown_are_a_failure() {
        let folder = ready();
        for line in ["predict model rows.csv", "inspect model", "data list", "data write labor"] {
            let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let mut command = Command::new(assert_cmd::cargo::cargo_bin!("udeed"));
            command.current_dir(folder.path()).args(line.split_whitespace()).stdout(full);
            let output = command.output().unwrap();
            let message = refusal(&output, 1, line);
            assert_says(&message, &["standard output", "No space left"]);
        }
    }
}

mod splitting {
    use super::*;

    #[test]
    fn rows_without_labels_are_refused_and_nothing_is_written() {
        let folder = Folder::with("rows.csv", CSV);
        folder.write("unlabeled.csv", "x,ok\n1,\n2,\n");
        let before = names(&folder);
        for source in ["rows.csv", "unlabeled.csv --label ok"] {
            refuses(
                &folder,
                1,
                &format!("data split {source} train.csv test.csv"),
                &[source.split(' ').next().unwrap(), "label"],
            );
            assert_eq!(names(&folder), before, "{source}");
        }
    }

    #[test]
    fn the_rows_are_not_overwritten_with_a_part_of_them() {
        let folder = Folder::with("rows.csv", FRUIT);
        for files in ["rows.csv test.csv", "train.csv rows.csv", "./rows.csv test.csv", "train.csv train.csv"] {
            folder.fail(2, &format!("data split rows.csv --label kind {files}"));
            assert_eq!(names(&folder), ["rows.csv"], "{files}");
            assert_eq!(text(&folder.bytes("rows.csv")), FRUIT, "{files}");
        }
    }

    #[test]
    fn either_both_files_are_written_or_none() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.write("train.csv", "precious");
        let before = names(&folder);
        for test in ["missing/test.csv", ".", "test.libsvm"] {
            folder.fail(1, &format!("data split rows.csv --label kind train.csv {test}"));
            assert_eq!(text(&folder.bytes("train.csv")), "precious", "{test}");
            assert_eq!(names(&folder), before, "{test}");
        }
    }

    #[test]
    fn shares_that_make_no_sense_are_wrong_calls() {
        let folder = Folder::new();
        for (option, told) in [("--test 0", "`test` is 0"), ("--labeled 0", "`labeled` is 0"), ("--test nan", "`test`")]
        {
            refuses(&folder, 2, &format!("data split labor train.csv test.csv {option}"), &[told]);
        }
        assert_eq!(names(&folder).len(), 0);
    }
}

mod model {
    use super::*;

    /// A small model, and a folder to try others in.
    fn small() -> (Folder, Vec<u8>) {
        let folder = Folder::with("rows.csv", CSV);
        folder.run("fit rows.csv --label ok --members 2 --folds 0 --out model");
        let bytes = folder.bytes("model");
        (folder, bytes)
    }

    fn assert_refused(folder: &Folder, bytes: &[u8], case: &str) -> String {
        folder.write("changed.model", bytes);
        let message = refusal(&folder.command("inspect changed.model").output().unwrap(), 1, case);
        assert_eq!(message.lines().count(), 1, "{case}: {message}");
        assert!(message.starts_with("error: changed.model: found "), "{case}: {message}");
        assert!(message.contains(", expected "), "{case}: {message}");
        message
    }

    /// The same file with another header.
    fn with_header(bytes: &[u8], edit: impl Fn(String) -> String) -> Vec<u8> {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let before = text(&bytes[8..8 + length]);
        let header = edit(before.clone());
        assert_ne!(header, before);
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &bytes[8 + length..]].concat()
    }

    fn safetensors(header: &str, data: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat()
    }

    #[test]
    fn no_byte_can_be_flipped() {
        let (folder, bytes) = small();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            assert_refused(&folder, &changed, &format!("byte {at} of {}", bytes.len()));
        }
    }

    #[test]
    fn no_end_can_be_cut_off() {
        let (folder, bytes) = small();
        for length in (0..bytes.len()).step_by(3).chain([bytes.len() - 1]) {
            assert_refused(&folder, &bytes[..length], &format!("{length} of {} bytes", bytes.len()));
        }
    }

    #[test]
    fn a_cut_file_is_told_from_one_that_is_too_long() {
        let (folder, bytes) = small();
        assert!(assert_refused(&folder, &bytes[..bytes.len() - 1], "cut").contains("truncated"));
        assert!(assert_refused(&folder, &bytes[..200], "cut in the header").contains("truncated"));
        let longer = [bytes.as_slice(), b"\n"].concat();
        assert!(!assert_refused(&folder, &longer, "longer").contains("truncated"));
    }

    #[test]
    fn a_description_cannot_be_changed() {
        let (folder, bytes) = small();
        for (from, to) in [
            (r#"\"gamma\":1.0"#, r#"\"gamma\":2.0"#),
            (r#"\"classes\":[\"a\",\"b\"]"#, r#"\"classes\":[\"b\",\"a\"]"#),
            (r#"\"seed\":0"#, r#"\"seed\":1"#),
            (r#"\"vote\":\"weighted\""#, r#"\"vote\":\"unweighted\""#),
            (r#""dtype":"F64""#, r#""dtype":"I64""#),
        ] {
            assert_refused(&folder, &with_header(&bytes, |header| header.replacen(from, to, 1)), to);
        }
    }

    #[test]
    fn not_even_the_checksum_or_the_space_around_can_be_changed() {
        let (folder, bytes) = small();
        for (case, from, to) in [
            ("another type of the checksum", r#""dtype":"U32""#, r#""dtype":"I32""#),
            ("another shape of the checksum", r#""U32","shape":[1]"#, r#""U32","shape":[ ]"#),
            ("a space", r#"{"dtype""#, r#"{ "dtype""#),
            ("a note in the metadata", r#""__metadata__":{"#, r#""__metadata__":{"note":"","#),
        ] {
            assert_refused(&folder, &with_header(&bytes, |header| header.replacen(from, to, 1)), case);
        }
    }

    #[test]
    fn another_format_is_told_with_its_version() {
        let (folder, bytes) = small();
        for (version, told) in [(99, "at most 2"), (1, "fit the model again")] {
            let changed = format!(r#"\"format\":{version},"#);
            let other = with_header(&bytes, |header| header.replacen(r#"\"format\":2,"#, &changed, 1));
            let message = assert_refused(&folder, &other, &changed);
            assert!(message.contains(&format!("format version {version}")) && message.contains(told), "{message}");
        }
        let unlike = safetensors(r#"{"__metadata__":{"udeed":"{\"format\":99,\"all\":\"new\"}"}}"#, b"");
        assert!(assert_refused(&folder, &unlike, "an unlike newer version").contains("format version 99"));
    }

    #[test]
    fn versions_that_never_were_are_refused() {
        let (folder, bytes) = small();
        for version in ["0", "-1", "1.5", "null", "\\\"1\\\"", "4294967296"] {
            let to = format!(r#"\"format\":{version},"#);
            assert_refused(
                &folder,
                &with_header(&bytes, |header| header.replacen(r#"\"format\":2,"#, &to, 1)),
                version,
            );
        }
    }

    #[test]
    fn foreign_files_are_refused() {
        let (folder, _) = small();
        let weights = safetensors(r#"{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#, &[0; 4]);
        assert!(assert_refused(&folder, &weights, "other safetensors").contains("another program"));
        let noted = safetensors(
            r#"{"__metadata__":{"format":"pt"},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#,
            &[0],
        );
        assert!(assert_refused(&folder, &noted, "safetensors with metadata").contains("another program"));
        assert!(assert_refused(&folder, b"", "empty").contains("an empty file"));
        for (case, bytes) in [
            ("JSON", b"{\"format\": 1}\n".to_vec()),
            ("CSV", FRUIT.as_bytes().to_vec()),
            ("gzip", gzipped(FRUIT)),
            ("zeros", vec![0; 1000]),
            ("ones", vec![0xff; 1000]),
            ("an empty description", safetensors(r#"{"__metadata__":{"udeed":""}}"#, b"")),
            ("a description that is a list", safetensors(r#"{"__metadata__":{"udeed":"[1]"}}"#, b"")),
            ("a description alone", safetensors(r#"{"__metadata__":{"udeed":"{\"format\":1}"}}"#, b"")),
        ] {
            assert_refused(&folder, &bytes, case);
        }
    }

    #[test]
    fn noise_is_refused() {
        let (folder, bytes) = small();
        let mut noise = Noise(3);
        for round in 0..60 {
            let n = noise.below(2000);
            assert_refused(&folder, &noise.bytes(n), &format!("round {round}"));
            let rest = noise.bytes(n);
            let header = bytes[..8 + noise.below(300)].to_vec();
            assert_refused(&folder, &[header, rest].concat(), &format!("after a good start, round {round}"));
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_number_in_the_file_costs_no_memory() {
        let (folder, bytes) = small();
        let length = |n: u64| [&n.to_le_bytes(), &bytes[8..]].concat();
        let shape = with_header(&bytes, |header| header.replacen("\"shape\":[2]", "\"shape\":[99999999999999999]", 1));
        for (case, bytes) in [
            ("header of 2^63 bytes", length(1 << 63)),
            ("header of u64::MAX bytes", length(u64::MAX)),
            ("header of 90 MB", length(90_000_000)),
            ("a huge shape", shape),
        ] {
            folder.write("changed.model", bytes);
            refusal(&limited(&folder, "inspect changed.model"), 1, case);
        }
    }

    #[test]
    fn every_verb_refuses_a_damaged_model_and_writes_nothing() {
        let (folder, mut bytes) = small();
        let last = bytes.len() - 30;
        bytes[last] ^= 4;
        folder.write("damaged.model", &bytes);
        let before = names(&folder);
        for line in [
            "predict damaged.model rows.csv --out new.csv",
            "evaluate damaged.model rows.csv",
            "inspect damaged.model",
            "inspect damaged.model --json",
        ] {
            refuses(&folder, 1, line, &["damaged.model", "damaged or changed", "expected a model written by"]);
        }
        assert_eq!(names(&folder), before);
    }

    #[test]
    fn a_model_that_is_not_there_or_is_a_folder_is_told_once() {
        let (folder, _) = small();
        for (name, told) in [("nothing.model", "No such file"), (".", "directory")] {
            let message = refuses(&folder, 1, &format!("predict {name} rows.csv"), &[&format!("error: {name}: ")]);
            assert_eq!(message.matches(told).count(), 1, "{message}");
        }
    }

    #[test]
    fn the_model_and_the_rows_in_the_wrong_order_are_told() {
        let (folder, _) = small();
        refuses(&folder, 1, "predict rows.csv model", &["rows.csv", "expected a model written by udeed"]);
    }
}

mod terminals {
    use super::*;

    /// Clears the screen, sets the title, turns the direction of text.
    const DRIVING: &str = "x\u{1b}[2J\u{1b}]0;y\u{7}\u{9b}31m\u{202e}";

    /// Whether text would drive a terminal.
    fn drives(text: &str) -> bool {
        text.contains(|c: char| c.is_control() && c != '\n' && c != '\t' || c == '\u{202e}')
    }

    /// Rows whose columns, levels and classes would.
    fn hostile() -> Folder {
        let name = format!("{DRIVING}.csv");
        let row = |i: i32, class: &str, level: &str| format!("{i},{},{level}{DRIVING},{class}{DRIVING}\n", i % 5);
        let rows: String = (0..40).map(|i| row(i, ["a", "b"][i as usize / 20], ["p", "q"][i as usize % 2])).collect();
        Folder::with(&name, format!("n{DRIVING},m,l{DRIVING},{DRIVING}\n{rows}"))
    }

    fn run(folder: &Folder, words: &[&str]) -> Output {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("udeed"));
        command.current_dir(folder.path()).args(words).output().unwrap()
    }

    #[test]
    #[cfg(unix)]
    fn names_from_files_are_shown_and_not_obeyed() {
        let folder = hostile();
        let (rows, model, last) = (&*format!("{DRIVING}.csv"), &*format!("{DRIVING}.model"), "-1");
        for words in [
            &["fit", rows, "--label", last, "--out", model, "--folds", "2"][..],
            &["inspect", model],
            &["evaluate", model, rows],
            &["data", "describe", rows, "--label", last],
            &["compare", rows, "--label", last, "--splits", "2"],
            &["compare", rows, "--label", last, "--splits", "2", "--journal", rows],
            &["data", "write", rows, "--label", last, "--to", "libsvm", "--out", "rows.libsvm"],
            &["predict", model, DRIVING],
            &["inspect", rows],
            &["fit", rows, "--label", DRIVING, "--out", rows],
            &["evaluate", rows, rows],
        ] {
            let output = run(&folder, words);
            let shown = text(&output.stdout) + &text(&output.stderr);
            assert!(!shown.is_empty() && !drives(&shown), "{words:?}: {shown:?}");
        }
    }

    /// Nor does what is wrong with a call repeat its words as they are.
    #[test]
    fn the_words_of_a_wrong_call_are_shown_and_not_obeyed() {
        let folder = Folder::new();
        let faked = "x\nerror: all is lost";
        let set = format!("--set={DRIVING}");
        for words in [
            &["inspect", "a", DRIVING][..],
            &["predict", "--no-such", DRIVING],
            &[DRIVING],
            &["fit", "rows.csv", "--threads", DRIVING],
            &["fit", "rows.csv", "--label", "x", "--out", "y", &set],
            &["inspect", faked],
            &["inspect", "a", faked],
            &["data", "describe", faked],
            &["fit", "rows.csv", &format!("--{faked}")],
        ] {
            let output = run(&folder, words);
            let shown = text(&output.stdout) + &text(&output.stderr);
            assert!(!output.status.success() && !drives(&shown), "{words:?}: {shown:?}");
            assert_eq!(shown.lines().filter(|line| line.starts_with("error: ")).count(), 1, "{words:?}: {shown}");
        }
    }

    /// What other programs read is written as it is.
    #[test]
    #[cfg(unix)]
    fn what_is_piped_holds_the_names_as_they_are() {
        let folder = hostile();
        let (rows, model) = (&*format!("{DRIVING}.csv"), "model");
        run(&folder, &["fit", rows, "--label", "-1", "--out", model, "--folds", "0"]);
        let predictions = text(&run(&folder, &["predict", model, rows]).stdout);
        assert!(predictions.contains(&format!("a{DRIVING}")), "{predictions:?}");
    }
}

/// What a model cannot be asked about.
mod prediction {
    use super::*;

    fn trained(options: &str) -> Folder {
        let rows: String = (0..40).map(|i| format!("0.{:02},0.{},{}\n", i, i % 7, ["no", "yes"][i / 20])).collect();
        let folder = Folder::with("rows.csv", format!("a,b,ok\n{rows}"));
        folder.run(&format!("fit rows.csv --label ok --folds 0 --out model {options}"));
        folder
    }

    /// The largest number often stands for a missing one: scaled it is none, and a vote on it would be none either.
    #[test]
    fn a_number_that_is_too_large_when_scaled_is_refused_by_row_and_column() {
        let cell = f64::MAX.to_string();
        for options in
            ["", "--method bagging", "--method auto", "--method co-forest", "--method bagging --scaling none"]
        {
            let folder = trained(options);
            folder.write("new.csv", format!("a,b,ok\n0.1,0.2,no\n0.3,{cell},yes\n0.2,0.1,yes\n"));
            for line in ["predict model new.csv", "predict model new.csv --proba --out p.csv", "evaluate model new.csv"]
            {
                let message = folder.fail(1, line);
                assert_says(&message, &["error: new.csv, row 2, column `b`: found 1.7976931348623157e308", "scaled"]);
                assert_says(&message, &["hint: ", "missing"]);
            }
            assert_eq!(names(&folder), sorted(["model", "new.csv", "rows.csv"]));
        }
    }

    #[test]
    fn a_row_far_down_is_told_by_its_number() {
        let folder = trained("");
        let rows = "0.1,0.2\n".repeat(200_000);
        folder.write("new.csv", format!("a,b\n{rows}0.3,{}\n", f64::MAX));
        let message = text(&folder.command("predict model new.csv --out p.csv").assert().code(1).get_output().stderr);
        assert_says(&message, &["error: new.csv, row 200001, column `b`"]);
        assert_eq!(names(&folder), sorted(["model", "new.csv", "rows.csv"]));
    }

    #[test]
    fn a_column_without_values_is_described_without_them() {
        let folder = Folder::with("rows.csv", format!("a,b,c\n1,,{0}\n2,,{0}\n3,?,{0}\n", f64::MAX));
        let said = folder.run("data describe rows.csv");
        assert!(!said.contains("NaN") && !said.contains("inf"), "{said}");
    }
}

/// Files without end, or that would take all memory: one sentence each.
#[cfg(unix)]
mod limits {
    use super::*;

    #[test]
    fn a_line_without_end_is_refused() {
        let folder = Folder::with("rows.csv", CSV);
        folder.run("fit rows.csv --label ok --folds 0 --out model");
        for format in ["csv", "arff", "libsvm"] {
            for verb in ["data describe", "fit --out new --label 1", "predict model", "evaluate model"] {
                let output = limited(&folder, &format!("{verb} /dev/zero --format {format}"));
                let message = refusal(&output, 1, verb);
                assert_says(&message, &["/dev/zero, line 1: found a line longer than 64.0 MiB", "`--longest-line`"]);
            }
        }
        folder.write("long.csv", format!("a,b\n1,{}1\n", " ".repeat(3_000_000)));
        assert_says(
            &folder.fail(1, "data describe long.csv --longest-line 1M"),
            &["long.csv, line 2: found a line longer"],
        );
        folder.run("data describe long.csv --longest-line 4M");
    }

    /// Bytes of a text that repeats, gzipped: parts of 64 MiB, each a stream of its own, one after the other.
    fn zipped_bomb(text: &[u8], bytes: usize) -> Vec<u8> {
        use std::io::Write;
        const PART: usize = 64 << 20;
        let mut part = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        part.write_all(&text.repeat(PART / text.len())).unwrap();
        part.finish().unwrap().repeat(bytes / PART)
    }

    /// 10 GB of zeros and 2 GB of commas, of which hardly anything is unpacked, by every verb that reads rows.
    #[test]
    fn a_zipped_line_without_end_is_refused() {
        let folder = Folder::with("rows.csv", CSV);
        folder.run("fit rows.csv --label ok --folds 0 --out model");
        for (name, text, bytes) in [("zeros.gz", b"\0", 10 << 30), ("commas.gz", b",", 2 << 30)] {
            let bomb = zipped_bomb(text, bytes);
            assert!(bomb.len() < 12 << 20, "{} bytes", bomb.len());
            folder.write(name, bomb);
            for format in ["csv", "arff", "libsvm"] {
                for verb in
                    ["data describe", "fit --out new --label 1", "predict model", "evaluate model", "doubt", "label"]
                {
                    let call = format!("{verb} {name} --format {format}");
                    let message = refusal(&limited(&folder, &call), 1, &call);
                    let expected = format!("{name}, line 1: found a line longer than 64.0 MiB");
                    assert_says(&message, &[&expected, "`--longest-line`"]);
                }
            }
        }
    }

    /// Short lines, of which each may be: their number takes the memory.
    #[test]
    fn zipped_rows_without_end_are_refused() {
        let folder = Folder::with("rows.csv", CSV);
        let rows = zipped_bomb(b"1,2,a\n2,1,b\n", 1 << 30);
        folder.write("many.csv.gz", [gzipped("x,y,ok\n1,2,a\n"), rows].concat());
        for verb in ["data describe", "fit --label ok --out new", "doubt --label ok", "compare --label ok --splits 2"] {
            let call = format!("{verb} many.csv.gz --memory 20M");
            let message = refusal(&limited(&folder, &call), 1, &call);
            assert_says(
                &message,
                &["many.csv.gz: found rows that take more memory than they may, expected at most 20.0 MiB"],
            );
        }
    }

    #[test]
    fn a_quoted_cell_is_bounded_until_longer_lines_are_allowed() {
        let cell = "x".repeat((16 << 20) + 1);
        let folder = Folder::with("rows.csv", format!("a,b\n1,p\n2,\"{cell}\"\n3,p\n"));
        let refused = folder.fail(1, "data describe rows.csv");
        let expected = "rows.csv, line 3: found a quote that does not close within 16.0 MiB, expected a smaller cell";
        assert_says(&refused, &[expected, "hint: ", "`--longest-line`"]);
        let bounded = folder.fail(1, "data describe rows.csv --longest-line 12M");
        assert_says(&bounded, &["rows.csv, line 3: found a line longer than 12.0 MiB"]);
        folder.run("data describe rows.csv --longest-line 17M");
    }

    /// The file takes no room on the disk: after its header come zeros that nobody wrote.
    #[test]
    fn a_model_file_is_bounded_by_the_memory() {
        let folder = Folder::with("rows.csv", CSV);
        let length: u64 = 600 << 20;
        let tensor = format!(r#""w":{{"dtype":"U8","shape":[{length}],"data_offsets":[0,{length}]}}"#);
        let header = format!(r#"{{"__metadata__":{{"udeed":"none"}},{tensor}}}"#);
        folder.write("large.model", [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat());
        let file = fs::File::options().write(true).open(folder.path().join("large.model")).unwrap();
        file.set_len(8 + header.len() as u64 + length).unwrap();
        for call in ["inspect large.model", "predict large.model rows.csv", "evaluate large.model rows.csv"]
            .into_iter()
            .chain(["export large.model --onnx x.onnx", "suggest rows.csv --label ok --model large.model"])
        {
            // Half of a gigabyte.
            let message = refusal(&limited(&folder, call), 1, call);
            let expected = "large.model: the members of the model take 0.6 GiB, expected at most ";
            assert_says(&message, &[expected, "0.5 GiB", "hint: allow more with `--memory`"]);
            let message = folder.fail(1, &format!("{call} --memory 300M"));
            assert_says(&message, &[expected, "0.3 GiB"]);
            // Now it is read, and is no model.
            let message = folder.fail(1, &format!("{call} --memory 700M"));
            assert_says(&message, &["large.model: found ", "expected a model written by"]);
        }
    }

    #[test]
    fn what_is_no_model_is_not_read_to_its_end() {
        let folder = Folder::with("rows.csv", CSV);
        for line in ["inspect /dev/zero", "predict /dev/zero rows.csv", "evaluate /dev/zero rows.csv"] {
            let message = refusal(&limited(&folder, line), 1, line);
            assert_says(
                &message,
                &["/dev/zero: found a file that is not a whole safetensors file", "expected a model"],
            );
        }
    }

    #[test]
    fn what_is_no_file_of_answers_is_not_read_to_its_end() {
        let folder = Folder::with("rows.csv", "x,ok\n1,a\n2,\n3,\n");
        folder.write("a.csv", "row,fingerprint,answer,label,origin,predicted,check\n");
        for line in ["--merge /dev/zero", "--merge a.csv /dev/zero", "--merge .", "--answers /dev/zero --no-open"] {
            let message = refusal(&limited(&folder, &format!("label rows.csv --label ok {line}")), 1, line);
            assert_says(&message, &["a folder or a device, expected the header of a file of answers"]);
        }
        // A terabyte of zeros that takes no room on the disk, as rows, and after a good start.
        for (name, start, told) in [
            ("zeros.csv", "", "line 1: `\\u{0}"),
            ("long.csv", "row,fingerprint,answer,label,origin,predicted,check\n", "found 1024.0 GiB, expected a"),
        ] {
            folder.write(name, start);
            let file = fs::File::options().write(true).open(folder.path().join(name)).unwrap();
            file.set_len(1 << 40).unwrap();
            for call in [format!("--merge {name}"), format!("--answers {name} --no-open")] {
                let message = refusal(&limited(&folder, &format!("label rows.csv --label ok {call}")), 1, &call);
                assert_says(&message, &[name, told, "expected "]);
                assert_eq!(file.metadata().unwrap().len(), 1 << 40, "{call}");
            }
        }
    }

    #[test]
    fn too_many_columns_are_counted_and_not_kept() {
        let folder = Folder::with("wide.csv", ",".repeat(20_000_000));
        let message = refusal(&limited(&folder, "data describe wide.csv"), 1, "wide");
        let expected = "wide.csv, line 1: found 20000001 columns, expected at most 1048576";
        assert_says(&message, &[expected, "`--most-columns`"]);
        folder.write("row.csv", format!("a,b\n1,2\n{}", ",".repeat(20_000_000)));
        let message = refusal(&limited(&folder, "data describe row.csv"), 1, "row");
        assert_says(&message, &["row.csv, line 3: found 20000001 cells, expected 2"]);
        let header = "@relation r\n@attribute a numeric\n@attribute b numeric\n@data\n";
        folder.write("row.arff", format!("{header}1,2\n{}1", "1,".repeat(10_000_000)));
        let message = refusal(&limited(&folder, "data describe row.arff"), 1, "row");
        assert_says(&message, &["row.arff, line 6: found 10000001 values, expected 2"]);
        let names: Vec<String> = (0..2000).map(|i| i.to_string()).collect();
        folder.write("few.csv", format!("{}\n{}\n", names.join(","), names.join(",")));
        refuses(
            &folder,
            1,
            "data describe few.csv --most-columns 1999",
            &["few.csv, line 1: found 2000 columns, expected at most 1999"],
        );
        folder.run("data describe few.csv --most-columns 2000");
    }

    #[test]
    fn rows_of_every_file_are_bounded_by_the_memory() {
        let folder = Folder::with("rows.csv", CSV);
        folder.write("many.csv", format!("x,y,ok\n{}", "1,2,a\n2,1,b\n".repeat(5000)));
        folder.write("zipped.csv.gz", gzipped(&text(&folder.bytes("many.csv"))));
        folder.run("fit rows.csv --label ok --folds 0 --out model");
        for file in ["many.csv", "zipped.csv.gz"] {
            for verb in ["fit --label ok --out new", "data describe", "evaluate model", "compare --label ok --splits 2"]
            {
                let message = folder.fail(1, &format!("{verb} {file} --memory 100K"));
                let expected =
                    format!("{file}: found rows that take more memory than they may, expected at most 100.0 KiB");
                assert_says(&message, &[&expected, "hint: ", "`--memory`"]);
            }
            // Rows that are predicted are not kept.
            folder.run(&format!("predict model {file} --memory 1K --out predictions.csv"));
        }
        folder.run("data describe many.csv --memory 1M");
    }

    #[test]
    fn words_and_costs_are_bounded_by_the_memory() {
        let cells: String = (0..3000).map(|i| format!("{},{i:x<1000},{}\n", i % 7, ["a", "b", ""][i % 3])).collect();
        let folder = Folder::with("words.csv", format!("n,word,ok\n{cells}"));
        folder.write("words.csv.gz", gzipped(&text(&folder.bytes("words.csv"))));
        for (file, label) in [("words.csv", "ok"), ("words.csv.gz", "ok"), ("words.csv", "word")] {
            for verb in ["data describe", "fit --out model --method bagging --folds 0", "compare --splits 2"] {
                let message = folder.fail(1, &format!("{verb} {file} --label {label} --memory 2M"));
                let expected =
                    format!("{file}: found rows that take more memory than they may, expected at most 2.0 MiB");
                assert_says(&message, &[&expected, "hint: ", "`--memory`"]);
            }
            folder.run(&format!("data describe {file} --label {label} --memory 8M"));
        }
        let header: String = (0..30).map(|i| format!("@attribute a{i} {{{i:x<50000}}}\n")).collect();
        folder.write("wide.arff", format!("@relation r\n{header}@data\n{}\n", vec!["?"; 30].join(",")));
        refuses(&folder, 1, "data describe wide.arff --memory 2M", &["wide.arff: found rows that take more memory"]);
        folder.run("data describe wide.arff --memory 16M");
        let rows: String =
            (0..20_000).map(|i| format!("{},{},{}\n", i % 7, 1 + i % 3, ["a", "b", ""][i % 3])).collect();
        folder.write("rows.csv", format!("n,price,ok\n{rows}"));
        let line = "suggest rows.csv --label ok --strategy random --cost price --memory";
        let expected = "the numbers of column `price` take 0.3 MiB, expected at most 0.3 MiB";
        refuses(&folder, 1, &format!("{line} 300K"), &[expected]);
        folder.run(&format!("{line} 8M"));
    }

    #[test]
    fn more_members_than_fit_into_memory_are_refused() {
        let folder = Folder::with("rows.csv", CSV);
        for card in udeed::method::Method::cards() {
            let method = card.name;
            let line = format!("fit rows.csv --label ok --method {method} --members 1000000000 --out model");
            let output = limited(&folder, &line);
            if card.setting("members").is_none() {
                let message = refusal(&output, 2, &line);
                assert_says(&message, &["`--members`", &format!("`{method}` has no such setting")]);
                continue;
            }
            let message = refusal(&output, 1, &line);
            assert_says(&message, &["1000000000 members", "expected at most", "hint: use fewer `--members`"]);
        }
        let line = "compare rows.csv --label ok --sizes 1000000000 --splits 2";
        assert_says(&refusal(&limited(&folder, line), 1, line), &["1000000000 members", "smaller `--sizes`"]);
    }
}
