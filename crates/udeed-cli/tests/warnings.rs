//! Nothing is silent: what is worth knowing is said on standard error, and what is printed fits a terminal.
#![allow(clippy::unwrap_used)]

mod support;

use support::{FRUIT, Folder, text};

#[test]
fn a_mark_of_unlabeled_rows_that_no_row_has_is_named() {
    let folder = Folder::with("fruit.csv", format!("{FRUIT}130,6,red,plum\n"));
    let warning = "warning: fruit.csv: no row has the label `pear` of `--unlabeled-mark`\n";
    for line in [
        "fit fruit.csv --label kind --folds 0 --out model",
        "data describe fruit.csv --label kind",
        "evaluate model fruit.csv",
    ] {
        assert!(!folder.told(&format!("{line} --unlabeled-mark plum")).contains("--unlabeled-mark"), "{line}");
        assert!(folder.told(&format!("{line} --unlabeled-mark pear")).contains(warning), "{line}");
    }
}

#[test]
fn values_that_no_training_row_has_are_named_once_for_each_column() {
    let folder = Folder::with("fruit.csv", FRUIT);
    folder.run("fit fruit.csv --label kind --folds 0 --out model");
    // Enough rows for several chunks, of which each is a table of its own.
    let mut rows = String::from("mass,width,colour,kind\n");
    (0..100_000).for_each(|i| rows += &format!("150,7.1,{},apple\n", ["red", "blue", "", "black"][i % 4]));
    folder.write("new.csv", rows);
    let warning = "warning: new.csv: column `colour`: values in 50000 rows occur in no training row, such as `blue`, \
                   `black`: they count as none\n";
    let wrote = "wrote 100000 predictions to predictions.csv\n";
    assert_eq!(folder.told("predict model new.csv --out predictions.csv"), format!("{warning}{wrote}"));
    assert_eq!(folder.told("evaluate model new.csv"), warning);
    assert_eq!(folder.told("predict model new.csv --out predictions.csv --quiet"), "");
    assert_eq!(folder.told("predict model fruit.csv"), "");
}

#[test]
fn numbered_features_that_no_training_row_has_are_named() {
    let folder = Folder::with("train.svm", "+1 1:2 3:1\n-1 1:1\n+1 1:3 3:2\n-1 2:1\n");
    folder.run("fit train.svm --folds 0 --out model");
    folder.write("new.svm", "+1 1:2 5:1\n-1 7:3\n+1 3:1\n-1 9:0\n");
    let warning =
        "warning: new.svm: features in 2 rows occur in no training row, such as `5`, `7`: they are not used\n";
    for layout in ["sparse", "dense"] {
        assert_eq!(folder.told(&format!("predict model new.svm --layout {layout}")), warning);
    }
    assert_eq!(folder.told("predict model train.svm"), "");
}

#[test]
fn labels_that_are_values_are_doubted() {
    let rows: String = (0..60).map(|i| format!("{i},{}.5,{}\n", i * i % 7, i % 2)).collect();
    let folder = Folder::with("rows.csv", format!("x,price,ok\n{rows}"));
    let fit = |label: &str| folder.told(&format!("fit rows.csv --label {label} --folds 0 --out model"));
    assert!(fit("x").contains("warning: 60 classes in 60 labeled rows: are the labels classes, or"), "{}", fit("x"));
    assert!(!fit("ok").contains("classes"), "{}", fit("ok"));
}

#[test]
fn constant_columns_are_named_and_counted() {
    let rows: String = (0..12).map(|i| format!("{i},3,same,{},1,1,1,1,1\n", i % 2)).collect();
    let folder = Folder::with("rows.csv", format!("x,flat,word,ok,a,b,c,d,e\n{rows}"));
    let told = folder.told("fit rows.csv --label ok --folds 0 --out model");
    let columns = "`flat`, `word`, `a`, `b`, `c`, and 2 more";
    assert!(told.contains(&format!("warning: columns {columns} have the same value in all rows")), "{told}");
    assert!(folder.run("inspect model").contains(columns));
    let told = folder.told("fit rows.csv --label ok --folds 0 --out model --scaling none --drop a,b,c,d,e,word");
    assert!(told.contains("warning: column `flat` has the same value in all rows: it tells nothing"), "{told}");
}

#[test]
fn a_threshold_that_leaves_one_class_is_told() {
    let folder = Folder::with("fruit.csv", FRUIT);
    let fit = |at: &str| folder.told(&format!("fit fruit.csv --label kind --folds 0 --out model --threshold {at}"));
    let warning = "warning: with a threshold of 1.000 every training row is predicted as `apple`";
    assert!(fit("0.9999").contains(warning), "{}", fit("0.9999"));
    assert!(!fit("0.01").contains("threshold"), "{}", fit("0.01"));
}

#[test]
fn a_name_that_only_comparisons_know_is_told_as_a_method() {
    let folder = Folder::with("fruit.csv", FRUIT);
    for line in ["methods", "methods --json", "fit fruit.csv --label kind --out model --method"] {
        folder.fail_with(2, &format!("{line} lcd"), &["`lcd` is no method of its own", "`udeed` with `--variant lcd`"]);
        folder.fail_with(2, &format!("{line} logistic"), &["only a baseline that `udeed compare` shows"]);
        let options = "`adaboost` with `--emphasis resampling --zero-error discard`";
        folder.fail_with(2, &format!("{line} adaboost-discard"), &[options]);
        folder.fail_with(2, &format!("{line} lcdd"), &["`method` is `lcdd`, expected one of `udeed`"]);
    }
}

#[test]
fn settings_are_refused_in_words_of_their_own() {
    let folder = Folder::with("fruit.csv", FRUIT);
    let fit = "fit fruit.csv --label kind --folds 0 --out model";
    let columns = "the setting `view`: found `1`, expected names of columns: `mass`, `width`, `colour`";
    folder.fail_with(1, &format!("{fit} --method co-training --view 1,2"), &[columns]);
    folder.run(&format!("{fit} --method co-training --view mass,colour"));
    let tree = r#"`tree` is `oak`, expected settings of trees, such as {"depth":3}"#;
    folder.fail_with(2, &format!("{fit} --method co-forest --tree oak"), &[tree]);
    folder.run(&format!(r#"{fit} --method co-forest --tree {{"depth":3}}"#));
    // What is not said of the trees stays as the method has it.
    assert!(folder.run("inspect model").contains("depth=3, features=log2-plus-one"));
    folder.run(&format!("{fit} --gamma 0.5"));
    let model = folder.bytes("model");
    folder.run(&format!("{fit} --gamma .5"));
    assert_eq!(folder.bytes("model"), model);
    folder.fail_with(2, &format!("{fit} --gamma much"), &["`gamma` is `much`, expected a number"]);
    folder.fail_with(2, &format!("{fit} --gamma nan"), &["`gamma` is `nan`, expected a number"]);
}

#[test]
fn tables_fit_a_terminal() {
    let folder = Folder::with("fruit.csv", FRUIT);
    for method in udeed::method::Method::NAMES {
        folder.run(&format!("fit fruit.csv --label kind --folds 0 --method {method} --out {method}"));
    }
    let of_methods = |line: &str| -> Vec<String> {
        udeed::method::Method::NAMES.iter().map(|name| format!("{line} {name}")).collect()
    };
    let mut lines = vec![
        "fit fruit.csv --label kind --folds 2 --out model".to_owned(),
        "fit fruit.csv --label kind --folds 0 --variant lc --gamma 100 --out model".to_owned(),
        "evaluate udeed fruit.csv".to_owned(),
        "compare ionosphere labor vote --splits 2 --sizes 2,50,100".to_owned(),
        "data list".to_owned(),
        "data describe vote".to_owned(),
        "methods".to_owned(),
    ];
    lines.extend(of_methods("inspect"));
    lines.extend(of_methods("methods"));
    for line in lines {
        for printed in text(&folder.command(&line).assert().success().get_output().stdout).lines() {
            // Warnings are sentences, which a terminal breaks.
            assert!(printed.chars().count() <= 80 || printed.starts_with("warning: "), "{line}: {printed}");
        }
    }
}
