//! Runs programs of requests through the allocator and compares with the answers in them: `programs FILE-OR-FOLDER…`.
//!
//! It prints the first line of each program that differs, and ends with status 1 if there is any.

#[path = "../tests/outside/support/program.rs"]
mod program;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let mut files = Vec::new();
    for path in env::args_os().skip(1) {
        if let Err(error) = collect(Path::new(&path), &mut files) {
            eprintln!("error: {}: {error}", Path::new(&path).display());
            return ExitCode::from(2);
        }
    }
    files.sort();
    let differing: Vec<_> = files.iter().filter_map(|file| Some((file, difference(file)?))).collect();
    for (file, difference) in &differing {
        println!("{}: {difference}", file.display());
    }
    println!("{} of {} programs equal", files.len() - differing.len(), files.len());
    if differing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}

/// The first line in which the answers of a file and ours differ.
fn difference(file: &Path) -> Option<String> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return Some(error.to_string()),
    };
    let answer = match program::run(&text) {
        Ok(answer) => answer,
        Err(error) => return Some(error.to_string()),
    };
    let line = text.lines().zip(answer.lines()).position(|(expected, given)| expected != given);
    let line = line.or((text.len() != answer.len()).then(|| text.lines().count().min(answer.lines().count())))?;
    let nth = |text: &str| text.lines().nth(line).unwrap_or("the end").to_owned();
    Some(format!("line {}: PyTorch `{}`, here `{}`", line + 1, nth(&text), nth(&answer)))
}
