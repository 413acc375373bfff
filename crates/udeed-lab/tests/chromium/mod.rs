//! A headless Chromium, driven by the DevTools protocol over a pair of pipes: no WebDriver, no Node, no port.
#![allow(dead_code, reason = "every test uses a part of it")]

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one tab.
pub struct Chromium {
    process: Child,
    to: File,
    from: Receiver<Value>,
    session: Value,
    last_id: u64,
    /// What happened since the page was opened.
    events: Vec<Value>,
    /// Where the page may load from; nowhere if it is empty.
    origin: String,
    /// Removed with everything the browser wrote.
    _profile: tempfile::TempDir,
}

/// The browser to use: that of `$CHROMIUM`, or one under its usual names.
pub fn find() -> Option<PathBuf> {
    let usual = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let on_path = |name: &str| folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file());
    std::env::var_os("CHROMIUM").map(PathBuf::from).or_else(|| usual.into_iter().find_map(on_path))
}

impl Chromium {
    /// Starts it with an empty profile.
    pub fn start() -> Self {
        let program = find().expect("there is a Chromium, or `$CHROMIUM` names one");
        let profile = tempfile::tempdir().unwrap();
        let (to, from) = (profile.path().join("to"), profile.path().join("from"));
        assert!(Command::new("mkfifo").arg(&to).arg(&from).status().unwrap().success());
        // A shell connects the pipes, because only it can give a child the descriptors 3 and 4 that the protocol wants.
        let process = Command::new("sh")
            .arg("-c")
            .arg(
                "exec \"$1\" --headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --no-first-run \
                 --hide-scrollbars --force-color-profile=srgb --user-data-dir=\"$2\" about:blank 3<\"$3\" 4>\"$4\"",
            )
            .args([Path::new("sh"), &program, &profile.path().join("profile"), &to, &from])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = File::options().write(true).open(to).unwrap();
        let from = messages(File::open(from).unwrap());
        let (session, events) = (Value::Null, Vec::new());
        let origin = String::new();
        let mut browser = Chromium { process, to, from, session, last_id: 0, events, origin, _profile: profile };
        let tab = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached = browser.call("Target.attachToTarget", json!({ "targetId": tab["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].clone();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method of the protocol and waits for its answer.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": parameters });
        if self.session.is_string() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(&[0]).unwrap();
        loop {
            let answer = self.next();
            if answer["id"] == self.last_id {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
        }
    }

    /// The next message; events are kept.
    fn next(&mut self) -> Value {
        let message = self.from.recv_timeout(PATIENCE).expect("the browser answers");
        if message["id"].is_null() {
            self.events.push(message.clone());
        }
        message
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, path: &Path) {
        self.origin.clear();
        self.go(&format!("file://{}", path.display()));
    }

    /// Opens a page of a server, which may load what it wants from there.
    pub fn open_address(&mut self, address: &str) {
        self.origin = address.splitn(4, '/').take(3).collect::<Vec<_>>().join("/") + "/";
        self.go(address);
    }

    fn go(&mut self, address: &str) {
        self.events.clear();
        self.call("Page.navigate", json!({ "url": address }));
        let begun = Instant::now();
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            self.next();
            assert!(begun.elapsed() < PATIENCE, "{address} does not load");
        }
    }

    /// Waits until an expression is true in the page.
    #[track_caller]
    pub fn wait_for(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.evaluate(expression) != true {
            assert!(begun.elapsed() < Duration::from_secs(30), "it never came: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// What an expression gives in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Everything that went wrong since the page was opened: errors, warnings, dialogs, and anything loaded from
    /// elsewhere.
    pub fn complaints(&mut self) -> Vec<String> {
        // Whatever was under way has been reported once this is answered.
        self.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
        let complaint = |event: &Value| {
            let parameters = &event["params"];
            let is_bad = match event["method"].as_str()? {
                "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
                "Runtime.consoleAPICalled" => {
                    ["error", "warning", "assert"].iter().any(|kind| parameters["type"] == *kind)
                }
                "Log.entryAdded" => true,
                "Network.requestWillBeSent" => {
                    let is_page = parameters["type"] == "Document";
                    let url = parameters["request"]["url"].as_str().unwrap_or_default();
                    let is_own = !self.origin.is_empty() && url.starts_with(&self.origin);
                    !is_page && !is_own && !url.starts_with("data:")
                }
                _ => false,
            };
            is_bad.then(|| event.to_string())
        };
        self.events.iter().filter_map(complaint).collect()
    }

    /// Sets the size of the window and the theme.
    pub fn look(&mut self, width: u32, height: u32, theme: &str) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let features = json!([{ "name": "prefers-color-scheme", "value": theme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "media": "", "features": features }));
    }

    /// Presses and releases the mouse in the middle of an element.
    pub fn click(&mut self, element: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const e = {element}; e.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str, code: u32, text: &str) {
        let event = json!({ "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text });
        for kind in ["keyDown", "keyUp"] {
            let mut event = event.clone();
            event["type"] = kind.into();
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// A picture of a part of the page, from one height to another.
    pub fn screenshot(&mut self, width: f64, top: f64, bottom: f64) -> Vec<u8> {
        let clip = json!({ "x": 0, "y": top, "width": width, "height": bottom - top, "scale": 1 });
        let parameters = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
        decoded(&self.call("Page.captureScreenshot", parameters)["data"])
    }

    /// The page as a PDF on A4.
    pub fn pdf(&mut self) -> Vec<u8> {
        let parameters = json!({ "preferCSSPageSize": false, "paperWidth": 8.27, "paperHeight": 11.69 });
        decoded(&self.call("Page.printToPDF", parameters)["data"])
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Messages end with a zero byte. A thread reads them, so that waiting can end.
fn messages(pipe: File) -> Receiver<Value> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for message in BufReader::new(pipe).split(0).map_while(std::io::Result::ok) {
            let Ok(message) = serde_json::from_slice(&message) else { break };
            if sender.send(message).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Bytes out of base 64.
fn decoded(text: &Value) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u32> = text.as_str().unwrap().bytes().filter(|&c| c != b'=').map(|c| u32::from(digit(c))).collect();
    let four = |digits: &[u32]| {
        let bits = digits.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - digits.len()));
        bits.to_be_bytes()[1..digits.len()].to_vec()
    };
    digits.chunks(4).flat_map(four).collect()
}
