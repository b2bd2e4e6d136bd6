//! The binary `snapscope serve` in a process of its own.

use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::form::Form;
use crate::http::{self, Reply};
use crate::server::{built_page, snapscope};

/// How a server is started; what is left out is as for a server of the test's own that records nothing.
#[derive(Debug, Clone, Default)]
pub struct Launch {
    /// Words before the program: another program that starts it.
    pub before: Vec<OsString>,
    /// The program, where it is not the one of the tests' own profile.
    pub program: Option<PathBuf>,
    /// Long options and their values.
    pub settings: Vec<(&'static str, OsString)>,
    /// Variables of its environment.
    pub environment: Vec<(String, OsString)>,
    /// The folder of the page, where it is not the one that `./dev` built.
    pub dist: Option<PathBuf>,
    /// The folder of its data, where it is to stay.
    pub data: Option<PathBuf>,
    /// The file that takes its log, where it is not to be seen beside that of the test.
    pub log: Option<PathBuf>,
}

impl Launch {
    /// Adds an option, which counts more than what it is by default.
    pub fn with(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.settings.push((name, value.into()));
        self
    }

    /// Adds variables.
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
            // Whoever else uses the machine of the tests has no say in what they see.
            command.arg("--no-token");
        }
        command.arg("--dist").arg(self.dist.clone().unwrap_or_else(built_page)).arg("--data").arg(data);
        command.envs(self.environment.iter().cloned());
        log_to(&mut command, self.log.as_deref());
        command
    }

    /// Starts the process on a folder of data, without waiting for it.
    pub(crate) fn spawn(&self, data: &Path) -> Child {
        self.command(data).stdout(Stdio::piped()).spawn().expect("the binary to start")
    }
}

/// Appends what a command says of itself to a file.
pub(crate) fn log_to(command: &mut Command, file: Option<&Path>) {
    let Some(file) = file else { return };
    command.stderr(File::options().create(true).append(true).open(file).expect("room for a log"));
}

/// A server that is killed when dropped.
#[derive(Debug)]
pub struct ServeProcess {
    child: Child,
    data: PathBuf,
    _folder: Option<TempDir>,
    /// Where it listens.
    pub address: SocketAddr,
    /// The path that logs in, where it made a token.
    pub login: Option<String>,
}

impl ServeProcess {
    /// Starts the binary with a page, and waits until it says where it listens.
    ///
    /// # Panics
    ///
    /// It ends without listening.
    #[track_caller]
    pub fn start(dist: &Path) -> Self {
        Self::launch(&Launch { dist: Some(dist.to_owned()), ..Launch::default() })
    }

    /// Starts the binary on a free port, and waits until it says where.
    ///
    /// # Panics
    ///
    /// It ends without listening.
    #[track_caller]
    pub fn launch(launch: &Launch) -> Self {
        Self::try_launch(launch).unwrap_or_else(|line| panic!("an address, not {line:?}"))
    }

    /// As [`Self::launch`].
    ///
    /// # Errors
    ///
    /// It ends without listening: what it printed instead.
    pub fn try_launch(launch: &Launch) -> Result<Self, String> {
        let folder = launch.data.is_none().then(|| tempfile::tempdir().expect("a folder"));
        let data = folder.as_ref().map(|folder| folder.path().to_owned()).or_else(|| launch.data.clone());
        let data = data.expect("one or the other");
        let mut child = launch.spawn(&data);
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
        let said = line.trim().strip_prefix("Snapscope: http://");
        let said = said.map(|said| said.split_once('/').map_or((said, None), |(address, path)| (address, Some(path))));
        match said.and_then(|(address, path)| Some((address.parse().ok()?, path))) {
            Some((address, path)) => {
                Ok(Self { child, data, _folder: folder, address, login: path.map(|path| format!("/{path}")) })
            }
            None => {
                // It ends by itself; if not, nobody knows where to ask it.
                let _ = child.kill();
                let _ = child.wait();
                Err(line)
            }
        }
    }

    /// The number of the process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether the process has ended, whoever ended it.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }

    /// The folder of its data.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Asks for a path.
    #[track_caller]
    pub fn get(&self, path: &str) -> Reply {
        http::send(self.address, "GET", path, &[])
    }

    /// Sends a body.
    #[track_caller]
    pub fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        http::send_body(self.address, "POST", path, headers, body)
    }

    /// Shares what a form holds.
    #[track_caller]
    pub fn share(&self, form: Form) -> Reply {
        self.post("/api/v1/shares", &[("Content-Type", &Form::content_type())], &form.finish())
    }

    /// Shares what a form holds, and returns where it is.
    ///
    /// # Panics
    ///
    /// It is refused.
    #[track_caller]
    pub fn shared(&self, form: Form) -> String {
        let reply = self.share(form);
        assert_eq!(reply.status, 201, "{}", reply.text());
        format!("/api/v1/shares/{}", reply.json()["token"].as_str().expect("a token"))
    }

    /// Sends a signal by name and returns the exit status.
    ///
    /// # Panics
    ///
    /// The process cannot be signalled.
    #[track_caller]
    pub fn stop(mut self, signal: &str) -> Option<i32> {
        let kill = Command::new("kill").args([format!("-{signal}"), self.child.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        self.child.wait().expect("the process to end").code()
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
