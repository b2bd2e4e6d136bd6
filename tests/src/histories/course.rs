//! Checks the order of a job's events: state transitions, and the events allowed in each state.

use shared::api::{JobEvent, JobState};

/// Summary of a job's events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Course {
    /// Number of times the job was started.
    pub(super) runs: usize,
    pub(super) state: Option<JobState>,
}

impl Course {
    /// Reads the events in order.
    ///
    /// # Errors
    ///
    /// Returns the reason and the number of the first event that is not allowed there.
    pub(super) fn of(bodies: &[String]) -> Result<Self, String> {
        bodies.iter().enumerate().try_fold(Self::default(), |course, (index, body)| {
            course.after(body).map_err(|error| format!("event {}: {error}", index + 1))
        })
    }

    pub(super) fn is_over(self) -> bool {
        self.state.is_some_and(JobState::is_over)
    }

    fn after(self, body: &str) -> Result<Self, String> {
        let event: JobEvent = serde_json::from_str(body).map_err(|error| format!("{error}: {body}"))?;
        let JobEvent::State { state } = event else {
            let is_running = self.state == Some(JobState::Running);
            return if is_running { Ok(self) } else { Err(format!("{body} after {:?}", self.state)) };
        };
        if !follows(self.state, state) {
            return Err(format!("{state:?} after {:?}", self.state));
        }
        Ok(Self { runs: self.runs + usize::from(state == JobState::Running), state: Some(state) })
    }
}

fn follows(before: Option<JobState>, state: JobState) -> bool {
    match before {
        None => state == JobState::Queued,
        Some(JobState::Queued) => matches!(state, JobState::Running | JobState::Cancelled),
        Some(JobState::Running) => state != JobState::Running,
        Some(JobState::Finished | JobState::Failed | JobState::Cancelled) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a course from words: names of states, and any other word for a message of the recorder.
    fn course(words: &str) -> Result<Course, String> {
        let body = |word: &str| match JobState::of(word) {
            Some(state) => serde_json::to_string(&JobEvent::State { state }).unwrap(),
            None => serde_json::to_string(&JobEvent::Message { text: word.to_owned() }).unwrap(),
        };
        Course::of(&words.split(' ').map(body).collect::<Vec<_>>())
    }

    #[test]
    fn a_job_ends_once() {
        let again = course("queued running - - queued running - finished");
        assert_eq!(again, Ok(Course { runs: 2, state: Some(JobState::Finished) }));
        assert_eq!(course("queued cancelled"), Ok(Course { runs: 0, state: Some(JobState::Cancelled) }));
        assert_eq!(course("queued running").map(|course| course.runs), Ok(1));
        for (words, place) in [
            ("running", "event 1"),
            ("queued queued", "event 2"),
            ("queued finished", "event 2"),
            ("queued running running", "event 3"),
            ("queued running finished failed", "event 4"),
            ("queued running finished queued", "event 4"),
            ("queued running cancelled -", "event 4"),
            ("queued -", "event 2"),
        ] {
            assert!(course(words).is_err_and(|error| error.starts_with(place)), "{words}");
        }
    }
}
