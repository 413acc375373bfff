//! One request over HTTP, and its response. A connection has one of each, a few seconds, and little room: a client that is
//! slow, or sends without end, is cut off.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// How long a request may take to come in, and a response to go out.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest head and the largest body of a request, in bytes.
const LARGEST_HEAD: usize = 16 << 10;
pub(crate) const LARGEST_BODY: usize = 64 << 10;
const MOST_HEADERS: usize = 64;

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path, without what follows a question mark.
    pub(crate) path: String,
    /// What follows it, decoded.
    pub(crate) query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) kind: &'static str,
    pub(crate) body: Vec<u8>,
    /// Further headers.
    pub(crate) headers: Vec<(&'static str, String)>,
}

impl Request {
    /// The value of a header, if it is there once.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let (_, value) = found.next()?;
        found.next().is_none().then_some(value.as_str())
    }

    /// Whether there is such a header, once or more often.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// A value of the query.
    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Response {
    pub(crate) fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Response { status, kind, body: body.into(), headers: Vec::new() }
    }

    /// A refusal in words.
    pub(crate) fn refusal(status: u16, words: &str) -> Self {
        Response::new(status, "text/plain; charset=utf-8", format!("{words}\n"))
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Reads a request, has it answered, and closes the connection.
pub(crate) fn serve(stream: TcpStream, answer: impl FnOnce(Request) -> Response) {
    let deadline = Instant::now() + PATIENCE;
    let response = match read(&stream, deadline) {
        Ok(Ok(request)) => answer(request),
        Ok(Err(refusal)) => refusal,
        // A client that has gone, or was too slow, gets no response.
        Err(_) => return,
    };
    let deadline = Instant::now() + PATIENCE;
    if write(&stream, &response, deadline).is_ok() {
        _ = stream.shutdown(Shutdown::Write);
        drain(&stream);
    }
}

/// Reads what is left of a request that was refused: closing before would take the response back.
fn drain(stream: &TcpStream) {
    let deadline = Instant::now() + Duration::from_secs(1);
    let mut rest = [0; 4096];
    for _ in 0..256 {
        if !matches!(read_some(stream, &mut rest, deadline), Ok(1..)) {
            return;
        }
    }
}

fn read_some(mut stream: &TcpStream, to: &mut [u8], deadline: Instant) -> io::Result<usize> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    stream.read(to)
}

/// A request, or what is said instead of an answer to it.
fn read(stream: &TcpStream, deadline: Instant) -> io::Result<Result<Request, Response>> {
    let refused = |status, words| Ok(Err(Response::refusal(status, words)));
    let mut bytes = Vec::new();
    let mut some = [0; 4096];
    let (mut request, n_head) = loop {
        match parsed(&bytes) {
            Err(()) => return refused(400, "this is no request"),
            Ok(Some(found)) => break found,
            Ok(None) if bytes.len() > LARGEST_HEAD => return refused(431, "the head of the request is too large"),
            Ok(None) => {}
        }
        match read_some(stream, &mut some, deadline)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => bytes.extend_from_slice(&some[..n]),
        }
    };
    if n_head > LARGEST_HEAD {
        return refused(431, "the head of the request is too large");
    }
    if request.has("transfer-encoding") {
        return refused(501, "expected a body of a known length");
    }
    let length = match (request.has("content-length"), request.header("content-length").map(str::parse::<usize>)) {
        (false, _) => 0,
        (true, Some(Ok(length))) => length,
        (true, _) => return refused(400, "this is no length"),
    };
    if length > LARGEST_BODY {
        return refused(413, "the body of the request is too large");
    }
    let mut body = bytes.split_off(n_head);
    while body.len() < length {
        match read_some(stream, &mut some, deadline)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => body.extend_from_slice(&some[..n]),
        }
    }
    body.truncate(length);
    request.body = body;
    Ok(Ok(request))
}

/// The head of a request and its length, once it is whole.
fn parsed(bytes: &[u8]) -> Result<Option<(Request, usize)>, ()> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let n_head = match head.parse(bytes).map_err(|_| ())? {
        httparse::Status::Partial => return Ok(None),
        httparse::Status::Complete(n_head) => n_head,
    };
    let target = head.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).map_err(|_| ());
    let headers = head.headers.iter().map(|header| Ok((header.name.to_owned(), text(header.value)?)));
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decoded(name)?, decoded(value)?))
    });
    let request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: pairs.collect::<Result<_, ()>>()?,
        headers: headers.collect::<Result<_, ()>>()?,
        body: Vec::new(),
    };
    Ok(Some((request, n_head)))
}

/// Text without its escapes.
fn decoded(text: &str) -> Result<String, ()> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, others)) = rest.split_first() {
        rest = others;
        match first {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok()).ok_or(())?;
                bytes.push(u8::from_str_radix(digits, 16).map_err(|_| ())?);
                rest = &rest[2..];
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).map_err(|_| ())
}

fn write(mut stream: &TcpStream, response: &Response, deadline: Instant) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
    let length = response.body.len().to_string();
    let own = [("Content-Type", response.kind), ("Content-Length", &length), ("Connection", "close")];
    let others = response.headers.iter().map(|(name, value)| (*name, value.as_str()));
    for (name, value) in own.into_iter().chain(others) {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    let bytes = [head.as_bytes(), &response.body].concat();
    for some in bytes.chunks(1 << 16) {
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_write_timeout(Some(left))?;
        stream.write_all(some)?;
    }
    stream.flush()
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        204 => "No Content",
        206 => "Partial Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_once_they_are_whole() {
        let text = b"GET /a/state?window=x%20y&q=%C3%A9+b HTTP/1.1\r\nHost: here\r\nA: 1\r\na: 2\r\n\r\n";
        for end in 0..text.len() {
            assert!(parsed(&text[..end]).unwrap().is_none());
        }
        let (request, n_head) = parsed(text).unwrap().unwrap();
        assert_eq!((request.path.as_str(), n_head), ("/a/state", text.len()));
        assert_eq!((request.value("window"), request.value("q"), request.value("z")), (Some("x y"), Some("é b"), None));
        assert_eq!((request.header("host"), request.header("a"), request.has("A")), (Some("here"), None, true));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            &b"\x00\x01\x02"[..],
            b"GET / HTTP/9\r\n\r\n",
            b"GET /?a=%zz HTTP/1.1\r\n\r\n",
            b"GET /?%ff HTTP/1.1\r\n\r\n",
        ] {
            assert!(parsed(text).is_err());
        }
    }
}
