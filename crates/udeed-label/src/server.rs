//! The server: on this machine only, for whoever knows the token.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::desk::{Desk, Shared};
use crate::error::{Error, Result};
use crate::http;
use crate::routes::Routes;

/// Connections at a time: a browser opens a handful. For another one the oldest is closed, so that nobody keeps others out.
const MOST_CONNECTIONS: usize = 64;
/// Pages ask for the state within this time.
const POLL: Duration = Duration::from_millis(2500);

/// The last words: what was written, and the commands to go on with.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Ending {
    /// What was written, a sentence each.
    pub sentences: Vec<String>,
    /// Commands to go on with.
    pub commands: Vec<String>,
}

/// Serves a desk as a page.
///
/// A request is answered if it names this machine as its host, comes from the page itself or from no page at all, and knows
/// the token. What changes anything is a `POST` with the token in a header.
pub struct Server {
    shared: Arc<Shared>,
    address: String,
    port: u16,
    connections: Arc<Connections>,
    ended: Arc<AtomicBool>,
}

impl Server {
    /// Begins to serve on a port of `127.0.0.1`, any free one for 0.
    ///
    /// # Errors
    /// If the port cannot be had, or the system has no random numbers.
    pub fn start(desk: &Desk, port: u16) -> Result<Self> {
        let refused = |cause| Error::Port { port, cause };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(refused)?;
        let port = listener.local_addr().map_err(refused)?.port();
        let token = token()?;
        let server = Server {
            shared: Arc::clone(desk.shared()),
            address: format!("http://127.0.0.1:{port}/{token}/"),
            port,
            connections: Arc::default(),
            ended: Arc::new(AtomicBool::new(false)),
        };
        let routes = Arc::new(Routes::new(Arc::clone(desk.shared()), token, port));
        let (connections, ended) = (Arc::clone(&server.connections), Arc::clone(&server.ended));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                match stream {
                    Ok(stream) => answer(stream, &routes, &connections),
                    // Out of descriptors: the next connection may find some.
                    Err(_) => std::thread::sleep(Duration::from_millis(50)),
                }
            }
        });
        Ok(server)
    }

    /// The address of the page.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Waits until somebody finishes on the page, or until the flag is set.
    pub fn wait(&self, until: &AtomicBool) {
        let mut state = self.shared.state();
        while !state.finish && !until.load(Ordering::Relaxed) {
            state = self.shared.wait(state);
        }
    }

    /// Tells pages that all is finished, and ends when they know.
    pub fn end(self, ending: Ending) {
        let mut state = self.shared.state();
        state.ending = Some(ending);
        // A page that was just heard of asks once more.
        let heard = state.heard().filter(|heard| heard.elapsed() < 2 * POLL);
        drop(state);
        self.shared.notify();
        let deadline = Instant::now() + heard.map_or(Duration::from_millis(200), |_| POLL);
        while Instant::now() < deadline && self.shared.state().heard() == heard && heard.is_some() {
            std::thread::sleep(Duration::from_millis(20));
        }
        while Instant::now() < deadline && !self.connections.open().is_empty() {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

/// Answers a connection in a thread of its own.
fn answer(stream: TcpStream, routes: &Arc<Routes>, connections: &Arc<Connections>) {
    let Ok(copy) = stream.try_clone() else { return };
    let number = connections.add(copy);
    let (routes, open) = (Arc::clone(routes), Arc::clone(connections));
    let thread = std::thread::Builder::new().spawn(move || {
        // Also where the thread panics.
        let _open = Open { number, connections: open };
        http::serve(stream, |request| routes.answer(&request));
    });
    if thread.is_err() {
        connections.remove(number);
    }
}

/// The connections that are open, the oldest first.
#[derive(Default)]
struct Connections {
    open: Mutex<VecDeque<(u64, TcpStream)>>,
    count: AtomicU64,
}

impl Connections {
    fn open(&self) -> MutexGuard<'_, VecDeque<(u64, TcpStream)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, stream: TcpStream) -> u64 {
        let mut open = self.open();
        while open.len() >= MOST_CONNECTIONS {
            if let Some((_, oldest)) = open.pop_front() {
                _ = oldest.shutdown(Shutdown::Both);
            }
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        open.push_back((number, stream));
        number
    }

    fn remove(&self, number: u64) {
        self.open().retain(|(other, _)| *other != number);
    }
}

struct Open {
    number: u64,
    connections: Arc<Connections>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.connections.remove(self.number);
    }
}

/// 128 random bits.
fn token() -> Result<String> {
    let mut bytes = [0; 16];
    let refused =
        |error: getrandom::Error| Error::io("random numbers", "read", std::io::Error::other(error.to_string()));
    getrandom::fill(&mut bytes).map_err(refused)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
