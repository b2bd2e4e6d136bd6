//! Runs `snapscope-generate`, which writes a realistic snapshot of any size.

use shared::pickle::Style;
use std::fs::File;
use std::io::{self, Write};
use std::process::ExitCode;
use testkit::generator::{Config, generate};

const USAGE: &str = "usage: snapscope-generate --events N [--style python|python5|torch] [--seed N] -o FILE";

fn main() -> ExitCode {
    match arguments(std::env::args().skip(1)).and_then(|(config, path)| write(&config, &path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("snapscope-generate: {message}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn arguments(mut arguments: impl Iterator<Item = String>) -> Result<(Config, String), String> {
    let (mut seed, mut style, mut events, mut path) = (0, Style::Python, None, None);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} takes a number, not {value:?}"));
        match name.as_str() {
            "--events" => events = Some(number()? as usize),
            "--seed" => seed = number()?,
            "--style" => style = style_of(&value)?,
            "-o" => path = Some(value),
            _ => return Err(format!("unknown option {name}")),
        }
    }
    let events = events.ok_or("no number of events, add --events N")?;
    Ok((Config { seed, events, style }, path.ok_or("no output file, add -o FILE")?))
}

fn style_of(name: &str) -> Result<Style, String> {
    match name {
        "python" => Ok(Style::Python),
        "python5" => Ok(Style::Python5),
        "torch" => Ok(Style::Torch),
        _ => Err(format!("unknown style {name:?}, choose python, python5 or torch")),
    }
}

fn write(config: &Config, path: &str) -> Result<(), String> {
    let explain = |error: io::Error| format!("cannot write {path}: {error}");
    let mut file = File::create(path).map_err(explain)?;
    let mut result = Ok(());
    generate(config, |piece| {
        if result.is_ok() {
            result = file.write_all(piece);
        }
    });
    result.map_err(explain)
}
