//! The laboratory through the real binary: methods, forms of results, journals, and the paper's tables.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::{Folder, text};

/// The names of all entries.
fn all() -> Vec<&'static str> {
    udeed_lab::Entry::all().iter().map(|entry| entry.name()).collect()
}

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.bytes(name)).unwrap()
}

fn of<'a>(document: &'a Value, method: &str, size: u64) -> &'a Value {
    let results = document["results"].as_array().unwrap();
    results.iter().find(|result| result["method"] == method && result["size"] == size).unwrap()
}

/// A folder with some of the paper's sets under their names.
fn paper_folder(sets: &[&str]) -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.file("data")).unwrap();
    for set in sets {
        folder.run(&format!("data write {set} --quiet --out data/{set}.libsvm.gz"));
    }
    folder
}

#[test]
fn every_method_takes_part() {
    let folder = Folder::new();
    let all = all();
    folder.run(&format!("compare house --methods {} --sizes 5,10 --splits 4 --json r.json", all.join(",")));
    let document = json(&folder, "r.json");
    for &method in &all {
        for size in [5, 10] {
            let result = of(&document, method, size);
            assert_eq!(result["accuracies"].as_array().unwrap().len(), 4);
            assert!(result["mean"].as_f64().unwrap() > 0.75, "{result}");
        }
    }
    assert_eq!(of(&document, "bagging", 10)["accuracies"], of(&document, "initial", 10)["accuracies"]);
    assert_eq!(document["diversity"].as_array().unwrap().len(), 2 * 10);
    let comparisons = document["tests"]["comparisons"].as_array().unwrap();
    assert!(comparisons.iter().all(|test| test["method"] == "lcud" && test["verdict"].is_string()));
    assert_eq!(comparisons.len(), 2 * (all.len() - 1));
}

#[test]
fn an_unknown_method_lists_the_known_ones() {
    let message = Folder::new().fail(2, "compare house --methods lc,magic");
    assert!(message.contains("`magic`") && message.contains("`semiboost`") && message.contains("`lcud`"), "{message}");
    let message = Folder::new().fail(2, "fit house --method magic --out model");
    assert!(message.contains("`magic`") && message.contains("`assemble`"), "{message}");
}

#[test]
fn every_method_is_fitted_saved_and_predicts() {
    let folder = Folder::new();
    folder.run("data split wdbc train.csv test.csv --quiet");
    for method in udeed::method::Method::NAMES {
        let has_scaling = udeed::method::Method::named(method).unwrap().card().setting("scaling").is_some();
        let scaling = if has_scaling { "--scaling standard" } else { "" };
        let shown = folder.run(&format!("fit train.csv --label class --method {method} {scaling} --out model"));
        assert!(shown.contains("left out"), "{shown}");
        let figures: Value = serde_json::from_str(&folder.run("evaluate model test.csv --json")).unwrap();
        assert!(figures["accuracy"].as_f64().unwrap() > 0.85, "{method}: {figures}");
        assert_eq!(figures["baselines"].get("initial").is_some(), *method == "udeed");
        let inspected: Value = serde_json::from_str(&folder.run("inspect model --json")).unwrap();
        assert_eq!(inspected["settings"]["method"], *method);
        assert_eq!(folder.run("predict model test.csv").lines().count(), 286);
    }
}

#[test]
fn the_number_of_labels_can_be_given() {
    let folder = Folder::new();
    let shown = folder.run("compare wdbc --labeled 10 --splits 2");
    assert!(shown.contains("10 labeled"), "{shown}");
    assert!(folder.run("compare wdbc --labeled 0.1 --splits 2").contains("29 labeled"));
}

#[test]
fn results_come_in_every_form() {
    let folder = Folder::new();
    folder.run("compare house labor --splits 3 --csv r.csv --markdown r.md --latex r.tex --json r.json --html r.html");
    let csv = text(&folder.bytes("r.csv"));
    let header = "dataset,size,method,mean,std,splits,baseline_splits,lcud,test,p_paired_t,p_corrected_t\n";
    assert!(csv.starts_with(header), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 2 * 5);
    let markdown = text(&folder.bytes("r.md"));
    assert!(markdown.contains("| data set | logistic |") && markdown.contains("| **"), "{markdown}");
    let latex = text(&folder.bytes("r.tex"));
    assert_eq!(latex.matches("\\begin{tabular}").count(), latex.matches("\\end{tabular}").count());
    assert!(latex.contains("$\\pm$"), "{latex}");
    let page = text(&folder.bytes("r.html"));
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.matches("<svg").count() >= 6,
        "{} pictures",
        page.matches("<svg").count()
    );
    let rankings = &json(&folder, "r.json")["tests"]["rankings"];
    assert_eq!(rankings[0]["friedman"]["average_ranks"].as_array().unwrap().len(), 5);
}

#[test]
fn results_do_not_depend_on_threads() {
    let folder = Folder::new();
    let all = all().join(",");
    let run = |threads: u32| {
        folder
            .run(&format!("compare labor house --methods {all} --splits 4 --threads {threads} --json r{threads}.json"));
        fs::rename(folder.file(&format!("r{threads}.json")), folder.file("r.json")).unwrap();
        text(&folder.bytes("r.json")).replace(&format!("r{threads}.json"), "r.json")
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn similarities_that_take_too_much_are_refused_before_they_are_made() {
    let folder = Folder::new();
    let message = folder.fail(1, "compare wdbc --methods semiboost --memory 100K --splits 2");
    assert!(message.contains("wdbc") && message.contains("MiB") && message.contains("--neighbors"), "{message}");
    folder.run("compare wdbc --methods semiboost --memory 400K --neighbors 5 --splits 2");
}

/// Starts a comparison, kills it as soon as its journal has some lines, and returns how many there are.
fn kill_midway(folder: &Folder, line: &str) -> usize {
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("udeed"))
        .args(line.split_whitespace())
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let lines = |path: &Path| fs::read_to_string(path).unwrap_or_default().matches('\n').count();
    let start = Instant::now();
    while lines(&folder.file("run.journal")) < 5 && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    lines(&folder.file("run.journal"))
}

#[test]
fn a_killed_run_goes_on_and_ends_with_the_same_bytes() {
    let folder = Folder::new();
    let line = "compare diabetes --sizes 10,20 --splits 60 --journal run.journal --json r.json";
    folder.run(line);
    let whole = folder.bytes("r.json");
    fs::remove_file(folder.file("run.journal")).unwrap();
    fs::remove_file(folder.file("r.json")).unwrap();
    let done = kill_midway(&folder, line);
    assert!((5..121).contains(&done), "{done} lines when it was killed");
    folder.run(line);
    assert_eq!(folder.bytes("r.json"), whole);
}

#[test]
fn a_journal_of_other_settings_is_refused_with_both_shown() {
    let folder = Folder::new();
    folder.run("compare labor --splits 2 --journal run.journal");
    let before = folder.bytes("run.journal");
    let message = folder.fail(1, "compare labor --splits 2 --gamma 3 --journal run.journal");
    assert!(message.contains("gamma = 1.0") && message.contains("gamma = 3.0"), "{message}");
    let message = folder.fail(1, "compare house --splits 2 --journal run.journal");
    assert!(message.contains("labor") && message.contains("house"), "{message}");
    assert_eq!(folder.bytes("run.journal"), before);
}

#[test]
fn a_journal_of_other_rows_is_refused() {
    let folder = Folder::with("rows.csv", support::FRUIT);
    let line = "compare rows.csv --label kind --splits 2 --test 0.3 --journal run.journal";
    folder.run(line);
    folder.fail(1, &format!("{line} --drop mass"));
    folder.write("rows.csv", support::FRUIT.replace("150,", "151,"));
    let message = folder.fail(1, line);
    assert!(message.contains("\"rows\":") && message.contains("other settings"), "{message}");
}

#[test]
fn nothing_is_compared_twice() {
    for line in ["compare labor labor", "compare labor --methods lc,lc", "compare labor --sizes 20,20"] {
        let message = Folder::new().fail(2, &format!("{line} --splits 2"));
        assert!(message.contains("twice"), "{message}");
    }
}

#[test]
fn warnings_are_told_once() {
    let folder = Folder::new();
    let output = folder.command("compare labor --methods lcd,lcud --labeled 1.0 --splits 3").output().unwrap();
    let message = text(&output.stderr);
    assert_eq!(message.matches("warning: ").count(), 1, "{message}");
    assert!(message.contains("labor") && message.contains("no unlabeled rows"), "{message}");
}

#[test]
fn a_cut_last_line_of_a_journal_is_done_again() {
    let folder = Folder::new();
    let line = "compare labor --splits 3 --journal run.journal --json r.json";
    folder.run(line);
    let (journal, results) = (folder.bytes("run.journal"), folder.bytes("r.json"));
    folder.write("run.journal", &journal[..journal.len() - 7]);
    folder.run(line);
    assert_eq!(folder.bytes("r.json"), results);
    assert_eq!(folder.bytes("run.journal"), journal);
}

/// A long comparison that has begun to fill its journal, as a process.
fn begun(folder: &Folder, line: &str) -> std::process::Child {
    let child = Command::new(assert_cmd::cargo::cargo_bin!("udeed"))
        .args(line.split_whitespace())
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while fs::metadata(folder.file("run.journal")).map_or(0, |at| at.len()) == 0
        && start.elapsed() < Duration::from_secs(20)
    {
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

#[test]
fn a_journal_in_use_is_refused_with_the_process_that_has_it() {
    let folder = Folder::new();
    let line = "compare diabetes --sizes 100 --splits 2000 --journal run.journal";
    let mut child = begun(&folder, line);
    let message = folder.fail(1, line);
    assert!(message.contains(&format!("in use by process {}", child.id())), "{message}");
    assert!(message.contains("hint: ") && message.contains("`--journal`"), "{message}");
    child.kill().unwrap();
    child.wait().unwrap();
    // What the dead process left is no lock.
    let mut again = begun(&folder, line);
    std::thread::sleep(Duration::from_millis(50));
    assert!(again.try_wait().unwrap().is_none(), "the journal of a dead process can be gone on with");
    again.kill().unwrap();
    again.wait().unwrap();
}

/// The results of a comparison with a journal, as bytes.
fn with_journal(folder: &Folder, more: &str) -> Vec<u8> {
    folder.run(&format!("compare labor --splits 4 --sizes 10,20 --journal run.journal --json r.json {more}"));
    folder.bytes("r.json")
}

#[test]
fn a_damaged_line_of_a_journal_is_refused_or_left_out_and_done_again() {
    let folder = Folder::new();
    let results = with_journal(&folder, "");
    let journal = text(&folder.bytes("run.journal"));
    let lines: Vec<&str> = journal.lines().collect();
    assert_eq!(lines.len(), 1 + 4 * 2);
    let accuracy = lines[3].find("[0.").unwrap() + 3;
    let changed = |from: usize| {
        let digit = if &lines[3][from..=from] == "9" { "8" } else { "9" };
        format!("{}{digit}{}", &lines[3][..from], &lines[3][from + 1..])
    };
    let list = lines[3].find("\"accuracies\":[").unwrap() + "\"accuracies\":[".len();
    let emptied = format!("{}{}", &lines[3][..list], &lines[3][list + lines[3][list..].find(']').unwrap()..]);
    for damaged in [changed(accuracy), emptied, String::new(), "{}".into(), lines[3][1..].to_owned()] {
        let file = journal.replace(lines[3], &damaged);
        folder.write("run.journal", &file);
        let message = folder.fail(1, "compare labor --splits 4 --sizes 10,20 --journal run.journal --json r.json");
        assert!(message.contains("run.journal, line 4: ") && message.contains("--journal-repair"), "{message}");
        assert_eq!(text(&folder.bytes("run.journal")), file, "a refused journal stays as it is");
        let told =
            folder.told("compare labor --splits 4 --sizes 10,20 --journal run.journal --json r.json --journal-repair");
        let note = "note: run.journal: left out line 4 (a line whose checksum does not match); its split runs again\n";
        assert!(told.contains(note), "{told}");
        folder.write("run.journal", &file);
        assert_eq!(with_journal(&folder, "--journal-repair"), results);
        assert_eq!(text(&folder.bytes("run.journal")).lines().count(), lines.len());
        assert_eq!(with_journal(&folder, ""), results, "nothing is left to repair");
    }
    let message = folder.fail(2, "compare labor --journal-repair");
    assert!(message.contains("--journal"), "{message}");
}

#[test]
fn a_journal_without_checksums_is_refused_with_what_to_do() {
    let folder = Folder::with("run.journal", "{\"experiment\":{},\"sets\":[],\"version\":\"0.1.0\"}\n");
    for more in ["", "--journal-repair"] {
        let message = folder.fail(1, &format!("compare labor --splits 2 --journal run.journal {more}"));
        assert!(message.contains("without checksums") && message.contains("hint: finish it"), "{message}");
    }
}

/// scipy 1.17 on the accuracies of 20 splits of ionosphere, LcUd against logistic regression: `stats.ttest_rel`, and
/// `2 * stats.t.sf(d.mean() / sqrt((1 / 20 + 176 / 175) * d.var(ddof=1)), 19)`.
const PAIRED: f64 = 0.0021739005264705077;
const CORRECTED: f64 = 0.45019507246998525;

#[test]
fn the_corrected_test_decides_and_the_papers_stands_beside_it() {
    let folder = Folder::new();
    let line = "compare ionosphere --methods logistic,lcud --splits 20";
    let shown = folder.run(&format!("{line} --json r.json --csv r.csv --markdown r.md --latex r.tex --html r.html"));
    let tests = &json(&folder, "r.json")["tests"];
    let comparison = &tests["comparisons"][0];
    let p = |test: &str| comparison[test]["p"].as_f64().unwrap();
    assert_eq!((tests["verdicts"].as_str(), comparison["verdict"].as_str()), (Some("corrected"), Some("tie")));
    assert!((p("t") - PAIRED).abs() < 1e-9 && (p("corrected") - CORRECTED).abs() < 1e-9, "{comparison}");
    assert!(shown.contains("p, paired t-test") && shown.contains(&format!("{CORRECTED:.4} (tie)")), "{shown}");
    let both = format!("{PAIRED:.4} / {CORRECTED:.4}");
    for name in ["r.md", "r.tex", "r.html"] {
        assert!(text(&folder.bytes(name)).contains(&both), "{name} has no {both}");
    }
    let csv = text(&folder.bytes("r.csv"));
    assert!(csv.contains("lcud,test,p_paired_t,p_corrected_t") && csv.contains(",tie,corrected,0.00"), "{csv}");

    folder.run(&format!("{line} --verdicts paired --json r.json"));
    assert_eq!(json(&folder, "r.json")["tests"]["comparisons"][0]["verdict"], "win");
}

#[test]
fn the_papers_test_decides_a_reproduction() {
    let folder = paper_folder(&["ionosphere"]);
    let line = "reproduce --data data --methods lcud,bagging --sizes 20 --splits 20 --json r.json";
    let shown = folder.run(line);
    assert!(shown.contains("by both t-tests") && shown.contains("corrected 20 paired 20"), "{shown}");
    let document = json(&folder, "r.json");
    assert_eq!(document["tests"]["verdicts"], "paired");
    let comparison = &document["tests"]["comparisons"][0];
    assert_eq!(comparison["verdict"] != "tie", comparison["t"]["p"].as_f64().unwrap() < 0.05);
}

#[test]
fn the_papers_tables_stand_beside_ours() {
    let folder = paper_folder(&["diabetes", "ionosphere", "house", "vote"]);
    let shown = folder.run("reproduce --data data --sizes 20 --splits 12 --json r.json");
    for part in ["Table II", "Table V:", "Table VI", "Agreement", "(sound)"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 90), "{shown}");
    let paper = &json(&folder, "r.json")["paper"];
    let agreement = paper["agreement"].as_array().unwrap();
    for column in ["bagging", "lc", "lcd", "lcud"] {
        let own = agreement.iter().find(|group| group["table"] == format!("II: {column}")).unwrap();
        assert_eq!(own["cells"], 4);
        assert!(own["mean_absolute_difference"].as_f64().unwrap() < 0.02, "{own}");
    }
    let cell = paper["cells"].as_array().unwrap().iter().find(|cell| cell["column"] == "semiboost").unwrap();
    assert_eq!(cell["paper"], 0.695);
}

#[test]
fn a_reproduction_says_what_its_noise_explains() {
    let folder = paper_folder(&["diabetes", "vote"]);
    let line = "reproduce --data data --methods lcud,bagging,lc,lcd --sizes 20 --splits 5";
    let shown = folder.run(&format!("{line} --seeds 2 --json r.json --markdown r.md --latex r.tex --html r.html"));
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
    assert!(shown.contains("by chance") && shown.contains("own runs"), "{shown}");
    let document = json(&folder, "r.json");
    let [first, second] = [0, 1].map(|seed| {
        folder.run(&format!("{line} --seed {seed} --json s.json"));
        json(&folder, "s.json")
    });
    // The accuracies are those of both seeds, one after the other.
    for (place, all) in document["results"].as_array().unwrap().iter().enumerate() {
        let own = |run: &Value| run["results"][place]["accuracies"].as_array().unwrap().clone();
        assert_eq!(*all["accuracies"].as_array().unwrap(), [own(&first), own(&second)].concat());
    }
    let mut compared = 0;
    for cell in document["paper"]["cells"].as_array().unwrap() {
        let wanted = |other: &&Value| ["table", "dataset", "column"].iter().all(|key| other[*key] == cell[*key]);
        let of = |run: &Value| run["paper"]["cells"].as_array().unwrap().iter().find(wanted).unwrap().clone();
        let (first, second) = (of(&first), of(&second));
        let verdicts = |cell: &Value| cell["our_verdicts"].as_array().unwrap().clone();
        assert_eq!(verdicts(cell), [verdicts(&first), verdicts(&second)].concat());
        let number = |key: &str| cell[key].as_f64();
        if let (Some(ours), Some(std), Some(paper), Some(paper_std)) =
            (number("ours"), number("ours_std"), number("paper"), number("paper_std"))
        {
            // A gain of 0.001 stands for anything above 0 up to 0.0015.
            let small = cell["table"] == "V" && (paper.abs() - 0.001).abs() < 1e-9;
            let (paper, unit) = if small { (0.75 * paper, 0.0015) } else { (paper, 0.001) };
            let z = (ours - paper) / (std * std / 10.0 + paper_std * paper_std / 50.0 + unit * unit / 12.0).sqrt();
            assert!((number("z").unwrap() - z).abs() < 1e-9, "{cell}");
            compared += 1;
        }
    }
    assert!(compared >= 8, "{compared} cells have all of their figures");
    let agreement = document["paper"]["agreement"].as_array().unwrap();
    let gains = agreement.iter().find(|group| group["table"] == "V: lc, 20").unwrap();
    assert!(gains["mean_square"]["value"].as_f64().unwrap() > 0.0 && gains["runs_agree"].is_number(), "{gains}");
    let alone = &gains["mean_square_without_rebuilt"];
    assert_eq!(alone, &gains["mean_square"], "neither set is rebuilt");
    assert!(gains["log_std"]["value"].is_number() && gains["log_std"]["cells"].as_u64().unwrap() <= 2, "{gains}");
    for file in ["r.md", "r.tex", "r.html"] {
        let text = text(&folder.bytes(file));
        assert!(text.contains("by chance") && text.contains("public sets") && text.contains("log std ratio"), "{file}");
    }
    assert!(text(&folder.bytes("r.html")).contains("error-bar"));
    folder.fail_with(2, &format!("{line} --seeds 0"), &["--seeds"]);
}

/// A protocol decides what is not asked for otherwise, and nothing else.
#[test]
fn a_protocol_is_what_a_reproduction_runs() {
    let folder = paper_folder(&["labor"]);
    let run = |line: &str| {
        folder.run(&format!("{line} --methods lc,lcd,lcud,initial,semiboost --splits 4 --sizes 20 --json r.json"));
        let document = json(&folder, "r.json");
        let results = document["results"].as_array().unwrap();
        let of = |name: &str| results.iter().find(|result| result["method"] == name).unwrap()["accuracies"].clone();
        (document["settings"].clone(), ["lc", "lcd", "initial"].map(of))
    };
    let loss = |settings: &Value| settings["udeed"]["loss"].as_str().unwrap().to_owned();
    let (settings, [lc, lcd, initial]) = run("reproduce --data data");
    assert_eq!(
        (loss(&settings), &settings["lc_stays"], &settings["scale"]),
        ("printed".into(), &true.into(), &"whole-set".into())
    );
    assert_eq!(lc, initial);
    assert_ne!(lcd, initial);
    assert_eq!(run("reproduce --data data --protocol paper").0, settings);
    let (corrected, _) = run("reproduce --data data --protocol corrected");
    assert_eq!(
        (loss(&corrected), &corrected["lc_stays"], &corrected["scale"]),
        ("logistic".into(), &false.into(), &"whole-set".into())
    );
    assert_eq!(corrected["rivals"], settings["rivals"]);
    for asked in ["--loss squared", "--set udeed.loss=squared"] {
        assert_eq!(loss(&run(&format!("reproduce --data data {asked}")).0), "squared");
    }
    // A comparison has none unless it is asked for one; its own options stay.
    assert_eq!(run("compare labor").0["scale"], "training");
    let (compared, [lc, _, initial]) = run("compare labor --protocol paper --test 0.4");
    assert_eq!((loss(&compared), &compared["scale"]), ("printed".into(), &"whole-set".into()));
    assert!((compared["shares"]["test"].as_f64().unwrap() - 0.4).abs() < 1e-12 && lc == initial, "{compared}");
    folder.fail_with(2, "reproduce --data data --protocol mine", &["'mine'", "paper", "corrected"]);
}

/// The help and the documentation keep apart what the paper prints and what is inferred.
#[test]
fn protocols_are_documented_as_they_are_declared() {
    let help = Folder::new().run("reproduce --help-all");
    let page = include_str!("../../../docs/reproduction.md");
    for protocol in udeed_lab::Protocol::all() {
        assert!(help.contains(&format!("Protocol {}: {}", protocol.name, protocol.sentence)), "{help}");
        for choice in protocol.choices() {
            let (_, title) = udeed_lab::Source::ALL.into_iter().find(|(source, _)| *source == choice.source).unwrap();
            let source = title.split(' ').next().unwrap();
            assert!(help.contains(&format!("- {}", choice.text)), "{} in {help}", choice.text);
            let row = page.lines().find(|line| line.starts_with(&format!("| {} |", choice.text)));
            assert!(row.is_some_and(|row| row.ends_with(&format!("| {source} |"))), "{}: {source}", choice.text);
        }
    }
}

#[test]
fn semiboost_compares_all_rows_only_on_request_and_for_the_paper() {
    let folder = paper_folder(&["labor"]);
    let neighbors = |line: &str| {
        folder.run(&format!("{line} --methods semiboost --splits 2 --json r.json"));
        let settings = &json(&folder, "r.json")["settings"]["rivals"];
        settings.as_array().unwrap().iter().find(|rival| rival["method"] == "semiboost").unwrap()["neighbors"].clone()
    };
    assert_eq!(neighbors("compare labor"), 20);
    assert_eq!(neighbors("compare labor --neighbors 0"), 0);
    assert_eq!(neighbors("reproduce --data data --sizes 20"), 0);
    assert_eq!(neighbors("reproduce --data data --sizes 20 --neighbors 7"), 7);
    assert_eq!(neighbors("reproduce --data data --sizes 20 --set semiboost.neighbors=7"), 7);
    // RegBoost always has some.
    folder.run("compare labor --methods semiboost,mcssb,regboost --neighbors 0 --splits 2");
}

#[test]
fn reproduction_can_be_narrowed() {
    let folder = paper_folder(&["house", "labor"]);
    let shown = folder.run("reproduce --data data --sets labor --sizes 50 --splits 2 --methods lc,lcud");
    assert!(shown.contains("Table III") && shown.contains("labor") && !shown.contains("house"), "{shown}");
    assert!(!shown.contains("semib."), "{shown}");
}

#[test]
fn a_folder_without_sets_says_what_was_looked_for() {
    let folder = Folder::new();
    fs::create_dir(folder.file("data")).unwrap();
    folder.fail_with(1, "reproduce --data data", &["data: ", "`diabetes.libsvm.gz`"]);
    folder.fail_with(1, "reproduce --data missing", &["missing: cannot read"]);
}

#[test]
fn an_unknown_set_lists_the_known_ones() {
    let folder = paper_folder(&["labor"]);
    folder.fail_with(2, "reproduce --data data --sets iris", &["`iris`", "`ionosphere`"]);
    folder.fail_with(1, "reproduce --data data --sets sonar", &["`sonar`"]);
}

#[test]
fn a_set_too_small_to_split_says_how_many_rows_it_needs() {
    let folder = Folder::with("few.csv", "x,y\n1,a\n2,a\n3,a\n4,b\n");
    folder.fail_with(1, "compare few.csv --label y --splits 2", &["1 rows of class `b`", "at least 2"]);
}

/// The paper's rebuilt set is preferred to the raw one.
#[test]
fn the_file_with_the_papers_features_is_taken() {
    let folder = paper_folder(&["wdbc", "vote"]);
    folder.run("data write wdbc --quiet --drop 1,2 --out data/wdbc_pca14_guess.libsvm");
    folder.run("reproduce --data data --sets wdbc --sizes 20 --splits 2 --methods lcud --json r.json");
    assert_eq!(json(&folder, "r.json")["sets"][0]["n_columns"], 28);
}

/// Where a method ends as its baseline, every form of the results says so.
#[test]
fn a_method_that_ends_as_its_baseline_is_marked() {
    let folder = Folder::new();
    let shown = folder.run(
        "compare sonar --methods logistic,ssmboost --splits 4 --csv r.csv --markdown r.md --latex r.tex --json r.json --html r.html",
    );
    let [logistic, ssmboost] = ["logistic ", "ssmboost "].map(|name| shown.lines().find(|line| line.starts_with(name)));
    assert!(ssmboost.unwrap().ends_with('\u{2020}') && !logistic.unwrap().contains('\u{2020}'), "{shown}");
    let note = shown
        .lines()
        .find(|line| line.starts_with("\u{2020} ssmboost, 20 members: ended as its baseline on "))
        .unwrap();
    let splits: usize = note.split_whitespace().nth(9).unwrap().parse().unwrap();
    let json: serde_json::Value = serde_json::from_slice(&folder.bytes("r.json")).unwrap();
    let outcomes = json["results"].as_array().unwrap();
    let marked: Vec<(&str, u64)> = outcomes
        .iter()
        .map(|outcome| (outcome["method"].as_str().unwrap(), outcome["baseline_splits"].as_u64().unwrap()))
        .collect();
    assert_eq!(marked, [("logistic", 0), ("ssmboost", splits as u64)]);
    assert!(text(&folder.bytes("r.csv")).contains(&format!(",4,{splits},")));
    for file in ["r.md", "r.html"] {
        assert!(text(&folder.bytes(file)).contains('\u{2020}'), "{file}");
    }
    assert!(text(&folder.bytes("r.tex")).contains("$\\dagger$"));
}

/// A setting that changes none of the methods is refused; one that changes some is not.
#[test]
fn a_setting_that_changes_nothing_is_refused() {
    let folder = Folder::new();
    for options in [
        "bagging,logistic --gamma 5",
        "logistic,initial --steps 3",
        "logistic,auto --rate 3",
        "logistic,lc --gamma 5",
        "logistic,adaboost-discard --zero-error keep",
    ] {
        let message = folder.fail(2, &format!("compare labor --splits 2 --methods {options}"));
        assert!(message.contains("no such setting"), "{options}: {message}");
    }
    for options in ["logistic,lcud --gamma 5", "initial --vote unweighted", "logistic,adaboost --zero-error keep"] {
        folder.run(&format!("compare labor --splits 2 --methods {options}"));
    }
}

/// Two splits that differ by the same are no proof: there is no p-value and no verdict.
#[test]
fn equal_differences_decide_nothing() {
    let folder = Folder::new();
    let shown = folder.run("compare wdbc --splits 2 --sizes 50 --methods logistic,lcud");
    assert!(shown.contains("0 up, 2 down"), "{shown}");
    let p = shown.lines().find(|line| line.starts_with("p, corrected t-test")).unwrap();
    assert_eq!(p.split_whitespace().last(), Some("-"), "{shown}");
}
