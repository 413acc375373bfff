//! Writes an HTML report to look at: `cargo run -p udeed-lab --example report -- report.html [small|single|large|hostile]`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::process::ExitCode;

use udeed_lab::report;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("error: no file to write, expected `report FILE [SAMPLE]`");
        return ExitCode::from(2);
    };
    match write(&path, &arguments.next().unwrap_or_else(|| "small".to_owned())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(path: &str, name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let known = sample::SAMPLES.map(|sample| format!("`{}`", sample.name)).join(", ");
    let unknown = || format!("unknown sample `{name}`, expected one of {known}");
    let sample = sample::SAMPLES.into_iter().find(|sample| sample.name == name).ok_or_else(unknown)?;
    let page = report::html(&(sample.results)()?);
    Ok(std::fs::write(path, page)?)
}
