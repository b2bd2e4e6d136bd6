//! Helpers for the tests of all parts of a config.

use crate::job::{Job, Problem, RawJob};

/// Resolves a config in TOML.
pub(super) fn resolve(text: &str) -> Result<Job, Vec<Problem>> {
    RawJob::from_toml(text).unwrap().resolve()
}

/// Resolves a config, and checks that the job is the same after it is written and read again.
#[track_caller]
pub(super) fn job(text: &str) -> Job {
    let job = resolve(text).unwrap();
    assert_eq!(RawJob::from_json(&job.to_json()).unwrap().resolve().unwrap(), job);
    job
}

/// Checks that a config has exactly this problem.
#[track_caller]
pub(super) fn check_problem(text: &str, problem: &str) {
    let problems = resolve(text).unwrap_err();
    assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), [problem]);
}
