//! Turns a request into a job that can be queued.

use sha2::{Digest as _, Sha256};
use shared::api::{JobRequest, KeyNote};
use shared::job::{Device, Import, ImportNote, Job, Overrides, Problem, Source};
use uuid::Uuid;

use crate::database::NewJob;
use crate::hex::hex;

pub const MOST_PRIORITY: u8 = 9;

/// Checks a request with the same rules as `snapscope repro` and resolves its job.
///
/// # Errors
///
/// Returns all problems of the config.
pub fn prepare(request: &JobRequest, idempotency_key: Option<String>) -> Result<NewJob, Vec<Problem>> {
    let JobRequest { config, file_name, training_args, card, device, steps, batch, sequence, priority } = request;
    let name = file_name.as_deref().unwrap_or("config");
    let source = Source { name, text: config };
    let arguments = training_args.as_deref().map(|text| Source { name: "training arguments", text });
    let overrides =
        Overrides { card: card.clone(), device: device.clone(), steps: *steps, batch: *batch, sequence: *sequence };
    let Import { job: raw, understood, ignored, places } = Import::read(source, arguments)?.with(overrides);
    let job = raw.resolve().map_err(|problems| places.locate(problems))?;
    Ok(NewJob {
        id: Uuid::now_v7().simple().to_string(),
        kind: kind(&job),
        priority: priority.unwrap_or(0).min(MOST_PRIORITY).into(),
        name: job.name.clone(),
        config: job.to_json(),
        source: config.clone(),
        notes: notes(&understood, &ignored),
        idempotency_key,
        request_hash: hash(request),
        card: card_of(&job),
        steps: job.steps,
    })
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
