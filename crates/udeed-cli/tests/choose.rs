//! `udeed fit --choose`.
#![allow(clippy::unwrap_used)]

mod support;

use support::{FRUIT, Folder, text};
use udeed::method::Lambda;
use udeed::model::Model;

#[test]
fn the_model_is_that_of_the_chosen_settings() {
    let folder = Folder::new();
    folder.run("data split ionosphere train.csv test.csv");
    let output = folder.command("fit train.csv --label class --choose --out chosen").output().unwrap();
    let said = text(&output.stderr);
    assert!(output.status.success() && said.contains("chosen from 30 candidates: "), "{said}");
    assert!(said.contains("chosen by the folds they are validated on"), "{said}");
    let chosen = Model::load(folder.file("chosen")).unwrap();
    let shared = chosen.method().shared();
    let Lambda::Fixed(lambda) = shared.lambda else { panic!("{:?}", shared.lambda) };
    let line = format!("lambda {lambda}, scaling {}", shared.scaling);
    assert!(said.contains(&line), "{said}");
    let train = chosen.reader().label("class").read(folder.file("train.csv")).unwrap().into_train().unwrap();
    assert_eq!(chosen.method().fit(&train).unwrap(), chosen);
}

#[test]
fn what_cannot_be_chosen_is_refused() {
    let folder = Folder::with("fruit.csv", FRUIT);
    let fit = "fit fruit.csv --label kind --out model --choose";
    folder.fail_with(2, &format!("{fit} --method bagging"), &["chooses settings of `udeed`"]);
    folder.fail_with(2, &format!("{fit} --folds 0"), &["expected `--folds` to choose by"]);
    folder.fail_with(2, &format!("{fit} --gamma 2"), &["cannot be used with"]);
    folder.write("lone.csv", "x,kind\n1,a\n2,b\n3,b\n");
    let told = "lone.csv: found a class with a single labeled row";
    folder.fail_with(2, "fit lone.csv --label kind --out model --choose", &[told]);
}
