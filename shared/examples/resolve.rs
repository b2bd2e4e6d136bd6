//! Prints a training config with every default filled in, as JSON: `cargo run -p snapscope-shared --example resolve FILE`.

use std::process::ExitCode;

use shared::job::{Format, RawJob};

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: resolve FILE");
        return ExitCode::from(2);
    };
    match resolve(&path) {
        Ok(json) => {
            println!("{json}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{path}: {message}");
            ExitCode::from(2)
        }
    }
}

fn resolve(path: &str) -> Result<String, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let job = RawJob::parse(&text, Format::of(path, &text)).and_then(RawJob::resolve);
    job.map(|job| job.to_json())
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
