//! A server, its workers, a database and a store: processes of a test's own, that can be killed and started again.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use server::database::{Database, Page};
use server::store::StoreAddress;
use tempfile::TempDir;
use testkit::postgres::{Durability, Postgres};
use testkit::repro::built_recorder;
use testkit::s3::S3;
use testkit::server::snapscope;
use testkit::serving::{Launch, ServeProcess};
use testkit::storage::Backend;

use crate::client::Client;

/// How long nothing may be heard of a worker: longer than a busy machine keeps one silent.
const LEASE: &str = "10s";

/// What a fleet begins with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) backend: Backend,
    /// Jobs at once in the server's own process.
    pub(crate) jobs_in_server: usize,
    /// Processes beside it that take one job at a time.
    pub(crate) workers: usize,
}

/// Processes, and what they keep things in.
pub(crate) struct Fleet {
    pub(crate) client: Client,
    launch: Launch,
    server: Option<ServeProcess>,
    workers: Vec<Worker>,
    // After the processes that use them.
    postgres: Option<Postgres>,
    bucket: Option<S3>,
    pub(crate) database: String,
    folder: TempDir,
}

impl Fleet {
    pub(crate) fn start(plan: Plan) -> Self {
        // The processes find the recorder beside themselves.
        built_recorder();
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("server");
        let is_large = plan.backend == Backend::Postgres;
        let postgres = is_large.then(|| Postgres::start(Durability::Full));
        let bucket = is_large.then(S3::start);
        let in_file = || format!("sqlite:{}", data.join("snapscope.sqlite").display());
        let database = postgres.as_ref().map_or_else(in_file, Postgres::database);
        let mut launch = Launch { data: Some(data), ..Launch::default() }
            .with("--jobs", format!("virtual={}", plan.jobs_in_server))
            .with("--requests", "0")
            .with("--submissions", "0")
            .with("--lease", LEASE)
            .with("--database", &database);
        if let Some(bucket) = &bucket {
            launch = launch.with("--store", bucket.store()).with_variables(bucket.variables());
        }
        let server = ServeProcess::launch(&launch);
        let client = Client::new(server.address);
        let workers = Vec::new();
        let mut fleet = Self { client, launch, server: Some(server), workers, postgres, bucket, database, folder };
        (0..plan.workers).for_each(|_| fleet.start_worker());
        fleet
    }

    /// Where the store is.
    pub(crate) fn store(&self) -> StoreAddress {
        self.bucket.as_ref().map_or_else(|| StoreAddress::Folder(self.folder.path().join("server/store")), S3::address)
    }

    /// The folder of all that the processes keep on this machine.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Whether it has no store on this machine.
    pub(crate) fn is_large(&self) -> bool {
        self.bucket.is_some()
    }

    /// The folders of workers that were killed: nobody comes back there.
    pub(crate) fn killed(&self) -> Vec<&Path> {
        self.workers.iter().filter(|worker| worker.was_killed).map(|worker| worker.data.as_path()).collect()
    }

    pub(crate) fn kill_server(&mut self) {
        self.server.take().expect("it runs").stop("KILL");
    }

    pub(crate) fn start_server(&mut self) {
        let server = ServeProcess::launch(&self.launch);
        self.client.go_to(server.address);
        self.server = Some(server);
    }

    /// Starts one more worker on a machine of its own.
    pub(crate) fn start_worker(&mut self) {
        let data = self.folder.path().join(format!("worker-{}", self.workers.len()));
        self.workers.push(Worker::start(&self.launch, &data));
    }

    pub(crate) fn kill_worker(&mut self, worker: usize) {
        self.workers[worker].stop("KILL");
    }

    pub(crate) fn kill_postgres(&mut self) {
        self.postgres.as_mut().expect("it runs on PostgreSQL").kill();
    }

    pub(crate) fn start_postgres(&mut self) {
        self.postgres.as_mut().expect("it runs on PostgreSQL").restart();
    }

    /// The workers that recorded the jobs.
    pub(crate) fn workers_of_jobs(&self) -> BTreeSet<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let database = Database::open(&self.database).await.expect("the database");
            let jobs = database.jobs(&Page { limit: 1000, ..Page::default() }).await.expect("jobs");
            database.close().await;
            jobs.into_iter().filter_map(|job| job.worker).collect()
        })
    }

    /// Kills one recorder, if any runs at this moment.
    pub(crate) fn kill_recorder(&self) -> bool {
        let Some(recorder) = self.recorders().pop() else { return false };
        // It may have ended by itself in between.
        Command::new("kill").args(["-9", &recorder]).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// The numbers of the recorders that write below the folder.
    pub(crate) fn recorders(&self) -> Vec<String> {
        let processes = fs::read_dir("/proc").expect("a list of processes").flatten();
        let number = |entry: fs::DirEntry| entry.file_name().into_string().ok();
        let numbers = processes.filter_map(number).filter(|name| name.bytes().all(|digit| digit.is_ascii_digit()));
        numbers.filter(|number| is_recorder(number, self.folder.path())).collect()
    }

    /// Stops all processes as an operator does.
    #[track_caller]
    pub(crate) fn stop(&mut self) {
        for worker in &mut self.workers {
            worker.stop("TERM");
        }
        let status = self.server.take().expect("it runs").stop("TERM");
        assert_eq!(status, Some(0), "the server stops in good order");
    }
}

fn is_recorder(number: &str, folder: &Path) -> bool {
    let command = fs::read(Path::new("/proc").join(number).join("cmdline")).unwrap_or_default();
    let mut words = command.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    let is_program = words.next().is_some_and(|program| program.ends_with("snapscope-recorder"));
    is_program && words.any(|word| Path::new(&*word).starts_with(folder))
}

/// The binary `snapscope worker` in a process of its own.
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
        let child = Command::new(snapscope())
            .args(["worker", "--log", "warn", "--jobs", "virtual=1", "--data"])
            .arg(data)
            .args(words)
            .envs(server.environment.iter().cloned())
            .spawn()
            .expect("the binary to start");
        Self { child: Some(child), was_killed: false, data: data.to_owned() }
    }

    /// Sends a signal by name, and waits for the end; one that has been stopped already is let be.
    #[track_caller]
    fn stop(&mut self, signal: &str) {
        let Some(mut child) = self.child.take() else { return };
        let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        let status = child.wait().expect("the process to end");
        self.was_killed = signal == "KILL";
        assert!(self.was_killed || status.success(), "the worker of {} stops in good order", self.data.display());
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
