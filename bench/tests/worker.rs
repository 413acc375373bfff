//! The worker answers as `run.py` expects. Nothing is timed here.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

/// The answers to requests, in their order.
fn ask(requests: &[Value]) -> Vec<Value> {
    let mut worker =
        Command::new(env!("CARGO_BIN_EXE_udeed-bench")).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to = worker.stdin.take().unwrap();
    requests.iter().for_each(|request| writeln!(to, "{request}").unwrap());
    drop(to);
    let out = worker.wait_with_output().unwrap();
    assert!(out.status.success());
    String::from_utf8(out.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn write(path: &Path, values: &[f64]) {
    std::fs::write(path, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
}

fn read(path: &Path) -> Vec<f64> {
    let bytes = std::fs::read(path).unwrap();
    bytes.as_chunks::<8>().0.iter().map(|&word| f64::from_le_bytes(word)).collect()
}

#[test]
fn a_step_leaves_its_gradient_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    write(&file("rows"), &[0.0, 1.0]);
    write(&file("targets"), &[-1.0, 1.0]);
    write(&file("weights"), &[0.0; 4]);
    let answers = ask(&[
        json!({ "work": "dense", "threads": 1, "name": "x", "rows": 2, "columns": 1, "values": file("rows") }),
        json!({
            "work": "step", "threads": 2, "rows": "x", "labeled": "x", "targets": file("targets"), "members": 2,
            "gamma": 1.0, "precision": "double", "weights": file("weights"), "to": file("gradient"),
        }),
    ]);
    assert_eq!(answers[0], json!({}));
    assert!(answers[1]["seconds"].as_f64().unwrap() > 0.0);
    assert_eq!(answers[1]["losses"]["empirical"], std::f64::consts::LN_2);
    // Silent members: only the labels pull, with half of their mean feature, a share 1/(m l) each.
    assert_eq!(read(&file("gradient")), [-0.125, -0.125, 0.0, 0.0]);
}

#[test]
fn work_that_fails_is_answered_and_the_next_is_done() {
    let missing = json!({ "work": "train", "threads": 1, "name": "t", "rows": "nowhere", "labels": "/no/such/file" });
    let answers = ask(&[json!({ "work": "dance", "threads": 1 }), missing, json!({ "work": "clear", "threads": 1 })]);
    assert!(answers[0]["error"].as_str().unwrap().contains("dance"));
    assert!(answers[1]["error"].as_str().unwrap().contains("/no/such/file"));
    assert_eq!(answers[2], json!({}));
}
