//! What the tests of every part of a config do.

use crate::job::{Job, Problem, RawJob};

/// Resolves a config in TOML.
pub(super) fn resolve(text: &str) -> Result<Job, Vec<Problem>> {
    RawJob::from_toml(text).unwrap().resolve()
}

/// The job of a config, which is the same when it is written out and read again.
#[track_caller]
pub(super) fn job(text: &str) -> Job {
    let job = resolve(text).unwrap();
    assert_eq!(RawJob::from_json(&job.to_json()).unwrap().resolve().unwrap(), job);
    job
}

/// Exactly this is wrong with a config.
#[track_caller]
pub(super) fn check_problem(text: &str, problem: &str) {
    let problems = resolve(text).unwrap_err();
    assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), [problem]);
}
