//! Runs workers, which take jobs from the queue, record them and store the snapshots.
//!
//! A worker runs inside `snapscope serve`, or alone as `snapscope worker` on other machines with access to the same
//! database and store. apalis delivers tasks and redelivers those of dead workers. The job's own row decides which
//! worker runs it and whether that worker is alive.

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
use crate::log::start_log;

/// Interval between polls of the queue.
const POLL: Duration = Duration::from_millis(250);

/// Number of apalis heartbeats per lease.
const HEARTBEATS: u32 = 6;

/// Pause before a worker uses the queue again after an error.
const AGAIN: Duration = Duration::from_secs(2);

/// Runs jobs until `stop` changes, then waits for the running ones to end or to be given back.
pub async fn run(context: Arc<Context>, stop: watch::Receiver<bool>) {
    let slots = context.settings.slots.clone();
    let workers = slots.into_iter().map(|slots| serve_kind(Arc::clone(&context), slots, stop.clone()));
    let reaper = reaper::run(&context, stop.clone());
    tokio::join!(futures_util::future::join_all(workers), reaper);
}

/// Makes the tokio runtime of a server or worker process.
///
/// # Errors
///
/// Returns an error if threads cannot be started.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("no threads can be started: {error}"), "check this machine's limits"))
}

/// Runs a worker process for a server elsewhere until a signal stops it.
///
/// # Errors
///
/// Returns an error if the settings are invalid or if the database or the store does not answer.
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

/// Waits for SIGTERM or SIGINT.
async fn signal() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        // Without handlers a signal ends the process, which the reaper of another worker detects.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Runs jobs of one kind of device until `stop` changes.
async fn serve_kind(context: Arc<Context>, slots: Slots, mut stop: watch::Receiver<bool>) {
    wait_for_recorder(&context, &mut stop).await;
    let kind = Arc::new(Kind { context: Arc::clone(&context), free: Semaphore::new(slots.jobs) });
    let mut round = 0;
    while !*stop.borrow() {
        // The name changes with each round, because apalis refuses a name that was seen alive a moment ago.
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
    info!(kind = slots.kind, "no longer taking jobs");
    context.turns.close();
    kind.wind_down(slots.jobs).await;
}

/// Waits while a script builds the recorder: jobs stay in the queue until it is there.
async fn wait_for_recorder(context: &Context, stop: &mut watch::Receiver<bool>) {
    const LOOK: Duration = Duration::from_millis(500);
    if context.recorder.is_being_built() {
        info!("the recorder is still being built: jobs wait for it");
    }
    while context.recorder.is_being_built() && !*stop.borrow() {
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => {}
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// State that the tasks of one kind of device share.
struct Kind {
    context: Arc<Context>,
    /// One permit per slot; apalis counts tasks only until its queue fails, while their recordings continue.
    free: Semaphore,
}

impl Kind {
    /// Waits for running recordings and prevents new ones.
    async fn wind_down(&self, jobs: usize) {
        const LOOK: Duration = Duration::from_millis(20);
        self.free.close();
        while self.free.available_permits() < jobs {
            tokio::time::sleep(LOOK).await;
        }
    }
}

/// Builds and runs apalis's worker on either storage.
macro_rules! run_worker {
    ($storage:ty, $config:ty, $pool:expr, $kind:expr, $slots:expr, $name:expr, $stop:expr) => {{
        let config = <$config>::default()
            .queue(&$slots.kind)
            // A task fetched in advance would wait here while another worker has a free slot.
            .batch_size(1)
            .heartbeat_interval($kind.context.settings.lease / HEARTBEATS)
            .missed_heartbeats(HEARTBEATS as usize)
            // Otherwise a task stays open for ever and is delivered again after each restart.
            .persist_results(true);
        let backend = <$storage>::new($pool).with_config(config).poll_with_interval(POLL);
        let worker = WorkerBuilder::new($name).backend(backend).data($kind).concurrency($slots.jobs).build(handle);
        worker.run_until($stop).await.map_err(|error| error.to_string())
    }};
}

async fn work(kind: Arc<Kind>, slots: &Slots, name: String, mut stop: watch::Receiver<bool>) -> Result<(), String> {
    let stopped = async move {
        // A dropped sender also stops the worker.
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

/// Handles a task, whose payload is a job's ID; a failed task is delivered again.
async fn handle(job: String, kind: Data<Arc<Kind>>, _: WorkerContext) -> Result<(), BoxDynError> {
    let kind = Arc::clone(&kind);
    // A separate tokio task lets the recording continue when apalis drops this one after a failure of its queue.
    let work = tokio::spawn(async move {
        let _free = kind.free.acquire().await?;
        record::run(&kind.context, &job).await
    });
    work.await?
}
