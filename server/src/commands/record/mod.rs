//! Implements `snapscope record`, which records a Python program that does not know of it.

mod folder;
mod options;
mod signals;

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use shared::base::format::bytes;

use super::host::wait_until;
use super::output::Output;
use crate::Failure;
use crate::config::ScriptConfig;
use folder::Folder;
pub(super) use signals::Forwarded;

pub use options::RecordArgs;

/// Interval between looks at the signals that this process got.
const TICK: Duration = Duration::from_millis(100);

impl RecordArgs {
    /// Runs the command to its end; its input, output and signals are its own.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no room for temporary files, or if the command cannot be started.
    pub fn run(&self) -> Result<Output, Failure> {
        let config = ScriptConfig::from_environment()?;
        let folder = Folder::make().map_err(|error| {
            Failure::new(
                format!("a folder for the package cannot be made: {error}"),
                "set TMPDIR to a folder with room",
            )
        })?;
        let forwarded = Forwarded::listen();
        let mut child = self.start(&config, &folder)?;
        let status = wait(&mut child, &forwarded);
        // Standard output belongs to the command.
        Ok(Output { stderr: page(&folder.written()), status, ..Output::default() })
    }

    fn start(&self, config: &ScriptConfig, folder: &Folder) -> Result<Child, Failure> {
        let (program, arguments) = self.command().split_first().expect("clap asks for a command");
        Command::new(program)
            .args(arguments)
            .env("PYTHONPATH", config.before_own(folder.packages().as_os_str(), "PYTHONPATH"))
            .env("SNAPSCOPE_RECORD", self.text())
            .env("SNAPSCOPE_RECORD_REPORT", folder.report())
            .spawn()
            .map_err(|error| {
                let message = format!("{}: {error}", program.to_string_lossy());
                Failure::new(message, "check the name of the program and that it may be run")
            })
    }
}

fn wait(child: &mut Child, forwarded: &Forwarded) -> u8 {
    loop {
        if let Some(status) = wait_until(child, Instant::now() + TICK) {
            return status;
        }
        forwarded.send_to(child);
    }
}

/// Returns the list of snapshots.
fn page(written: &[String]) -> String {
    let lines: Vec<_> = written.iter().filter_map(|path| line(path)).collect();
    let Some(last) = written.iter().rev().find(|path| Path::new(path).exists()) else {
        return "snapscope: no snapshot was written: no process of the command that read PYTHONPATH used CUDA by \
                PyTorch, or a warning above says why\n"
            .to_owned();
    };
    format!("{}snapscope diagnose {} explains the last one\n", lines.concat(), shown(last))
}

/// Returns the line of a snapshot; one that was replaced by later ones has none.
fn line(path: &str) -> Option<String> {
    let size = std::fs::metadata(path).ok()?.len();
    Some(format!("snapscope: {} ({})\n", shown(path), bytes(size)))
}

/// Returns the path from the current folder, if it is below it.
fn shown(path: &str) -> String {
    super::run::shown(path)
}
