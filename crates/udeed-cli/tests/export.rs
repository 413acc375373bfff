//! `udeed export`, by the bytes it writes. That ONNX programs read them is tested from Python, where there is one.
#![allow(clippy::unwrap_used)]

mod support;

use support::{FRUIT, Folder};

#[test]
fn the_graph_is_that_of_the_model() {
    let folder = Folder::with("fruit.csv", FRUIT);
    folder.run("fit fruit.csv --label kind --folds 0 --out model");
    assert_eq!(folder.told("export model --onnx model.onnx"), "wrote model.onnx\n");
    assert_eq!(folder.told("export model --onnx model.onnx --quiet"), "");
    let graph = folder.bytes("model.onnx");
    assert_eq!(graph, udeed::model::Model::load(folder.file("model")).unwrap().to_onnx().unwrap());
    for word in ["mass", "width", "colour", "orange", "LabelEncoder", "label", "probabilities"] {
        assert!(graph.windows(word.len()).any(|bytes| bytes == word.as_bytes()), "{word}");
    }
}

#[test]
fn what_cannot_be_exported_is_refused_and_nothing_is_written() {
    let folder = Folder::with("fruit.csv", FRUIT);
    folder.run("fit fruit.csv --label kind --folds 0 --out model");
    for (line, code, message) in [
        ("export model", 2, "--onnx"),
        ("export model --onnx model", 2, "it is read from too"),
        ("export fruit.csv --onnx out", 1, "expected a model written by udeed"),
        ("export missing --onnx out", 1, "missing"),
    ] {
        let error = folder.fail(code, line);
        assert!(error.contains(message), "{line}: {error}");
        assert!(!folder.file("out").exists());
    }
    folder.write("named.csv", FRUIT.replace("width", "label"));
    folder.run("fit named.csv --label kind --folds 0 --out named");
    assert!(folder.fail(1, "export named --onnx out").contains("column `label`"));
}
