//! Applies the faults of a history to its processes.

use std::path::PathBuf;
use std::time::Duration;

use super::fleet::{Fleet, Setup};
use super::jumps::Jumps;
use super::plan::{Fault, Plan, WORKERS, Who};
use super::recorder::Recorder;
use crate::clock::Clock;
use crate::process::signal;
use crate::storage::Backend;

/// Lease of a worker in a history; pauses may be longer.
const LEASE: Duration = Duration::from_secs(4);

/// Paths of the programs that a history runs.
#[derive(Debug, Clone)]
pub struct Programs {
    pub snapscope: PathBuf,
    pub recorder: PathBuf,
}

/// Processes under faults.
pub(super) struct World {
    pub(super) fleet: Fleet,
    pub(super) clock: Option<Clock>,
}

impl World {
    pub(super) fn new(plan: &Plan, programs: &Programs, recorder: &Recorder, log: Option<PathBuf>) -> Self {
        let clock = plan.has_clock.then(Clock::new);
        let is_large = plan.backend == Backend::Postgres;
        let mut setup = Setup {
            // With SQLite the server runs all jobs; with PostgreSQL the workers beside it run some.
            jobs_in_server: if is_large { 1 } else { 2 },
            workers: if is_large { WORKERS } else { 0 },
            has_folder: clock.is_some() || !is_large,
            lease: LEASE,
            log,
            ..Setup::new(plan.backend, &programs.snapscope)
        };
        setup.environment.extend(recorder.variables());
        setup.environment.extend(clock.iter().flat_map(Clock::variables));
        Self { fleet: Fleet::start(&setup), clock }
    }

    /// Applies a fault and repairs it; returns the number of processes killed.
    pub(super) fn suffer(&mut self, fault: Fault, jumps: &Jumps) -> Result<usize, String> {
        let fleet = &mut self.fleet;
        match fault {
            Fault::KillServer(down) => {
                fleet.kill_server();
                std::thread::sleep(down);
                fleet.try_start_server()?;
            }
            Fault::KillServerAtStart(time) => {
                fleet.kill_server();
                fleet.start_in_vain(time);
                fleet.try_start_server()?;
            }
            Fault::KillWorker(worker, down) => {
                fleet.kill_worker(worker);
                std::thread::sleep(down);
                fleet.restart_worker(worker);
            }
            // There may be no recorder at this moment.
            Fault::KillRecorder => return Ok(fleet.signal_recorder("KILL").iter().count()),
            Fault::KillDatabase(down) => {
                fleet.kill_postgres();
                std::thread::sleep(down);
                fleet.start_postgres();
            }
            Fault::KillAll(down) => kill_all(fleet, down)?,
            Fault::LockDatabase(time) => fleet.lock_database(time),
            Fault::StoreAway(mood, time) => fleet.without_store(mood, time),
            Fault::Pause(who, time) => self.pause(who, time),
            Fault::StopServer => {
                fleet.stop_server()?;
                fleet.try_start_server()?;
            }
            Fault::StopWorker(worker) => {
                fleet.stop_worker(worker)?;
                fleet.restart_worker(worker);
            }
            Fault::Jump(hours) => {
                // Noted first, so that checks in between allow for it.
                jumps.jumped_to(hours);
                self.clock.iter().for_each(|clock| clock.jump_to(hours));
            }
        }
        Ok(fault.kills())
    }

    fn pause(&self, who: Who, time: Duration) {
        let stopped = |pid: u32| signal("STOP", pid).then(|| pid.to_string());
        let paused = match who {
            Who::Server => stopped(self.fleet.server_pid()),
            Who::Worker(worker) => stopped(self.fleet.worker_pid(worker)),
            Who::Recorder => self.fleet.signal_recorder("STOP"),
        };
        std::thread::sleep(time);
        // The keeper of a recorder may have ended it meanwhile.
        paused.map(|pid| signal("CONT", pid));
    }
}

/// Simulates a power failure of the machine and its restart.
fn kill_all(fleet: &mut Fleet, down: Duration) -> Result<(), String> {
    fleet.kill_server();
    (0..fleet.workers()).for_each(|worker| fleet.kill_worker(worker));
    fleet.kill_postgres();
    std::thread::sleep(down);
    fleet.start_postgres();
    (0..fleet.workers()).for_each(|worker| fleet.restart_worker(worker));
    fleet.try_start_server()
}
