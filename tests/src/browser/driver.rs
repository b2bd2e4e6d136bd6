//! Starts chromedriver and sends the commands that only it has.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use fantoccini::wd::WebDriverCompatibleCommand;
use serde_json::Value;
use tempfile::TempDir;

/// A chromedriver process on a free port.
pub(super) struct Driver {
    child: Child,
    pub(super) url: String,
    /// Held open, because a driver that cannot write its log exits.
    log: BufReader<ChildStdout>,
    /// Folder for the profile of Chromium, which is some 50 MB that a killed browser would leave.
    _scratch: TempDir,
}

impl Driver {
    /// Starts a chromedriver, in up to five attempts.
    ///
    /// chromedriver exits if the free port that it found is taken before it listens on both address families.
    #[track_caller]
    pub(super) fn start() -> Self {
        (0..5).find_map(|_| Self::try_start()).expect("chromedriver to listen on a port")
    }

    fn try_start() -> Option<Self> {
        let scratch = TempDir::new().expect("a folder for the browser's profile");
        let mut command = Command::new("chromedriver");
        command.arg("--port=0").env("TMPDIR", scratch.path()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("chromedriver to be installed: run the tests by `./dev test`");
        let log = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut driver = Self { child, url: String::new(), log, _scratch: scratch };
        let port = driver.wait_for_port()?;
        driver.url = format!("http://127.0.0.1:{port}");
        Some(driver)
    }

    /// Returns the process id, from which the processes of Chromium descend.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Reads the log up to the line that names the port; `None` if it ends before.
    fn wait_for_port(&mut self) -> Option<String> {
        let mut line = String::new();
        while self.log.read_line(&mut line).expect("text") > 0 {
            if let Some((_, port)) = line.trim_end_matches(['.', '\n']).split_once("successfully on port ") {
                return Some(port.to_owned());
            }
            line.clear();
        }
        None
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
pub(super) struct Own {
    pub(super) path: &'static str,
    pub(super) body: Value,
}

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, base: &url::Url, session: Option<&str>) -> Result<url::Url, url::ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}
