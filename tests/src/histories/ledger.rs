//! Derives from the clients' promises what the database must hold at the end, and compares it.

use std::collections::BTreeSet;

use server::database::{Database, DatabaseError, JobSummary, Page};
use shared::api::JobState;

use super::course::Course;
use super::lane::of;
use super::log::Violation;
use super::model::{Answers, Check, Job, Link, must};
use super::recorder::Recorder;

/// Promises to all clients.
pub(super) struct Ledger<'a> {
    pub(super) jobs: Vec<Job>,
    pub(super) links: Vec<(Link, Answers)>,
    /// Links that may exist although no client received them.
    pub(super) untold_links: usize,
    pub(super) recorder: &'a Recorder,
    /// True if workers were stopped gracefully, which returns a job to the queue without counting the attempt.
    pub(super) was_given_back: bool,
}

impl Ledger<'_> {
    /// Compares the database rows with the promises.
    ///
    /// # Errors
    ///
    /// Returns a violation if a row is missing, is unexpected, or contradicts the events of its job.
    pub(super) async fn check(&self, database: &Database) -> Result<(), Violation> {
        let failed = |error: DatabaseError| Violation::of_all(error.to_string());
        let rows = database.jobs(&Page { limit: u32::MAX, ..Page::default() }).await.map_err(failed)?;
        let expected: BTreeSet<&str> = self.jobs.iter().filter(|job| !job.is_deleted).map(|job| &*job.id).collect();
        let found: BTreeSet<&str> = rows.iter().map(|row| &*row.id).collect();
        if expected != found || rows.len() != found.len() {
            let wrong: Vec<_> = expected.symmetric_difference(&found).collect();
            return Err(Violation::of_all(format!("jobs that are missing, or that nobody asked for: {wrong:?}")));
        }
        for job in &self.jobs {
            let events = database.events_after(&job.id, 0, i64::MAX).await.map_err(failed)?;
            let events = events.into_iter().map(|event| (event.sequence as usize, event.body)).collect();
            let row = rows.iter().find(|row| row.id == job.id);
            self.check_job(job, row, events).map_err(of(&job.recipe.name()))?;
        }
        let links = database.share_count().await.map_err(failed)? as usize;
        self.check_links(links).map_err(Violation::of_all)
    }

    fn check_job(&self, job: &Job, row: Option<&JobSummary>, events: Vec<(usize, String)>) -> Check {
        let Some(row) = row else {
            must!(events.is_empty(), "it was deleted, and has {} events still", events.len());
            return Ok(());
        };
        let seen = events.iter().map(|(_, body)| body).take(job.events.len());
        must!(seen.eq(&job.events), "its events are not those that were told");
        let mut job = Job { events: Vec::new(), ..job.clone() };
        job.heard(events)?;
        let course = Course::of(&job.events)?;
        let state = JobState::of(&row.state);
        must!(course.is_over() && course.state == state, "its events end with {:?}, and it is {state:?}", course.state);
        let runs = course.runs as i64;
        let is_counted = row.attempts == runs || (self.was_given_back && row.attempts < runs);
        must!(is_counted, "it was begun {runs} times, and has {} attempts", row.attempts);
        let starts = self.recorder.starts(&job.recipe);
        must!(starts <= course.runs, "it was recorded {starts} times, and begun {runs} times");
        must!(starts > 0 || state != Some(JobState::Finished), "it was never recorded");
        Ok(())
    }

    fn check_links(&self, found: usize) -> Check {
        let count = |answers| self.links.iter().filter(|(_, link)| *link == answers).count();
        let (least, perhaps) = (count(Answers::Yes), count(Answers::Perhaps));
        // Expired links stay until the next housekeeping.
        let ended = self.links.iter().filter(|(link, answers)| !link.is_deleted && *answers == Answers::No).count();
        let most = least + perhaps + ended + self.untold_links;
        must!((least..=most).contains(&found), "{found} links, and not between {least} and {most}");
        Ok(())
    }
}
