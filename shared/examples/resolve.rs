//! Prints a training config with every default filled in, as JSON.
//!
//! `cargo run -p snapscope-shared --example resolve FILE`, where FILE is ours or Hugging Face's `config.json`.

use std::process::ExitCode;

use shared::job::{Import, Source};

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
    let job = Import::read(Source { name: path, text: &text }, None).and_then(|import| import.job.resolve());
    job.map(|job| job.to_json())
        .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}
