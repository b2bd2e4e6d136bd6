//! What a job and a link must be like, from what was asked for and what was answered.

use std::time::Instant;

use serde_json::Value;
use server::database::MOST_ATTEMPTS;
use shared::api::JobState;

use super::course::Course;
use super::jumps::Jumps;
use super::plan::{Kind, Recipe};

/// What is wrong with what was seen, in words.
pub(super) type Check = Result<(), String>;

/// An error with a message, unless something is so.
macro_rules! must {
    ($is_so:expr, $($message:tt)+) => {
        if !$is_so {
            return Err(format!($($message)+));
        }
    };
}
pub(super) use must;

/// A job that was acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) recipe: Recipe,
    pub(super) id: String,
    /// The name that it was given last.
    pub(super) name: String,
    /// Whether somebody asked for its end.
    pub(super) may_be_cancelled: bool,
    /// How often it had been begun when that was acknowledged.
    pub(super) runs_until_cancelled: Option<u64>,
    pub(super) is_deleted: bool,
    /// As it was seen when it was over, but for its name.
    pub(super) end: Option<Value>,
    /// The bodies of the events that were seen.
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

    /// The state that it was seen in when it was over.
    pub(super) fn end_state(&self) -> Option<JobState> {
        JobState::of(self.end.as_ref()?["state"].as_str()?)
    }

    /// Takes note of the job as an answer has it.
    ///
    /// # Errors
    ///
    /// It cannot be like that.
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

    /// Whether it may end like that.
    fn check_end(&self, state: JobState, runs: u64, answer: &Value) -> Check {
        let code = answer["error"]["code"].as_str().unwrap_or_default();
        let is_tried_enough = runs == MOST_ATTEMPTS.unsigned_abs();
        let is_allowed = match state {
            JobState::Queued | JobState::Running => false,
            JobState::Finished => self.recipe.kind != Kind::Bad && runs > 0,
            JobState::Cancelled => self.may_be_cancelled,
            JobState::Failed => match code {
                "recording_failed" => self.recipe.kind == Kind::Bad || is_tried_enough,
                "worker_died" => is_tried_enough,
                _ => false,
            },
        };
        must!(is_allowed, "it may not be {} in the end: {answer}", state.word());
        let has_snapshot = answer["snapshot_bytes"].is_u64();
        must!(has_snapshot == (state == JobState::Finished), "a finished job alone has a snapshot: {answer}");
        Ok(())
    }

    /// Takes note of events that were told after those that are known.
    ///
    /// # Errors
    ///
    /// Their numbers have gaps, or the job cannot take such a course.
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
    // Lists and pages of a job differ in these.
    for key in ["name", "source", "notes", "log", "curve", "capacity_bytes"] {
        answer.as_object_mut().map(|fields| fields.remove(key));
    }
    answer
}

fn are_in_order(answer: &Value) -> bool {
    let times = ["created_ms", "started_ms", "finished_ms"].map(|key| answer[key].as_i64());
    let times: Vec<i64> = times.into_iter().flatten().collect();
    times.is_sorted()
}

/// A link that was acknowledged.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) token: String,
    pub(super) delete_token: String,
    pub(super) content: Vec<u8>,
    pub(super) made: Instant,
    /// When it ends by the server's clock, in milliseconds since 1970.
    pub(super) expires_ms: i64,
    pub(super) is_deleted: bool,
}

/// Whether a link answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answers {
    Yes,
    No,
    /// Its time comes in this moment, or it came before the clock was put back.
    Perhaps,
}

impl Link {
    /// Whether it answers to a request that was sent at one time and answered at another.
    pub(super) fn answers(&self, sent: Instant, jumps: &Jumps) -> Answers {
        /// How long a process may go on with a time that it has read.
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
