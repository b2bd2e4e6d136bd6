//! Simulates one client, which sends one request after another and checks its jobs and links.
//!
//! A request without an answer is repeated until it is acknowledged, which the interface promises to be safe.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use shared::api::JobState;

use super::client::{Answer, Client};
use super::course::Course;
use super::jumps::Jumps;
use super::log::{Log, Violation};
use super::model::{Answers, Check, Job, Link, must};
use super::plan::{Ask, Kind, Recipe, What};
use super::recorder::{Recorder, unpacked};
use crate::http::Form;

/// Timeout of an acknowledgement on a loaded machine.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// Delay before a request is repeated.
const AGAIN: Duration = Duration::from_millis(50);

/// Time for which the events of a job are read.
const LISTEN: Duration = Duration::from_millis(1500);

/// Lifetimes of links in days: some links expire when the clock jumps by a day.
const DAYS: [u32; 2] = [1, 7];

/// State that all clients of a history share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) client: &'a Client,
    pub(super) recorder: &'a Recorder,
    pub(super) jumps: &'a Jumps,
    pub(super) log: &'a Log,
    /// True once the history is over.
    pub(super) is_over: &'a AtomicBool,
    /// True after a violation, which ends all clients.
    pub(super) is_broken: &'a AtomicBool,
}

/// Client, and what the server promised to it.
#[derive(Debug)]
pub(super) struct Lane<'a> {
    scene: Scene<'a>,
    pub(super) jobs: Vec<Job>,
    pub(super) links: Vec<Link>,
    /// Links that may exist although no client received them.
    pub(super) untold_links: usize,
}

/// Accepted answer, and whether it came to the first try.
struct Acknowledged {
    answer: Answer,
    is_first: bool,
}

impl<'a> Lane<'a> {
    pub(super) fn new(scene: Scene<'a>) -> Self {
        Self { scene, jobs: Vec::new(), links: Vec::new(), untold_links: 0 }
    }

    /// Sends one request after another until the history is over.
    pub(super) fn run(mut self, asks: impl Iterator<Item = Ask>) -> Result<Self, Violation> {
        for ask in asks {
            if self.scene.is_over.load(Ordering::Relaxed) {
                break;
            }
            self.carry_out(&ask)?;
            std::thread::sleep(ask.pause);
        }
        Ok(self)
    }

    fn carry_out(&mut self, ask: &Ask) -> Result<(), Violation> {
        match ask.what {
            What::Submit => return self.submit(&ask.recipe),
            What::List => return self.list(),
            What::Share => return self.share(self.scene.recorder.content(ask.recipe.content).to_vec(), ask.pick),
            What::ShareJob => return self.share_job(ask.pick),
            What::LookAtLink | What::DeleteLink => {
                let Some(mut link) = picked(&self.links, ask.pick) else { return Ok(()) };
                let index = ask.pick % self.links.len();
                let done = match ask.what {
                    What::DeleteLink => self.delete_link(&mut link),
                    _ => self.look_at_link(&link),
                };
                self.links[index] = link;
                return done;
            }
            _ => {}
        }
        let Some(index) = self.job_for(ask) else { return Ok(()) };
        let mut job = self.jobs[index].clone();
        let done = match ask.what {
            What::SubmitAgain => self.submit_again(&job),
            What::SubmitOther => self.submit_other(&job, &ask.recipe),
            What::Cancel => self.cancel(&mut job),
            What::Rename => self.rename(&mut job, ask.pick),
            What::DeleteJob => self.delete_job(&mut job),
            What::Follow => self.follow(&mut job),
            _ => self.look_at_job(&mut job),
        };
        self.jobs[index] = job;
        done
    }

    /// Returns the index of the job to ask about; cancelling and following choose among the latest, which may be
    /// active.
    fn job_for(&self, ask: &Ask) -> Option<usize> {
        const LATEST: usize = 3;
        let last = self.jobs.len().checked_sub(1)?;
        Some(match ask.what {
            What::Cancel | What::Follow => last.saturating_sub(ask.pick % LATEST),
            _ => ask.pick % (last + 1),
        })
    }

    fn submit(&mut self, recipe: &Recipe) -> Result<(), Violation> {
        let subject = recipe.name();
        let answer = self.post_job(&subject, recipe, &[202])?.answer;
        let id = answer.json()["id"].as_str().unwrap_or_default().to_owned();
        self.jobs.push(Job::new(recipe.clone(), id));
        let job = self.jobs.last_mut().expect("it was pushed");
        job.saw(&answer.json()).map_err(of(&subject))
    }

    fn submit_again(&self, job: &Job) -> Result<(), Violation> {
        if job.is_deleted {
            return Ok(()); // The key would make a new job.
        }
        let subject = job.recipe.name();
        let id = self.post_job(&subject, &job.recipe, &[202])?.answer.json()["id"].clone();
        check(id == *job.id, || format!("the same request became another job, {id}")).map_err(of(&subject))
    }

    /// Submits a different config under the same idempotency key.
    fn submit_other(&self, job: &Job, recipe: &Recipe) -> Result<(), Violation> {
        if job.is_deleted {
            return Ok(());
        }
        let subject = job.recipe.name();
        let config = recipe.config();
        let headers = [("Idempotency-Key", &*subject)];
        self.acknowledged(&subject, "submit another", &[409], &|client| {
            client.post("/api/v1/jobs", &headers, config.as_bytes())
        })?;
        Ok(())
    }

    fn post_job(&self, key: &str, recipe: &Recipe, statuses: &[u16]) -> Result<Acknowledged, Violation> {
        let config = recipe.config();
        let headers = [("Idempotency-Key", key)];
        self.acknowledged(key, "submit", statuses, &|client| client.post("/api/v1/jobs", &headers, config.as_bytes()))
    }

    fn cancel(&self, job: &mut Job) -> Result<(), Violation> {
        if job.is_deleted {
            return Ok(());
        }
        job.may_be_cancelled = true;
        let subject = job.recipe.name();
        let path = format!("/api/v1/jobs/{}/cancel", job.id);
        let answer = self.acknowledged(&subject, "cancel", &[200], &|client| client.post(&path, &[], &[]))?;
        let answer = answer.answer.json();
        job.saw(&answer).map_err(of(&subject))?;
        job.runs_until_cancelled = answer["attempts"].as_u64();
        check(answer["state"] != "queued", || "it waits still after it was cancelled".to_owned()).map_err(of(&subject))
    }

    fn rename(&self, job: &mut Job, number: usize) -> Result<(), Violation> {
        if job.is_deleted {
            return Ok(());
        }
        let subject = job.recipe.name();
        let path = format!("/api/v1/jobs/{}", job.id);
        job.name = format!("run {number}");
        let body = json!({ "name": job.name }).to_string();
        let headers = [("Content-Type", "application/json")];
        let answer = self.acknowledged(&subject, "rename", &[200], &|client| {
            client.ask("PATCH", &path, &headers, body.as_bytes())
        })?;
        job.saw(&answer.answer.json()).map_err(of(&subject))
    }

    fn delete_job(&self, job: &mut Job) -> Result<(), Violation> {
        let subject = job.recipe.name();
        let path = format!("/api/v1/jobs/{}", job.id);
        let Acknowledged { answer, is_first } =
            self.acknowledged(&subject, "delete", &[204, 404, 409], &|client| client.ask("DELETE", &path, &[], &[]))?;
        let status = answer.status;
        // An earlier try may have succeeded without an answer.
        let is_allowed = match status {
            204 => !job.is_deleted,
            404 => job.is_deleted || !is_first,
            _ => !job.is_deleted && job.end.is_none(),
        };
        job.is_deleted |= status != 409;
        check(is_allowed, || format!("its deletion is answered with {status}")).map_err(of(&subject))
    }

    /// Checks a job, and its snapshot if there is one.
    pub(super) fn look_at_job(&self, job: &mut Job) -> Result<(), Violation> {
        let subject = job.recipe.name();
        let path = format!("/api/v1/jobs/{}", job.id);
        let status = if job.is_deleted { 404 } else { 200 };
        let answer = self.acknowledged(&subject, "look at", &[status], &|client| client.get(&path))?.answer;
        if job.is_deleted {
            return Ok(());
        }
        job.saw(&answer.json()).map_err(of(&subject))?;
        if job.end_state() == Some(JobState::Finished) {
            let answer = self.snapshot_of(job)?;
            self.check_snapshot(job, &answer).map_err(of(&subject))?;
        }
        Ok(())
    }

    fn snapshot_of(&self, job: &Job) -> Result<Vec<u8>, Violation> {
        let path = format!("/api/v1/jobs/{}/snapshot", job.id);
        let snapshot = self.acknowledged(&job.recipe.name(), "fetch", &[200], &|client| client.get(&path))?;
        Ok(snapshot.answer.body)
    }

    fn check_snapshot(&self, job: &Job, snapshot: &[u8]) -> Check {
        let announced = job.end.as_ref().map(|end| &end["snapshot_bytes"]);
        must!(announced == Some(&snapshot.len().into()), "its snapshot has {} bytes", snapshot.len());
        if job.recipe.kind == Kind::Real {
            must!(shared::import::import(snapshot).is_ok(), "its snapshot can't be read");
        } else {
            let expected = unpacked(self.scene.recorder.content(job.recipe.content));
            must!(unpacked(snapshot) == expected, "its snapshot is another one");
        }
        Ok(())
    }

    /// Reads the events of a job, starting after the last known one.
    fn follow(&self, job: &mut Job) -> Result<(), Violation> {
        if job.is_deleted {
            return Ok(());
        }
        let last = job.events.len().to_string();
        let headers = [("Last-Event-ID", &*last)];
        let headers = if job.events.is_empty() { &[][..] } else { &headers };
        let heard = self.scene.client.listen(&format!("/api/v1/jobs/{}/events", job.id), headers, LISTEN);
        let Some((status @ (200 | 204), text)) = heard else { return Ok(()) };
        let subject = job.recipe.name();
        self.scene.log.note(format!("follow {subject} after event {last}: {status}"));
        if status == 204 {
            let has_ended = Course::of(&job.events).is_ok_and(Course::is_over);
            return check(has_ended, || "its events have ended without an end".to_owned()).map_err(of(&subject));
        }
        job.heard(events_of(&text)).map_err(of(&subject))
    }

    /// Checks that the list has each existing job once and none that was deleted.
    pub(super) fn list(&self) -> Result<(), Violation> {
        let mut ids: Vec<String> = Vec::new();
        let mut next = String::new();
        loop {
            let path = format!("/api/v1/jobs?limit=200{next}");
            let page = self.acknowledged("", "list", &[200], &|client| client.get(&path))?.answer.json();
            let jobs = page["jobs"].as_array().cloned().unwrap_or_default();
            ids.extend(jobs.iter().filter_map(|job| job["id"].as_str().map(str::to_owned)));
            match page["next"].as_str() {
                Some(last) => next = format!("&before={last}"),
                None => break,
            }
        }
        for job in &self.jobs {
            let times = ids.iter().filter(|id| **id == job.id).count();
            let expected = usize::from(!job.is_deleted);
            check(times == expected, || format!("the list of jobs has it {times} times, not {expected}"))
                .map_err(of(&job.recipe.name()))?;
        }
        Ok(())
    }

    /// Uploads a snapshot. Each try may create a link, but only an answer is a promise.
    fn share(&mut self, content: Vec<u8>, pick: usize) -> Result<(), Violation> {
        let made = Instant::now();
        let view = json!({ "title": "a run", "view_state": "", "days": DAYS[pick % DAYS.len()] }).to_string();
        let form = Form::default().part("view", view.as_bytes()).file("snapshot", "run.pickle.gz", &content).finish();
        let content_type = Form::content_type();
        let headers = [("Content-Type", &*content_type)];
        let mut tries = 0;
        let answer = self.repeated("", "share", &[201], &mut |client| {
            tries += 1;
            client.post("/api/v1/shares", &headers, &form)
        })?;
        self.untold_links += tries - 1;
        let answer = answer.answer.json();
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        let (token, delete_token) = (text("token"), text("delete_token"));
        let expires_ms = answer["expires_ms"].as_i64().unwrap_or(i64::MAX);
        self.scene.log.note(format!("shared link {token}, {} bytes until {expires_ms}", content.len()));
        self.links.push(Link { token, delete_token, content, made, expires_ms, is_deleted: false });
        Ok(())
    }

    /// Creates a link from the same bytes that a job has in the store.
    fn share_job(&mut self, pick: usize) -> Result<(), Violation> {
        let Some(mut job) = picked(&self.jobs, pick) else { return Ok(()) };
        self.look_at_job(&mut job)?;
        if job.is_deleted || job.end_state() != Some(JobState::Finished) {
            return Ok(());
        }
        let snapshot = self.snapshot_of(&job)?;
        self.share(snapshot, pick)
    }

    /// Checks whether a link answers, and with which content.
    pub(super) fn look_at_link(&self, link: &Link) -> Result<(), Violation> {
        for part in ["", "/snapshot"] {
            let path = format!("/api/v1/shares/{}{part}", link.token);
            let sent = Instant::now();
            let answer = self.acknowledged(&link.token, "open", &[200, 404], &|client| client.get(&path))?.answer;
            let expected = link.answers(sent, self.scene.jumps);
            let is_there = answer.status == 200;
            let is_right = match expected {
                Answers::Yes => is_there,
                Answers::No => !is_there,
                Answers::Perhaps => true,
            };
            check(is_right, || format!("{path} is answered with {}, expected {expected:?}", answer.status))
                .map_err(of(&link.token))?;
            let is_whole = !is_there || part.is_empty() || answer.body == link.content;
            check(is_whole, || "its snapshot is not what was uploaded".to_owned()).map_err(of(&link.token))?;
        }
        Ok(())
    }

    fn delete_link(&self, link: &mut Link) -> Result<(), Violation> {
        let path = format!("/api/v1/shares/{}", link.token);
        let bearer = format!("Bearer {}", link.delete_token);
        let headers = [("Authorization", &*bearer)];
        let Acknowledged { answer, is_first } = self
            .acknowledged(&link.token, "delete", &[204, 404], &|client| client.ask("DELETE", &path, &headers, &[]))?;
        let was_there = link.answers(link.made, self.scene.jumps) == Answers::Yes;
        let is_allowed = match answer.status {
            204 => !link.is_deleted,
            _ => !was_there || !is_first,
        };
        link.is_deleted = true;
        check(is_allowed, || format!("its deletion is answered with {}", answer.status)).map_err(of(&link.token))
    }

    fn acknowledged(
        &self,
        subject: &str,
        what: &str,
        statuses: &[u16],
        ask: &dyn Fn(&Client) -> Option<Answer>,
    ) -> Result<Acknowledged, Violation> {
        self.repeated(subject, what, statuses, &mut |client| ask(client))
    }

    /// Repeats a request until the answer has one of `statuses`; only temporary refusals and missing answers are
    /// retried.
    fn repeated(
        &self,
        subject: &str,
        what: &str,
        statuses: &[u16],
        ask: &mut dyn FnMut(&Client) -> Option<Answer>,
    ) -> Result<Acknowledged, Violation> {
        let start = Instant::now();
        let mut tries = 0;
        loop {
            let answer = ask(self.scene.client);
            tries += 1;
            let told = answer.as_ref().map_or_else(|| "no answer".to_owned(), |answer| answer.status.to_string());
            match answer {
                Some(answer) if statuses.contains(&answer.status) => {
                    self.scene.log.note(format!("{what} {subject}: {told}, try {tries}{}", state_in(&answer)));
                    return Ok(Acknowledged { answer, is_first: tries == 1 });
                }
                Some(answer) if !is_for_a_moment(&answer) => {
                    let what = format!("{what}: it is answered with {told}, {}", answer.json());
                    return Err(of(subject)(what));
                }
                _ if start.elapsed() > PATIENCE || self.scene.is_broken.load(Ordering::Relaxed) => {
                    return Err(of(subject)(format!("{what}: {told}, for {} s", start.elapsed().as_secs())));
                }
                _ => std::thread::sleep(AGAIN),
            }
        }
    }
}

/// Returns the state of the job in an answer, for the log.
fn state_in(answer: &Answer) -> String {
    answer.json()["state"].as_str().map(|state| format!(", {state}")).unwrap_or_default()
}

/// Returns true for a refusal that says it is temporary.
fn is_for_a_moment(answer: &Answer) -> bool {
    let message = || answer.json()["message"].as_str().unwrap_or_default().to_owned();
    answer.status == 503 || (answer.status == 422 && message().starts_with("No worker takes jobs"))
}

/// Returns the complete events of a stream with their numbers.
fn events_of(text: &str) -> Vec<(usize, String)> {
    let mut events = Vec::new();
    let mut number = None;
    // Chunk sizes and keep-alive lines come in between.
    for line in text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')) {
        if let Some(id) = line.strip_prefix("id: ") {
            number = id.parse().ok();
        } else if let (Some(body), Some(id)) = (line.strip_prefix("data: "), number.take()) {
            events.push((id, body.to_owned()));
        }
    }
    events
}

fn picked<T: Clone>(all: &[T], pick: usize) -> Option<T> {
    all.get(pick % all.len().max(1)).cloned()
}

fn check(is_so: bool, message: impl FnOnce() -> String) -> Check {
    if is_so { Ok(()) } else { Err(message()) }
}

/// Returns a function that makes a violation about a job or a link from a message.
pub(super) fn of(subject: &str) -> impl Fn(String) -> Violation + use<> {
    let subject = subject.to_owned();
    move |what| Violation { subject: subject.clone(), what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_pieces() {
        let text = "2a\r\nid: 1\ndata: a\n\nid: 2\ndata: b\n\n\r\n10\r\n: still here\n\n\r\n1f\r\nid: 3\ndata: half";
        assert_eq!(events_of(text), [(1, "a".to_owned()), (2, "b".to_owned())]);
    }

    #[test]
    fn a_refusal_is_for_a_moment_or_a_violation() {
        let is = |status, message: &str| {
            let body = json!({ "message": message }).to_string().into_bytes();
            is_for_a_moment(&Answer { status, body })
        };
        assert!(is(503, "") && is(422, "No worker takes jobs at this time."));
        assert!(!is(500, "") && !is(422, "The config can't be recorded.") && !is(404, ""));
    }
}
