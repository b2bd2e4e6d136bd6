//! Implements `snapscope record`, which records a Python program that does not know of it.

mod options;

use std::fs;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use shared::base::format::bytes;

use super::host::wait_until;
use super::output::Output;
use super::python;
use super::run::shown;
use crate::Failure;
use crate::config::ScriptConfig;
use crate::folder::make_temporary;

pub use options::RecordArgs;

/// Interval between looks at the signals that this process got.
const TICK: Duration = Duration::from_millis(100);

/// Starts the recorder in each Python process.
const HOOK: &[python::File] = python::files!("record/": "snapscope_begin.py");

impl RecordArgs {
    /// Runs the command to its end; its input, output and signals are its own.
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
        let status = loop {
            match wait_until(&mut child, Instant::now() + TICK) {
                Some(status) => break status,
                None => forwarded.send_to(&child),
            }
        };
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
            .map_err(|error| Failure::starting(&program.display(), &error))
    }
}

/// Returns the list of snapshots.
fn page(written: &[String]) -> String {
    // One that was replaced by later ones has no line.
    let size = |path: &String| fs::metadata(path).ok().map(|file| bytes(file.len()));
    let line = |path: &String| Some(format!("snapscope: {} ({})\n", shown(path), size(path)?));
    let lines: String = written.iter().filter_map(line).collect();
    let Some(last) = written.iter().rev().find(|path| Path::new(path).exists()) else {
        return "snapscope: no snapshot was written: no process of the command that read PYTHONPATH used CUDA by \
                PyTorch, or a warning above says why\n"
            .to_owned();
    };
    format!("{lines}snapscope diagnose {} explains the last one\n", shown(last))
}

/// The private folder of the package, which goes on `PYTHONPATH`; it is removed when this value is dropped.
struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    /// Makes the folder, which only its owner can read.
    fn make() -> io::Result<Self> {
        let made = Self { folder: make_temporary("snapscope-record-", None)? };
        python::write_package(&made.packages())?;
        python::write(&made.packages(), HOOK)?;
        Ok(made)
    }

    /// Returns the folder of the package; its name tells viewers that the package is not the user's own code.
    fn packages(&self) -> PathBuf {
        self.folder.path().join("site-packages")
    }

    /// Returns the file to which the processes append the names of their snapshots.
    fn report(&self) -> PathBuf {
        self.folder.path().join("written")
    }

    /// Returns the paths of all snapshots, in the order in which they were written.
    fn written(&self) -> Vec<String> {
        let text = fs::read_to_string(self.report()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// The signals that were sent to this process and are meant for the recorded program.
pub(super) struct Forwarded {
    seen: Vec<(Signal, Arc<AtomicBool>)>,
    /// True if a terminal sends its interrupts to the program as well.
    has_terminal: bool,
}

impl Forwarded {
    /// Takes the signals over; without that, they would end this process before the program.
    pub(super) fn listen() -> Self {
        let signals = [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];
        let seen = signals.map(|signal| {
            let flag = Arc::new(AtomicBool::new(false));
            // A signal that cannot be taken over does what it did before.
            let _ = signal_hook::flag::register(signal.as_raw(), Arc::clone(&flag));
            (signal, flag)
        });
        Self { seen: seen.into(), has_terminal: std::io::stdin().is_terminal() }
    }

    /// Sends the signals that have arrived since the last call to the program.
    pub(super) fn send_to(&self, child: &Child) {
        let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
        for (signal, flag) in &self.seen {
            let is_terminals = self.has_terminal && [Signal::INT, Signal::QUIT].contains(signal);
            if flag.swap(false, Ordering::Relaxed) && !is_terminals {
                // The program may have ended by now.
                let _ = kill_process(pid, *signal);
            }
        }
    }
}
