//! Compares this machine's GPU with the virtual one.
//!
//! `snapscope-gpu-check FILE.md` runs the configs of `tests/data/gpu-check` on both and writes the table.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use server::config::RecorderConfig;
use shared::job::RawJob;
use testkit::gpu_check::table::{Row, markdown};
use testkit::gpu_check::{RealGpu, compare_with_virtual};
use testkit::server::root;

fn main() -> ExitCode {
    let outcome = match std::env::args_os().nth(1) {
        Some(output) => check(Path::new(&output)),
        None => Err("name the file for the table".to_owned()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn check(output: &Path) -> Result<(), String> {
    let answer =
        Command::new("nvidia-smi").args(RealGpu::QUERY).output().map_err(|error| format!("nvidia-smi: {error}"))?;
    let gpu = RealGpu::parse(&String::from_utf8_lossy(&answer.stdout)).ok_or("nvidia-smi names no GPU")?;
    let mut config = RecorderConfig::from_environment().map_err(|failure| failure.message)?;
    // Recordings are read by `snapscope`, not by this program.
    config.reader.set_file_name("snapscope");
    let mut rows = Vec::new();
    for path in configs() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("gpu-check: {name}");
        let outcome = read(&path).and_then(|job| compare_with_virtual(&config, &job, &gpu));
        rows.push(Row { name, outcome });
    }
    let page = markdown(&gpu.name, &format!("of capability {}", gpu.capability), &rows);
    print!("{page}");
    std::fs::write(output, page).map_err(|error| format!("{}: {error}", output.display()))
}

fn configs() -> Vec<PathBuf> {
    let folder = root().join("tests/data/gpu-check");
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> Result<shared::job::Job, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let problems =
        |problems: Vec<shared::job::Problem>| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    RawJob::from_toml(&text).and_then(RawJob::resolve).map_err(problems)
}
