//! Workers: they take jobs from the queue, record them, and store what comes back.
//!
//! A worker runs inside `snapscope serve`, or by itself as `snapscope worker` on other machines that reach the same
//! database and store. apalis brings tasks and repeats those that a dead worker had fetched; who runs a job, and
//! whether that worker is alive, is told by the job's own row.

mod context;
mod heartbeat;
mod listener;
mod metrics;
mod reaper;
mod record;
mod settings;
mod turns;

pub use context::Context;
pub use metrics::RecorderMetrics;
pub use settings::{Slots, WorkerSettings};

use std::sync::Arc;
use std::time::Duration;

use apalis::prelude::{BackendExt as _, BoxDynError, Data, WorkerBuilder, WorkerBuilderExt as _, WorkerContext};
use apalis_postgres::PostgresStorage;
use apalis_sqlite::SqliteStorage;
use tokio::sync::{Semaphore, watch};
use tracing::{error, info};

use crate::config::SettingsArgs;
use crate::database::Database;
use crate::failure::Failure;
use crate::installation;
use crate::serve::start_log;

/// How often the queue is looked at.
const POLL: Duration = Duration::from_millis(250);

/// How many times in a lease apalis notes that this worker is there.
const HEARTBEATS: u32 = 6;

/// How long a worker waits before it turns to the queue again after that has failed.
const AGAIN: Duration = Duration::from_secs(2);

/// Runs jobs until `stop` changes, then lets those that run end, or puts them back.
pub async fn run(context: Arc<Context>, stop: watch::Receiver<bool>) {
    let slots = context.settings.slots.clone();
    let workers = slots.into_iter().map(|slots| serve_kind(Arc::clone(&context), slots, stop.clone()));
    let reaper = reaper::run(&context, stop.clone());
    tokio::join!(futures_util::future::join_all(workers), reaper);
}

/// The runtime of a process that serves or records.
///
/// # Errors
///
/// The system gives it no threads.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("no threads can be started: {error}"), "check this machine's limits"))
}

/// Works on the queue of a server that runs elsewhere, until a signal stops it.
///
/// # Errors
///
/// The options are wrong, or database or store do not answer.
pub fn run_alone(args: SettingsArgs) -> Result<(), Failure> {
    let config = args.resolve_worker()?;
    start_log(config.log, config.log_format);
    for line in config.to_string().lines() {
        info!("{line}");
    }
    runtime()?.block_on(async {
        let (database, store) = installation::open(&config.database, &config.store).await?;
        let context = Arc::new(Context::new(database.clone(), store, config.worker, config.recorder)?);
        let (stop, stopped) = watch::channel(false);
        let jobs = tokio::spawn(run(Arc::clone(&context), stopped));
        info!("waiting for jobs");
        signal().await;
        let _ = stop.send(true);
        context.wind_down(jobs).await;
        database.close().await;
        info!("stopped");
        Ok(())
    })
}

/// Waits for a signal to stop.
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        // Without handlers a signal ends the process, which the reaper of another worker notices.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Works on the queue of one kind of device.
async fn serve_kind(context: Arc<Context>, slots: Slots, mut stop: watch::Receiver<bool>) {
    let kind = Arc::new(Kind { context: Arc::clone(&context), free: Semaphore::new(slots.jobs) });
    let mut round = 0;
    while !*stop.borrow() {
        // A name that has been heard of a moment ago cannot be taken again.
        let name = format!("{}-{}-{round}", context.name, slots.kind);
        let worked = work(Arc::clone(&kind), &slots, name, stop.clone()).await;
        if let Err(error) = worked
            && !*stop.borrow()
        {
            error!(kind = slots.kind, %error, "the queue failed; trying again");
        }
        round += 1;
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => {}
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
    info!(kind = slots.kind, "no more jobs are taken");
    context.turns.close();
    kind.wind_down(slots.jobs).await;
}

/// What the tasks of one kind of device share.
struct Kind {
    context: Arc<Context>,
    /// apalis counts what runs only until its queue fails: recordings go on beyond that.
    free: Semaphore,
}

impl Kind {
    /// Waits for the recordings that run, and lets none begin.
    async fn wind_down(&self, jobs: usize) {
        const LOOK: Duration = Duration::from_millis(20);
        self.free.close();
        while self.free.available_permits() < jobs {
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Builds apalis's worker over either storage and runs it.
macro_rules! run_worker {
    ($storage:ty, $config:ty, $pool:expr, $kind:expr, $slots:expr, $name:expr, $stop:expr) => {{
        let config = <$config>::default()
            .queue(&$slots.kind)
            // What is fetched and not begun would wait here while another worker has a slot free.
            .batch_size(1)
            .heartbeat_interval($kind.context.settings.lease / HEARTBEATS)
            .missed_heartbeats(HEARTBEATS as usize)
            // Otherwise a task stays open for ever, and is brought again after each restart.
            .persist_results(true);
        let backend = <$storage>::new($pool).with_config(config).poll_with_interval(POLL);
        let worker = WorkerBuilder::new($name).backend(backend).data($kind).concurrency($slots.jobs).build(handle);
        worker.run_until($stop).await.map_err(|error| error.to_string())
    }};
}

async fn work(kind: Arc<Kind>, slots: &Slots, name: String, mut stop: watch::Receiver<bool>) -> Result<(), String> {
    let stopped = async move {
        // A sender that is gone stops, too.
        let _ = stop.wait_for(|stopped| *stopped).await;
        Ok::<(), std::io::Error>(())
    };
    match kind.context.database.clone() {
        Database::Sqlite(pool) => {
            run_worker!(SqliteStorage<String>, apalis_sqlite::Config, &pool, kind, slots, name, stopped)
        }
        Database::Postgres(pool) => {
            run_worker!(PostgresStorage<String>, apalis_postgres::Config, &pool, kind, slots, name, stopped)
        }
    }
}

/// Takes a task: the id of a job; one that fails is brought again.
async fn handle(job: String, kind: Data<Arc<Kind>>, _: WorkerContext) -> Result<(), BoxDynError> {
    let kind = Arc::clone(&kind);
    // In a task of tokio's: apalis drops this one when its queue fails, and the recording goes on.
    let work = tokio::spawn(async move {
        let _free = kind.free.acquire().await?;
        record::run(&kind.context, &job).await
    });
    work.await?
}
