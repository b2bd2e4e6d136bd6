//! Starts a process that imports PyTorch once for many runs of a script, each of which is a fork of it.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use shared::job::Cards;

use crate::config::ScriptConfig;

/// Time in which the process has to be there; it imports PyTorch after that.
const TO_START: Duration = Duration::from_secs(10);

/// The process, which ends when this is dropped.
pub(in crate::commands) struct Shared(Child);

impl Shared {
    /// Starts it for runs whose hook has the option `shared` with this socket; `None` if the command is not
    /// `python SCRIPT`, so that each run imports PyTorch, as it does if this process fails.
    pub(in crate::commands) fn start(
        config: &ScriptConfig,
        cards: &Cards,
        command: &[OsString],
        socket: &Path,
    ) -> Option<Self> {
        let (program, arguments) = command.split_first()?;
        let is_python = Path::new(program).file_name()?.as_encoded_bytes().starts_with(b"python");
        // What else Python runs, such as a module, would run as it is and not wait.
        let first = arguments.iter().find(|word| !word.as_encoded_bytes().starts_with(b"-"))?;
        if !is_python || !first.as_encoded_bytes().ends_with(b".py") {
            return None;
        }
        let process = Command::new(&config.program)
            .args(["run", "--json", "--time=1000h", "--memory-limit=1024TiB", "--card", &cards.to_string()])
            .args([
                format!("--change={}", json!({ "serve": socket })).into(),
                "-o".into(),
                socket.with_extension("pickle"),
            ])
            .arg("--")
            .args(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut process = process.ok()?;
        let deadline = Instant::now() + TO_START;
        while !socket.exists() && Instant::now() < deadline && matches!(process.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(10));
        }
        Some(Self(process))
    }

    /// Returns the number of the process, below which all others of it are.
    pub(in crate::commands) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // It ends with its input, which this closes.
        let _ = self.0.wait();
    }
}
