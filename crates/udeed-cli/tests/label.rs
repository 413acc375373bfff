//! `udeed label`, over plain HTTP: who is refused, what survives, and what is written.
#![allow(clippy::unwrap_used)]

mod served;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use served::{Served, outcome, truth, write_points};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn read(path: impl AsRef<Path>) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Labels as many rows as they truly are.
fn label_truly(served: &Served, n: usize) {
    for _ in 0..n {
        let row = served.state()["question"]["row"].as_u64().unwrap() as usize;
        served.label(truth(row));
    }
}

#[test]
fn whoever_may_not_is_refused() {
    let folder = folder();
    write_points(folder.path(), 30, 4);
    let served = Served::start(folder.path(), &["rows.csv", "--label", "kind"]);
    let (port, token) = (served.port, &served.token);
    let host = format!("Host: 127.0.0.1:{port}");
    let page = format!("/{token}/");
    let state = format!("/{token}/state?window=test");
    assert_eq!(served.request("GET", &page, &[&host], "").status, 200);
    let own = format!("Origin: http://127.0.0.1:{port}");
    assert_eq!(served.request("GET", &state, &[&host, &own, "Sec-Fetch-Site: same-origin"], "").status, 200);

    // It listens on one address of this machine, not on all.
    #[cfg(target_os = "linux")]
    TcpStream::connect(("127.0.0.2", port)).unwrap_err();

    // Nobody gets in without the token.
    let wrong = format!("/{}/", "0".repeat(32));
    let others =
        [&token[..31], &format!("{token}0"), &format!("/{token}"), &format!("//{token}"), &format!("./{token}")];
    let others = others.map(|other| format!("/{other}/"));
    for path in ["/", "/state", "//", wrong.as_str()].into_iter().chain(others.iter().map(String::as_str)) {
        assert_eq!(served.request("GET", path, &[&host], "").status, 403, "{path}");
    }
    // Nor by another name of this machine, nor from another page.
    let (other_host, other_port) = (format!("Host: evil.example:{port}"), format!("Host: 127.0.0.1:{}", port ^ 1));
    for hosts in [&[other_host.as_str()][..], &[&other_port], &["Host: localhost"], &[], &[&host, &other_host]] {
        assert_eq!(served.request("GET", &page, hosts, "").status, 403, "{hosts:?}");
    }
    for line in
        ["Origin: http://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site"]
    {
        assert_eq!(served.request("GET", &state, &[&host, line], "").status, 403, "{line}");
    }

    // What changes something needs the token twice, JSON, and the right method.
    let row = served.state()["question"]["row"].clone();
    let body = json!({ "window": "test", "row": row, "reply": "label", "label": "near" }).to_string();
    let (path, known) = (format!("/{token}/answer"), format!("X-Udeed-Token: {token}"));
    let json = "Content-Type: application/json";
    for (method, lines, status) in [
        ("POST", &[&host, json][..], 403),
        ("POST", &[&host, json, "X-Udeed-Token: 1"], 403),
        ("POST", &[&host, &known, json, "Origin: http://evil.example"], 403),
        ("POST", &[&other_host, &known, json], 403),
        ("POST", &[&host, &known], 415),
        ("POST", &[&host, &known, "Content-Type: text/plain"], 415),
        ("GET", &[&host, &known, json], 405),
        ("PUT", &[&host, &known, json], 405),
        ("POST", &[&host, &known, json, "Transfer-Encoding: chunked"], 501),
    ] {
        assert_eq!(served.request(method, &path, lines, &body).status, status, "{method} {lines:?}");
    }
    assert_eq!(served.request("POST", &page, &[&host, &known, json], "{}").status, 405);
    assert_eq!(served.get("nothing").status, 404);
    for row in ["30", "18446744073709551615", "18446744073709551616"] {
        let answer = served.request(
            "POST",
            &format!("/{token}/show"),
            &[&host, &known, json],
            &format!("{{\"window\":\"test\",\"row\":{row}}}"),
        );
        assert_eq!(answer.status, 400, "{row}: {}", answer.body);
        for path in ["cell?column=0&", "cell?column=18446744073709551615&", "row?", "media?column=0&"] {
            assert_eq!(served.get(&format!("{path}row={row}")).status, 404, "{path} {row}");
        }
    }
    for body in ["", "{}", "[1]", "{\"window\":1}", "{\"window\":\"test\",\"row\":-1}"] {
        assert_eq!(served.request("POST", &path, &[&host, &known, json], body).status, 400, "{body}");
    }
    let large = format!("{{\"window\":\"{}\"}}", "x".repeat(70_000));
    assert_eq!(served.request("POST", &path, &[&host, &known, json], &large).status, 413);
    let long = format!("X: {}", "x".repeat(20_000));
    assert_eq!(served.request("GET", &page, &[&host, &long], "").status, 431);
    assert_eq!(served.raw(b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n").status, 400);

    // Nothing of all that was an answer, and the server still is as it was.
    assert_eq!(read(folder.path().join("rows.labels.csv")).lines().count(), 1);
    assert_eq!(served.state()["answered"], 0);
    served.label("near");
    assert_eq!(served.state()["answered"], 1);
    let page = served.get("");
    let wanted = "Content-Security-Policy: default-src 'none'; style-src 'sha256-";
    assert!(page.head.contains(wanted) && !page.head.contains("unsafe"), "{}", page.head);
    assert!(!page.body.contains(" onclick=") && !page.body.contains(" style="));
}

#[test]
fn slow_and_silent_clients_keep_nobody_out() {
    let folder = folder();
    write_points(folder.path(), 30, 4);
    let served = Served::start(folder.path(), &["rows.csv", "--label", "kind"]);
    let connect = || TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    let silent: Vec<TcpStream> = (0..300).map(|_| connect()).collect();
    let mut slow = connect();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
    let begun = Instant::now();
    served.label("near");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    // The oldest of them were closed for the newest.
    let mut oldest = &silent[0];
    oldest.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    let closed = oldest.read(&mut [0]);
    assert!(!closed.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock), "300 connections are open");
    // One that sends a byte now and then is cut off in the end.
    let begun = Instant::now();
    slow.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut byte = [0];
    loop {
        assert!(begun.elapsed() < Duration::from_secs(25), "a slow client is still there");
        let sent = slow.write_all(b"x");
        match slow.read(&mut byte) {
            Ok(0) => break,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && sent.is_ok() => {}
            _ if sent.is_err() => break,
            other => {
                assert!(
                    matches!(&other, Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset),
                    "{other:?}"
                );
                break;
            }
        }
    }
    drop(silent);
    served.label("near");
}

#[test]
fn answers_survive_a_kill_and_go_on() {
    let folder = folder();
    write_points(folder.path(), 80, 4);
    let before = read(folder.path().join("rows.csv"));
    let call = ["rows.csv", "--label", "kind"];
    let served = Served::start(folder.path(), &call);
    label_truly(&served, 12);
    assert_eq!(served.post("undo", &json!({ "window": "test" })).status, 200);
    let row = served.state()["question"]["row"].clone();
    assert_eq!(served.post("answer", &json!({ "window": "test", "row": row, "reply": "not sure" })).status, 200);
    let told = served.state();
    served.kill();

    // The last line was cut off.
    let path = folder.path().join("rows.labels.csv");
    let whole = read(&path);
    std::fs::write(&path, format!("{whole}17,00")).unwrap();
    let served = Served::start(folder.path(), &call);
    let again = served.state();
    for what in ["answered", "notSure", "labeled", "classes", "estimate", "curve", "recent", "open"] {
        assert_eq!(again[what], told[what], "{what}");
    }
    assert_eq!((read(&path), &told["answered"]), (whole, &json!(11)));

    // Nobody else writes meanwhile.
    let (code, out, error) = outcome(folder.path(), &call);
    let holder = format!("rows.labels.csv: the answers are in use by process {}", served.id());
    assert!(code == 1 && out.is_empty() && error.contains(&holder), "{code} {error}");
    assert!(error.contains("hint: answer on the page that is open, or label another part: `--part 2/2`"), "{error}");

    label_truly(&served, 8);
    let (words, code) = served.interrupt();
    assert_eq!(code, 0, "{words}");
    for wanted in [
        "19 answers in rows.labels.csv",
        "estimated accuracy ",
        "wrote 80 rows, 23 of them labeled, to rows.labeled.csv",
        "wrote the model of 23 labels to rows.labeled.safetensors",
        "go on with:\n  udeed predict rows.labeled.safetensors rows.csv --out predictions.csv\n  udeed label rows.csv",
    ] {
        assert!(words.contains(wanted), "{wanted}: {words}");
    }
    assert_eq!(read(folder.path().join("rows.csv")), before, "the rows stay as they are");
    assert!(!folder.path().join("rows.labels.csv.lock").exists());
    let labeled = read(folder.path().join("rows.labeled.csv"));
    let labels = labeled.lines().skip(1).enumerate().filter(|(_, line)| !line.ends_with(','));
    let labels: Vec<bool> = labels.map(|(row, line)| line.ends_with(&format!(",{}", truth(row)))).collect();
    assert_eq!((labels.len(), labels.contains(&false)), (23, false), "{labeled}");
    let predict = ["predict", "rows.labeled.safetensors", "rows.csv"];
    let predict =
        std::process::Command::new(env!("CARGO_BIN_EXE_udeed")).current_dir(folder.path()).args(predict).output();
    assert_eq!(String::from_utf8(predict.unwrap().stdout).unwrap().lines().count(), 81);
}

#[test]
fn other_rows_and_damaged_answers_are_refused() {
    let folder = folder();
    let rows = write_points(folder.path(), 40, 4);
    let call = ["rows.csv", "--label", "kind"];
    let served = Served::start(folder.path(), &call);
    let row = served.label("near");
    served.label("far");
    assert_eq!(served.interrupt().1, 0);
    let (answers, text) = (folder.path().join("rows.labels.csv"), read(&rows));
    let changed: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(i, line)| if i == row + 1 { format!("9{line}") } else { line.to_owned() })
        .collect();
    std::fs::write(&rows, changed.join("\n")).unwrap();
    let (code, _, error) = outcome(folder.path(), &call);
    let wanted =
        format!("rows.labels.csv, line 2: an answer to row {} of other content, expected that of rows.csv", row + 1);
    assert!(code == 1 && error.contains(&wanted), "{error}");
    std::fs::write(&rows, &text).unwrap();

    let whole = read(&answers);
    std::fs::write(&answers, whole.replacen(",near,", ",far,", 1)).unwrap();
    let (code, _, error) = outcome(folder.path(), &call);
    assert!(code == 1 && error.contains("line 2: a line whose checksum does not match"), "{error}");
    assert!(error.contains("hint: `--repair` leaves damaged lines out"), "{error}");
    let served = Served::start(folder.path(), &[&call[..], &["--repair"]].concat());
    assert_eq!(served.state()["answered"], 1);
    drop(served);

    std::fs::write(&answers, &text).unwrap();
    let (code, _, error) = outcome(folder.path(), &call);
    assert!(code == 1 && error.contains("expected the header of a file of answers"), "{error}");
    assert_eq!(read(&answers), text, "what is no file of answers stays");
}

/// Rows are read again where they stood: other bytes there would take the labels of those that were shown.
#[test]
fn rows_that_change_while_they_are_labeled_are_refused_and_answers_stay() {
    let folder = folder();
    let rows = write_points(folder.path(), 40, 4);
    let text = read(&rows);
    let (header, body) = text.split_once('\n').unwrap();
    let turned = body.lines().rev().fold(format!("{header}\n"), |turned, line| turned + line + "\n");
    assert_eq!(turned.len(), text.len());
    let call = ["rows.csv", "--label", "kind"];
    let mut served = Served::start(folder.path(), &call);
    label_truly(&served, 3);
    let answers = read(folder.path().join("rows.labels.csv"));
    std::fs::write(&rows, &turned).unwrap();
    // The page says so at once, and takes no answer for a row that it cannot show.
    let refused = "rows.csv: found a file that changed while it was read, expected one that stays as it is";
    for part in ["state?window=test", "search?q=near", "row?row=7"] {
        let answer = served.get(part);
        assert!(answer.status == 500 && answer.body.contains(refused), "{part}: {} {}", answer.status, answer.body);
    }
    let finished = served.post("finish", &json!({ "window": "test" }));
    let ending: Value = serde_json::from_str(&finished.body).unwrap();
    let sentence = ending["ending"]["sentences"][0].as_str().unwrap();
    assert!(sentence.starts_with(refused) && sentence.contains("\nhint: the answers are kept: "), "{sentence}");
    assert_eq!(served.last_words(), (String::new(), 1));
    for made in ["rows.labeled.csv", "rows.labeled.safetensors"] {
        assert!(!folder.path().join(made).exists(), "{made}");
    }
    assert_eq!((read(folder.path().join("rows.labels.csv")), read(&rows)), (answers, turned));
    // With the rows as they were it goes on.
    std::fs::write(&rows, &text).unwrap();
    let served = Served::start(folder.path(), &call);
    assert_eq!(served.state()["answered"], 3);
    assert_eq!(served.interrupt().1, 0);
}

/// The output is a pipe, which nobody reads until the rows are others.
#[test]
#[cfg(unix)]
fn rows_that_change_while_answers_are_merged_are_refused() {
    let folder = folder();
    let rows = write_points(folder.path(), 40, 4);
    let call = ["rows.csv", "--label", "kind", "--answers"];
    let served = Served::start(folder.path(), &[&call[..], &["other.csv"]].concat());
    label_truly(&served, 3);
    assert_eq!(served.interrupt().1, 0);
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let all = folder.path().join("all.csv");
    let words = [&call[..], &["all.csv", "--merge", "other.csv", "--out", "pipe"]].concat();
    let merging = std::thread::scope(|scope| {
        let merging = scope.spawn(|| outcome(folder.path(), &words));
        let begun = Instant::now();
        while !all.exists() || read(&all).lines().count() < 4 {
            assert!(begun.elapsed() < Duration::from_secs(30), "nothing was merged");
            std::thread::sleep(Duration::from_millis(20));
        }
        let text = read(&rows);
        std::fs::write(&rows, text.replace("\n0.", "\n9.")).unwrap();
        assert_eq!(read(&pipe), "");
        merging.join().unwrap()
    });
    let (code, words, error) = merging;
    let refused = "error: rows.csv: found a file that changed while it was read, expected one that stays as it is\n";
    assert!(code == 1 && words.is_empty() && error.contains(refused), "{code} {words} {error}");
    assert_eq!(read(&all).lines().count(), 4, "the answers are kept");
}

/// Runs the first command that the last words name, and returns what it prints.
fn go_on(folder: &Path, words: &str) -> String {
    let command = words.split_once("go on with:\n").unwrap().1.lines().next().unwrap().trim();
    let binary = Path::new(env!("CARGO_BIN_EXE_udeed"));
    let command = command.replacen("udeed", binary.to_str().unwrap(), 1);
    let output = std::process::Command::new("sh").current_dir(folder).args(["-c", &command]).output().unwrap();
    let [out, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
    assert!(output.status.success() && !error.contains("warning: "), "{command}\n{error}");
    out
}

/// What is to be known of a model: its columns and classes, and the labels that it learned from.
fn known(folder: &Path, model: &str) -> Value {
    let mut inspect = std::process::Command::new(env!("CARGO_BIN_EXE_udeed"));
    let output = inspect.current_dir(folder).args(["inspect", model, "--json"]).output().unwrap();
    let model: Value = serde_json::from_slice(&output.stdout).unwrap();
    json!([model["columns"], model["classes"], model["training"]["n_labeled"]])
}

/// Files that are read by options: the commands to go on with have them, too.
#[test]
fn the_commands_to_go_on_with_read_rows_as_they_were_read() {
    let rows = |label: &dyn Fn(usize) -> String, delimiter: &str| -> String {
        (0..40)
            .map(|row| {
                let size = if truth(row) == "near" { row % 7 } else { 20 + row % 5 };
                let kind = if row < 4 { truth(row).to_owned() } else { label(row) };
                [format!("r{row}"), size.to_string(), (row % 3).to_string(), kind].join(delimiter) + "\n"
            })
            .collect()
    };
    let todo = |_: usize| "todo".to_owned();
    let none = |_: usize| String::new();
    let bare = |text: &str| text.replace(",near\n", "\n").replace(",far\n", "\n").replace(",\n", "\n");
    let arff = |nominal: &str| {
        let rows = rows(&|_| "?".into(), ",");
        format!(
            "@relation r\n@attribute id string\n@attribute size real\n@attribute form {nominal}\n@attribute class {{near,far}}\n@data\n{rows}"
        )
    };
    let header = |text: String, delimiter: &str| ["id", "size", "form", "kind"].join(delimiter) + "\n" + &text;
    for (name, text, options) in [
        (
            "a.csv",
            header(rows(&todo, ";"), ";"),
            "--label kind --delimiter ; --drop id --unlabeled-mark todo --nominal form",
        ),
        ("b.tsv", header(rows(&none, "\t"), "\t"), "--label kind --drop 1 --method bagging --seed 3"),
        ("c.txt", rows(&none, ","), "--label 4 --format csv --no-header --drop 1 --longest-line 1M"),
        // Without a column of labels one is added, and the last column is another one.
        ("d.csv", bare(&header(rows(&none, ","), ",")).replace(",kind", ""), "--label kind --drop=-3 --nominal=-1"),
        ("e.csv", bare(&rows(&none, ",")), "--no-header --drop=-3 --method bagging"),
        ("f.arff", arff("{0,1,2}"), "--drop id --method bagging"),
    ] {
        let folder = folder();
        let folder = folder.path();
        std::fs::write(folder.join(name), text).unwrap();
        let call: Vec<&str> = std::iter::once(name).chain(options.split(' ')).collect();
        let served = Served::start(folder, &call);
        label_truly(&served, 12);
        let (words, code) = served.interrupt();
        assert_eq!(code, 0, "{name}: {words}");
        go_on(folder, &words);
        let predictions = read(folder.join("predictions.csv"));
        assert_eq!(predictions.lines().count(), 41, "{name}: {predictions}");
        let stem = name.split('.').next().unwrap();
        let answers = format!("{stem}.labels.csv");
        let merge = ["--answers", "all.csv", "--out", "all.labeled.csv", "--merge", &answers];
        let (code, words, error) = outcome(folder, &[&call[..], &merge].concat());
        assert_eq!(code, 0, "{name}: {words}{error}");
        go_on(folder, &words);
        let [fitted, saved] =
            [format!("{stem}.labeled.safetensors"), "model.safetensors".into()].map(|own| known(folder, &own));
        assert_eq!(fitted, saved, "{name}: {words}");
    }
}

/// Others read the arguments of programs: the browser is given a file that only its user can read.
#[cfg(target_os = "linux")]
#[test]
fn the_token_is_no_argument_of_the_browser() {
    use std::os::unix::fs::PermissionsExt;

    let folder = folder();
    write_points(folder.path(), 30, 4);
    let (served, opened) = Served::opened(folder.path(), &["rows.csv", "--label", "kind"]);
    let page = Path::new(&opened);
    assert!(page.is_file() && !opened.contains(&served.token), "{opened}");
    assert_eq!(page.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(read(page).contains(&format!("url={}\"", served.address)));
    // It leads there from another site, which opens the page and nothing else.
    let host = format!("Host: 127.0.0.1:{}", served.port);
    let from_file =
        [host.as_str(), "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"];
    for (path, lines, status) in [
        ("", &from_file[..], 200),
        ("", &from_file[..3], 403),
        ("", &[&from_file[..3], &["Sec-Fetch-Dest: iframe"]].concat(), 403),
        ("state?window=test", &from_file, 403),
    ] {
        let answer = served.request("GET", &format!("/{}/{path}", served.token), lines, "");
        assert_eq!(answer.status, status, "{path} {lines:?}");
    }
    assert_eq!(served.interrupt().1, 0);
    assert!(!page.exists());
}

/// With a number that is too large beside the others no fit succeeds.
#[test]
fn a_last_fit_that_fails_is_told() {
    let folder = folder();
    let line = |row: usize| {
        let size = if row == 9 { "1e299".into() } else { format!("{}e-170", row % 2 * 9 + row % 7) };
        format!("{size},{}\n", if row < 8 { truth(row) } else { "" })
    };
    std::fs::write(folder.path().join("rows.csv"), "size,kind\n".to_owned() + &(0..40).map(line).collect::<String>())
        .unwrap();
    let mut served = Served::start(folder.path(), &["rows.csv", "--label", "kind", "--method", "bagging"]);
    let told = "the training rows, column `size`: found values from 0e0 to 1e299";
    assert!(served.state()["problem"].as_str().unwrap().starts_with(told));
    label_truly(&served, 1);
    let finished = served.post("finish", &json!({ "window": "test" }));
    let ending: Value = serde_json::from_str(&finished.body).unwrap();
    let sentences = ending["ending"]["sentences"].to_string();
    assert!(sentences.contains(&format!("no model: {told}")), "{sentences}");
    let (words, code) = served.last_words();
    assert!(code == 1 && words.contains("wrote 40 rows, 9 of them labeled, to rows.labeled.csv"), "{code} {words}");
    assert!(!folder.path().join("rows.labeled.safetensors").exists());
}

#[test]
fn a_class_that_marks_unlabeled_rows_is_refused_and_one_that_is_meant_is_not() {
    let folder = folder();
    let path = write_points(folder.path(), 30, 4);
    let text = read(&path).replace(",\n", ",todo\n");
    std::fs::write(&path, text).unwrap();
    let call = ["rows.csv", "--label", "kind", "--unlabeled-mark", "todo", "--class", "none"];
    let served = Served::start(folder.path(), &call);
    let row = served.state()["question"]["row"].clone();
    let answer = served.post("answer", &json!({ "window": "test", "row": row, "reply": "label", "label": "todo" }));
    assert!(answer.status == 400 && answer.body.contains("this one marks rows without a label"), "{}", answer.body);
    served.label("none");
    served.label("none");
    assert_eq!(served.interrupt().1, 0);
    let merge = ["--answers", "all.csv", "--merge", "rows.labels.csv"];
    let (_, words, error) = outcome(folder.path(), &[&call[..], &merge].concat());
    let fit = "--label kind --unlabeled-mark todo --class none --method auto --out model.safetensors\n";
    assert!(words.contains(fit), "{words}{error}");
}

#[test]
fn two_people_label_parts_and_merge() {
    let folder = folder();
    write_points(folder.path(), 60, 4);
    let call = ["rows.csv", "--label", "kind"];
    for part in ["1/2", "2/2"] {
        let served = Served::start(folder.path(), &[&call[..], &["--part", part]].concat());
        for _ in 0..6 {
            let row = served.state()["question"]["row"].as_u64().unwrap() as usize;
            assert_eq!(row % 2, usize::from(part == "2/2"), "a row of the other part");
            served.label(truth(row));
        }
        assert_eq!(served.interrupt().1, 0);
    }
    let merge = ["--merge", "rows.part-1-of-2.labels.csv", "rows.part-2-of-2.labels.csv"];
    let (code, words, error) = outcome(folder.path(), &[&call[..], &merge].concat());
    assert!(code == 0 && words.starts_with("12 answers merged into rows.labels.csv, which has 12\n"), "{words}{error}");
    assert!(
        words.contains("\n  udeed fit rows.labeled.csv --label kind --method auto --out model.safetensors\n"),
        "{words}"
    );
    let (_, words, _) = outcome(folder.path(), &[&call[..], &merge].concat());
    assert!(words.starts_with("0 answers merged into rows.labels.csv, which has 12\n"), "{words}");

    // The first says otherwise of a row that the second knows.
    let answers = read(folder.path().join("rows.part-2-of-2.labels.csv"));
    let row: usize = answers.lines().nth(1).unwrap().split(',').next().unwrap().parse().unwrap();
    let own = ["--answers", "other.labels.csv"];
    let served = Served::start(folder.path(), &[&call[..], &own].concat());
    assert_eq!(served.post("show", &json!({ "window": "test", "row": row - 1 })).status, 200);
    served.label("near");
    assert_eq!(served.interrupt().1, 0);
    let merge = ["--merge", "rows.part-2-of-2.labels.csv", "other.labels.csv", "--answers", "all.labels.csv"];
    let (code, words, error) = outcome(folder.path(), &[&call[..], &merge].concat());
    let named = format!("row {row}: `far` in rows.part-2-of-2.labels.csv, `near` in other.labels.csv\n");
    assert!(code == 1 && words == named && error.contains("1 row with different labels"), "{words}{error}");
    assert_eq!(read(folder.path().join("all.labels.csv")).lines().count(), 1);
    let (code, words, _) = outcome(folder.path(), &[&call[..], &merge, &["--leave-conflicts"]].concat());
    assert!(code == 0 && words.starts_with("5 answers merged into all.labels.csv, which has 5\n"), "{words}");
    assert!(words.contains(&named), "{words}");
}

/// What people say of a row in the end counts: a label more than none, a skip nothing, and conflicts leave no side.
#[test]
fn a_label_counts_more_than_none_and_a_skip_nothing() {
    let folder = folder();
    write_points(folder.path(), 30, 4);
    let call = ["rows.csv", "--label", "kind"];
    let say = |file: &str, answers: &[(usize, &str, &str)]| {
        let served = Served::start(folder.path(), &[&call[..], &["--answers", file]].concat());
        for (row, reply, label) in answers {
            assert_eq!(served.post("show", &json!({ "window": "test", "row": row })).status, 200);
            let answer = json!({ "window": "test", "row": row, "reply": reply, "label": label });
            assert_eq!(served.post("answer", &answer).status, 200);
        }
        assert_eq!(served.interrupt().1, 0);
    };
    // A label that was corrected is taken back with the one before it.
    say(
        "a.csv",
        &[(10, "not sure", ""), (11, "skip", ""), (12, "label", "far"), (12, "label", "near"), (13, "label", "near")],
    );
    say("b.csv", &[(10, "label", "far"), (11, "skip", ""), (12, "label", "far"), (13, "not sure", "")]);
    let merge = ["--merge", "b.csv", "--answers", "a.csv", "--leave-conflicts"];
    let (code, words, error) = outcome(folder.path(), &[&call[..], &merge].concat());
    assert!(code == 0 && words.starts_with("1 answer merged into a.csv, which has 2\n"), "{words}{error}");
    assert!(words.contains("row 13: `near` in a.csv, `far` in b.csv"), "{words}");
    let labeled = read(folder.path().join("rows.labeled.csv"));
    let label = |row: usize| labeled.lines().nth(row + 1).unwrap().rsplit(',').next().unwrap().to_owned();
    assert_eq!([10, 11, 12, 13].map(label), ["far", "", "", "near"]);
    // The conflict is taken back in the file, too: its row is asked for again.
    let served = Served::start(folder.path(), &[&call[..], &["--answers", "a.csv"]].concat());
    assert_eq!((&served.state()["answered"], &served.state()["labeled"]), (&json!(2), &json!(6)));
}

#[test]
fn a_second_window_looks_on_until_it_takes_over() {
    let folder = folder();
    write_points(folder.path(), 30, 4);
    let served = Served::start(folder.path(), &["rows.csv", "--label", "kind"]);
    served.label("near");
    let other = |what: &str, more: Value| {
        let mut body = json!({ "window": "other" });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.post(what, &body)
    };
    let seen: Value = serde_json::from_str(&served.get("state?window=other").body).unwrap();
    assert_eq!((&seen["labeling"], &seen["answered"]), (&json!(false), &json!(1)));
    let row = &seen["question"]["row"];
    let reply = json!({ "row": row, "reply": "label", "label": "far" });
    for what in ["answer", "undo", "show", "finish"] {
        assert_eq!(other(what, reply.clone()).status, 409, "{what}");
    }
    assert_eq!(other("take", json!({})).status, 200);
    assert_eq!(other("answer", reply).status, 200);
    assert_eq!((&served.state()["labeling"], &served.state()["answered"]), (&json!(false), &json!(2)));
    // An answer to a row that is not shown any more is none.
    let stale = json!({ "row": row, "reply": "label", "label": "far" });
    assert_eq!(other("answer", stale).status, 409);
    assert_eq!(other("leave", json!({})).status, 204);
    assert_eq!(served.state()["labeling"], true);
}

#[test]
fn chosen_rows_have_their_reasons_and_random_ones_none() {
    let folder = folder();
    write_points(folder.path(), 60, 20);
    let served = Served::start(folder.path(), &["rows.csv", "--label", "kind"]);
    let mut random = 0;
    for _ in 0..10 {
        let question = served.state()["question"].clone();
        let is_random = question["origin"] == "random";
        random += usize::from(is_random);
        assert!(is_random == question["reasons"].is_null(), "{question}");
        let row = question["row"].as_u64().unwrap() as usize;
        served.label(truth(row));
        // Suggestions, and their reasons, come with the next model.
        let begun = Instant::now();
        while served.state()["learning"] == true {
            assert!(begun.elapsed() < Duration::from_secs(60), "the model is not there yet");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    assert_eq!(random, 2);
}

#[test]
fn rows_without_any_label_begin_with_a_name() {
    let folder = folder();
    std::fs::write(folder.path().join("rows.tsv"), "size\tcolour\n".to_owned() + &"1\tred\n9\tblue\n".repeat(10))
        .unwrap();
    let served = Served::start(folder.path(), &["rows.tsv", "--label", "kind"]);
    assert_eq!((&served.state()["classes"], &served.state()["estimate"]), (&json!([]), &Value::Null));
    for bad in ["", "  ", "?", "NA", "a\nb"] {
        let row = served.state()["question"]["row"].clone();
        let answer = served.post("answer", &json!({ "window": "test", "row": row, "reply": "label", "label": bad }));
        assert_eq!(answer.status, 400, "{bad:?} {}", answer.body);
    }
    served.label("große, \"rote\"");
    served.label("small");
    let classes = served.state()["classes"].clone();
    assert_eq!((&classes[0]["name"], &classes[1]["key"]), (&json!("große, \"rote\""), &json!("2")));
    let mut served = served;
    let ending: Value = serde_json::from_str(&served.post("finish", &json!({ "window": "test" })).body).unwrap();
    let (words, code) = served.last_words();
    assert_eq!(code, 0);
    for sentence in ending["ending"]["sentences"].as_array().unwrap() {
        assert!(
            words.replace('\n', " ").contains(sentence.as_str().unwrap()),
            "page and terminal say the same: {words}"
        );
    }
    let labeled = read(folder.path().join("rows.labeled.csv"));
    assert!(
        labeled.starts_with("size\tcolour\tkind\n") && labeled.contains("\t\"große, \"\"rote\"\"\"\n"),
        "{labeled}"
    );
}

#[test]
fn cells_are_told_whole_and_harmless() {
    let folder = folder();
    let long = "x".repeat(1 << 20);
    let rows = format!(
        "note,picture,kind\n<script>alert(1)</script>,a/b.png,\n\"\u{1b}[2J\u{202e}abc\",../secret.png,\n{long},rows.csv,\n"
    );
    std::fs::create_dir_all(folder.path().join("data/a")).unwrap();
    std::fs::write(folder.path().join("data/rows.csv"), rows).unwrap();
    std::fs::write(folder.path().join("data/a/b.png"), b"\x89PNG").unwrap();
    std::fs::write(folder.path().join("secret.png"), b"secret").unwrap();
    let served = Served::start(folder.path(), &["data/rows.csv", "--label", "kind"]);
    let shown = |row: usize| {
        let answer = served.post("show", &json!({ "window": "test", "row": row }));
        serde_json::from_str::<Value>(&answer.body).unwrap()["question"]["cells"].clone()
    };
    let cells = shown(0);
    assert_eq!((&cells[0]["text"], &cells[1]["media"]), (&json!("<script>alert(1)</script>"), &json!("image")));
    assert_eq!(cells.as_array().unwrap().len(), 2, "the label is not shown");
    let cells = shown(1);
    assert_eq!((&cells[0]["text"], &cells[1]["media"]), (&json!("␛[2J⟨U+202E⟩abc"), &Value::Null));
    let cells = shown(2);
    assert_eq!((cells[0]["text"].as_str().unwrap().len(), &cells[0]["more"]), (2000, &json!((1 << 20) - 2000)));
    assert_eq!(served.get("cell?row=2&column=0").body, long);
    let picture = served.get("media?row=0&column=1");
    assert!(picture.status == 200 && picture.head.contains("Content-Type: image/png\r\n"), "{}", picture.head);
    assert!(picture.head.contains("nosniff"));
    for path in
        ["media?row=1&column=1", "media?row=2&column=1", "media?row=0&column=0", "media?row=9&column=1", "media"]
    {
        let refused = served.get(path);
        assert!(refused.status == 404 && !refused.body.contains("secret"), "{path}: {}", refused.status);
    }
    // Part by part, as players read sounds.
    let part = |range: &str| {
        let (host, path) =
            (format!("Host: 127.0.0.1:{}", served.port), format!("/{}/media?row=0&column=1", served.token));
        let answer = served.request("GET", &path, &[&host, &format!("Range: {range}")], "");
        let range = answer.head.lines().find_map(|line| line.strip_prefix("Content-Range: ")).unwrap_or_default();
        (answer.status, range.to_owned(), answer.body)
    };
    for (asked, range, body) in [
        ("bytes=1-2", "bytes 1-2/4", "PN"),
        ("bytes=2-", "bytes 2-3/4", "NG"),
        ("bytes=3-900", "bytes 3-3/4", "G"),
        ("bytes=-3", "bytes 1-3/4", "PNG"),
    ] {
        assert_eq!(part(asked), (206, range.to_owned(), body.to_owned()), "{asked}");
    }
    assert_eq!((part("bytes=4-").0, part("bytes=4-").1), (416, "bytes */4".to_owned()));
    for ignored in ["bytes=2-1", "bytes=0-0,2-2", "rows=1-2", "bytes=-", "bytes=x-"] {
        assert_eq!((part(ignored).0, part(ignored).1), (200, String::new()), "{ignored}");
    }
    let found: Value = serde_json::from_str(&served.get("search?q=SCRIPT%3E").body).unwrap();
    assert_eq!((found["found"].as_array().unwrap().len(), &found["found"][0]["row"]), (1, &json!(0)));
}

#[test]
fn what_cannot_be_labeled_is_refused() {
    let folder = folder();
    write_points(folder.path(), 20, 20);
    let refused = |arguments: &[&str], code: i32, wanted: &str| {
        let (found, _, error) = outcome(folder.path(), arguments);
        assert!(found == code && error.contains(wanted), "{arguments:?}: {found} {error}");
    };
    refused(&["rows.csv", "--label", "kind"], 1, "rows.csv: found no row without a label, expected some to label");
    refused(&["-", "--label", "kind"], 2, "expected a file");
    refused(&["rows.csv", "--part", "3/2"], 2, "such as `2/3`");
    refused(&["rows.csv", "--part", "0/2"], 2, "such as `2/3`");
    refused(&["none.csv", "--label", "kind"], 1, "none.csv");
    refused(&["rows.csv", "--label", "kind", "--out", "rows.csv"], 2, "cannot be written");
    refused(&["rows.csv", "--label", "kind", "--answers", "rows.csv"], 2, "cannot be written");
    write_points(folder.path(), 20, 4);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    refused(
        &["rows.csv", "--label", "kind", "--no-open", "--port", &port],
        1,
        &format!("127.0.0.1:{port}: cannot listen"),
    );
}

/// Names are read without the spaces around them: the column of labels is known by its name as it was given.
#[test]
fn a_header_with_spaces_has_its_column_of_labels() {
    let folder = folder();
    let path = write_points(folder.path(), 30, 4);
    std::fs::write(&path, read(&path).replacen("x,y,kind", "x, y , kind", 1)).unwrap();
    let served = Served::start(folder.path(), &["rows.csv", "--label", "kind"]);
    let row = served.label("near");
    served.post("finish", &json!({ "window": "test" }));
    let labeled = read(folder.path().join("rows.labeled.csv"));
    assert_eq!(labeled.lines().next().unwrap().split(',').count(), 3, "{labeled}");
    assert!(labeled.lines().nth(row + 1).unwrap().ends_with(",near"), "{labeled}");
}
