//! Every verb through the real binary, on good input.

#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use support::{FRUIT, Folder, text};

const ENDINGS: [&str; 6] = ["csv", "csv.gz", "arff", "arff.gz", "libsvm", "libsvm.gz"];
const METHODS: [&str; 5] = ["logistic", "initial", "lc", "lcd", "lcud"];
const SETS: [(&str, usize, usize); 7] = [
    ("ionosphere", 351, 34),
    ("diabetes", 768, 8),
    ("vote", 435, 16),
    ("house", 232, 16),
    ("sonar", 208, 60),
    ("wdbc", 569, 30),
    ("labor", 57, 26),
];

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// CSV text as rows of cells, the header included.
fn cells(text: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect()
}

/// The probabilities of `predict --proba`, exactly as they were written.
fn probabilities(predictions: &str) -> Vec<Vec<String>> {
    cells(predictions).into_iter().skip(1).map(|row| row[1..].to_vec()).collect()
}

/// Rows in which two labels of three, in the last cell, are gone.
fn mostly_unlabeled(csv: &str) -> String {
    let line = |(i, line): (usize, &str)| match line.rsplit_once(',') {
        Some((features, _)) if i % 3 != 0 => format!("{features},\n"),
        _ => format!("{line}\n"),
    };
    csv.lines().enumerate().map(line).collect()
}

/// `all.csv`, a built-in set, and `some.csv`, the same with most labels gone.
fn folder_with(set: &str) -> Folder {
    let folder = Folder::new();
    folder.run(&format!("data write {set} --out all.csv"));
    folder.write("some.csv", mostly_unlabeled(&text(&folder.bytes("all.csv"))));
    folder
}

fn ionosphere_in_every_format() -> Folder {
    let folder = folder_with("ionosphere");
    for ending in &ENDINGS[1..] {
        for name in ["all", "some"] {
            folder.run(&format!("data write {name}.csv --label class --out {name}.{ending}"));
        }
    }
    folder
}

fn feed(folder: &Folder, line: &str, input: &[u8]) -> Output {
    folder.command(line).write_stdin(input).assert().success().get_output().clone()
}

fn inspect(folder: &Folder, model: &str) -> Value {
    parsed(&folder.run(&format!("inspect {model} --json")))
}

mod formats {
    use super::*;

    #[test]
    fn trees_tell_which_columns_count() {
        let folder = folder_with("ionosphere");
        folder.run("fit some.csv --label class --method bagging --base tree --folds 0 --out trees");
        let shown = folder.run("inspect trees");
        assert!(shown.contains("\nImportances (mean decrease of impurity)\n  0."), "{shown}");
        assert!(shown.contains(" more: `--json` lists them\n"), "{shown}");
        let importances = inspect(&folder, "trees")["importances"].clone();
        let sum: f64 = importances.as_array().unwrap().iter().filter_map(Value::as_f64).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{importances}");
        folder.run("fit some.csv --label class --method bagging --folds 0 --out linear");
        assert!(inspect(&folder, "linear")["importances"].is_null());
        assert!(!folder.run("inspect linear").contains("Importances"));
    }

    #[test]
    fn predictions_are_the_same_whatever_the_format() {
        let folder = ionosphere_in_every_format();
        let mut all = Vec::new();
        for ending in ENDINGS {
            folder.run(&format!("fit some.{ending} --label class --members 5 --folds 0 --out {ending}.model"));
            let predictions = folder.run(&format!("predict {ending}.model all.{ending} --proba"));
            let classes: Vec<String> = cells(&predictions)
                .into_iter()
                .skip(1)
                .map(|row| row[0].replace("-1", "b").replace('1', "g"))
                .collect();
            all.push((classes, probabilities(&predictions)));
        }
        assert_eq!(all[0].1.len(), 351);
        for (other, ending) in all.iter().zip(ENDINGS) {
            assert_eq!(*other, all[0], "{ending}");
        }
    }

    #[test]
    fn figures_are_the_same_whatever_the_format() {
        let folder = ionosphere_in_every_format();
        let figures = |ending: &str| {
            folder.run(&format!("fit some.{ending} --label class --members 5 --folds 0 --out model"));
            let report = parsed(&folder.run(&format!("evaluate model all.{ending} --json")));
            ["n_rows", "accuracy", "auc", "log_loss", "confusion"].map(|name| report[name].clone())
        };
        let usual = figures("csv");
        assert_eq!(usual[0], json!(351));
        for ending in ENDINGS {
            assert_eq!(figures(ending), usual, "{ending}");
        }
    }

    #[test]
    fn a_model_from_named_columns_predicts_csv_and_arff_alike() {
        let folder = ionosphere_in_every_format();
        folder.run("fit some.arff --folds 0 --out model");
        assert_eq!(folder.run("predict model all.arff --proba"), folder.run("predict model all.csv.gz --proba"));
    }

    #[test]
    fn standard_input_gives_what_the_file_gives() {
        let folder = ionosphere_in_every_format();
        for ending in ENDINGS {
            let format = ending.trim_end_matches(".gz");
            let (some, all) = (folder.bytes(&format!("some.{ending}")), folder.bytes(&format!("all.{ending}")));
            folder.run(&format!("fit some.{ending} --label class --members 5 --folds 0 --out file.model"));
            let line = format!("fit - --format {format} --label class --members 5 --folds 0 --out stream.model");
            feed(&folder, &line, &some);
            assert_eq!(folder.bytes("file.model"), folder.bytes("stream.model"), "{ending}");
            for verb in ["predict", "evaluate"] {
                let streamed = feed(&folder, &format!("{verb} file.model - --format {format}"), &all);
                assert_eq!(text(&streamed.stdout), folder.run(&format!("{verb} file.model all.{ending}")), "{ending}");
            }
        }
    }

    #[test]
    fn gzip_is_recognised_by_content_and_format_by_name_in_any_case() {
        let folder = folder_with("labor");
        folder.run("data write some.csv --label class --out zipped.csv.gz");
        folder.write("plain.CSV", folder.bytes("zipped.csv.gz"));
        let usual = folder.model("fit some.csv --label class --folds 0");
        assert_eq!(folder.model("fit plain.CSV --label class --folds 0"), usual);
    }

    #[test]
    fn the_format_option_overrides_the_name() {
        let folder = folder_with("labor");
        folder.run("data write some.csv --label class --to arff --out some.data");
        let usual = folder.model("fit some.csv --label class --folds 0");
        assert_eq!(folder.model("fit some.data --format arff --folds 0"), usual);
    }

    #[test]
    fn any_delimiter_is_read() {
        let folder = Folder::with("rows.csv", FRUIT);
        let usual = folder.model("fit rows.csv --label kind --folds 0");
        for (name, delimiter, options) in [
            ("rows.tsv", "\t", ""),
            ("tabs.csv", "\t", "--delimiter tab"),
            ("semicolons.csv", ";", "--delimiter ;"),
            ("bars.txt", "|", "--delimiter |"),
        ] {
            folder.write(name, FRUIT.replace(',', delimiter));
            assert_eq!(folder.model(&format!("fit {name} --label kind --folds 0 {options}")), usual, "{name}");
        }
    }

    #[test]
    fn line_ends_of_windows_and_a_byte_order_mark_do_not_matter() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.write("windows.csv", format!("\u{feff}{}", FRUIT.replace('\n', "\r\n")));
        let usual = folder.model("fit rows.csv --label kind --folds 0");
        assert_eq!(folder.model("fit windows.csv --label kind --folds 0"), usual);
    }

    #[test]
    fn quoted_names_and_classes_come_back_as_they_were() {
        let rows =
            "\"mass, g\",\"the \"\"kind\"\"\"\n1,\"a, b\"\n2,\"a, b\"\n8,\"say \"\"c\"\"\"\n9,\"say \"\"c\"\"\"\n";
        let folder = Folder::with("rows.csv", rows);
        folder.run("fit rows.csv --label -1 --folds 0 --out model");
        assert_eq!(inspect(&folder, "model")["label"], "the \"kind\"");
        let predictions = cells(&folder.run("predict model rows.csv --proba"));
        assert_eq!(predictions[0], ["prediction", "p(a, b)", "p(say \"c\")"]);
        assert_eq!((predictions[1][0].as_str(), predictions[4][0].as_str()), ("a, b", "say \"c\""));
    }

    #[test]
    fn sparse_arff_rows_mean_the_same_as_dense_ones() {
        let header = "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@attribute class {no,yes}\n@data\n";
        let folder = Folder::with("dense.arff", format!("{header}1,x,no\n2,y,no\n7,y,yes\n9,x,yes\n0,x,?\n0,x,no\n"));
        let sparse = "{0 1}\n{0 2, 1 y}\n{0 7, 1 y, 2 yes}\n{0 9, 2 yes}\n{2 ?}\n{}\n";
        folder.write("sparse.arff", format!("{header}{sparse}"));
        let dense = folder.model("fit dense.arff --folds 0");
        assert_eq!(folder.model("fit sparse.arff --layout dense --folds 0"), dense);
    }

    #[test]
    fn sparse_rows_are_kept_sparse_or_made_dense_with_the_same_predictions() {
        let row = |i: usize| format!("{} {i}:{}\n", ["1", "-1", "?"][i % 3], 1 + i * i % 7);
        let folder = Folder::with("rows.libsvm", (1..=20).map(row).collect::<String>());
        let fit = |layout: &str| {
            folder.run(&format!("fit rows.libsvm --layout {layout} --folds 0 --out model"));
            probabilities(&folder.run("predict model rows.libsvm --proba"))
        };
        assert!(folder.run("data describe rows.libsvm").contains("sparse"));
        for (row, other) in fit("sparse").iter().flatten().zip(fit("dense").iter().flatten()) {
            let (a, b): (f64, f64) = (row.parse().unwrap(), other.parse().unwrap());
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
    }
}

mod fitting {
    use super::*;

    #[test]
    fn unlabeled_rows_of_a_second_file_count_as_rows_without_a_label() {
        let folder = folder_with("ionosphere");
        let some = text(&folder.bytes("some.csv"));
        let (header, rows) = some.split_once('\n').unwrap();
        let (unlabeled, labeled): (Vec<&str>, Vec<&str>) = rows.lines().partition(|row| row.ends_with(','));
        let without_label = |line: &str| line.rsplit_once(',').unwrap().0.to_owned();
        let more: Vec<String> = unlabeled.iter().map(|row| without_label(row)).collect();
        folder.write("both.csv", format!("{header}\n{}\n{}\n", labeled.join("\n"), unlabeled.join("\n")));
        folder.write("labeled.csv", format!("{header}\n{}\n", labeled.join("\n")));
        folder.write("more.csv", format!("{}\n{}\n", without_label(header), more.join("\n")));
        let both = folder.model("fit both.csv --label class --folds 0");
        for ending in ["csv", "arff", "arff.gz"] {
            if ending != "csv" {
                folder.run(&format!("data write more.csv --out more.{ending}"));
            }
            let line = format!("fit labeled.csv --label class --unlabeled more.{ending} --folds 0");
            assert_eq!(folder.model(&line), both, "{ending}");
        }
        assert_eq!(inspect(&folder, "model")["training"]["n_unlabeled"], 234);
    }

    #[test]
    fn unlabeled_libsvm_rows_may_come_in_a_second_file() {
        let folder = Folder::with("rows.libsvm", "1 1:5 2:1\n1 1:6\n-1 2:4\n-1 2:3 3:1\n");
        folder.write("more.libsvm", "? 1:4\n1:2 2:2\n3 4:1\n");
        folder.run("fit rows.libsvm --unlabeled more.libsvm --folds 0 --out model");
        let model = inspect(&folder, "model");
        assert_eq!(model["training"]["n_unlabeled"], 3);
        assert_eq!(model["features"], json!(["1", "2", "3", "4"]));
    }

    #[test]
    fn every_instruction_set_and_number_of_threads_gives_the_same_model() {
        let folder = folder_with("ionosphere");
        for options in ["", "--precision single", "--fourier 50", "--method auto", "--method auto --prior labeled"] {
            let mut found = Vec::new();
            for (instructions, threads) in [("scalar", "1"), ("avx2", "2"), ("avx512", "5"), ("", "3")] {
                let run = |line: &str| {
                    let mut command = folder.command(line);
                    command
                        .env("UDEED_INSTRUCTIONS", instructions)
                        .env("RAYON_NUM_THREADS", threads)
                        .assert()
                        .success();
                };
                run(&format!("fit some.csv --label class --folds 0 --members 30 {options} --out model"));
                run("predict model some.csv --out predicted.csv");
                found.push((folder.bytes("model"), folder.bytes("predicted.csv")));
            }
            assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{options}");
        }
        // Where the machine lacks one, the best that it has was tried once more: said past the capture of the test harness.
        #[cfg(target_arch = "x86_64")]
        {
            use std::io::Write;
            let (avx2, avx512) = (is_x86_feature_detected!("avx2"), is_x86_feature_detected!("avx512f"));
            let _ = writeln!(std::io::stderr(), "models: same bits; on this machine avx2 is {avx2}, avx512 {avx512}");
        }
    }

    #[test]
    fn an_unknown_instruction_set_is_refused() {
        let folder = folder_with("labor");
        let mut command = folder.command("fit some.csv --label class --out model");
        let output = command.env("UDEED_INSTRUCTIONS", "avx1024").assert().code(2);
        let expected = "error: `UDEED_INSTRUCTIONS` is `avx1024`, expected `avx512`, `avx2` or `scalar`\n";
        assert_eq!(text(&output.get_output().stderr), expected);
    }

    #[test]
    fn rows_that_exceed_the_memory_are_streamed_to_the_same_model() {
        let folder = ionosphere_in_every_format();
        for (some, all) in [("csv", "csv"), ("csv", "csv.gz"), ("csv", "arff"), ("libsvm", "libsvm")] {
            let label = if some == "csv" { "--label class" } else { "" };
            let file = &format!("all.{all}");
            let line = format!("fit some.{some} {label} --unlabeled {file} --folds 3");
            folder.run(&format!("{line} --out kept.model"));
            let output = folder.command(&format!("{line} --memory 200K --out streamed.model")).assert().success();
            let notes = text(&output.get_output().stderr);
            assert!(notes.contains("read again in every step"), "{file}: {notes}");
            assert!(folder.bytes("kept.model") == folder.bytes("streamed.model"), "{file}");
        }
        let line = "fit some.csv --label class --unlabeled all.csv --memory 200K --method semiboost --out model";
        let output = folder.command(line).assert().failure();
        assert!(text(&output.get_output().stderr).contains("`--memory`"));
    }

    #[test]
    fn labels_in_the_unlabeled_file_are_not_used_and_that_is_said() {
        let folder = folder_with("labor");
        let output = folder.command("fit some.csv --label class --unlabeled all.csv --out model").assert().success();
        assert!(text(&output.get_output().stderr).contains("labels in all.csv are not used"));
        let training = inspect(&folder, "model")["training"].clone();
        assert_eq!((&training["n_labeled"], &training["n_unlabeled"]), (&json!(19), &json!(38 + 57)));
    }

    #[test]
    fn the_unlabeled_file_may_have_another_format_than_a_stream() {
        let folder = folder_with("labor");
        folder.run("data write all.csv --label class --out more.arff");
        let line = "fit - --format csv --label class --unlabeled more.arff --folds 0 --out model";
        feed(&folder, line, &folder.bytes("some.csv"));
        assert_eq!(inspect(&folder, "model")["training"]["n_unlabeled"], 38 + 57);
    }

    #[test]
    fn the_unlabeled_rows_may_come_from_standard_input() {
        let folder = folder_with("labor");
        let line = "fit some.csv --label class --unlabeled - --format csv --folds 0 --out model";
        feed(&folder, line, &folder.bytes("all.csv"));
        assert_eq!(inspect(&folder, "model")["training"]["n_unlabeled"], 38 + 57);
    }

    #[test]
    fn every_mark_of_an_unlabeled_row_means_the_same() {
        let folder = Folder::with("rows.csv", FRUIT);
        let usual = folder.model("fit rows.csv --label kind --folds 0");
        assert_eq!(inspect(&folder, "model")["training"]["n_unlabeled"], 3);
        for (mark, options) in
            [("?", ""), ("NA", ""), ("nan", ""), ("unknown", "--unlabeled-mark unknown"), ("-1", "--unlabeled-mark -1")]
        {
            folder.write("marked.csv", FRUIT.replace(",\n", &format!(",{mark}\n")));
            assert_eq!(folder.model(&format!("fit marked.csv --label kind --folds 0 {options}")), usual, "{mark}");
        }
    }

    #[test]
    fn classes_that_look_like_missing_labels_are_warned_of_unless_they_are_meant() {
        let folder = Folder::new();
        let told = |line: &str| text(&folder.command(line).assert().success().get_output().stderr);
        for mark in ["null", "None", "N/A", "-1"] {
            folder.write("rows.csv", FRUIT.replace(",\n", &format!(",{mark}\n")));
            let hint = format!(
                "warning: rows.csv: found the class `{mark}`: if such rows have no label, say `--unlabeled-mark {mark}`; if \
                 they do, `--class {mark}`\n"
            );
            for line in [
                "fit rows.csv --label kind --folds 0 --out model",
                "compare rows.csv --label kind --splits 1 --labeled 0.5 --methods logistic",
                "data describe rows.csv --label kind",
            ] {
                assert!(told(line).contains(&hint), "{}", told(line));
                for option in [format!("--unlabeled-mark {mark}"), format!("--class {mark}"), "--quiet".into()] {
                    let said = told(&format!("{line} {option}"));
                    assert!(!said.contains("warning: rows.csv"), "{option}: {said}");
                }
            }
        }
        folder.write("rows.csv", FRUIT.replace(",\n", ",None\n").replacen(",None", ",null", 1));
        let said = told("fit rows.csv --label kind --folds 0 --out model");
        assert!(said.contains("found the classes `None`, `null`: ") && said.contains("`--class None,null`"), "{said}");
    }

    #[test]
    fn a_numeric_mark_matches_other_spellings_of_the_number() {
        let folder = Folder::with("rows.libsvm", "1 1:5\n1 1:6\n2 1:1\n2 1:2\n0 1:3\n+0.0 1:4\n");
        folder.run("fit rows.libsvm --unlabeled-mark 0 --folds 0 --out model");
        assert_eq!(inspect(&folder, "model")["training"]["n_unlabeled"], 2);
        assert_eq!(inspect(&folder, "model")["classes"], json!(["1", "2"]));
    }

    #[test]
    fn the_label_column_is_given_by_name_or_by_number() {
        let folder = folder_with("labor");
        let usual = folder.model("fit some.csv --label class --folds 0");
        for label in ["27", "-1"] {
            assert_eq!(folder.model(&format!("fit some.csv --label {label} --folds 0")), usual, "{label}");
        }
    }

    #[test]
    fn columns_that_are_dropped_are_not_learned_from_nor_asked_for() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --drop colour,1 --folds 0 --out model");
        assert_eq!(inspect(&folder, "model")["features"], json!(["width"]));
        folder.write("width.csv", "width\n7.1\n7.4\n");
        let whole = folder.run("predict model rows.csv --proba");
        assert!(whole.starts_with(&folder.run("predict model width.csv --proba")));
    }

    #[test]
    fn a_built_in_set_obeys_the_reading_options() {
        let folder = Folder::new();
        folder.run("fit labor --drop duration --folds 0 --out model");
        assert_eq!(inspect(&folder, "model")["columns"].as_array().unwrap().len(), 25);
    }

    #[test]
    fn an_unknown_column_of_a_built_in_set_is_refused() {
        let folder = Folder::new();
        for options in ["--drop nope", "--nominal nope", "--label nope"] {
            let message = folder.fail(1, &format!("fit labor {options} --out model"));
            assert!(message.contains("`nope`") && message.contains("labor"), "{options}: {message}");
        }
    }

    #[test]
    fn numbers_that_are_names_become_nominal_on_request() {
        let folder = Folder::with("rows.csv", "zip,size,ok\n10,1,a\n20,2,a\n10,8,b\n30,9,b\n");
        folder.run("fit rows.csv --label ok --nominal zip --folds 0 --out model");
        assert_eq!(inspect(&folder, "model")["features"], json!(["zip=10", "zip=20", "zip=30", "size"]));
    }

    #[test]
    fn the_summary_tells_rows_stages_and_the_gain_over_the_labels_alone() {
        let folder = folder_with("ionosphere");
        let summary = folder.run("fit some.csv --label class --out model");
        for told in ["117 labeled rows", "234 unlabeled rows", "\nunlabeled rows  ", "labels alone", "lcud", "5 folds"]
        {
            assert!(summary.contains(told), "{told} in {summary}");
        }
    }

    #[test]
    fn the_trace_holds_every_step_and_the_loss_falls_over_those_accepted() {
        let folder = folder_with("ionosphere");
        folder.run("fit some.csv --label class --gamma 2 --folds 0 --trace steps.csv --out model");
        let steps = text(&folder.bytes("steps.csv"));
        assert_eq!(steps.lines().next(), Some("stage,step,v_emp,v_div,v,accepted"));
        let steps = cells(&steps)[1..].to_vec();
        let stages = inspect(&folder, "model")["training"]["stages"].as_array().unwrap().clone();
        let names: Vec<&str> = stages.iter().map(|stage| stage["stage"].as_str().unwrap()).collect();
        assert_eq!(names, ["labeled", "unlabeled"]);
        for stage in &stages {
            let own: Vec<&Vec<String>> = steps.iter().filter(|step| stage["stage"] == step[0].as_str()).collect();
            let number = |step: &[String], i: usize| step[i].parse::<f64>().unwrap();
            let accepted: Vec<f64> = own.iter().filter(|step| step[5] == "true").map(|step| number(step, 4)).collect();
            assert!(accepted.len() > 1 && accepted.is_sorted_by(|a, b| a > b), "{accepted:?}");
            assert_eq!(stage["steps"], accepted.len() - 1);
            assert_eq!(stage["first"]["total"], json!(accepted[0]));
            assert_eq!(stage["last"]["total"], json!(accepted[accepted.len() - 1]));
            for step in own {
                let expected = number(step, 2) + 2.0 * number(step, 3);
                assert!((number(step, 4) - expected).abs() < 1e-12, "{step:?}");
            }
        }
    }

    #[test]
    fn every_setting_is_recorded_and_has_an_effect() {
        let folder = folder_with("ionosphere");
        let fit = |options: &str| {
            folder.run(&format!("fit some.csv --label class --folds 0 --out model {options}"));
            let settings = inspect(&folder, "model")["settings"].clone();
            (settings, folder.run("predict model all.csv --proba"))
        };
        let (_, usual) = fit("--members 30");
        for (option, name, value) in [
            ("--members 10", "members", json!(10)),
            ("--members 30 --variant lc", "variant", json!("lc")),
            ("--members 30 --variant lcd", "variant", json!("lcd")),
            ("--members 30 --gamma 0.5", "gamma", json!(0.5)),
            ("--members 30 --lambda 3", "lambda", json!(3.0)),
            ("--members 30 --scaling standard", "scaling", json!("standard")),
            ("--members 30 --scaling none", "scaling", json!("none")),
            ("--members 30 --fourier 40", "fourier", json!(40)),
            ("--members 30 --loss squared", "loss", json!("squared")),
            ("--members 30 --loss hinge", "loss", json!("hinge")),
            ("--members 30 --initial random", "initial", json!("random")),
            ("--members 30 --rate 0.1", "rate", json!(0.1)),
            ("--members 30 --scale-rate", "scale_rate", json!(true)),
            ("--members 30 --steps 3", "steps", json!(3)),
            ("--members 30 --vote unweighted", "vote", json!("unweighted")),
            ("--members 30 --precision single", "precision", json!("single")),
            ("--members 30 --seed 18446744073709551615", "seed", json!(u64::MAX)),
        ] {
            let (settings, predictions) = fit(option);
            assert_eq!(settings[name], value, "{option}");
            assert!(predictions != usual, "{option} changes nothing");
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_paper() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        let expected = json!({
            "method": "udeed", "variant": "lcud", "members": 20, "gamma": 1.0, "lambda": 1.0, "scaling": "minmax", "fourier": 0, "loss": "logistic",
            "hidden": 0, "initial": "bootstrap", "rate": 0.25, "scale_rate": false, "steps": 25, "vote": "weighted",
            "precision": "double", "calibrated": false, "seed": 0,
        });
        assert_eq!(inspect(&folder, "model")["settings"], expected);
    }

    #[test]
    fn gamma_does_not_matter_without_diversity() {
        let folder = folder_with("ionosphere");
        let fit = |gamma: f64| {
            folder.run(&format!("fit some.csv --label class --variant lc --gamma {gamma} --folds 0 --out model"));
            folder.run("predict model all.csv --proba")
        };
        assert_eq!(fit(0.0), fit(7.0));
    }

    #[test]
    fn one_seed_gives_the_same_bytes_on_one_and_two_threads() {
        let folder = folder_with("ionosphere");
        for (threads, model) in [(1, "one"), (2, "two"), (2, "again")] {
            folder.run(&format!("fit some.csv --label class --seed 5 --threads {threads} --out {model}"));
        }
        assert_eq!(folder.bytes("one"), folder.bytes("two"));
        assert_eq!(folder.bytes("two"), folder.bytes("again"));
        folder.run("fit some.csv --label class --seed 6 --folds 0 --out other");
        assert_ne!(folder.run("predict one all.csv --proba"), folder.run("predict other all.csv --proba"));
    }

    #[test]
    fn cross_validation_does_not_change_the_model() {
        let folder = folder_with("labor");
        let with = folder.model("fit some.csv --label class");
        assert_eq!(folder.model("fit some.csv --label class --folds 0"), with);
    }

    #[test]
    fn an_old_model_is_replaced() {
        let folder = folder_with("labor");
        folder.write("model", "something old");
        folder.run("fit some.csv --label class --folds 0 --out model");
        assert_eq!(inspect(&folder, "model")["training"]["n_labeled"], 19);
    }
}

mod prediction {
    use super::*;

    fn fruit_model() -> Folder {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        folder
    }

    fn predict(folder: &Folder, rows: &str) -> Vec<Vec<String>> {
        folder.write("new.csv", rows);
        probabilities(&folder.run("predict model new.csv --proba"))
    }

    /// Rows are predicted some at a time, sparse ones from a temporary file where there is no room: no prediction shows
    /// it.
    #[test]
    fn predictions_do_not_depend_on_the_rows_around_them() {
        const TIMES: usize = 40;
        let folder = ionosphere_in_every_format();
        for (ending, header) in [("csv", 1), ("arff", 0), ("libsvm", 0)] {
            let label = if ending == "csv" { "--label class" } else { "" };
            folder.run(&format!("fit some.{ending} {label} --folds 0 --out model"));
            let rows = text(&folder.bytes(&format!("all.{ending}")));
            let start: usize = match ending {
                "arff" => rows.find("@data\n").unwrap() + "@data\n".len(),
                _ => rows.split_inclusive('\n').take(header).map(str::len).sum(),
            };
            let many = format!("{}{}", &rows[..start], rows[start..].repeat(TIMES));
            assert!(many.len() > 2 << 20, "several chunks");
            folder.write(&format!("many.{ending}"), &many);
            let few = folder.run(&format!("predict model all.{ending} --proba"));
            let (names, rows) = few.split_once('\n').unwrap();
            let expected = format!("{names}\n{}", rows.repeat(TIMES));
            assert!(folder.run(&format!("predict model many.{ending} --proba --memory 10K")) == expected, "{ending}");
            let line = format!("predict model - --format {ending} --proba");
            assert!(text(&feed(&folder, &line, many.as_bytes()).stdout) == expected, "{ending}");
        }
    }

    #[test]
    fn probabilities_sum_to_one_and_the_likelier_class_is_predicted() {
        let folder = folder_with("ionosphere");
        for vote in ["weighted", "unweighted"] {
            folder.run(&format!("fit some.csv --label class --vote {vote} --folds 0 --out model"));
            let rows = cells(&folder.run("predict model all.csv --proba"));
            assert_eq!(rows[0], ["prediction", "p(b)", "p(g)"]);
            assert_eq!(rows.len(), 352);
            for row in &rows[1..] {
                let (b, g): (f64, f64) = (row[1].parse().unwrap(), row[2].parse().unwrap());
                assert!((b + g - 1.0).abs() < 1e-12 && (0.0..=1.0).contains(&b), "{row:?}");
                assert_eq!(row[0], if g > 0.5 { "g" } else { "b" }, "{row:?}");
            }
        }
    }

    #[test]
    fn without_proba_only_the_classes_are_written() {
        let folder = fruit_model();
        let with = cells(&folder.run("predict model rows.csv --proba"));
        let without = cells(&folder.run("predict model rows.csv"));
        assert_eq!(without, with.iter().map(|row| vec![row[0].clone()]).collect::<Vec<_>>());
    }

    #[test]
    fn out_holds_what_standard_output_would_plain_or_gzipped() {
        let folder = fruit_model();
        let expected = folder.run("predict model rows.csv --proba");
        for name in ["out.csv", "out.csv.gz"] {
            assert_eq!(folder.run(&format!("predict model rows.csv --proba --out {name}")), "");
        }
        assert_eq!(text(&folder.bytes("out.csv")), expected);
        assert_eq!(folder.bytes("out.csv.gz")[..2], [0x1f, 0x8b]);
        assert_eq!(folder.run("data write out.csv.gz"), folder.run("data write out.csv"));
    }

    #[test]
    fn columns_may_stand_in_another_order_among_others() {
        let folder = fruit_model();
        let usual = predict(&folder, "mass,width,colour\n150,7.1,red\n120,6.1,orange\n");
        let shuffled = "note,colour,kind,width,mass\ninf,red,,7.1,150\n7,orange,plum,6.1,120\n";
        assert_eq!(predict(&folder, shuffled), usual);
    }

    #[test]
    fn a_label_column_called_by_a_number_is_not_taken_for_a_place_later() {
        let folder = Folder::with("rows.csv", "a,b,2\n1,2,p\n2,1,q\n3,3,p\n1,0,q\n");
        folder.run("fit rows.csv --label 2 --folds 0 --out model");
        folder.write("new.csv", "a,b\n1,2\n2,1\n3,3\n1,0\n");
        assert_eq!(folder.run("predict model new.csv --proba"), folder.run("predict model rows.csv --proba"));
    }

    #[test]
    fn a_missing_number_counts_as_the_mean_and_a_missing_name_as_the_most_frequent() {
        let folder = Folder::with("rows.csv", "size,colour,ok\n2,red,a\n4,red,a\n8,blue,b\n10,red,b\n");
        folder.run("fit rows.csv --label ok --folds 0 --out model");
        let filled = predict(&folder, "size,colour\n6,red\n6,blue\n9,red\n");
        for missing in ["", "?", "NA", "NaN"] {
            let rows = format!("size,colour\n{missing},{missing}\n{missing},blue\n9,{missing}\n");
            assert_eq!(predict(&folder, &rows), filled, "{missing:?}");
        }
    }

    #[test]
    fn values_never_seen_in_training_all_count_alike() {
        let folder = fruit_model();
        let rows = predict(&folder, "mass,width,colour\n150,7.1,violet\n150,7.1,12\n150,7.1,orange\n150,7.1,red\n");
        assert_eq!(rows[0], rows[1]);
        assert!(rows[0] != rows[2] && rows[0] != rows[3]);
    }

    #[test]
    fn a_level_that_only_unlabeled_rows_have_is_learned_as_a_column() {
        let folder = Folder::with("rows.csv", FRUIT.replace("149,7.0,red,", "149,7.0,violet,"));
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        let features = inspect(&folder, "model")["features"].clone();
        let expected =
            ["mass", "width", "colour=green", "colour=orange", "colour=red", "colour=violet"].map(Value::from);
        assert_eq!(features, Value::from(expected.to_vec()));
    }

    #[test]
    fn an_arff_file_may_declare_other_values_in_another_order() {
        let folder = fruit_model();
        let usual = predict(&folder, "mass,width,colour\n150,7.1,red\n120,6.1,orange\n150,7.1,violet\n");
        let header =
            "@relation r\n@attribute colour {violet,orange,red}\n@attribute width real\n@attribute mass real\n";
        folder.write("new.arff", format!("{header}@data\nred,7.1,150\norange,6.1,120\nviolet,7.1,150\n"));
        assert_eq!(probabilities(&folder.run("predict model new.arff --proba")), usual);
    }

    #[test]
    fn a_libsvm_index_the_model_does_not_know_is_ignored_and_one_left_out_is_zero() {
        let folder = Folder::with("rows.libsvm", "1 1:5 2:1\n1 1:6\n-1 2:4\n-1 2:3 3:1\n");
        folder.run("fit rows.libsvm --folds 0 --out model");
        folder.write("a.libsvm", "1 1:5 2:0 3:0\n");
        folder.write("b.libsvm", "1:5 900:3\n");
        assert_eq!(folder.run("predict model a.libsvm --proba"), folder.run("predict model b.libsvm --proba"));
    }

    /// The rows of [`FRUIT`] without a header, the label moved to a place from 0.
    fn headless(place: Option<usize>) -> String {
        let mut text = String::new();
        for row in cells(FRUIT).into_iter().skip(1) {
            let (label, features) = row.split_last().unwrap();
            let mut row = features.to_vec();
            if let Some(place) = place {
                row.insert(place, label.clone());
            }
            text.push_str(&format!("{}\n", row.join(",")));
        }
        text
    }

    #[test]
    fn without_a_header_the_label_may_stand_anywhere_and_may_be_left_out_later() {
        let folder = fruit_model();
        let usual = probabilities(&folder.run("predict model rows.csv --proba"));
        folder.write("bare.csv", headless(None));
        for (place, label) in [(0, "1"), (0, "-4"), (1, "2"), (2, "3"), (3, "4"), (3, "-1")] {
            folder.write("headless.csv", headless(Some(place)));
            folder.run(&format!("fit headless.csv --no-header --label {label} --folds 0 --out model"));
            for (name, options) in [("headless.csv", "--no-header"), ("headless.csv", ""), ("bare.csv", "")] {
                let predictions = folder.run(&format!("predict model {name} --proba {options}"));
                assert_eq!(probabilities(&predictions), usual, "label {label}, {name} {options}");
            }
            let report = parsed(&folder.run("evaluate model headless.csv --json"));
            assert_eq!(report["n_rows"], 9);
        }
    }

    #[test]
    fn without_a_header_a_dropped_column_still_stands_in_later_files() {
        let folder = Folder::with("headless.csv", headless(Some(0)));
        folder.run("fit headless.csv --no-header --label 1 --drop 4 --folds 0 --out model");
        folder.write("bare.csv", headless(None));
        let predictions = folder.run("predict model headless.csv --proba");
        assert_eq!(folder.run("predict model bare.csv --proba"), predictions);
        assert_eq!(inspect(&folder, "model")["features"], json!(["1", "2"]));
    }

    #[test]
    fn without_a_header_unlabeled_rows_may_come_with_or_without_the_label() {
        let folder = Folder::with("headless.csv", headless(Some(1)));
        let fit = |name: &str| {
            let line = "fit headless.csv --no-header --label 2 --folds 0 --out model";
            folder.run(&format!("{line} --unlabeled {name}"));
            folder.bytes("model")
        };
        folder.write("bare.csv", headless(None));
        folder.write("whole.csv", headless(Some(1)));
        assert_eq!(fit("bare.csv"), fit("whole.csv"));
    }
}

mod evaluation {
    use super::*;

    /// Whether each row of ionosphere is of class `g`, and the probability that a model gives to that.
    fn truth_and_probability(folder: &Folder) -> Vec<(bool, f64)> {
        let labels = cells(&text(&folder.bytes("all.csv"))).into_iter().skip(1).map(|row| row[34] == "g");
        let predictions = probabilities(&folder.run("predict model all.csv --proba"));
        labels.zip(predictions.into_iter().map(|row| row[1].parse().unwrap())).collect()
    }

    #[test]
    fn figures_follow_from_the_predictions() {
        let folder = folder_with("ionosphere");
        folder.run("fit some.csv --label class --folds 0 --out model");
        let rows = truth_and_probability(&folder);
        let report = parsed(&folder.run("evaluate model all.csv --json"));
        let close = |name: &str, expected: f64| {
            assert!((report[name].as_f64().unwrap() - expected).abs() < 1e-9, "{name} {} {expected}", report[name]);
        };
        let count = |class: bool, predicted: bool| {
            rows.iter().filter(|&&(truth, p)| truth == class && (p > 0.5) == predicted).count()
        };
        let confusion = [[count(false, false), count(false, true)], [count(true, false), count(true, true)]];
        assert_eq!(report["confusion"], json!(confusion));
        assert_eq!((&report["n_rows"], &report["classes"]), (&json!(351), &json!(["b", "g"])));
        let recall = |class: usize| confusion[class][class] as f64 / confusion[class].iter().sum::<usize>() as f64;
        close("accuracy", (confusion[0][0] + confusion[1][1]) as f64 / 351.0);
        close("balanced_accuracy", 0.5 * (recall(0) + recall(1)));
        let loss: f64 = rows.iter().map(|&(truth, p)| -(if truth { p } else { 1.0 - p }).ln()).sum();
        close("log_loss", loss / 351.0);
        let of = |class: bool| rows.iter().filter(move |row| row.0 == class).map(|row| row.1);
        let wins: f64 = of(true)
            .flat_map(|g| of(false).map(move |b| f64::from(u8::from(g > b)) + 0.5 * f64::from(u8::from(g == b))))
            .sum();
        close("auc", wins / (of(true).count() * of(false).count()) as f64);
    }

    #[test]
    fn the_report_for_a_person_has_every_figure_beside_the_labels_alone() {
        let folder = folder_with("labor");
        folder.run("fit some.csv --label class --folds 0 --out model");
        let report = folder.run("evaluate model all.csv");
        for told in ["57 labeled rows", "accuracy", "balanced", "AUC", "log loss", "this model", "labels alone", "true"]
        {
            assert!(report.contains(told), "{told} in {report}");
        }
    }

    #[test]
    fn unlabeled_rows_are_left_out() {
        let folder = folder_with("labor");
        folder.run("fit some.csv --label class --folds 0 --out model");
        assert_eq!(parsed(&folder.run("evaluate model some.csv --json"))["n_rows"], 19);
    }

    #[test]
    fn the_labels_may_stand_in_a_column_of_another_name() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        folder.write("renamed.csv", FRUIT.replace("kind", "fruit"));
        let usual = folder.run("evaluate model rows.csv");
        assert_eq!(folder.run("evaluate model renamed.csv --label fruit"), usual);
    }

    #[test]
    fn the_baselines_do_not_depend_on_the_descent() {
        let folder = folder_with("labor");
        let baselines = |options: &str| {
            folder.run(&format!("fit some.csv --label class --folds 0 --out model {options}"));
            parsed(&folder.run("evaluate model all.csv --json"))["baselines"].clone()
        };
        assert_eq!(baselines("--gamma 3"), baselines("--variant lc --steps 1"));
    }

    #[test]
    fn one_class_alone_has_no_auc() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        folder.write("apples.csv", "mass,width,colour,kind\n150,7.1,red,apple\n");
        assert_eq!(parsed(&folder.run("evaluate model apples.csv --json"))["auc"], Value::Null);
        assert!(folder.run("evaluate model apples.csv").contains("one class"));
    }
}

mod inspection {
    use super::*;

    #[test]
    fn json_tells_columns_classes_and_training() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        let model = inspect(&folder, "model");
        assert_eq!(model["method"], "udeed");
        assert_eq!(model["classes"], json!(["apple", "orange"]));
        assert_eq!(model["label"], "kind");
        assert_eq!(model["columns"][1], json!({ "name": "width", "kind": "numeric" }));
        assert_eq!(model["columns"][2]["kind"]["nominal"]["levels"], json!(["green", "orange", "red"]));
        let training = &model["training"];
        assert_eq!((&training["n_labeled"], &training["n_unlabeled"]), (&json!(9), &json!(3)));
        assert_eq!((&training["class_counts"], &training["n_features"]), (&json!([5, 4]), &json!(5)));
        for stage in training["stages"].as_array().unwrap() {
            assert!(stage["first"]["total"].is_f64() && stage["last"]["diversity"].is_f64(), "{stage}");
            assert!(["steps", "loss", "diversity"].contains(&stage["stop"].as_str().unwrap()), "{stage}");
        }
    }

    #[test]
    fn a_person_reads_what_it_is_and_how_it_was_trained() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --gamma 1.75 --vote unweighted --folds 0 --seed 4711 --out model");
        let shown = folder.run("inspect model");
        for told in [
            "lcud",
            "20 members",
            "apple, orange",
            "`kind`",
            "1.75",
            "unweighted",
            "minmax",
            "bootstrap",
            "4711",
            "9 labeled rows",
            "3 unlabeled rows",
            "colour: one of green, orange, red",
        ] {
            assert!(shown.contains(told), "{told} in {shown}");
        }
    }

    #[test]
    fn the_model_is_a_safetensors_file_with_its_format_version_in_the_metadata() {
        let folder = Folder::with("rows.csv", FRUIT);
        folder.run("fit rows.csv --label kind --folds 0 --out model");
        let bytes = folder.bytes("model");
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let header = parsed(&text(&bytes[8..8 + length]));
        let description = parsed(header["__metadata__"]["udeed"].as_str().unwrap());
        assert_eq!(description["format"], 2);
        assert_eq!(header["ensemble.0.members"]["shape"], json!([20, 6]));
    }
}

mod comparison {
    use super::*;

    fn compare(folder: &Folder, line: &str) -> Vec<Value> {
        folder.run(&format!("compare {line} --json results.json"));
        parsed(&text(&folder.bytes("results.json")))["results"].as_array().unwrap().clone()
    }

    fn find<'a>(results: &'a [Value], dataset: &str, size: u64, method: &str) -> &'a Value {
        let wanted =
            |result: &&Value| result["dataset"] == dataset && result["size"] == size && result["method"] == method;
        results.iter().find(wanted).unwrap_or_else(|| panic!("no {dataset} {size} {method}"))
    }

    fn near_the_paper(dataset: &str, figures: [f64; 4]) {
        let results = compare(&Folder::new(), &format!("{dataset} --sizes 20 --splits 50 --gamma 2"));
        let mean = |method: &str| find(&results, dataset, 20, method)["mean"].as_f64().unwrap();
        for (method, figure) in METHODS[1..].iter().zip(figures) {
            let mean = mean(method);
            assert!((mean - figure).abs() <= 0.02, "{method}: {mean:.4}, the paper has {figure}");
        }
        assert!(mean("lcd") > mean("initial") && mean("lcud") > mean("initial"));
    }

    #[test]
    fn ionosphere_comes_out_as_in_the_paper() {
        near_the_paper("ionosphere", [0.721, 0.722, 0.780, 0.795]);
    }

    #[test]
    fn diabetes_comes_out_as_in_the_paper() {
        near_the_paper("diabetes", [0.690, 0.692, 0.715, 0.726]);
    }

    #[test]
    fn results_hold_every_set_size_and_method_once() {
        let folder = Folder::new();
        let results = compare(&folder, "labor house --sizes 3,5 --splits 4");
        let keys: Vec<(&str, u64, &str)> = results
            .iter()
            .map(|r| (r["dataset"].as_str().unwrap(), r["size"].as_u64().unwrap(), r["method"].as_str().unwrap()))
            .collect();
        let mut expected = Vec::new();
        for dataset in ["labor", "house"] {
            for size in [3, 5] {
                expected.extend(METHODS.map(|method| (dataset, size, method)));
            }
        }
        assert_eq!(keys, expected);
        for result in &results {
            let accuracies: Vec<f64> =
                result["accuracies"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            let mean = accuracies.iter().sum::<f64>() / 4.0;
            let variance = accuracies.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 3.0;
            assert_eq!(accuracies.len(), 4);
            assert!(accuracies.iter().all(|x| (0.0..=1.0).contains(x)), "{result}");
            assert!((result["mean"].as_f64().unwrap() - mean).abs() < 1e-12, "{result}");
            assert!((result["std"].as_f64().unwrap() - variance.sqrt()).abs() < 1e-12, "{result}");
        }
    }

    #[test]
    fn the_table_shows_the_means_of_the_json_file() {
        let folder = Folder::new();
        let table = folder.run("compare labor --sizes 3,5 --splits 4 --json results.json");
        let results = parsed(&text(&folder.bytes("results.json")))["results"].as_array().unwrap().clone();
        assert!(table.contains("3 members") && table.contains("5 members"), "{table}");
        for method in METHODS {
            let line = table.lines().find(|line| line.starts_with(&format!("{method} "))).unwrap();
            for size in [3, 5] {
                let result = find(&results, "labor", size, method);
                let shown = format!("{:.3} ± {:.3}", result["mean"].as_f64().unwrap(), result["std"].as_f64().unwrap());
                assert!(line.contains(&shown), "{shown} in {line}");
            }
        }
    }

    #[test]
    fn without_a_name_ionosphere_is_compared() {
        let folder = Folder::new();
        assert!(folder.run("compare --splits 2").starts_with("ionosphere: 351 rows"));
    }

    #[test]
    fn a_size_gives_the_same_alone_and_beside_others() {
        let folder = Folder::new();
        let (alone, beside) =
            (compare(&folder, "labor --sizes 3 --splits 3"), compare(&folder, "labor --sizes 7,3 --splits 3"));
        for method in METHODS {
            assert_eq!(find(&alone, "labor", 3, method), find(&beside, "labor", 3, method));
        }
    }

    #[test]
    fn the_results_are_the_same_on_one_and_two_threads_and_other_with_another_seed() {
        let folder = Folder::new();
        let compare = |options: &str| {
            let shown =
                folder.run(&format!("compare ionosphere --sizes 5,10 --splits 4 --json results.json {options}"));
            (shown, text(&folder.bytes("results.json")))
        };
        assert_eq!(compare("--threads 1"), compare("--threads 2"));
        assert_ne!(compare("--threads 1").0, compare("--threads 1 --seed 1").0);
    }

    #[test]
    fn a_file_gives_what_the_built_in_set_gives() {
        let folder = folder_with("labor");
        let (file, set) = (compare(&folder, "all.csv --label class --splits 3"), compare(&folder, "labor --splits 3"));
        for method in METHODS {
            assert_eq!(find(&file, "all", 20, method)["accuracies"], find(&set, "labor", 20, method)["accuracies"]);
        }
    }

    #[test]
    fn shares_decide_how_many_rows_are_labeled_and_tested() {
        let folder = Folder::new();
        let shown = folder.run("compare ionosphere --splits 1 --labeled 0.5 --test 0.2");
        assert!(shown.contains("1 split of 141 labeled, 140 unlabeled, 70 test rows"), "{shown}");
    }

    #[test]
    fn settings_change_the_results() {
        let folder = Folder::new();
        let lcud = |options: &str| {
            find(&compare(&folder, &format!("ionosphere --splits 3 {options}")), "ionosphere", 20, "lcud").clone()
        };
        let usual = lcud("");
        for options in [
            "--gamma 4",
            "--lambda 10",
            "--scaling standard",
            "--fourier 50",
            "--loss squared",
            "--rate 1",
            "--steps 2",
        ] {
            assert_ne!(lcud(options), usual, "{options}");
        }
    }

    #[test]
    fn sets_of_the_same_stem_can_be_told_apart() {
        let folder = folder_with("labor");
        folder.run("data write all.csv --label class --out all.arff");
        let results = compare(&folder, "all.csv all.arff --label class --splits 2");
        assert_ne!(results[0]["dataset"], results[5]["dataset"]);
    }

    #[test]
    fn json_on_standard_output_is_all_that_stands_there() {
        parsed(&Folder::new().run("compare labor --splits 2 --json -"));
    }
}

mod data {
    use super::*;

    fn numbers(rows: &[Vec<String>], width: usize) -> Vec<Vec<f64>> {
        let number = |cell: &String| if cell.is_empty() { f64::MAX } else { cell.parse().unwrap() };
        rows[1..].iter().map(|row| row[..width].iter().map(number).collect()).collect()
    }

    #[test]
    fn every_built_in_set_is_listed_with_its_size() {
        let folder = Folder::new();
        let list = folder.run("data list");
        assert_eq!(folder.run("data"), list);
        for (set, rows, columns) in SETS {
            let line = list.lines().find(|line| line.starts_with(set)).unwrap_or_else(|| panic!("{set}"));
            let told: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(told[1..3], [rows.to_string(), columns.to_string()], "{line}");
        }
    }

    #[test]
    fn every_built_in_set_is_described_with_its_source() {
        let folder = Folder::new();
        for (set, rows, columns) in SETS {
            let told = folder.run(&format!("data describe {set}"));
            assert!(told.contains(&format!("{rows} rows, {columns} columns")), "{told}");
            assert!(told.contains("source: "), "{told}");
        }
    }

    #[test]
    fn a_file_is_described_column_by_column() {
        let folder = Folder::with("rows.csv", FRUIT);
        let told = folder.run("data describe rows.csv --label kind");
        assert!(told.contains("12 rows, 3 columns, dense"), "{told}");
        assert!(told.contains("apple: 5, orange: 4; unlabeled: 3"), "{told}");
        let line = |name: &str| told.lines().find(|line| line.starts_with(name)).unwrap().split_whitespace().collect();
        let (width, colour): (Vec<&str>, Vec<&str>) = (line("width"), line("colour"));
        assert_eq!(width, ["width", "0", "6.1000", "6.8333", "7.5000"]);
        assert_eq!(colour, ["colour", "0", "3", "values"]);
    }

    #[test]
    fn values_survive_csv_to_arff_to_libsvm_to_csv() {
        for (set, n_rows, width) in SETS {
            let folder = Folder::new();
            folder.run(&format!("data write {set} --out a.csv"));
            folder.run("data write a.csv --label class --out b.arff.gz");
            folder.run("data write b.arff.gz --out c.libsvm");
            folder.run("data write c.libsvm --out d.csv");
            let (first, last) = (cells(&text(&folder.bytes("a.csv"))), cells(&text(&folder.bytes("d.csv"))));
            assert_eq!(last.len(), n_rows + 1, "{set}");
            assert_eq!(numbers(&first, width), numbers(&last, width), "{set}");
            let mut classes: Vec<String> = first[1..].iter().map(|row| row[width].clone()).collect();
            let later: Vec<String> = last[1..].iter().map(|row| row[width].clone()).collect();
            let least = classes.iter().min().unwrap().clone();
            classes.iter_mut().for_each(|class| *class = if *class == least { "-1".into() } else { "1".into() });
            assert_eq!(classes, later, "{set}");
        }
    }

    #[test]
    fn names_levels_and_missing_cells_survive_arff() {
        let rows = "\"a, b\",it's 100%,größe,kind\n1,\"x {y}\",?,p\n,back\\slash,0.1,\n3,\"say \"\"z\"\"\",-1e-7,'q'\n";
        let folder = Folder::with("rows.csv", rows);
        folder.run("data write rows.csv --label kind --out plain.csv");
        folder.run("data write plain.csv --label kind --out rows.arff");
        folder.run("data write rows.arff --label kind --out back.csv");
        let back = cells(&text(&folder.bytes("back.csv")));
        assert_eq!(back, cells(&text(&folder.bytes("plain.csv"))));
        assert_eq!(back[0], ["a, b", "it's 100%", "größe", "kind"]);
        assert_eq!(back[2], ["", "back\\slash", "0.1", ""]);
    }

    #[test]
    fn unlabeled_rows_and_missing_values_survive_libsvm() {
        let folder = Folder::with("rows.csv", "a,b,class\n1,,2\n,0,\n3,4,1\n");
        folder.run("data write rows.csv --label class --out rows.libsvm");
        assert_eq!(text(&folder.bytes("rows.libsvm")), "2 1:1 2:nan\n? 1:nan\n1 1:3 2:4\n");
        assert_eq!(folder.run("data write rows.libsvm"), "1,2,class\n1,,2\n,0,\n3,4,1\n");
    }

    #[test]
    fn columns_of_zeros_survive_libsvm() {
        let folder = Folder::with("rows.csv", "1,2,3,class\n0,0,0,1\n0,0,5,2\n");
        folder.run("data write rows.csv --label class --out rows.libsvm");
        assert_eq!(folder.run("data write rows.libsvm"), text(&folder.bytes("rows.csv")));
    }

    #[test]
    fn numbers_are_written_so_that_they_read_back_exactly() {
        let folder = Folder::with("rows.csv", "x\n0.1\n1e-300\n123456789.123456789\n-0.3333333333333333\n1e22\n");
        folder.run("data write rows.csv --out rows.arff");
        folder.run("data write rows.arff --out back.csv");
        let bits = |name: &str| -> Vec<u64> {
            cells(&text(&folder.bytes(name)))[1..].iter().map(|row| row[0].parse::<f64>().unwrap().to_bits()).collect()
        };
        assert_eq!(bits("back.csv"), bits("rows.csv"));
    }

    #[test]
    fn standard_output_gets_what_a_file_would_get() {
        let folder = Folder::new();
        for format in ["csv", "arff", "libsvm"] {
            folder.run(&format!("data write diabetes --out rows.{format}"));
            let shown = folder.run(&format!("data write diabetes --to {format}"));
            assert_eq!(shown, text(&folder.bytes(&format!("rows.{format}"))));
        }
    }

    #[test]
    fn the_delimiter_written_follows_the_option_or_the_name() {
        let folder = Folder::new();
        assert!(folder.run("data write labor --to-delimiter ;").starts_with("duration;wage_increase_first_year;"));
        for name in ["labor.tsv", "labor.tab"] {
            folder.run(&format!("data write labor --out {name}"));
            assert!(text(&folder.bytes(name)).starts_with("duration\twage_increase_first_year\t"), "{name}");
            folder.run(&format!("data write {name} --label class --out back.csv"));
            assert_eq!(text(&folder.bytes("back.csv")), folder.run("data write labor"), "{name}");
        }
    }

    #[test]
    fn a_split_deals_every_row_once_and_hides_most_labels() {
        let folder = folder_with("ionosphere");
        folder.run("data split all.csv --label class train.csv test.csv --labeled 0.25 --test 0.5");
        let rows = |name: &str| cells(&text(&folder.bytes(name)))[1..].to_vec();
        let (train, test) = (rows("train.csv"), rows("test.csv"));
        assert_eq!(train.iter().filter(|row| row[34].is_empty()).count(), 131);
        assert_eq!((train.len(), test.len()), (175, 176));
        assert!(test.iter().all(|row| !row[34].is_empty()));
        let features = |rows: Vec<Vec<String>>| {
            let mut rows: Vec<Vec<String>> = rows.into_iter().map(|row| row[..34].to_vec()).collect();
            rows.sort();
            rows
        };
        assert_eq!(features([train, test].concat()), features(rows("all.csv")));
    }

    #[test]
    fn a_split_follows_its_seed_and_is_learned_from_in_every_format() {
        let folder = Folder::new();
        let accuracy = |ending: &str, seed: u32| {
            folder.run(&format!("data split ionosphere train.{ending} test.{ending} --seed {seed}"));
            folder.run(&format!("fit train.{ending} --label class --folds 0 --out model"));
            parsed(&folder.run(&format!("evaluate model test.{ending} --json")))["log_loss"].clone()
        };
        let usual = accuracy("csv", 1);
        for ending in ENDINGS {
            assert_eq!(accuracy(ending, 1), usual, "{ending}");
        }
        assert_ne!(accuracy("csv", 2), usual);
    }

    #[test]
    fn a_file_of_the_name_of_a_built_in_set_comes_first() {
        let folder = Folder::with("labor", "x,class\n1,a\n2,b\n");
        assert_eq!(folder.run("data write labor --format csv"), "x,class\n1,a\n2,b\n");
    }

    #[test]
    fn what_became_of_the_classes_is_said_aside() {
        let folder = Folder::new();
        let output = folder.command("data write labor --to libsvm").assert().success();
        assert!(text(&output.get_output().stderr).contains("-1 is bad, 1 is good"));
    }
}

mod streams {
    use super::*;

    fn ready() -> Folder {
        let folder = folder_with("labor");
        folder.run("fit some.csv --label class --folds 0 --out model");
        folder
    }

    const CALLS: [&str; 8] = [
        "fit some.csv --label class --out other",
        "fit all.csv --label class --unlabeled all.csv --out other",
        "predict model all.csv",
        "evaluate model all.csv",
        "inspect model",
        "compare labor --splits 2",
        "data list",
        "data write labor --to libsvm",
    ];

    #[test]
    fn quiet_calls_say_nothing_beside_the_same_results() {
        let folder = ready();
        for line in CALLS {
            for flag in ["--quiet", "-q"] {
                let output = folder.command(&format!("{line} {flag}")).assert().success().get_output().clone();
                assert_eq!(text(&output.stderr), "", "{line}");
                assert_eq!(text(&output.stdout), folder.run(line), "{line}");
            }
        }
    }

    #[test]
    fn a_warning_is_not_said_when_quiet_but_kept_in_the_model() {
        let folder = ready();
        folder.command("fit all.csv --label class --out other --quiet").assert().success().stderr("");
        assert_eq!(inspect(&folder, "other")["training"]["warnings"], json!(["no_unlabeled_rows"]));
    }

    #[test]
    fn nothing_is_drawn_in_a_pipe() {
        let folder = ready();
        for line in CALLS {
            let output = folder.command(line).assert().success().get_output().clone();
            for stream in [text(&output.stderr), text(&output.stdout)] {
                assert!(!stream.contains(['\r', '\u{1b}', '█', '░']), "{line}: {stream:?}");
            }
        }
        folder.command("compare labor --splits 2").assert().success().stderr("");
    }

    #[test]
    fn what_is_no_result_stays_off_standard_output() {
        let folder = ready();
        let output = folder.command("fit some.csv --label class --out other").assert().success().get_output().clone();
        assert_eq!(text(&output.stderr), "wrote other\n");
        assert!(!text(&output.stdout).contains("wrote"));
        parsed(&folder.run("inspect model --json"));
        parsed(&folder.run("evaluate model all.csv --json"));
        assert_eq!(cells(&folder.run("predict model all.csv")).len(), 58);
    }

    #[test]
    fn help_and_version_succeed_and_every_verb_has_an_example() {
        let folder = Folder::new();
        assert!(folder.run("--version").starts_with("udeed "));
        for verb in ["fit", "predict", "evaluate", "inspect", "compare", "data"] {
            assert!(folder.run("--help").contains(verb), "{verb}");
            for flag in ["--help", "-h"] {
                let help = folder.run(&format!("{verb} {flag}"));
                assert!(help.contains("Example") && help.contains(&format!("  udeed {verb}")), "{help}");
            }
        }
        for verb in ["list", "describe", "write", "split"] {
            assert!(folder.run(&format!("data {verb} --help")).contains("Example"), "data {verb}");
        }
    }

    #[test]
    fn the_examples_of_the_help_are_calls_that_parse() {
        let folder = Folder::new();
        for verb in ["fit", "predict", "evaluate", "inspect", "compare", "data"] {
            let help = folder.run(&format!("{verb} --help"));
            let example = help.lines().find_map(|line| line.strip_prefix("  udeed ")).unwrap();
            let code = folder.command(example).output().unwrap().status.code();
            assert!(matches!(code, Some(0 | 1)), "{example}: {code:?}");
        }
    }

    #[test]
    fn the_exit_code_tells_failed_work_from_a_wrong_call() {
        let folder = ready();
        for (code, line) in [
            (0, "evaluate model all.csv"),
            (1, "evaluate model nothing.csv"),
            (1, "inspect all.csv"),
            (1, "compare nothing"),
            (2, ""),
            (2, "guess"),
            (2, "fit"),
            (2, "fit some.csv --label class"),
            (2, "fit some.csv --label class --out other --no-such-option"),
            (2, "fit some.csv --label class --out other --variant best"),
            (2, "predict model"),
            (2, "inspect"),
            (2, "compare --sizes many"),
            (2, "data shred"),
        ] {
            assert_eq!(folder.command(line).output().unwrap().status.code(), Some(code), "{line}");
        }
    }

    /// A call whose standard output (or error) was closed before it began.
    fn with_closed(folder: &Folder, line: &str, closed: &str) -> Output {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("udeed"));
        command.current_dir(folder.path()).args(line.split_whitespace()).stdout(Stdio::piped()).stderr(Stdio::piped());
        match closed {
            "stdout" => command.stdout(writer),
            _ => command.stderr(writer),
        };
        command.output().unwrap()
    }

    #[test]
    fn a_reader_that_goes_away_is_no_failure() {
        let folder = ready();
        folder.run("data write ionosphere --out wide.csv");
        let wide = text(&folder.bytes("wide.csv"));
        folder.write("long.csv", format!("{wide}{}", wide.split_once('\n').unwrap().1.repeat(20)));
        folder.run("fit wide.csv --label class --members 2 --folds 0 --out wide");
        for line in [
            "fit some.csv --label class --out other --quiet",
            "predict model all.csv",
            "predict wide long.csv --proba",
            "evaluate model all.csv",
            "evaluate model all.csv --json",
            "inspect model",
            "inspect model --json",
            "compare labor --splits 2",
            "data",
            "data describe labor",
            "data write ionosphere",
            "data write ionosphere --to arff",
            "data write ionosphere --to libsvm --quiet",
            "fit --help",
        ] {
            let output = with_closed(&folder, line, "stdout");
            assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(0), ""), "{line}");
        }
    }

    #[test]
    fn files_are_written_also_when_the_reader_of_the_results_goes_away() {
        let folder = ready();
        with_closed(&folder, "compare labor --splits 2 --json results.json", "stdout");
        with_closed(&folder, "fit some.csv --label class --out other --trace steps.csv", "stdout");
        for name in ["other", "steps.csv", "results.json"] {
            assert!(folder.file(name).exists(), "{name}");
        }
    }

    #[test]
    fn a_closed_standard_error_is_no_failure() {
        let folder = ready();
        let output = with_closed(&folder, "fit all.csv --label class --out other", "stderr");
        assert_eq!(output.status.code(), Some(0));
        assert!(folder.file("other").exists());
        assert_eq!(with_closed(&folder, "inspect nothing", "stderr").status.code(), Some(1));
    }

    #[test]
    fn standard_input_may_end_early_or_not_be_read_at_all() {
        let folder = ready();
        let mut child = Command::new(assert_cmd::cargo::cargo_bin!("udeed"))
            .current_dir(folder.path())
            .args(["data", "list"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let _ = child.stdin.take().unwrap().write_all(b"never read");
        assert!(child.wait_with_output().unwrap().status.success());
    }
}
