//! Tests clock jumps by hours in both directions, which libfaketime simulates for the server.

use std::time::Duration;

use serde_json::Value;
use testkit::clock::Clock;
use testkit::http::Form;
use testkit::repro::Played;
use testkit::serving::{Launch, ServeProcess};

use crate::injected::jobs::{check_finished, recorder, submit, submitted, wait_for};
use crate::injected::place::snapshot;

/// Lease of a worker in these tests.
const LEASE: Duration = Duration::from_secs(3);

const HOUR_MS: i64 = 3_600_000;

/// Server with its own clock; its recordings run until they are released.
struct Place {
    server: ServeProcess,
    clock: Clock,
    recorder: Played,
}

impl Place {
    fn new() -> Self {
        let clock = Clock::new();
        let recorder = recorder(r#"while [ ! -e "$HOME/go" ]; do sleep 0.1; done; cp "$sample" "$output""#);
        let launch = Launch::default()
            .with("--jobs", "virtual=1")
            .with("--lease", format!("{}s", LEASE.as_secs()))
            .with_variables(recorder.variables())
            .with_variables(clock.variables());
        Self { server: ServeProcess::launch(&launch), clock, recorder }
    }

    /// Lets the clock jump to the real time plus `hours`, then waits for two leases so that errors would show.
    fn jump_to(&self, hours: i64) {
        self.clock.jump_to(hours);
        std::thread::sleep(LEASE * 2);
    }

    /// Shares a snapshot for a day; returns the path of the link and its creation time by the server's clock.
    fn share(&self) -> (String, i64) {
        let form = Form::default().part("view", br#"{"title": "", "view_state": "", "days": 1}"#);
        let path = self.server.shared(form.part("snapshot", &snapshot()));
        let made_ms = self.server.get(&path).json()["created_ms"].as_i64().expect("a time");
        (path, made_ms)
    }

    fn let_go(&self) {
        std::fs::write(self.recorder.path("go"), "").expect("room");
    }
}

#[track_caller]
fn check_order(job: &Value) {
    let time = |key: &str| job[key].as_i64().expect("a time");
    assert!(time("created_ms") <= time("started_ms") && time("started_ms") <= time("finished_ms"), "{job}");
    assert_eq!(job["attempts"], 1, "{job}");
}

#[test]
fn jobs_run_on_while_the_clock_jumps() {
    let place = Place::new();
    let first = submitted(&place.server);
    wait_for(&place.server, &first, &["running"]);
    place.jump_to(5);
    assert_eq!(wait_for(&place.server, &first, &["running", "failed"])["attempts"], 1);
    // This job is queued at a time that lies in the future after the next jump.
    let second = submitted(&place.server);
    place.jump_to(-5);
    assert_eq!(wait_for(&place.server, &first, &["running", "failed"])["attempts"], 1);
    let third = submitted(&place.server);
    place.let_go();
    for id in [&first, &second, &third] {
        check_order(&check_finished(&place.server, id));
    }
}

#[test]
fn a_worker_is_seen_right_after_a_jump() {
    let place = Place::new();
    place.let_go();
    for hours in [9, -9, 2] {
        place.clock.jump_to(hours);
        let reply = submit(&place.server);
        assert_eq!(reply.status, 202, "{hours} h: {}", reply.text());
        check_finished(&place.server, reply.json()["id"].as_str().expect("an id"));
    }
}

#[test]
fn links_end_when_the_clock_says_so_and_no_sooner() {
    let place = Place::new();
    let (link, made_ms) = place.share();
    let is_there = || place.server.get(&link).status == 200;
    // The server reads its clock at each request, so there is nothing to wait for.
    for hours in [23, -100, 0] {
        place.clock.jump_to(hours);
        assert!(is_there(), "{hours} h");
        let (_, now_ms) = place.share();
        let jumped_ms = now_ms - made_ms;
        assert!((jumped_ms - hours * HOUR_MS).abs() < HOUR_MS, "the clock jumped by {jumped_ms} ms");
    }
    place.clock.jump_to(25);
    assert!(!is_there());
}
