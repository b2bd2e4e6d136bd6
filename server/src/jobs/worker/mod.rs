//! Runs workers, which take jobs from the queue, record them and store the snapshots.
//!
//! A worker runs inside `snapscope serve`, or alone as `snapscope worker` on other machines with access to the same
//! database and store. The job's own row decides which worker runs it and whether that worker is alive.

mod context;
mod heartbeat;
mod listener;
mod record;
mod several;
mod turns;

pub use context::{Context, RecorderMetrics, Slots, WorkerSettings};

use std::sync::Arc;
use std::time::Duration;

use shared::api::SCRIPTS;
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tracing::{error, info};

use crate::config::SettingsArgs;
use crate::failure::Failure;
use crate::installation;
use crate::log::start_log;
use crate::recording::repro;

/// Runs jobs until `stop` changes, then waits for the running ones to end or to be given back.
pub async fn run(context: Arc<Context>, stop: watch::Receiver<bool>) {
    let slots = context.settings.slots.clone();
    let workers = slots.into_iter().map(|slots| serve_kind(Arc::clone(&context), slots, stop.clone()));
    let watching = heartbeat::watch_others(&context, stop.clone());
    tokio::join!(futures_util::future::join_all(workers), watching);
}

/// Makes the tokio runtime of a server or worker process.
pub fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(format!("no threads can be started: {error}"), "check this machine's limits"))
}

/// Runs a worker process for a server elsewhere until a signal stops it.
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
        // Without handlers a signal ends the process, which another worker detects.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Runs jobs of one kind of device until `stop` changes, at most one per slot at a time.
async fn serve_kind(context: Arc<Context>, slots: Slots, mut stop: watch::Receiver<bool>) {
    wait_for_recorder(&context, &mut stop).await;
    wait_for_device(&context, &slots.kind, &mut stop).await;
    let free = Arc::new(Semaphore::new(slots.jobs));
    while !*stop.borrow() {
        let slot = tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => break,
            slot = Arc::clone(&free).acquire_owned() => slot.expect("nobody closes it"),
        };
        let Some(claimed) = record::next(&context, &slots.kind, &mut stop).await else { break };
        let context = Arc::clone(&context);
        tokio::spawn(async move {
            record::run(&context, claimed).await;
            drop(slot);
        });
    }
    info!(kind = slots.kind, "no longer taking jobs");
    context.turns.close();
    let all = u32::try_from(slots.jobs).unwrap_or(u32::MAX);
    let _ended = free.acquire_many(all).await;
}

/// Makes a small recording on a real GPU, or of a script, again and again until it succeeds: a job that cannot run is not
/// taken.
async fn wait_for_device(context: &Arc<Context>, kind: &str, stop: &mut watch::Receiver<bool>) {
    const AGAIN: Duration = Duration::from_secs(60);
    while kind != "virtual" && !*stop.borrow() {
        let (worker, device) = (Arc::clone(context), kind.to_owned());
        let check = spawn_blocking(move || match &worker.settings.scripts {
            Some(python) if device == SCRIPTS => repro::check_scripts(&worker.recorder, python, worker.scratch()),
            _ => repro::check(&worker.recorder, &device, Some(worker.scratch())),
        });
        let problem = match check.await {
            Ok(checked) => checked.err().map(|failure| failure.message),
            Err(error) => Some(error.to_string()),
        };
        context.note_problem(kind, problem.clone()).await;
        let Some(problem) = problem else {
            info!(kind, "a small recording works on this device");
            return;
        };
        error!(kind, problem, "no job can run on this device; trying again in a minute");
        tokio::select! {
            _ = stop.wait_for(|stopped| *stopped) => {}
            () = tokio::time::sleep(AGAIN) => {}
        }
    }
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
