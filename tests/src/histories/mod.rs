//! Runs random histories of a server under faults, and compares what was acknowledged with a model.
//!
//! Clients send requests while processes are killed and paused, the database and the store go away and the clock jumps.
//! The model requires:
//!
//! - Nothing that was acknowledged is lost: jobs, names, cancellations, deletions, links and their bytes.
//! - Nothing happens twice: one job per key, one end per job, events without a gap, at most one recording per start.
//! - Links answer until they are deleted or expire; what is deleted stays deleted.
//! - Jobs end as their recorder does, are cancelled only on request, and otherwise fail after the last attempt.
//! - At the end the store holds what the rows name and nothing else, and `snapscope data check` finds nothing.
//!
//! Invariant: everything that happens is drawn from a seed, and the model knows nothing that no client was told.

pub mod aftermath;
mod client;
mod course;
mod figures;
mod fleet;
mod jumps;
mod lane;
mod ledger;
mod log;
pub mod long;
mod model;
mod plan;
mod recorder;
mod world;

pub use client::{Answer, Client};
pub use figures::Figures;
pub use fleet::{Fleet, Setup, without_folder};
pub use log::{Log, Violation};
pub use plan::Plan;
pub use world::Programs;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use server::database::Database;

use jumps::Jumps;
use lane::{Lane, PATIENCE, Scene};
use ledger::Ledger;
use plan::{Fault, Step};
use recorder::Recorder;
use world::World;

/// Number of concurrent clients.
const LANES: usize = 4;

/// Runs a history and checks it.
///
/// `folder` receives the log of the processes.
///
/// # Errors
///
/// Returns the first violation; `log` has what happened before it.
pub fn run(plan: &Plan, programs: &Programs, folder: Option<&Path>, log: &Log) -> Result<Figures, Violation> {
    let recorder = Recorder::new(&programs.recorder);
    let mut world = World::new(plan, programs, &recorder, folder.map(|folder| folder.join("processes.log")));
    let jumps = Jumps::default();
    let (is_over, is_broken) = (AtomicBool::new(false), AtomicBool::new(false));
    let client = world.fleet.client.clone();
    let scene =
        Scene { client: &client, recorder: &recorder, jumps: &jumps, log, is_over: &is_over, is_broken: &is_broken };
    let (kills, mut lanes) = live(plan, &mut world, scene)?;
    wait_for_the_end(&scene)?;
    look_at_all(&mut lanes)?;
    world.fleet.stop().map_err(Violation::of_all)?;
    let figures = compare(plan, &world, lanes, &scene)?;
    let rest = aftermath::check(&world.fleet).map_err(Violation::of_all)?;
    if rest.unreferenced > 0 && world.clock.is_none() {
        return Err(Violation::of_all(format!("{} snapshots stay that nothing refers to", rest.unreferenced)));
    }
    Ok(Figures { kills, objects: rest.objects, discarded: rest.discarded as usize, ..figures })
}

/// Runs the clients during the faults; returns the number of kills and the clients.
///
/// The first violation ends it for all of them.
fn live<'a>(plan: &Plan, world: &mut World, scene: Scene<'a>) -> Result<(usize, Vec<Lane<'a>>), Violation> {
    let first = Mutex::new(None);
    let found = |violation: Violation| {
        scene.is_broken.store(true, Ordering::Relaxed);
        scene.is_over.store(true, Ordering::Relaxed);
        first.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(violation);
    };
    let lived = std::thread::scope(|scope| {
        let run = |lane| Lane::new(scene).run(plan.asks(lane)).map_err(found).ok();
        let lanes: Vec<_> = (0..LANES).map(|lane| scope.spawn(move || run(lane))).collect();
        let kills = happen(&plan.faults(), world, &scene).map_err(found).unwrap_or(0);
        scene.is_over.store(true, Ordering::Relaxed);
        (kills, lanes.into_iter().filter_map(|lane| lane.join().expect("no panic")).collect())
    });
    first.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(lived), Err)
}

/// Runs the faults in order until a client finds a violation; returns the number of kills.
fn happen(steps: &[Step], world: &mut World, scene: &Scene<'_>) -> Result<usize, Violation> {
    let mut kills = 0;
    for step in steps {
        std::thread::sleep(step.pause);
        if scene.is_over.load(Ordering::Relaxed) {
            break;
        }
        scene.log.note(format!("fault: {step}"));
        kills += world.suffer(step.fault, scene.jumps).map_err(Violation::of_all)?;
        scene.log.note("fault: over".to_owned());
    }
    Ok(kills)
}

/// Waits until no job is queued or running.
fn wait_for_the_end(scene: &Scene<'_>) -> Result<(), Violation> {
    let start = Instant::now();
    let is_none_in = |state: &str| {
        let list = scene.client.get(&format!("/api/v1/jobs?limit=1&state={state}"))?.json();
        Some(list["jobs"].as_array()?.is_empty())
    };
    // A job that moves from one state to the other in between is seen by the second look at running jobs.
    let is_quiet = || ["running", "queued", "running"].iter().all(|state| is_none_in(state) == Some(true));
    while !is_quiet() {
        if start.elapsed() > PATIENCE {
            let list = scene.client.get("/api/v1/jobs?limit=5&state=queued").map(|answer| answer.json());
            return Err(Violation::of_all(format!("jobs wait or run for ever: {list:?}")));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    scene.log.note("all jobs are over".to_owned());
    Ok(())
}

/// Checks all jobs, links and lists once more, now that nothing changes.
fn look_at_all(lanes: &mut [Lane<'_>]) -> Result<(), Violation> {
    for lane in lanes {
        let mut jobs = std::mem::take(&mut lane.jobs);
        jobs.iter_mut().try_for_each(|job| lane.look_at_job(job))?;
        lane.jobs = jobs;
        lane.links.iter().try_for_each(|link| lane.look_at_link(link))?;
        lane.list()?;
    }
    Ok(())
}

/// Compares the database with what the clients were promised.
fn compare(plan: &Plan, world: &World, lanes: Vec<Lane<'_>>, scene: &Scene<'_>) -> Result<Figures, Violation> {
    let now = Instant::now();
    let steps = plan.faults();
    let is_stop = |step: &Step| matches!(step.fault, Fault::StopServer | Fault::StopWorker(_));
    let untold_links = lanes.iter().map(|lane| lane.untold_links).sum();
    let (mut jobs, mut links) = (Vec::new(), Vec::new());
    for lane in lanes {
        jobs.extend(lane.jobs);
        links.extend(lane.links.into_iter().map(|link| (link.answers(now, scene.jumps), link)));
    }
    let links: Vec<_> = links.into_iter().map(|(answers, link)| (link, answers)).collect();
    let was_given_back = steps.iter().any(is_stop);
    let ledger = Ledger { jobs, links, untold_links, recorder: scene.recorder, was_given_back };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let database = Database::open(&world.fleet.database).await;
        let database = database.map_err(|error| Violation::of_all(error.to_string()))?;
        let checked = ledger.check(&database).await;
        database.close().await;
        checked
    })?;
    Ok(Figures::of(&steps, &ledger))
}
