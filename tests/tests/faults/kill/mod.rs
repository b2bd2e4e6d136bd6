//! Kills processes in the middle of 50 jobs and 50 uploads, and checks that nothing acknowledged is missing.

mod aftermath;
mod neighbours;
mod traffic;

use testkit::both;
use testkit::histories::{Fleet, Setup};
use testkit::repro::built_recorder;
use testkit::server::snapscope;
use testkit::storage::Backend;

use traffic::Traffic;

/// Number of recorders to kill, each in a job of its own or in one that runs again.
const RECORDERS: usize = 5;

/// Starts a server that runs `jobs_in_server` jobs at once, and workers that run one each.
#[track_caller]
fn fleet(backend: Backend, jobs_in_server: usize, workers: usize) -> Fleet {
    // The processes find the recorder beside themselves.
    built_recorder();
    Fleet::start(&Setup { jobs_in_server, workers, ..Setup::new(backend, snapscope()) })
}

fn a_server_is_killed(backend: Backend) {
    let mut fleet = fleet(backend, 2, 0);
    let traffic = Traffic::start(&fleet);
    traffic.wait_for_the_middle();
    fleet.kill_server();
    fleet.start_server();
    aftermath::check(fleet, traffic);
}

both!(a_server_is_killed);

#[test]
fn workers_share_a_queue() {
    let fleet = fleet(Backend::Postgres, 0, 2);
    let (jobs, _) = Traffic::of(&fleet, 12, 0).finish();
    assert!(jobs.iter().all(|job| job["state"] == "finished" && job["attempts"] == 1), "{jobs:?}");
    assert_eq!(fleet.workers_of_jobs().len(), 2, "each took some");
}

#[test]
fn a_worker_is_killed() {
    let mut fleet = fleet(Backend::Postgres, 0, 2);
    let traffic = Traffic::start(&fleet);
    traffic.wait_for_the_middle();
    fleet.kill_worker(0);
    let ended = traffic.jobs_over();
    // The other worker continues.
    traffic.wait_until("a job ended since", || traffic.jobs_over() > ended);
    fleet.start_worker();
    aftermath::check(fleet, traffic);
}

#[test]
fn recorders_are_killed() {
    let fleet = fleet(Backend::Sqlite, 2, 0);
    let traffic = Traffic::start(&fleet);
    traffic.wait_for_the_middle();
    let mut killed = 0;
    traffic.wait_until("recorders were killed", || {
        killed += usize::from(fleet.signal_recorder("KILL").is_some());
        killed == RECORDERS
    });
    aftermath::check(fleet, traffic);
}

#[test]
fn postgres_is_killed() {
    let mut fleet = fleet(Backend::Postgres, 0, 2);
    let traffic = Traffic::start(&fleet);
    traffic.wait_for_the_middle();
    fleet.kill_postgres();
    traffic.wait_until("the server says so", || !traffic.is_ready());
    fleet.start_postgres();
    traffic.wait_until("the server is back", || traffic.is_ready());
    aftermath::check(fleet, traffic);
}
