//! Runs the binary `snapscope serve` in a separate process.

use std::ffi::OsString;
use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::built::{built_page, snapscope};
use crate::http::{self, Form, Reply};
use crate::process::{ended, first_line};

/// Options of a server process; by default it belongs to the test alone and records nothing.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// Words before the program, for another program that starts it.
    pub before: Vec<OsString>,
    /// Program; by default the one built with the tests' own profile.
    pub program: Option<PathBuf>,
    /// Long options and their values.
    pub settings: Vec<(&'static str, OsString)>,
    pub environment: Vec<(String, OsString)>,
    /// Folder of the page; by default the one that `./dev` built.
    pub dist: Option<PathBuf>,
    /// Folder of the data; by default a temporary one.
    pub data: Option<PathBuf>,
    /// File for the log; by default it goes to the test's standard error.
    pub log: Option<PathBuf>,
}

impl Launch {
    /// Adds an option, which takes precedence over the default.
    pub fn with(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.settings.push((name, value.into()));
        self
    }

    pub fn with_variables<V: Into<OsString>>(mut self, variables: impl IntoIterator<Item = (String, V)>) -> Self {
        self.environment.extend(variables.into_iter().map(|(name, value)| (name, value.into())));
        self
    }

    fn command(&self, data: &Path) -> Command {
        let program = self.program.clone().unwrap_or_else(|| snapscope().to_owned());
        let mut words = self.before.iter().cloned().chain([program.into_os_string()]);
        let mut command = Command::new(words.next().expect("at least the program"));
        command.args(words).args(["serve", "--listen", "127.0.0.1:0"]);
        let defaults = [("--log", "warn".into()), ("--jobs", "virtual=0".into())];
        let defaults = defaults.into_iter().filter(|(name, _)| self.settings.iter().all(|(known, _)| known != name));
        for (name, value) in self.settings.iter().cloned().chain(defaults) {
            command.arg(name).arg(value);
        }
        let has_token = self.settings.iter().any(|(name, _)| ["--token", "--private"].contains(name));
        if !has_token && self.environment.iter().all(|(name, _)| name != "SNAPSCOPE_TOKEN") {
            // Other users of the test machine do not matter, so no token is needed.
            command.arg("--no-token");
        }
        command.arg("--dist").arg(self.dist.clone().unwrap_or_else(built_page)).arg("--data").arg(data);
        command.envs(self.environment.iter().cloned());
        log_to(&mut command, self.log.as_deref());
        command
    }

    /// Starts the process on a data folder without waiting for it.
    pub(crate) fn spawn(&self, data: &Path) -> Child {
        self.command(data).stdout(Stdio::piped()).spawn().expect("the binary to start")
    }
}

/// Appends the standard error of a command to a file.
pub(crate) fn log_to(command: &mut Command, file: Option<&Path>) {
    let Some(file) = file else { return };
    command.stderr(File::options().create(true).append(true).open(file).expect("room for a log"));
}

/// Server process, killed when dropped.
#[derive(Debug)]
pub struct ServeProcess {
    child: Child,
    data: PathBuf,
    _folder: Option<TempDir>,
    pub address: SocketAddr,
    /// Path that logs in, if the server made a token.
    pub login: Option<String>,
}

impl ServeProcess {
    /// Starts the binary with a page and waits until it reports its address.
    #[track_caller]
    pub fn start(dist: &Path) -> Self {
        Self::launch(&Launch { dist: Some(dist.to_owned()), ..Launch::default() })
    }

    /// Starts the binary on a free port and waits until it reports its address.
    #[track_caller]
    pub fn launch(launch: &Launch) -> Self {
        Self::try_launch(launch).unwrap_or_else(|line| panic!("an address, not {line:?}"))
    }

    /// Starts the binary like [`Self::launch`].
    ///
    /// # Errors
    ///
    /// Returns what it printed if it does not listen.
    pub fn try_launch(launch: &Launch) -> Result<Self, String> {
        let folder = launch.data.is_none().then(|| tempfile::tempdir().expect("a folder"));
        let data = folder.as_ref().map(|folder| folder.path().to_owned()).or_else(|| launch.data.clone());
        let data = data.expect("one or the other");
        let mut child = launch.spawn(&data);
        let line = first_line(&mut child);
        let said = line.trim().strip_prefix("Snapscope: http://");
        let said = said.map(|said| said.split_once('/').map_or((said, None), |(address, path)| (address, Some(path))));
        match said.and_then(|(address, path)| Some((address.parse().ok()?, path))) {
            Some((address, path)) => {
                Ok(Self { child, data, _folder: folder, address, login: path.map(|path| format!("/{path}")) })
            }
            None => {
                // It ends by itself; if not, its address is unknown.
                let _ = child.kill();
                let _ = child.wait();
                Err(line)
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    pub fn data(&self) -> &Path {
        &self.data
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Reply {
        http::send(self.address, "GET", path, &[])
    }

    #[track_caller]
    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        http::send_body(self.address, "POST", path, headers, body)
    }

    #[track_caller]
    pub fn share(&self, form: Form) -> Reply {
        self.post("/api/v1/shares", &[("Content-Type", &Form::content_type())], &form.finish())
    }

    /// Uploads a form to the shares and returns the path of the link.
    #[track_caller]
    pub fn shared(&self, form: Form) -> String {
        let reply = self.share(form);
        assert_eq!(reply.status, 201, "{}", reply.text());
        format!("/api/v1/shares/{}", reply.json()["token"].as_str().expect("a token"))
    }

    /// Sends a signal by name and returns the exit status.
    #[track_caller]
    pub fn stop(mut self, signal: &str) -> Option<i32> {
        assert!(crate::process::signal(signal, self.child.id()));
        ended(&mut self.child).code()
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
