//! Models jobs and links: what must be true after the requests and answers of a client.

use std::time::Instant;

use serde_json::Value;
use server::database::MOST_ATTEMPTS;
use shared::api::{JobErrorCode, JobState};

use super::course::Course;
use super::jumps::Jumps;
use super::plan::{Kind, Recipe};

/// Result of a comparison, with a message about the contradiction.
pub(super) type Check = Result<(), String>;

/// Returns an error with a message unless a condition holds.
macro_rules! must {
    ($is_so:expr, $($message:tt)+) => {
        if !$is_so {
            return Err(format!($($message)+));
        }
    };
}
pub(super) use must;

/// Job that was acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) recipe: Recipe,
    pub(super) id: String,
    /// Name that was set last.
    pub(super) name: String,
    /// True once a cancellation was requested.
    pub(super) may_be_cancelled: bool,
    /// Number of starts when the cancellation was acknowledged.
    pub(super) runs_until_cancelled: Option<u64>,
    pub(super) is_deleted: bool,
    /// Job as it was seen after its end, without its name and the fields that only some answers have.
    pub(super) end: Option<Value>,
    /// Bodies of the events received so far.
    pub(super) events: Vec<String>,
}

impl Job {
    pub(super) fn new(recipe: Recipe, id: String) -> Self {
        let name = recipe.name();
        Self {
            recipe,
            id,
            name,
            may_be_cancelled: false,
            runs_until_cancelled: None,
            is_deleted: false,
            end: None,
            events: Vec::new(),
        }
    }

    pub(super) fn end_state(&self) -> Option<JobState> {
        JobState::of(self.end.as_ref()?["state"].as_str()?)
    }

    /// Updates the model from an answer about the job.
    pub(super) fn saw(&mut self, answer: &Value) -> Check {
        must!(answer["id"] == *self.id, "it is another job, {}", answer["id"]);
        must!(answer["name"] == *self.name, "it is called {}, not {:?}", answer["name"], self.name);
        let state = answer["state"].as_str().and_then(JobState::of);
        let Some(state) = state else { return Err(format!("it is in no state: {answer}")) };
        let runs = answer["attempts"].as_u64().unwrap_or(u64::MAX);
        must!(runs <= MOST_ATTEMPTS.unsigned_abs(), "it was begun {runs} times");
        let most = self.runs_until_cancelled.unwrap_or(u64::MAX);
        must!(runs <= most, "it was begun {runs} times, {most} times until it was cancelled");
        must!(are_in_order(answer), "its times are not in order: {answer}");
        if let Some(end) = &self.end {
            let now = without_name(answer);
            must!(now == *end, "it was over, and has changed from\n{end}\nto\n{now}");
        } else if state.is_over() {
            self.check_end(state, runs, answer)?;
            self.end = Some(without_name(answer));
        }
        Ok(())
    }

    /// Checks that the job may end in this state.
    fn check_end(&self, state: JobState, runs: u64, answer: &Value) -> Check {
        let code = answer["error"]["code"].as_str().and_then(JobErrorCode::of_name);
        let is_tried_enough = runs == MOST_ATTEMPTS.unsigned_abs();
        let is_allowed = match state {
            JobState::Queued | JobState::Running => false,
            JobState::Finished => self.recipe.kind != Kind::Bad && runs > 0,
            JobState::Cancelled => self.may_be_cancelled,
            JobState::Failed => match code {
                Some(JobErrorCode::RecordingFailed) => self.recipe.kind == Kind::Bad || is_tried_enough,
                Some(JobErrorCode::WorkerDied) => is_tried_enough,
                _ => false,
            },
        };
        must!(is_allowed, "it may not be {} in the end: {answer}", state.word());
        let has_snapshot = answer["snapshot_bytes"].is_u64();
        must!(has_snapshot == (state == JobState::Finished), "a finished job alone has a snapshot: {answer}");
        Ok(())
    }

    /// Appends events that follow the known ones.
    ///
    /// # Errors
    ///
    /// Returns an error if their numbers have gaps or their order is not allowed.
    pub(super) fn heard(&mut self, events: Vec<(usize, String)>) -> Check {
        for (number, body) in events {
            let next = self.events.len() + 1;
            must!(number == next, "event {number} was told instead of {next}: {body}");
            self.events.push(body);
        }
        Course::of(&self.events).map(drop)
    }
}

fn without_name(answer: &Value) -> Value {
    let mut answer = answer.clone();
    // Lists and single jobs differ in these fields.
    for key in ["name", "source", "notes", "log", "curve", "capacity_bytes", "fit", "fix", "sweep"] {
        answer.as_object_mut().map(|fields| fields.remove(key));
    }
    answer
}

fn are_in_order(answer: &Value) -> bool {
    let times = ["created_ms", "started_ms", "finished_ms"].map(|key| answer[key].as_i64());
    let times: Vec<i64> = times.into_iter().flatten().collect();
    times.is_sorted()
}

/// Link that was acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) token: String,
    pub(super) delete_token: String,
    pub(super) content: Vec<u8>,
    pub(super) made: Instant,
    /// Expiry by the server's clock, in milliseconds since 1970.
    pub(super) expires_ms: i64,
    pub(super) is_deleted: bool,
}

/// Expected answer of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    Yes,
    No,
    /// The link expires about now, or expired before the clock was set back.
    Perhaps,
}

impl Link {
    /// Returns whether the link must answer a request that was sent at `sent` and answered now.
    pub(super) fn answers(&self, sent: Instant, jumps: &Jumps) -> Answers {
        /// Time for which a process may use a time that it has read.
        const SLACK_MS: i64 = 5000;
        let now = jumps.times_since(sent);
        let until_now = jumps.times_since(self.made);
        let has_ended = |times: &(i64, i64)| times.1 + SLACK_MS >= self.expires_ms;
        if self.is_deleted || now.0 - SLACK_MS >= self.expires_ms {
            Answers::No
        } else if has_ended(&now) || has_ended(&until_now) {
            Answers::Perhaps
        } else {
            Answers::Yes
        }
    }
}
