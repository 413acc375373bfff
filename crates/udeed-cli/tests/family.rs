//! More than two classes, base learners and settings by name, through the real binary.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::Value;
use support::Folder;

/// Three kinds of rows, some without their kind; a nominal column and missing values.
fn rows() -> String {
    let mut text = String::from("length,width,place,kind\n");
    for i in 0..120 {
        let (kind, length, width) = [("ant", 1.0, 5.0), ("bee", 4.0, 1.0), ("cat", 7.0, 6.0)][i % 3];
        let wobble = |k: usize| ((i * k) % 11) as f64 / 5.0 - 1.0;
        let place = ["shore", "wood", "hill"][(i / 3) % 3];
        let width = if i % 17 == 0 { String::new() } else { (width + wobble(5)).to_string() };
        let kind = if i % 4 == 0 { kind } else { "" };
        text.push_str(&format!("{},{width},{place},{kind}\n", length + wobble(7)));
    }
    text
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn three_classes_go_all_the_way() {
    let folder = Folder::with("rows.csv", rows());
    for method in udeed::method::Method::NAMES {
        let has_members = udeed::method::Method::named(method).unwrap().card().setting("members").is_some();
        let members = if has_members { "--members 5" } else { "" };
        folder.run(&format!("fit rows.csv --label kind --method {method} {members} --folds 2 --out model"));
        let figures = json(&folder.run("evaluate model rows.csv --json"));
        // Of two halves of the columns one may hold little but places, which tell nothing.
        let least = if *method == "co-training" { 0.5 } else { 0.8 };
        assert!(figures["accuracy"].as_f64().unwrap() > least, "{method}: {figures}");
        assert_eq!(figures["confusion"].as_array().unwrap().len(), 3);
        let predicted = folder.run("predict model rows.csv --proba");
        assert!(predicted.starts_with("prediction,p(ant),p(bee),p(cat)\n"), "{predicted}");
        assert_eq!(predicted.lines().count(), 121);
        assert!(folder.run("inspect model").contains("classes: ant, bee, cat"));
    }
    let shown = folder.run("compare rows.csv --label kind --labeled 12 --splits 3 --methods logistic,lcud,co-forest");
    assert!(shown.contains("co-forest") && shown.contains("lcud - logistic"), "{shown}");
    folder.run("fit rows.csv --label kind --folds 0 --out model");
    folder.run("export model --onnx model.onnx");
    assert!(folder.bytes("model.onnx").windows(6).any(|bytes| bytes == b"ArgMax"));
    folder.run("fit rows.csv --label kind --method co-forest --folds 0 --out model");
    folder.run("export model --onnx other.onnx");
    assert!(folder.bytes("other.onnx").windows(12).any(|bytes| bytes == b"TreeEnsemble"));
}

#[test]
fn settings_are_listed_and_set_by_their_names() {
    let folder = Folder::with("rows.csv", rows());
    let listed = folder.run("methods");
    assert!(udeed::method::Method::NAMES[1..].iter().all(|name| listed.contains(name)), "{listed}");
    assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
    let settings = folder.run("methods co-training");
    assert!(settings.contains("pool = 75") && settings.contains("rounds = 30"), "{settings}");
    assert!(settings.contains("    tree: Decision tree") && settings.contains("base.depth = null: "), "{settings}");
    assert!(folder.run("methods co-forest").contains("tree.features = log2-plus-one: "));
    assert!(!folder.run("methods stacking").contains("bases.depth"));
    let help = folder.run("fit --help-all").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        help.contains("Base learner of the members: logistic, tree, neighbors, bayes [default: logistic]"),
        "{help}"
    );

    let fit = "fit rows.csv --label kind --folds 0 --out model";
    folder.run(&format!("{fit} --method adaboost --base tree --set base.depth=2 --set base.criterion=entropy"));
    let base = &json(&folder.run("inspect model --json"))["settings"]["base"]["tree"];
    assert_eq!((&base["depth"], &base["criterion"]), (&Value::from(2), &Value::from("entropy")));
    folder.run(&format!("{fit} --method co-training --set view=[\"length\",\"place\"]"));
    folder.run(&format!("{fit} --method co-training --set view=length"));
    folder.run(&format!("{fit} --method co-forest --set co-forest.members=6 --set seed=9"));
    let settings = &json(&folder.run("inspect model --json"))["settings"];
    assert_eq!((&settings["members"], &settings["seed"]), (&Value::from(6), &Value::from(9)));

    for (options, message) in [
        ("--method co-training --set depth=2", "no method has a setting `depth`"),
        ("--method co-forest --set lambda=2", "`co-forest` has no such setting"),
        ("--method setred --set rounds=many", "`rounds` is `many`"),
        ("--method setred --set rounds", "expected a name and a value"),
        ("--method self-training --set confidence=1.5", "`confidence`"),
        ("--method adaboost --base oak", "`neighbors`"),
        ("--base tree", "`udeed` has no such setting; `bagging`"),
        ("--method bagging --base tree --set base.depth=0", "`depth`"),
        ("--method co-training --set view=[\"nowhere\"]", "`nowhere`"),
        ("--hidden 5000", "`hidden`"),
        ("--method bagging --set co-forest.members=6", "the method is `bagging`"),
        ("--method bagging --set base.depth=2", "no setting of `logistic`"),
        ("--method adaboost --base tree --set base.depth=deep", "a whole number"),
        ("--method adaboost --base tree --set base.criterion=size", "`gini`"),
        ("--method adaboost --set base={\"tree\":{\"dept\":3}}", "`depth`"),
        ("--method self-training --set confidence=high", "expected a number"),
    ] {
        let code = if message == "`nowhere`" { 1 } else { 2 };
        folder.fail_with(code, &format!("{fit} {options}"), &[message]);
    }
    let compare = "compare rows.csv --label kind --labeled 12 --splits 2 --sizes 3";
    folder.run(&format!("{compare} --methods bagging,co-forest --base tree --set co-forest.confidence=0.6"));
    folder.run(&format!("{compare} --methods lcud --set hidden=2"));
    for (options, message) in [
        ("--methods bagging --set confidence=0.6", "no such setting; `self-training`, `co-forest` have it"),
        ("--methods bagging --base oak", "`neighbors`"),
        ("--methods lcud --base tree", "the methods of this comparison have no such setting; `bagging`"),
        ("--methods bagging --set semiboost.foo=1", "no method has a setting `foo`"),
        ("--methods bagging --set members=3", "`--sizes`"),
    ] {
        folder.fail_with(2, &format!("{compare} {options}"), &[message]);
    }
}

/// One class in ten rows: left alone it is rarely predicted.
fn rare() -> String {
    let mut text = String::from("x,y,kind\n");
    for i in 0..200 {
        let rare = i % 10 == 0;
        let wobble = |k: usize| ((i * k) % 23) as f64 / 10.0;
        let shift = if rare { 0.9 } else { 0.0 };
        let kind = ["common", "rare"][usize::from(rare)];
        text.push_str(&format!("{},{},{kind}\n", shift + wobble(7), wobble(13) - shift));
    }
    text
}

#[test]
fn rare_classes_are_found_more_often_where_they_count_as_much() {
    let folder = Folder::with("rows.csv", rare());
    let found = |options: &str| {
        folder.run(&format!("fit rows.csv --label kind --method bagging --out model {options}"));
        let figures = json(&folder.run("evaluate model rows.csv --json"));
        (figures["confusion"][1][1].as_u64().unwrap(), figures["balanced_accuracy"].as_f64().unwrap())
    };
    let plain = found("--folds 0");
    // Out-of-bag rows need no folds.
    let (balanced, threshold) = (found("--folds 0 --balanced"), found("--folds 0 --threshold balanced"));
    assert!(balanced > plain && balanced.1 > plain.1, "{plain:?} {balanced:?}");
    assert!(threshold.0 > plain.0 && threshold.1 > plain.1, "{plain:?} {threshold:?}");
    assert!(folder.run("inspect model").contains("rows are rare above a decision of"));
    let moved = json(&folder.run("inspect model --json"))["threshold"].as_f64().unwrap();
    assert!((-1.0..0.0).contains(&moved), "{moved}");
    assert_eq!(found("--folds 0 --threshold 1").0, 0);
    // The cross-validation is of the model with its threshold: at 1 all rows are common.
    let shown = folder.run("fit rows.csv --label kind --method bagging --folds 2 --threshold 1 --out model");
    assert!(shown.lines().any(|line| line.contains("bagging") && line.contains("0.900")), "{shown}");

    // A share of the rows is rare, whatever they are.
    for (rate, least, most) in [("0.05", 4, 16), ("0.5", 90, 110)] {
        folder
            .run(&format!("fit rows.csv --label kind --method bagging --out model --folds 0 --threshold rate={rate}"));
        let said = folder.run("predict model rows.csv").lines().filter(|line| *line == "rare").count();
        assert!((least..=most).contains(&said), "{rate}: {said}");
    }
    let f1 = found("--folds 0 --threshold f1");
    assert!(f1.0 > plain.0 && f1.0 < threshold.0 + 1, "{f1:?} {threshold:?}");

    let fit = "fit rows.csv --label kind --out model";
    for (options, code, message) in [
        ("--threshold 2", 2, "between -1 and 1"),
        ("--threshold rate=1.5", 2, "share of the rows between 0 and 1"),
        (
            "--method adaboost --threshold balanced --folds 0",
            2,
            "`adaboost` has no out-of-bag rows, expected `--folds`",
        ),
    ] {
        let error = folder.fail(code, &format!("{fit} {options}"));
        assert!(error.contains(message), "{options}: {error}");
    }
    folder.write("single.csv", "x,kind\n1,a\n2,a\n3,a\n4,b\n");
    let error = folder.fail(2, "fit single.csv --label kind --method adaboost --threshold balanced --out single");
    assert!(error.contains("single labeled row"), "{error}");
    let error = folder.fail(1, "fit single.csv --label kind --method bagging --threshold balanced --out single");
    assert!(error.contains("no out-of-bag row of class `b`"), "{error}");
    folder.write("three.csv", rows());
    let error = folder.fail(1, "fit three.csv --label kind --threshold 0.2 --out three");
    assert!(error.contains("3 classes") && !folder.file("three").exists(), "{error}");
}

#[test]
fn predictions_have_the_sets_of_classes_that_were_asked_for() {
    let folder = Folder::with("rows.csv", rare());
    folder.run("fit rows.csv --label kind --method bagging --folds 0 --out model --calibrated");
    let sets = |coverage: &str| -> Vec<String> {
        let printed = folder.run(&format!("predict model rows.csv --coverage {coverage}"));
        let mut lines = printed.lines();
        assert_eq!(lines.next(), Some("prediction,set"));
        lines.map(|line| line.split_once(',').unwrap().1.to_owned()).collect()
    };
    let (narrow, wide) = (sets("0.5"), sets("0.9"));
    assert!(narrow.iter().all(|set| ["", "common", "rare", "common|rare"].contains(&set.as_str())), "{narrow:?}");
    let both = |sets: &[String]| sets.iter().filter(|set| *set == "common|rare").count();
    assert!(both(&narrow) < both(&wide), "{} {}", both(&narrow), both(&wide));
    // 20 rows of the rare class.
    let told = folder.told("predict model rows.csv --coverage 0.97 --out sets.csv");
    assert!(told.contains("`rare`") && told.contains("takes 33"), "{told}");
    for (coverage, message) in [("1", "between 0 and 1"), ("0", "between 0 and 1"), ("x", "invalid")] {
        let error = folder.fail(2, &format!("predict model rows.csv --coverage {coverage}"));
        assert!(error.contains(message), "{coverage}: {error}");
    }
    folder.run("fit rows.csv --label kind --method adaboost --folds 0 --out boosted");
    let error = folder.fail(1, "predict boosted rows.csv --coverage 0.9");
    assert!(error.contains("without held-out votes"), "{error}");
    assert!(folder.run("inspect model").contains("calibrated"));
}

#[test]
fn auto_stands_beside_the_method_that_was_asked_for() {
    let folder = Folder::with("rows.csv", rare());
    let shown = |options: &str| folder.run(&format!("fit rows.csv --label kind --out model {options}"));
    assert!(shown("--method bagging").lines().any(|line| line.contains("auto, for comparison")));
    for without in ["--method auto", "--method bagging --folds 0", "--method bagging --threshold 0.1"] {
        assert!(!shown(without).contains("for comparison"), "{without}");
    }
    // Too many labels to be quick.
    let many: String = (0..301).map(|i| format!("{},{}\n", i % 7, ["a", "b"][i % 2])).collect();
    folder.write("many.csv", format!("x,kind\n{many}"));
    assert!(!folder.run("fit many.csv --label kind --out model").contains("for comparison"));
}

/// A nominal column of sparse rows whose only level is the implied one makes no feature at all.
#[test]
fn hidden_units_without_features_are_no_trouble() {
    let folder =
        Folder::with("z.arff", "@relation z\n@attribute n {a}\n@attribute y {p,q}\n@data\n{1 p}\n{1 q}\n{}\n{1 q}\n");
    folder.run("fit z.arff --label y --layout sparse --hidden 2 --folds 0 --out model");
    folder.run("predict model z.arff");
}
