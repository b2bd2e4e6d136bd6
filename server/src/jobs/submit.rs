//! Turns a request into a job that can be queued.

use sha2::{Digest as _, Sha256};
use shared::api::{JobRequest, JobTask, KeyNote};
use shared::job::{Device, Import, ImportNote, Job, Overrides, Problem, RawJob, Source};
use uuid::Uuid;

use crate::database::NewJob;
use crate::hex::hex;
use crate::recording::fix;

pub const MOST_PRIORITY: u8 = 9;

/// Optimizer steps of each recording of a search or a remedy, unless the request names others; memory is stable after the second.
const STEPS_OF_SEARCH: u64 = 2;

/// Checks a request with the same rules as `snapscope repro`, `fit`, `fix` or `sweep` and resolves its job.
///
/// # Errors
///
/// Returns all problems of the config.
pub fn prepare(request: &JobRequest, idempotency_key: Option<String>) -> Result<NewJob, Vec<Problem>> {
    let JobRequest { config: text, file_name, training_args, card, device, steps, batch, sequence, priority, task } =
        request;
    let task = task.unwrap_or_default();
    let name = file_name.as_deref().unwrap_or("config");
    let source = Source { name, text };
    let arguments = training_args.as_deref().map(|text| Source { name: "training arguments", text });
    let steps = steps.or(matches!(task, JobTask::Fit | JobTask::Fix).then_some(STEPS_OF_SEARCH));
    let overrides = Overrides { card: card.clone(), device: device.clone(), steps, batch: *batch, sequence: *sequence };
    let Import { job: raw, understood, ignored, places } = Import::read(source, arguments)?.with(overrides);
    let Work { job, config, card } = work(raw, task).map_err(|problems| places.locate(problems))?;
    Ok(NewJob {
        id: Uuid::now_v7().simple().to_string(),
        kind: kind(&job),
        priority: priority.unwrap_or(0).min(MOST_PRIORITY).into(),
        name: job.name.clone(),
        config,
        source: text.clone(),
        notes: notes(&understood, &ignored),
        idempotency_key,
        request_hash: hash(request),
        card,
        steps: job.steps,
        task,
    })
}

/// What a worker needs of a job.
struct Work {
    /// The job itself, or the first of several.
    job: Job,
    /// Config to store, as JSON.
    config: String,
    /// Cards as on the command line, or the device.
    card: String,
}

/// Resolves a config for a task.
fn work(raw: RawJob, task: JobTask) -> Result<Work, Vec<Problem>> {
    let of_job = |job: Job| Work { config: job.to_json(), card: card_of(&job), job };
    match task {
        JobTask::Record => raw.resolve().map(of_job),
        JobTask::Fit => RawJob { batch: Some(1), ..raw }.resolve().map(of_job),
        // Remedies change the config as it was written: settled keys would contradict some.
        JobTask::Fix => {
            let config = raw.to_json();
            fix::resolve(raw).map(|job| Work { config, ..of_job(job) })
        }
        JobTask::Sweep => {
            let config = raw.to_json();
            let sweep = raw.into_sweep()?;
            let mut cards: Vec<String> =
                sweep.combinations.iter().map(|combination| card_of(&combination.job)).collect();
            cards.dedup();
            let first = sweep.combinations.into_iter().next();
            let job = first.expect("a sweep has a combination").job;
            Ok(Work { job, config, card: cards.join(", ") })
        }
    }
}

/// Returns the cards of a job as on the command line, or its device.
pub(super) fn card_of(job: &Job) -> String {
    match &job.device {
        Device::Virtual(cards) => cards.to_string(),
        Device::Cuda(index) => format!("cuda:{index}"),
    }
}

/// Returns the name of the job's queue.
fn kind(job: &Job) -> String {
    match &job.device {
        Device::Virtual(_) => "virtual".to_owned(),
        Device::Cuda(index) => format!("cuda:{index}"),
    }
}

fn notes(understood: &[ImportNote], ignored: &[ImportNote]) -> String {
    let rows = |notes: &[ImportNote], understood: bool| -> Vec<KeyNote> {
        notes.iter().map(|note| KeyNote { key: note.key.clone(), understood, note: note.note.clone() }).collect()
    };
    let notes = [rows(understood, true), rows(ignored, false)].concat();
    serde_json::to_string(&notes).expect("plain data can be written")
}

/// Returns the SHA-256 of a request, in hexadecimal.
fn hash(request: &JobRequest) -> String {
    let json = serde_json::to_vec(request).expect("plain data can be written");
    hex(Sha256::digest(json))
}
