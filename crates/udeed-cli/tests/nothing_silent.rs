//! Nothing is silent: what is merged, left out, or has no effect is said.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::fs::{self, File};
use std::process::{Command, Stdio};

use support::{FRUIT, Folder, refusal, text};

/// Two numbers and a label in each row.
fn labeled(labels: &[&str]) -> String {
    let row = |i: usize| format!("{},{},{}\n", i % 7, (i * i) % 11, labels[i % labels.len()]);
    "x,z,y\n".to_owned() + &(0..24).map(row).collect::<String>()
}

/// Standard error of a call that must succeed.
fn said(folder: &Folder, line: &str) -> String {
    text(&folder.command(line).assert().success().get_output().stderr)
}

/// A call with standard output appended to a file, or in its place.
fn printed_into(folder: &Folder, line: &str, file: &str, appends: bool) -> std::process::Output {
    let out = File::options().write(true).append(appends).truncate(!appends).open(folder.file(file)).unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("udeed"));
    command.current_dir(folder.path()).args(line.split_whitespace()).stdout(out).stderr(Stdio::piped());
    command.output().unwrap()
}

mod labels {
    use super::*;

    #[test]
    fn leading_zeros_make_classes_of_their_own() {
        let folder = Folder::with("rows.csv", labeled(&["007", "7", "08", "8"]));
        let described = folder.run("data describe rows.csv --label y");
        assert!(described.contains("labels: 007: 6, 08: 6, 7: 6, 8: 6; unlabeled: 0"), "{described}");
        folder.run("fit rows.csv --label y --folds 0 --method bagging --members 3 --out model");
        let evaluated = folder.run("evaluate model rows.csv");
        assert!(evaluated.contains("true \\ predicted  007  08  7  8"), "{evaluated}");
        let predicted = folder.run("predict model rows.csv");
        assert!(predicted.lines().skip(1).all(|class| ["007", "7", "08", "8"].contains(&class)), "{predicted}");
    }

    #[test]
    fn two_spellings_of_a_number_are_refused_unless_they_are_names() {
        let folder = Folder::with("rows.csv", labeled(&["1", "1.0", "2"]));
        let words = ["rows.csv, column `y`: found the labels `1` and `1.0`, which are one number", "`--nominal y`"];
        for verb in ["data describe rows.csv", "fit rows.csv --out model", "compare rows.csv"] {
            folder.fail_with(1, &format!("{verb} --label y"), &words);
        }
        let described = folder.run("data describe rows.csv --label y --nominal y");
        assert!(described.contains("labels: 1: 8, 1.0: 8, 2: 8; unlabeled: 0"), "{described}");
        // Where the classes of a model are known, a label is one of them.
        folder.write("plain.csv", labeled(&["1", "2"]));
        folder.run("fit plain.csv --label y --folds 0 --out model");
        folder.write("test.csv", labeled(&["1.0", "2.0"]));
        assert!(folder.run("evaluate model test.csv").starts_with("24 labeled rows"));
        // LIBSVM has numbers, however they are written.
        folder.write("rows.libsvm", "1 1:2\n+1 1:3\n01 1:1\n-1 1:4\n-1.0 1:5\n");
        assert!(folder.run("data describe rows.libsvm").contains("labels: -1: 2, 1: 3;"));
        // What LIBSVM would take for one class gets numbers of its own.
        let output = folder.command("data write rows.csv --label y --nominal y --to libsvm").assert().success();
        assert!(text(&output.get_output().stderr).contains("0 is 1, 1 is 1.0, 2 is 2"));
    }

    #[test]
    fn minus_one_beside_a_word_is_told() {
        for (labels, is_told) in
            [(["-1", "a"], true), (["-1.0", "b"], true), (["-1", "1"], false), (["-1", "0"], false)]
        {
            let folder = Folder::with("rows.csv", labeled(&labels));
            let told = said(&folder, "data describe rows.csv --label y");
            assert_eq!(
                told.contains(&format!("warning: rows.csv: found the class `{}`", labels[0])),
                is_told,
                "{told}"
            );
        }
    }

    #[test]
    fn a_label_column_is_not_left_out() {
        let folder = Folder::with("rows.csv", labeled(&["a", "b"]));
        let words = ["rows.csv: found column `y` both as the labels and to be left out, expected one of the two"];
        folder.fail_with(1, "fit rows.csv --label y --drop y --out model", &words);
        folder.fail_with(1, "data write rows.csv --label 3 --drop -1", &words);
        folder.run("data write rows.csv --label y --out rows.arff");
        // The labels of an ARFF file are a column as any other, if none are asked for.
        folder.write("class.arff", text(&folder.bytes("rows.arff")).replace("@attribute y", "@attribute class"));
        assert!(folder.run("data describe class.arff").contains("labels: a: 12, b: 12;"));
        assert!(folder.run("data describe class.arff --drop class").contains("no labels"));
    }

    #[test]
    fn a_feature_is_no_label_when_a_model_needs_it() {
        let folder = Folder::with("rows.csv", labeled(&["a", "b"]));
        folder.run("fit rows.csv --label y --folds 0 --out model");
        let words = ["rows.csv: found column `x` as the labels, expected it among the features, as in training"];
        folder.fail_with(1, "evaluate model rows.csv --label x", &words);
        folder.fail_with(1, "predict model rows.csv --drop z", &["found column `z` to be left out, expected it among"]);
    }

    #[test]
    fn classes_that_are_meant_occur_and_have_labels() {
        let folder = Folder::with("rows.csv", labeled(&["no", "b"]));
        for verb in ["fit rows.csv --out model", "data describe rows.csv", "compare rows.csv --splits 1"] {
            let line = format!("{verb} --label y --class");
            folder.fail_with(2, &format!("{line} nnoe"), &["`--class nnoe`: no row has this label", "`b`, `no`"]);
            let both = ["`--class no`", "`--unlabeled-mark no`", "expected one of the two"];
            folder.fail_with(2, &format!("{line} no --unlabeled-mark no"), &both);
            folder.run(&format!("{line} no"));
        }
    }
}

/// A file that has the name of a lock, and is none, is nobody's to empty or remove.
#[test]
fn files_beside_a_journal_stay_as_they_are() {
    let folder = Folder::with("data.lock", labeled(&["a", "b"]));
    folder.write("Cargo.lock", "[[package]]\n");
    folder.write("rows.csv", labeled(&["a", "b"]));
    for (rows, journal) in [("rows.csv", "Cargo"), ("data.lock --format csv", "data")] {
        let before = folder.bytes(&format!("{journal}.lock"));
        let line = format!("compare {rows} --label y --splits 2 --journal {journal}");
        folder.fail_with(1, &line, &[&format!("{journal}.lock"), "another file has this name"]);
        assert_eq!(folder.bytes(&format!("{journal}.lock")), before);
    }
    folder.write("rows.labels.csv.lock", "mine\n");
    folder.fail_with(1, "label rows.csv --label y --no-open", &["rows.labels.csv.lock", "another file has this name"]);
    assert_eq!(folder.bytes("rows.labels.csv.lock"), b"mine\n");
}

/// A step that overflows is not taken, and observers do not hear of it.
#[test]
fn a_trace_holds_numbers() {
    let folder = Folder::with("rows.csv", labeled(&["a", "b", ""]));
    for options in ["--rate 1.7e308", "--precision single --rate 1e39", "--precision single --rate 1e45"] {
        let line = format!("fit rows.csv --label y --folds 0 --out model --trace trace.csv {options}");
        let told = said(&folder, &line);
        assert!(told.contains("warning: the descent took no step"), "{options}: {told}");
        let trace = text(&folder.bytes("trace.csv"));
        assert!(trace.lines().count() > 1, "{options}: {trace}");
        for line in trace.lines().skip(1) {
            assert!(
                line.split(',').skip(1).take(4).all(|x| x.parse::<f64>().unwrap().is_finite()),
                "{options}: {trace}"
            );
        }
        let inspected = folder.run("inspect model --json");
        assert!(!inspected.contains("NaN") && !inspected.contains("null,\"diversity"), "{inspected}");
    }
}

mod rows {
    use super::*;

    #[test]
    fn a_number_that_is_too_large_is_named_before_anything_is_written() {
        let rows = labeled(&["a", "b"]).replacen("\n3,9,b", "\n1.7e308,9,b", 1);
        let folder = Folder::with("rows.csv", &rows);
        folder.write("good.csv", labeled(&["a", "b"]));
        folder.write("more.csv", "x,z\n1,2\n3,-1.7e308\n".to_owned() + &"4,5\n".repeat(200));
        let cell = "rows.csv, row 4, column `x`: found 1.7e308, expected a number that is at most 1e300 in size";
        let hint = "hint: if the number stands for a missing value, leave the cell empty";
        for options in ["", "--folds 0", "--choose", "--method auto", "--scaling none", "--threshold balanced"] {
            let line = format!("fit rows.csv --label y --out model {options}");
            assert_eq!(folder.fail(1, &line), format!("error: {cell}\n{hint}\n"), "{options}");
            assert!(!folder.file("model").exists(), "{options}");
        }
        for memory in ["", "--memory 1K"] {
            let line = format!("fit good.csv --label y --unlabeled more.csv --out model --quiet {memory}");
            folder.fail_with(1, &line, &["error: more.csv, row 2, column `z`: found -1.7e308, expected"]);
        }
        folder.fail_with(1, "compare rows.csv --label y --splits 2", &[cell]);
    }

    #[test]
    fn a_row_that_only_its_fold_cannot_scale_costs_the_cross_validation_alone() {
        let rows: String = (0..12).map(|i| format!("{}e-200,{}\n", i % 5, ["a", "b"][i % 2])).collect();
        let folder = Folder::with("rows.csv", "x,y\n".to_owned() + &rows.replacen("\n3e-200", "\n1e200", 1));
        let message = said(&folder, "fit rows.csv --label y --out model --method bagging");
        let warning = "warning: no cross-validation, a fold cannot be scaled: rows.csv, row 4, column `x`: found 1e200";
        assert!(message.contains(warning), "{message}");
        folder.run("predict model rows.csv");
    }

    #[test]
    fn suggest_and_doubt_name_the_row_that_is_too_large() {
        let rows: String = (0..30).map(|i| format!("{},{}\n", i % 7, ["a", "", "b"][i % 3])).collect();
        let found = "column `x`: found 1e307, expected a number that is at most 1e300 in size";
        for label in ["a", ""] {
            let folder = Folder::with("rows.csv", format!("x,y\n{rows}1e307,{label}\n"));
            for verb in ["suggest", "suggest --method bagging", "suggest --strategy random", "doubt"] {
                folder.fail_with(1, &format!("{verb} rows.csv --label y"), &[&format!("rows.csv, row 31, {found}")]);
            }
        }
        // A model may have a smaller scale than the rows.
        let small: String = (0..30).map(|i| format!("{}e-200,{}\n", i % 7, ["a", "b"][i % 2])).collect();
        let folder = Folder::with("small.csv", format!("x,y\n{small}"));
        folder.run("fit small.csv --label y --folds 0 --method bagging --out model");
        folder.write("rows.csv", format!("x,y\n{rows}1e140,\n"));
        let words = ["rows.csv, row 31, column `x`: found 1e140, which is beyond all numbers when scaled"];
        folder.fail_with(1, "suggest rows.csv --label y --model model", &words);
    }

    #[test]
    fn a_blank_line_of_one_column_is_refused() {
        let folder = Folder::with("rows.csv", labeled(&["a", "b"]));
        folder.run("fit rows.csv --label y --drop z --folds 0 --out model");
        let texts = ["x\n1\n\n3\n", "x\n1\n3\n\n", "x\n\n1\n", "x\r\n1\r\n\r\n3\r\n", "x\r1\r\r3\r", "x\n\"1\"\n\n3\n"];
        for (text, line) in texts.iter().zip([3, 4, 2, 3, 1, 3]) {
            folder.write("one.csv", text);
            let words = [&format!("one.csv, line {line}: found a blank line, expected a cell"), "write `?`"];
            folder.fail_with(1, "predict model one.csv", &words.map(|word| word as &str));
            folder.fail_with(1, "data describe one.csv", &["found a blank line"]);
        }
        for text in ["x\n1\n?\n3\n", "\n\nx\n1\n\"\"\n3", "x\r\n1\r\n \r\n3\r\n", "x\r1\r?\r3"] {
            folder.write("one.csv", text);
            assert_eq!(folder.run("predict model one.csv").lines().count(), 4, "{text:?}");
        }
        folder.write("one.csv", "\n1\n2\n");
        folder.fail_with(1, "data describe one.csv --no-header", &["one.csv, line 1: found a blank line"]);
        // What is written can be read.
        folder.write("one.csv", "x\n1\n?\n");
        folder.run("data write one.csv --out other.csv");
        assert!(folder.run("data describe other.csv").starts_with("2 rows, 1 column, dense"));
        // Elsewhere a blank line is none of the rows.
        folder.write("two.csv", "x,z\n1,2\n\n3,4\n\n");
        assert!(folder.run("data describe two.csv").starts_with("2 rows, 2 columns"));
    }

    #[test]
    fn words_for_missing_values_and_other_encodings_have_hints() {
        let folder = Folder::with("rows.csv", labeled(&["a", "b"]).replacen("\n3,9,b", "\nn/a,9,b", 1));
        let words = ["found `n/a`, expected a number", "leave the cell empty", "`--nominal x`"];
        folder.fail_with(1, "data describe rows.csv", &words);
        folder.write("first.csv", "x\nunknown\n2\n");
        folder.fail_with(1, "data describe first.csv", &["like `unknown` in line 2", "leave the cell empty"]);
        for mark in [[0xff, 0xfe], [0xfe, 0xff]] {
            let bytes: Vec<u8> = labeled(&["a", "b"]).encode_utf16().flat_map(u16::to_le_bytes).collect();
            folder.write("wide.csv", [&mark[..], &bytes].concat());
            folder.fail_with(1, "data describe wide.csv", &["not UTF-8", "`iconv -f UTF-16 -t UTF-8`"]);
        }
    }
}

mod outputs {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn nothing_is_printed_into_what_is_read() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        let model = folder.bytes("model");
        for (line, file) in [
            ("data write rows.csv", "rows.csv"),
            ("data describe rows.csv", "rows.csv"),
            ("predict model rows.csv", "rows.csv"),
            ("predict model rows.csv --out other.csv", "rows.csv"),
            ("evaluate model rows.csv", "rows.csv"),
            ("compare rows.csv --label kind --splits 1", "rows.csv"),
            ("fit rows.csv --label kind --out other", "rows.csv"),
            ("evaluate model rows.csv", "model"),
            ("inspect model", "model"),
            ("export model --onnx other", "model"),
        ] {
            let before = folder.bytes(file);
            let output = printed_into(&folder, line, file, true);
            let message = refusal(&output, 2, line);
            assert!(message.contains(&format!("{file}: cannot be read, standard output goes there")), "{message}");
            assert_eq!(folder.bytes(file), before, "{line}");
            let message = refusal(&printed_into(&folder, line, file, false), 2, line);
            assert!(message.contains("standard output goes there"), "{message}");
            folder.write("rows.csv", FRUIT);
            folder.write("model", &model);
        }
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("udeed"));
        command.current_dir(folder.path()).args(["data", "write", "-", "--format", "csv"]);
        command.stdin(File::open(folder.file("rows.csv")).unwrap());
        command.stdout(File::options().append(true).open(folder.file("rows.csv")).unwrap());
        let output = command.stderr(Stdio::piped()).output().unwrap();
        assert!(refusal(&output, 2, "stdin").contains("standard input: cannot be read, standard output goes there"));
        folder.write("other.csv", "");
        assert!(printed_into(&folder, "data write rows.csv", "other.csv", true).status.success());
        assert!(!fs::read(folder.file("other.csv")).unwrap().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_said_into_what_is_read() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        for (line, file) in
            [("predict model rows.csv", "rows.csv"), ("data describe rows.csv", "rows.csv"), ("inspect model", "model")]
        {
            let before = folder.bytes(file);
            let error = File::options().append(true).open(folder.file(file)).unwrap();
            let mut command = Command::new(assert_cmd::cargo::cargo_bin!("udeed"));
            command.current_dir(folder.path()).args(line.split_whitespace()).stderr(error);
            let output = command.stdout(Stdio::piped()).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{line}");
            let message = format!("error: {file}: cannot be read, standard error goes there\n");
            assert_eq!(text(&output.stdout), message);
            assert_eq!(folder.bytes(file), before, "{line}");
        }
    }

    #[test]
    fn what_was_written_is_told() {
        let folder = Folder::with("rows.csv", FRUIT);
        let n = FRUIT.lines().count() - 1;
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        let predicted = said(&folder, "predict model rows.csv --out predictions.csv");
        assert_eq!(predicted, format!("wrote {n} predictions to predictions.csv\n"));
        assert_eq!(said(&folder, "data write rows.csv --out rows.arff"), format!("wrote {n} rows to rows.arff\n"));
        assert_eq!(said(&folder, "predict model rows.csv --out predictions.csv --quiet"), "");
        assert_eq!(said(&folder, "predict model rows.csv"), "");
        let split = "wrote 2 labeled and 5 unlabeled rows to train.csv\nwrote 5 rows to test.csv\n";
        assert_eq!(said(&folder, "data split rows.csv train.csv test.csv --label kind --labeled 2"), split);
        let fitted = said(&folder, "fit rows.csv --label kind --folds 0 --out model --trace trace.csv");
        assert_eq!(fitted, "wrote trace.csv\nwrote model\n");
        assert_eq!(said(&folder, "export model --onnx model.onnx"), "wrote model.onnx\n");
        assert!(said(&folder, "suggest rows.csv --label kind --count 2 --out ask").ends_with("wrote 2 rows to ask\n"));
        assert!(said(&folder, "doubt rows.csv --label kind --out doubt").ends_with("wrote 9 labels to doubt\n"));
        let kinds = ["journal", "json", "csv", "markdown", "latex", "html"];
        let options = kinds.map(|kind| format!("--{kind} labor.{kind}")).join(" ");
        let expected = kinds.map(|kind| format!("wrote labor.{kind}\n")).concat();
        assert_eq!(said(&folder, &format!("compare labor --splits 1 {options}")), expected);
        assert_eq!(said(&folder, "compare labor --splits 1 --csv -"), "");
    }

    #[test]
    fn standard_output_takes_one_result() {
        let folder = Folder::with("rows.csv", FRUIT);
        for two in ["--json - --csv -", "--csv - --markdown -", "--latex - --html -"] {
            folder.fail_with(2, &format!("compare labor --splits 1 {two}"), &["standard output takes one result"]);
        }
        folder.fail_with(2, "compare labor --journal -", &["`--journal -`"]);
        folder.fail_with(2, "fit rows.csv --label kind --out model --trace -", &["`--trace -`"]);
        let csv = folder.run("compare labor --splits 1 --csv -");
        assert!(csv.starts_with("dataset,size,method,") && csv.lines().count() == 6, "{csv}");
        assert!(folder.run("compare labor --splits 1 --markdown -").starts_with("### Test accuracy"));
    }

    #[test]
    fn one_split_has_no_deviation() {
        let folder = Folder::new();
        let csv = folder.run("compare labor --splits 1 --methods logistic,bagging --csv -");
        let header: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
        let place = header.iter().position(|name| *name == "std").unwrap();
        assert!(csv.lines().skip(1).all(|line| line.split(',').nth(place) == Some("")), "{csv}");
        let json: serde_json::Value = serde_json::from_str(&folder.run("compare labor --splits 1 --json -")).unwrap();
        assert!(json["results"][0]["std"].is_null(), "{json}");
        for option in ["--markdown -", "--latex -", "--html -"] {
            let text = folder.run(&format!("compare labor --splits 1 --methods logistic,bagging {option}"));
            assert!(!text.contains("± 0.000") && !text.contains("$\\pm$"), "{option}");
        }
    }

    #[test]
    fn one_is_not_many() {
        let folder = Folder::with("rows.csv", "x,y\n1,a\n2,b\n3,a\n");
        let fitted = folder.run("fit rows.csv --label y --method adaboost --members 1 --folds 0 --out model");
        assert!(fitted.contains("3 labeled rows (a: 2, b: 1), 0 unlabeled rows, 1 feature\n"), "{fitted}");
        assert!(fitted.contains("adaboost: 1 member\n"), "{fitted}");
        assert!(folder.run("inspect model").starts_with("adaboost, 1 member\n"));
        assert!(folder.run("compare labor --splits 1").contains("\n1 split of "));
    }
}

mod settings {
    use super::*;

    #[test]
    fn threads_that_would_only_wait_are_refused() {
        let folder = Folder::new();
        folder.fail_with(2, "data list --threads 65535", &["`--threads 65535`: expected at most", "cores"]);
        folder.run("data list --threads 8");
    }

    #[test]
    fn a_setting_without_effect_is_named() {
        let folder = Folder::with("rows.csv", FRUIT);
        for (options, option, why) in [
            ("--method bagging --base tree --lambda 3", "--lambda", "only logistic regression is regularised"),
            ("--method adaboost --set base=bayes --set lambda=1", "--set lambda", "only logistic regression"),
            ("--variant lc --gamma 3", "--gamma", "the variant `lc` has no diversity"),
            ("--initial random --lambda 3", "--lambda", "members that begin at random are not regularised"),
            ("--steps 0 --rate 0.5", "--rate", "there is no descent with 0 steps"),
            ("--steps 0 --gamma 1", "--gamma", "there is no descent with 0 steps"),
        ] {
            let said = said(&folder, &format!("fit rows.csv --label kind --folds 0 --out model {options}"));
            let expected = format!("warning: `{option}` does not change the ensemble: {why}");
            assert!(said.contains(&expected), "{options}: {said}");
            assert_eq!(said.matches("does not change the ensemble").count(), 1, "{options}: {said}");
        }
        let of_use = "--gamma 3 --lambda 2 --rate 0.5 --variant lcd --precision single --loss hinge";
        let said = said(&folder, &format!("fit rows.csv --label kind --folds 0 --out model {of_use}"));
        assert!(!said.contains("does not change"), "{said}");
    }

    #[test]
    fn a_comparison_refuses_what_changes_none_of_its_methods() {
        let folder = Folder::new();
        let tree = "compare labor --splits 1 --base tree --lambda 3 --methods";
        let words = ["`--lambda`: changes no method of this comparison: only logistic regression is regularised"];
        folder.fail_with(2, &format!("{tree} bagging,adaboost"), &words);
        folder.run(&format!("{tree} bagging,logistic"));
        folder.fail_with(2, "compare labor --methods lcud,lcd --steps 0 --rate 1", &["`--rate`: changes no method"]);
        folder.run("compare labor --splits 1 --methods lc,lcud --gamma 2");
    }

    #[test]
    fn a_setting_has_one_value() {
        let folder = Folder::with("rows.csv", FRUIT);
        let fit = "fit rows.csv --label kind --folds 0 --out model";
        for (options, words) in [
            ("--gamma 1 --set gamma=2", "`--set gamma` is 2, where `--gamma` is 1: expected one of them"),
            ("--gamma 1 --set udeed.gamma=2", "`--set udeed.gamma` is 2, where `--gamma` is 1"),
            ("--set gamma=1 --set gamma=2", "`--set gamma` is 2, where `--set gamma` is 1"),
            ("--members 5 --set members=6", "`--members` is 5, where `--set members` is 6"),
        ] {
            folder.fail_with(2, &format!("{fit} {options}"), &[words]);
        }
        folder.run(&format!("{fit} --gamma 2 --set gamma=2"));
        folder.fail_with(2, "compare labor --lambda 1 --set lambda=2", &["where `--lambda` is 1"]);
        // A value of one method besides that of all others.
        folder.run("compare labor --splits 1 --methods bagging,logistic --lambda 1 --set bagging.lambda=2");
    }
}

mod files {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn what_is_passed_over_in_a_folder_is_told() {
        let folder = Folder::new();
        fs::create_dir_all(folder.file("u/sub")).unwrap();
        folder.write("u/fruit.csv", FRUIT);
        folder.write("u/more.csv", "mass,width,colour,kind\n100,5,red,apple\n120,6,,\n");
        folder.write("u/part.csv", "mass,width,colour\n100,5,red\n");
        folder.write("u/notes.dat", "");
        folder.write("u/_SUCCESS", "");
        let fit = "fit u/fruit.csv --label kind --folds 0 --method bagging --out model --unlabeled";
        let told = said(&folder, &format!("{fit} u"));
        let other = "note: passed over u/notes.dat and 1 more: no file of rows by its name";
        let own = "note: passed over u/fruit.csv: its rows are the labeled ones";
        let expected = [other, own, "note: column `kind` of u is not used", "wrote model"];
        assert_eq!(told.lines().collect::<Vec<&str>>(), expected);
        assert!(folder.run(&format!("{fit} u")).starts_with("9 labeled rows (apple: 5, orange: 4), 6 unlabeled rows"));
        assert!(said(&folder, &format!("{fit} u/more.csv")).contains("note: the labels in u/more.csv are not used"));
        // The unlabeled rows of the file itself are there once.
        let told = said(&folder, &format!("{fit} u/../u/fruit.csv"));
        assert!(told.contains("note: passed over u/../u/fruit.csv: its rows are the labeled ones"), "{told}");
        let suggest = "suggest u/fruit.csv --label kind --unlabeled u/fruit.csv";
        folder.fail_with(2, suggest, &["`--unlabeled u/fruit.csv`", "expected another file"]);
        let told = said(&folder, "predict model u --out p/");
        assert!(told.starts_with("note: passed over u/notes.dat and 1 more"), "{told}");
    }

    #[test]
    fn predictions_that_are_older_than_their_rows_or_the_model_are_made_again() {
        let folder = Folder::with("fruit.csv", FRUIT);
        fs::create_dir(folder.file("new")).unwrap();
        folder.write("new/a.csv", "mass,width,colour\n150,7,red\n");
        folder.run("fit fruit.csv --label kind --folds 0 --out model");
        folder.run("predict model new --out p/");
        let predict = "predict model new --out p/ --resume";
        let old = "note: p/a.csv is older than its rows or the model: predicted again\nwrote 1 prediction to p/a.csv\n";
        let there = "note: new/a.csv is passed over, its predictions are there\n";
        assert_eq!(said(&folder, predict), there);
        let later = |name: &str, seconds: u64| {
            let file = File::options().append(true).open(folder.file(name)).unwrap();
            file.set_modified(SystemTime::now() + Duration::from_secs(seconds)).unwrap();
        };
        later("new/a.csv", 100);
        assert_eq!(said(&folder, predict), old);
        later("p/a.csv", 200);
        assert_eq!(said(&folder, predict), there);
        later("model", 300);
        assert_eq!(said(&folder, predict), old);
    }

    #[test]
    fn the_index_of_a_data_frame_is_told() {
        for (name, is_told) in
            [("", true), ("Unnamed: 0", true), ("__index_level_0__", true), ("index_level_0", false), ("x", false)]
        {
            let rows: String = (0..8).map(|i| format!("{i},{},{}\n", i * 3 % 5, ["a", "b"][i % 2])).collect();
            let folder = Folder::with("rows.csv", format!("{name},z,y\n{rows}"));
            let told = said(&folder, "fit rows.csv --label y --folds 0 --method bagging --out model");
            assert_eq!(told.contains("is the index of a data frame by its name; `--drop` leaves"), is_told, "{told}");
        }
    }
}
