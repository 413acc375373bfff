//! `--device`: the descent on a card, which an emulated driver stands for.
#![allow(clippy::unwrap_used)]

#[path = "../../udeed-cuda/tests/driver/mod.rs"]
mod driver;

use assert_cmd::Command;
use tempfile::TempDir;

/// `udeed fit house` with the emulated driver in some state, or none.
fn fit(folder: &TempDir, out: &str, fault: Option<&str>, options: &[&str]) -> std::process::Output {
    let mut command = Command::cargo_bin("udeed").unwrap();
    if let Some(fault) = fault {
        command.env("LD_LIBRARY_PATH", driver::folder(env!("CARGO_TARGET_TMPDIR"))).env("UDEED_FAULT", fault);
    }
    let out = folder.path().join(out);
    command.args(["fit", "house", "--members", "3", "--folds", "0", "--out"]).arg(out).args(options);
    command.output().unwrap()
}

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The model says nothing of the device, and is the same to the last digits.
#[test]
fn a_model_of_a_card_is_like_any_other() {
    let folder = TempDir::new().unwrap();
    let on_card = fit(&folder, "card", Some("none"), &["--device", "cuda:0"]);
    assert!(on_card.status.success(), "{}", said(&on_card));
    let on_processor = fit(&folder, "processor", None, &[]);
    assert_eq!(on_card.stdout, on_processor.stdout);
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    assert_eq!(bytes("card").len(), bytes("processor").len());
    assert!(!String::from_utf8_lossy(&bytes("card")).contains("cuda"));
}

#[test]
fn what_cannot_run_on_a_card_says_so_and_runs_nowhere() {
    let folder = TempDir::new().unwrap();
    for (fault, options, status, error) in [
        (
            Some("no-card"),
            ["--device", "cuda"].as_slice(),
            1,
            "cuda: found no card, expected an NVIDIA card\nhint: install the driver of the card, which `nvidia-smi` then lists, \
             or say `--device cpu`",
        ),
        (
            Some("none"),
            &["--device", "cuda:7"],
            1,
            "cuda:7: found 1 card, expected more than 7\nhint: say `--device cpu`",
        ),
        (None, &["--device", "gpu"], 2, "`device` is `gpu`, expected `cpu`, `cuda` or `cuda:N`"),
        (
            None,
            &["--device", "cuda", "--method", "bagging"],
            2,
            "`device` is `cuda` for method `bagging`, expected `cpu`, or method `udeed`",
        ),
        (
            Some("none"),
            &["--device", "cuda", "--hidden", "2"],
            2,
            "`hidden` is 2, expected 0 on `cuda:0`: members with hidden units are trained on the processor",
        ),
    ] {
        let output = fit(&folder, "model", fault, options);
        let said = said(&output);
        assert!(said.contains(error), "{options:?}: {said}");
        assert_eq!(output.status.code(), Some(status), "{options:?}: {said}");
        assert!(!folder.path().join("model").exists(), "{options:?}");
    }
}
