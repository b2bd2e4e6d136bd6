//! Submits jobs and uploads from clients that repeat each request until it is acknowledged.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::histories::{Answer, Client, Fleet};
use testkit::http::Form;
use testkit::padded::padded;

/// Number of jobs and of uploads in the traffic.
const EACH: usize = 50;

/// Number of jobs and of uploads that are done when something is killed.
const MIDDLE: usize = 8;

/// Timeout of any wait on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(240);

const AGAIN: Duration = Duration::from_millis(50);

/// Model that is recorded in less than a second.
const CONFIG: &[u8] = b"steps = 1\n[model]\nfamily = \"mlp\"\ninput = 8\nhidden = [8]\nclasses = 2\n";

/// Sizes in bytes of an upload and of a large one, which is stored in parts.
const UPLOAD_BYTES: u32 = 100 << 10;
const LARGE_UPLOAD_BYTES: u32 = 9 << 20;
const LARGE_EVERY: usize = 20;

const CLIENTS: usize = 4;

/// Upload that was answered with 201.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) token: String,
    pub(crate) content: Vec<u8>,
}

/// Running clients, and what was acknowledged to them.
pub(crate) struct Traffic {
    client: Client,
    jobs: Arc<Mutex<Vec<String>>>,
    shares: Arc<Mutex<Vec<Shared>>>,
    threads: Vec<JoinHandle<()>>,
    planned: usize,
}

impl Traffic {
    /// Starts the usual number of jobs and uploads.
    pub(crate) fn start(fleet: &Fleet) -> Self {
        Self::of(fleet, EACH, EACH)
    }

    pub(crate) fn of(fleet: &Fleet, planned: usize, uploads: usize) -> Self {
        let client = fleet.client.clone();
        let (jobs, shares) = (Arc::default(), Arc::default());
        let mut threads = vec![std::thread::spawn({
            let (client, jobs) = (client.clone(), Arc::clone(&jobs));
            move || (0..planned).for_each(|number| push(&jobs, submit(&client, number)))
        })];
        threads.extend((0..CLIENTS).map(|first| {
            let (client, shares) = (client.clone(), Arc::clone(&shares));
            std::thread::spawn(move || {
                (first..uploads).step_by(CLIENTS).for_each(|number| push(&shares, upload(&client, number)));
            })
        }));
        Self { client, jobs, shares, threads, planned }
    }

    /// Waits until some jobs and some uploads are done and others are under way.
    #[track_caller]
    pub(crate) fn wait_for_the_middle(&self) {
        self.wait_until("some jobs and uploads were done", || {
            self.jobs_over() >= MIDDLE && self.shares().len() >= MIDDLE && self.jobs_in("running") > 0
        });
    }

    #[track_caller]
    pub(crate) fn wait_until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let start = Instant::now();
        while !is_so() {
            assert!(start.elapsed() < PATIENCE, "waited in vain until {what}");
            std::thread::sleep(AGAIN);
        }
    }

    pub(crate) fn jobs_over(&self) -> usize {
        ["finished", "failed", "cancelled"].map(|state| self.jobs_in(state)).iter().sum()
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.client.get("/readyz").is_some_and(|answer| answer.status == 200)
    }

    /// Waits for the clients and for all jobs; returns the final jobs and the links.
    #[track_caller]
    pub(crate) fn finish(mut self) -> (Vec<Value>, Vec<Shared>) {
        for thread in self.threads.drain(..) {
            thread.join().expect("each job and each upload to be taken in the end");
        }
        self.wait_until("all jobs ended", || self.jobs_over() == self.planned);
        let ids = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let job = |id: &String| self.client.get(&format!("/api/v1/jobs/{id}")).expect("an answer").json();
        (ids.iter().map(job).collect(), self.shares())
    }

    fn jobs_in(&self, state: &str) -> usize {
        let list = self.client.get(&format!("/api/v1/jobs?limit=200&state={state}"));
        let list = list.filter(|answer| answer.status == 200).map(|answer| answer.json());
        list.and_then(|list| Some(list["jobs"].as_array()?.len())).unwrap_or(0)
    }

    fn shares(&self) -> Vec<Shared> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn push<T>(list: &Mutex<Vec<T>>, item: T) {
    list.lock().unwrap_or_else(PoisonError::into_inner).push(item);
}

/// Submits until it is acknowledged, under one idempotency key, so that repeated requests become one job.
fn submit(client: &Client, number: usize) -> String {
    let key = format!("job-{number}");
    let answer = until(202, || client.post("/api/v1/jobs", &[("Idempotency-Key", &key)], CONFIG));
    answer["id"].as_str().expect("an id").to_owned()
}

/// Uploads until it is acknowledged; each upload has different bytes.
fn upload(client: &Client, number: usize) -> Shared {
    let bytes = if number.is_multiple_of(LARGE_EVERY) { LARGE_UPLOAD_BYTES } else { UPLOAD_BYTES };
    let content = padded(bytes, number as u64);
    let form = Form::share(&content).finish();
    let answer = until(201, || client.post("/api/v1/shares", &[("Content-Type", &Form::content_type())], &form));
    Shared { token: answer["token"].as_str().expect("a token").to_owned(), content }
}

/// Repeats a request until the answer has a status; any other status is no promise.
fn until(status: u16, ask: impl Fn() -> Option<Answer>) -> Value {
    let start = Instant::now();
    loop {
        let answer = ask();
        if let Some(answer) = answer.as_ref().filter(|answer| answer.status == status) {
            return answer.json();
        }
        assert!(start.elapsed() < PATIENCE, "no {status}, but {answer:?}");
        std::thread::sleep(AGAIN);
    }
}
