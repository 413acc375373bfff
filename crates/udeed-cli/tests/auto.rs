//! The automatic ensemble and lambda chosen by out-of-bag rows, through the real binary.
#![allow(clippy::unwrap_used)]

mod support;

use support::{Folder, text};

#[test]
fn auto_goes_all_the_way_and_says_what_it_found() {
    let folder = Folder::new();
    let shown = folder.run("fit ionosphere --method auto --members 5 --folds 0 --out model");
    for word in ["relevance", "spectral, 20 neighbors", "extra trees", "out-of-bag accuracy", "auto: "] {
        assert!(shown.contains(word), "{shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(folder.run("inspect model").contains("out-of-bag accuracy"));
    let found: serde_json::Value = serde_json::from_str(&folder.run("inspect model --json")).unwrap();
    assert_eq!(found["training"]["findings"]["views"].as_array().unwrap().len(), 8);
    folder.run("export model --onnx out");
    assert!(folder.bytes("out").windows(4).any(|bytes| bytes == b"TopK"));
    let held = "holds training rows: 351 labeled (kernels), 351 labeled or not (graph),";
    assert!(folder.run("inspect model").contains(held));
    assert_eq!(found["holds"]["kernels"], 351);
    folder.run("fit ionosphere --method auto --members 5 --views linear,trees --folds 0 --out model");
    assert!(!folder.run("inspect model").contains("training rows"));
    let compared = folder.run("compare ionosphere --methods logistic,auto --splits 3 --prior labeled");
    assert!(compared.contains("auto"), "{compared}");
}

#[test]
fn what_is_known_of_the_classes_is_said_in_words_or_numbers() {
    let folder = Folder::new();
    let fit = "fit ionosphere --method auto --members 3 --folds 0 --out model";
    for more in ["--prior labeled", "--prior 0.4,0.6", "--views laplace,narrow", "--views spectral"] {
        folder.run(&format!("{fit} {more}"));
    }
    for (more, code, word) in [
        ("--prior most", 2, "expected `labeled`, or the share of each class"),
        ("--prior 0.5,0.6", 2, "together 1"),
        ("--prior 0.2,0.3,0.5", 2, "3 shares for 2 classes"),
        ("--views round", 2, "spectral"),
        ("--views linear,linear", 2, "twice"),
    ] {
        let error = folder.fail(code, &format!("{fit} {more}"));
        assert!(error.contains(word), "{more}: {error}");
    }
    for (line, word) in [
        ("fit ionosphere --prior labeled --out model", "only `auto`"),
        ("compare ionosphere --methods lcud --views linear", "only `auto`"),
        ("fit ionosphere --method adaboost --lambda auto --out model", "expected a number"),
        ("fit ionosphere --lambda much --out model", "expected a number or `auto`"),
        ("compare ionosphere --methods adaboost --lambda auto", "expected a number"),
        ("fit ionosphere --method bagging --base tree --lambda auto --out model", "only logistic regression"),
        ("fit ionosphere --method auto --scaling none --out model", "`auto` has no such setting"),
        ("fit ionosphere --method auto --lambda 5 --out model", "`auto` has no such setting"),
    ] {
        let error = folder.fail(2, line);
        assert!(error.contains(word), "{line}: {error}");
    }
}

#[test]
fn lambda_is_chosen_where_it_is_asked_for() {
    let folder = Folder::new();
    for method in ["udeed", "bagging"] {
        let shown = folder.run(&format!("fit ionosphere --method {method} --lambda auto --folds 0 --out model"));
        assert!(shown.contains("out-of-bag accuracy") && shown.contains("lambda"), "{shown}");
    }
    folder.run("compare ionosphere --methods lcud,bagging --lambda auto --splits 2");
    let mixed = folder.command("compare ionosphere --methods lcud,adaboost --lambda auto --splits 2").output().unwrap();
    let said = text(&mixed.stderr);
    assert!(mixed.status.success() && said.contains("note: adaboost keeps its own: `lambda` is `auto`"), "{said}");
}
