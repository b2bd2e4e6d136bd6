//! Runs `snapscope open` in a separate process.

use std::io::Read as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::http::{Reply, send};
use crate::process::{ended, first_line, signal};
use crate::server::snapscope;

/// Process that serves files until its page is closed, killed when dropped.
#[derive(Debug)]
pub struct OpenProcess {
    child: Child,
    pub address: SocketAddr,
    /// Path of the page, which begins with the token and ends with a slash.
    pub path: String,
}

impl OpenProcess {
    /// Opens files with the web pages in a folder, and waits for the address.
    #[track_caller]
    pub fn start(dist: &Path, files: &[&Path], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(snapscope());
        command.arg("open").args(files).arg("--dist").arg(dist).stdout(Stdio::piped()).stderr(Stdio::piped());
        // No test shows windows to whoever runs it.
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"] {
            command.env_remove(name);
        }
        let mut child = command.envs(variables.iter().copied()).spawn().expect("the binary to start");
        let line = first_line(&mut child);
        let said = line.trim().strip_prefix("Snapscope: http://").and_then(|said| said.split_once('/'));
        let Some((address, path)) = said else { panic!("an address, not {line:?}") };
        Self { child, address: address.parse().expect("an address"), path: format!("/{path}") }
    }

    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, self.path)
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Reply {
        send(self.address, "GET", &format!("{}{path}", self.path), &[])
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a status").is_some()
    }

    /// Waits for the end, and returns the exit status and standard error.
    #[track_caller]
    pub fn ended(&mut self) -> (Option<i32>, String) {
        let status = ended(&mut self.child);
        let mut said = String::new();
        self.child.stderr.as_mut().expect("a pipe").read_to_string(&mut said).expect("text");
        (status.code(), said)
    }

    #[track_caller]
    pub fn signal(&self, name: &str) {
        assert!(signal(name, self.child.id()));
    }
}

impl Drop for OpenProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
