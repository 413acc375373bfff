//! `udeed label` as it is: a process that serves a page.
#![allow(dead_code, reason = "every test uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub struct Served {
    child: Child,
    /// The address of the page, which ends with a slash.
    pub address: String,
    pub port: u16,
    pub token: String,
    /// What it has not printed yet.
    out: BufReader<std::process::ChildStdout>,
}

/// A response.
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_udeed"));
    command.current_dir(folder).arg("label").args(arguments);
    command
}

/// What a call that ends by itself says: its exit code, standard output and standard error.
pub fn outcome(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = command(folder, arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

impl Served {
    pub fn start(folder: &Path, arguments: &[&str]) -> Self {
        Served::by(command(folder, arguments).arg("--no-open"))
    }

    /// With a desktop whose browser only tells what it is to open.
    #[cfg(target_os = "linux")]
    pub fn opened(folder: &Path, arguments: &[&str]) -> (Self, String) {
        use std::os::unix::fs::PermissionsExt;

        let browser = folder.join("xdg-open");
        std::fs::write(&browser, "#!/bin/sh\necho \"$@\" >opened.tmp && mv opened.tmp opened\n").unwrap();
        std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let mut command = command(folder, arguments);
        let served = Served::by(command.env("DISPLAY", ":0").env("PATH", path).env("TMPDIR", folder));
        let begun = Instant::now();
        while !folder.join("opened").exists() {
            assert!(begun.elapsed() < Duration::from_secs(30), "no browser was opened");
            std::thread::sleep(Duration::from_millis(20));
        }
        let opened = std::fs::read_to_string(folder.join("opened")).unwrap();
        (served, opened.trim().to_owned())
    }

    fn by(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        out.read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let parts: Vec<&str> = address.split('/').collect();
        let port = parts[2].rsplit_once(':').unwrap().1.parse().unwrap();
        let token = parts[3].to_owned();
        assert!(address.starts_with("http://127.0.0.1:") && token.len() == 32, "{address}");
        Served { child, port, token, address, out }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes as they are.
    pub fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// A request with these lines in its head.
    pub fn request(&self, method: &str, path: &str, lines: &[&str], body: &str) -> Answer {
        let lines: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
        let length = body.len();
        self.raw(format!("{method} {path} HTTP/1.1\r\n{lines}Content-Length: {length}\r\n\r\n{body}").as_bytes())
    }

    pub fn get(&self, path: &str) -> Answer {
        let host = format!("Host: 127.0.0.1:{}", self.port);
        self.request("GET", &format!("/{}/{path}", self.token), &[&host], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let host = format!("Host: 127.0.0.1:{}", self.port);
        let token = format!("X-Udeed-Token: {}", self.token);
        let lines = [host.as_str(), &token, "Content-Type: application/json"];
        self.request("POST", &format!("/{}/{path}", self.token), &lines, &body.to_string())
    }

    pub fn state(&self) -> Value {
        let answer = self.get("state?window=test");
        assert_eq!(answer.status, 200, "{}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    /// Gives the question a label.
    pub fn label(&self, label: &str) -> usize {
        let row = self.state()["question"]["row"].as_u64().unwrap() as usize;
        let answer = self.post("answer", &json!({ "window": "test", "row": row, "reply": "label", "label": label }));
        assert_eq!(answer.status, 200, "{}", answer.body);
        row
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ctrl-C: what it prints, and its exit code.
    pub fn interrupt(mut self) -> (String, i32) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.last_words()
    }

    /// What it prints at its end.
    pub fn last_words(&mut self) -> (String, i32) {
        let mut words = String::new();
        self.out.read_to_string(&mut words).unwrap();
        (words, self.child.wait().unwrap().code().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two clouds of points, with a few labels; `truth` gives the labels of the other rows.
pub fn write_points(folder: &Path, n_rows: usize, n_labeled: usize) -> PathBuf {
    let mut text = "x,y,kind\n".to_owned();
    for row in 0..n_rows {
        let centre = if truth(row) == "near" { 0.0 } else { 4.0 };
        let (x, y) = ((row * 37 % 101) as f64 / 50.0 - 1.0, (row * 53 % 103) as f64 / 50.0 - 1.0);
        let label = if row < n_labeled { truth(row) } else { "" };
        text.push_str(&format!("{:.3},{:.3},{label}\n", x + centre, y + centre));
    }
    let path = folder.join("rows.csv");
    std::fs::write(&path, text).unwrap();
    path
}

pub fn truth(row: usize) -> &'static str {
    if row.is_multiple_of(2) { "near" } else { "far" }
}
