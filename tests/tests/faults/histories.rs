//! Runs short random histories from known seeds and a new one; `./dev faults` runs long ones.

use testkit::histories::long::{self, seed};
use testkit::histories::{Plan, Programs};
use testkit::repro::built_recorder;
use testkit::server::{root, snapscope};

/// Number of processes that a short history kills.
const KILLS: usize = 6;

#[track_caller]
fn check(seed: u64) {
    let programs = Programs { snapscope: snapscope().to_owned(), recorder: built_recorder().program.clone() };
    let plan = Plan::new(seed, KILLS);
    match long::check(&plan, &programs, &root().join("target/faults")) {
        Ok(figures) => println!("{plan}: {figures}"),
        Err(told) => panic!("{told}"),
    }
}

#[test]
fn a_history_on_sqlite() {
    check(2);
}

#[test]
fn a_history_on_postgres() {
    check(3);
}

#[test]
fn a_history_of_a_new_seed() {
    check(seed());
}
