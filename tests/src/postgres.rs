//! Runs a private PostgreSQL cluster in a temporary folder, reached through a socket there.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::patience::PATIENCE;
use crate::process::{ended, signal};

/// Shell script that keeps a cluster: it starts the server and, when its input ends, stops it and removes the cluster.
///
/// The input ends with the test's process, however that ends, so nothing is left running. After the word `leave` the
/// cluster stays for the next keeper.
const KEEPER: &str = r#"
"$1/postgres" -D "$2/data" >>"$2/log" 2>&1 &
echo $! >"$2/pid"
read -r word
[ "$word" = leave ] || kill -QUIT $!
wait
[ "$word" = leave ] || rm -rf "$2"
"#;

/// Durability of commits when the server is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Commits survive, as in operation.
    Full,
    /// For tests that do not kill the server, which then need not wait for the disk.
    None,
}

/// Cluster that runs until it is dropped or its process ends.
#[derive(Debug)]
pub struct Postgres {
    folder: PathBuf,
    keeper: Child,
    databases: AtomicU32,
}

impl Postgres {
    /// Returns the cluster that a test binary shares between tests that kill nothing.
    ///
    /// Creating a cluster takes longer than most of these tests.
    pub fn shared() -> &'static Self {
        static CLUSTER: OnceLock<Postgres> = OnceLock::new();
        CLUSTER.get_or_init(|| Self::start(Durability::None))
    }

    /// Creates a cluster and starts its server.
    #[track_caller]
    pub fn start(durability: Durability) -> Self {
        let folder = tempfile::tempdir().expect("a folder").keep();
        if let Some((user, group)) = other_user() {
            chown(&folder, Some(user), Some(group)).expect("root may");
        }
        let made = program("initdb")
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale", "--no-sync", "-D"])
            .arg(folder.join("data"))
            .stdout(Stdio::null())
            .status();
        assert!(made.expect("initdb").success(), "no cluster can be made in {}", folder.display());
        configure(&folder, durability);
        Self { keeper: keep(&folder), databases: AtomicU32::new(0), folder }
    }

    #[track_caller]
    pub fn database(&self) -> String {
        let name = format!("test_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let made =
            program("createdb").arg("-h").arg(&self.folder).args(["-U", "postgres", "-T", "template0", &name]).status();
        assert!(made.expect("createdb").success(), "no database can be made:\n{}", self.log());
        format!("postgres://postgres@localhost/{name}?host={}", self.folder.display())
    }

    /// Kills the server with SIGKILL, as the kernel does when memory runs out.
    pub fn kill(&mut self) {
        let pid = fs::read_to_string(self.folder.join("pid")).expect("a number");
        assert!(signal("KILL", pid.trim()), "PostgreSQL was not there");
        leave(&mut self.keeper);
    }

    /// Starts the server again after [`Self::kill`].
    #[track_caller]
    pub fn restart(&mut self) {
        self.keeper = keep(&self.folder);
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        ended(&mut self.keeper);
        // Removes a cluster that was killed and not restarted.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Ends a keeper but leaves its cluster.
fn leave(keeper: &mut Child) {
    if let Some(mut input) = keeper.stdin.take() {
        // A keeper that has already ended needs no word.
        let _ = input.write_all(b"leave\n");
    }
    ended(keeper);
}

fn configure(folder: &Path, durability: Durability) {
    let fast = match durability {
        Durability::Full => "",
        Durability::None => "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n",
    };
    let settings = format!(
        "listen_addresses = ''\nunix_socket_directories = '{}'\nmax_connections = 200\nshared_buffers = 32MB\n{fast}",
        folder.display()
    );
    let mut file = fs::OpenOptions::new().append(true).open(folder.join("data/postgresql.conf")).expect("settings");
    file.write_all(settings.as_bytes()).expect("room");
}

/// Starts the server and waits until it answers.
#[track_caller]
fn keep(folder: &Path) -> Child {
    let start = Instant::now();
    loop {
        // The file may hold the process id of the previous server.
        let _ = fs::remove_file(folder.join("pid"));
        let mut keeper = as_user("sh")
            .args(["-c", KEEPER, "keeper"])
            .args([&binaries(), folder])
            .stdin(Stdio::piped())
            .spawn()
            .expect("a shell");
        while start.elapsed() < PATIENCE && is_there(folder) {
            if answers(folder) {
                return keeper;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(start.elapsed() < PATIENCE, "PostgreSQL does not start:\n{log}");
        // A killed server leaves child processes behind that hold its shared memory for a moment.
        leave(&mut keeper);
    }
}

/// Returns true if the server's process is running or about to start.
fn is_there(folder: &Path) -> bool {
    let Ok(pid) = fs::read_to_string(folder.join("pid")) else { return true };
    pid.is_empty() || Path::new("/proc").join(pid.trim()).join("fd").exists()
}

fn answers(folder: &Path) -> bool {
    let asked = program("pg_isready").arg("-q").arg("-h").arg(folder).status();
    asked.is_ok_and(|status| status.success())
}

fn program(name: &str) -> Command {
    as_user(binaries().join(name).to_str().expect("a path in ASCII"))
}

/// Returns a command that runs as another user if this process is root, because PostgreSQL refuses root.
fn as_user(program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir("/");
    if let Some((user, group)) = other_user() {
        command.uid(user).gid(group);
    }
    command
}

fn other_user() -> Option<(u32, u32)> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    let users = fs::read_to_string("/etc/passwd").expect("the list of users");
    let user = users.lines().find_map(|line| line.strip_prefix("postgres:"));
    is_root.then(|| {
        let mut numbers = user.expect("the user `postgres`, whom Debian's package makes").split(':').skip(1);
        let mut number = || numbers.next().and_then(|number| number.parse().ok()).expect("a number");
        (number(), number())
    })
}

/// Returns the folder of PostgreSQL's programs: Debian has one per version, others have them in `PATH`.
#[track_caller]
fn binaries() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path());
    let number = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let newest = versions.max_by_key(number).map(|version| version.join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = newest.into_iter().chain(std::env::split_paths(&path));
    let found = folders.find(|folder| folder.join("initdb").is_file());
    found.expect("PostgreSQL is not installed: run the tests by `./dev test`")
}
