//! Runs a server, its worker processes, a database and a store for one test, which can be killed and restarted.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use server::database::{Database, Page};
use server::store::StoreAddress;
use tempfile::TempDir;

use super::client::{Client, TOKEN};
use crate::postgres::{Durability, Postgres};
use crate::process::{ended, signal as signal_of};
use crate::s3::{Mood, S3};
use crate::serving::{Launch, ServeProcess, log_to};
use crate::storage::Backend;

/// Default lease of a worker, longer than a loaded machine keeps one silent.
const LEASE: Duration = Duration::from_secs(10);

/// Names of the programs that run recordings.
const RECORDERS: [&str; 2] = ["snapscope-recorder", "play"];

/// Configuration of a fleet.
#[derive(Debug, Clone)]
pub struct Setup {
    pub backend: Backend,
    /// True for a store in a folder, also with PostgreSQL, because a bucket refuses clients whose clock differs from
    /// its own.
    pub has_folder: bool,
    pub jobs_in_server: usize,
    /// Number of worker processes beside it, which run one job at a time.
    pub workers: usize,
    /// Time without a sign of life after which a worker counts as dead.
    pub lease: Duration,
    /// Path of the program `snapscope`, with the recorder beside it.
    pub program: PathBuf,
    /// Additional environment variables of all processes.
    pub environment: Vec<(String, OsString)>,
    /// File for the logs of the processes; `None` leaves them on standard error.
    pub log: Option<PathBuf>,
}

impl Setup {
    /// Configures a server from this program that records nothing, without workers.
    pub fn new(backend: Backend, program: &Path) -> Self {
        let program = program.to_owned();
        Self {
            backend,
            has_folder: backend == Backend::Sqlite,
            jobs_in_server: 0,
            workers: 0,
            lease: LEASE,
            program,
            environment: Vec::new(),
            log: None,
        }
    }

    fn launch(&self, folder: &Path, database: &str, bucket: Option<&S3>) -> Launch {
        let page = folder.join("page");
        fs::create_dir_all(&page).and_then(|()| fs::write(page.join("index.html"), "<!doctype html>")).expect("room");
        let launch = Launch {
            program: Some(self.program.clone()),
            data: Some(folder.join("server")),
            dist: Some(page),
            log: self.log.clone(),
            ..Launch::default()
        };
        let launch = launch
            .with("--jobs", format!("virtual={}", self.jobs_in_server))
            .with("--requests", "0")
            .with("--submissions", "0")
            .with("--lease", format!("{}s", self.lease.as_secs()))
            .with("--database", database)
            .with_variables([("SNAPSCOPE_TOKEN".to_owned(), TOKEN)])
            .with_variables(self.environment.iter().cloned());
        match bucket {
            Some(bucket) => launch.with("--store", bucket.store()).with_variables(bucket.variables()),
            None => launch.with("--store", folder.join("server/store")),
        }
    }
}

/// Running processes with their database and store.
pub struct Fleet {
    /// HTTP client of the server, which follows it to a new port.
    pub client: Client,
    /// URL of the database.
    pub database: String,
    launch: Launch,
    server: Option<ServeProcess>,
    workers: Vec<Worker>,
    // Dropped after the processes that use them.
    postgres: Option<Postgres>,
    bucket: Option<S3>,
    folder: TempDir,
}

impl Fleet {
    /// Starts all processes.
    #[track_caller]
    pub fn start(setup: &Setup) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let is_large = setup.backend == Backend::Postgres;
        let postgres = is_large.then(|| Postgres::start(Durability::Full));
        let bucket = (!setup.has_folder).then(S3::start);
        let in_file = || format!("sqlite:{}", folder.path().join("server/snapscope.sqlite").display());
        let database = postgres.as_ref().map_or_else(in_file, Postgres::database);
        let launch = setup.launch(folder.path(), &database, bucket.as_ref());
        let server = ServeProcess::launch(&launch);
        let client = Client::new(server.address);
        let workers = Vec::new();
        let mut fleet = Self { client, launch, server: Some(server), workers, postgres, bucket, database, folder };
        (0..setup.workers).for_each(|_| fleet.start_worker());
        fleet
    }

    pub fn store(&self) -> StoreAddress {
        self.bucket.as_ref().map_or_else(|| StoreAddress::Folder(self.store_folder()), S3::address)
    }

    /// Returns the folder of everything that the processes keep on this machine.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the folder of the store; it is unused with a bucket.
    pub fn store_folder(&self) -> PathBuf {
        self.folder.path().join("server/store")
    }

    pub(super) fn has_folder(&self) -> bool {
        self.bucket.is_none()
    }

    /// Returns the number of workers that were started beside the server.
    pub(super) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Returns the data folders of workers that were killed and not restarted.
    pub fn killed(&self) -> Vec<&Path> {
        self.workers.iter().filter(|worker| worker.was_killed).map(|worker| worker.data.as_path()).collect()
    }

    /// Kills the server with SIGKILL, as the kernel does when memory runs out.
    pub fn kill_server(&mut self) {
        self.server.take().expect("it runs").stop("KILL");
    }

    #[track_caller]
    pub fn start_server(&mut self) {
        self.try_start_server().unwrap_or_else(|wrong| panic!("{wrong}"));
    }

    /// Starts the server again, like [`Self::start_server`].
    ///
    /// # Errors
    ///
    /// Returns what the server printed if it does not start.
    pub(super) fn try_start_server(&mut self) -> Result<(), String> {
        let server = ServeProcess::try_launch(&self.launch);
        let server = server.map_err(|line| format!("the server does not start, and prints {line:?}; see its log"))?;
        self.client.go_to(server.address);
        self.server = Some(server);
        Ok(())
    }

    /// Starts a server while none is running and kills it after `time`, possibly during its start.
    pub(super) fn start_in_vain(&self, time: Duration) {
        let mut child = self.launch.spawn(&self.folder.path().join("server"));
        std::thread::sleep(time);
        // It may have ended by itself.
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Starts another worker with its own data folder, as on another machine.
    pub fn start_worker(&mut self) {
        let data = self.folder.path().join(format!("worker-{}", self.workers.len()));
        self.workers.push(Worker::start(&self.launch, &data));
    }

    /// Starts a worker that was stopped or killed again on its data folder.
    pub(super) fn restart_worker(&mut self, worker: usize) {
        self.workers[worker] = Worker::start(&self.launch, &self.workers[worker].data);
    }

    pub fn kill_worker(&mut self, worker: usize) {
        self.workers[worker].stop("KILL");
    }

    pub fn kill_postgres(&mut self) {
        self.postgres.as_mut().expect("it runs on PostgreSQL").kill();
    }

    pub fn start_postgres(&mut self) {
        self.postgres.as_mut().expect("it runs on PostgreSQL").restart();
    }

    /// Stops the server with SIGTERM, as an operator does.
    pub(super) fn stop_server(&mut self) -> Result<(), String> {
        match self.server.take().expect("it runs").stop("TERM") {
            Some(0) => Ok(()),
            status => Err(format!("the server stops with {status:?}")),
        }
    }

    /// Stops a worker with SIGTERM, as an operator does, unless it was stopped already.
    pub(super) fn stop_worker(&mut self, worker: usize) -> Result<(), String> {
        match self.workers[worker].stop("TERM") {
            Some(status) if !status.success() => Err(format!("worker {worker} stops with {status}")),
            _ => Ok(()),
        }
    }

    pub(super) fn server_pid(&self) -> u32 {
        self.server.as_ref().expect("it runs").pid()
    }

    pub(super) fn worker_pid(&self, worker: usize) -> u32 {
        self.workers[worker].child.as_ref().expect("it runs").id()
    }

    /// Locks the SQLite file against writes for a time, as a slow backup may.
    pub(super) fn lock_database(&self, time: Duration) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let Ok(Database::Sqlite(pool)) = Database::open(&self.database).await else { return };
            // A process that writes continuously may keep the lock away; then nothing was locked.
            if let Ok(transaction) = pool.begin_with("BEGIN EXCLUSIVE").await {
                tokio::time::sleep(time).await;
                let _ = transaction.rollback().await;
            }
            pool.close().await;
        });
    }

    /// Makes the store unavailable for a time; `mood` decides how a bucket fails.
    pub(super) fn without_store(&self, mood: Mood, time: Duration) {
        match &self.bucket {
            Some(bucket) => {
                bucket.set_mood(mood);
                std::thread::sleep(time);
                bucket.set_mood(Mood::Fine);
            }
            None => without_folder(&self.store_folder().join("snapshots"), time),
        }
    }

    /// Returns the names of the workers that recorded the jobs.
    pub fn workers_of_jobs(&self) -> BTreeSet<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let database = Database::open(&self.database).await.expect("the database");
            let jobs = database.jobs(&Page { limit: 1000, ..Page::default() }).await.expect("jobs");
            let mut workers = BTreeSet::new();
            for job in jobs {
                workers.extend(database.job(&job.id).await.expect("the job").and_then(|row| row.worker));
            }
            database.close().await;
            workers
        })
    }

    /// Sends a signal to one running recorder, if there is any, and returns its process id.
    pub fn signal_recorder(&self, signal: &str) -> Option<String> {
        let recorder = self.recorders().into_iter().rev().find(|number| leads_a_group(number))?;
        // It may have ended by itself in between.
        signal_of(signal, &recorder).then_some(recorder)
    }

    /// Returns the process ids of the recorders that write below the folder.
    pub fn recorders(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").expect("a list of processes").flatten();
        let number = |entry: fs::DirEntry| entry.file_name().into_string().ok();
        let numbers = processes.filter_map(number).filter(|name| name.bytes().all(|digit| digit.is_ascii_digit()));
        numbers.filter(|number| is_recorder(number, self.folder.path())).collect()
    }

    /// Stops all processes as an operator does.
    pub fn stop(&mut self) -> Result<(), String> {
        (0..self.workers.len()).try_for_each(|worker| self.stop_worker(worker))?;
        self.stop_server()
    }

    /// Runs `snapscope data check`, which reads every object.
    ///
    /// # Errors
    ///
    /// Returns its output if it finds a problem.
    pub fn check_data(&self) -> Result<(), String> {
        let mut command = Command::new(self.launch.program.as_ref().expect("it was named"));
        command.args(["data", "check", "--contents", "--data"]).arg(self.folder.path().join("server"));
        let settings = self.launch.settings.iter().filter(|(name, _)| ["--database", "--store"].contains(name));
        command.args(settings.flat_map(|(name, value)| [OsString::from(name), value.clone()]));
        command.envs(self.launch.environment.iter().cloned());
        let output = command.output().expect("the binary to run");
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let is_well =
            output.status.success() && text.contains("belong together") && !text.contains("not in the database");
        if is_well { Ok(()) } else { Err(text) }
    }
}

/// Puts a file in the place of a folder for a time, so that nothing can be read or written there.
pub fn without_folder(folder: &Path, time: Duration) {
    let away = folder.with_extension("away");
    if fs::rename(folder, &away).is_err() {
        return; // Nothing was ever stored.
    }
    // The server may have recreated the folder in between; then the folder is missing only for that moment.
    let is_blocked = fs::File::create_new(folder).is_ok();
    if is_blocked {
        std::thread::sleep(time);
        fs::remove_file(folder).expect("the file that was put there");
    }
    bring_back(&away, folder);
}

/// Moves the folder's content back, beside files that were created meanwhile.
fn bring_back(away: &Path, folder: &Path) {
    if fs::rename(away, folder).is_ok() {
        return;
    }
    for entry in fs::read_dir(away).expect("what was moved there").flatten() {
        let target = folder.join(entry.file_name());
        if target.is_dir() { bring_back(&entry.path(), &target) } else { drop(fs::rename(entry.path(), target)) }
    }
    let _ = fs::remove_dir(away);
}

fn is_recorder(number: &str, folder: &Path) -> bool {
    let command = fs::read(Path::new("/proc").join(number).join("cmdline")).unwrap_or_default();
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    // A script is preceded by its shell.
    let names = words.iter().take(2).filter_map(|word| Path::new(&**word).file_name()?.to_str());
    let is_program = names.into_iter().any(|name| RECORDERS.contains(&name));
    is_program && words.iter().any(|word| Path::new(&**word).starts_with(folder))
}

/// Returns true for a process that leads its process group, as recorders do and their child processes do not.
fn leads_a_group(number: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(number).join("stat")).unwrap_or_default();
    // The program name in parentheses may contain spaces; state, parent and process group follow it.
    stat.rsplit(')').next().and_then(|fields| fields.split_whitespace().nth(2)) == Some(number)
}

/// Process of `snapscope worker`.
struct Worker {
    child: Option<Child>,
    was_killed: bool,
    data: PathBuf,
}

impl Worker {
    fn start(server: &Launch, data: &Path) -> Self {
        let taken = ["--lease", "--database", "--store"];
        let settings = server.settings.iter().filter(|(name, _)| taken.contains(name));
        let words = settings.flat_map(|(name, value)| [OsString::from(name), value.clone()]);
        let mut command = Command::new(server.program.as_ref().expect("it was named"));
        command.args(["worker", "--log", "warn", "--jobs", "virtual=1", "--data"]).arg(data).args(words);
        command.envs(server.environment.iter().cloned());
        log_to(&mut command, server.log.as_deref());
        let child = command.spawn().expect("the binary to start");
        Self { child: Some(child), was_killed: false, data: data.to_owned() }
    }

    /// Sends a signal by name and waits for the process to end; `None` if it was stopped already.
    fn stop(&mut self, signal: &str) -> Option<ExitStatus> {
        let mut child = self.child.take()?;
        signal_of(signal, child.id());
        self.was_killed = signal == "KILL";
        Some(ended(&mut child))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
