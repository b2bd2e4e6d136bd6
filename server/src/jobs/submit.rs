//! Turns a request into a job that can be queued.

use sha2::{Digest as _, Sha256};
use shared::api::{JobChange, JobRequest, JobTask, KeyNote, SCRIPTS};
use shared::job::{Card, Cards, Device, Import, ImportNote, Job, Overrides, Problem, RawJob, Source};
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
    let job = NewJob {
        id: Uuid::now_v7().simple().to_string(),
        priority: priority.unwrap_or(0).min(MOST_PRIORITY).into(),
        source: text.clone(),
        idempotency_key,
        request_hash: hash(request),
        task,
        ..NewJob::default()
    };
    if task == JobTask::Script {
        return script(request, job);
    }
    let name = file_name.as_deref().unwrap_or("config");
    let source = Source { name, text };
    let arguments = training_args.as_deref().map(|text| Source { name: "training arguments", text });
    let steps = steps.or(matches!(task, JobTask::Fit | JobTask::Fix).then_some(STEPS_OF_SEARCH));
    let overrides = Overrides { card: card.clone(), device: device.clone(), steps, batch: *batch, sequence: *sequence };
    let Import { job: raw, understood, ignored, places } = Import::read(source, arguments)?.with(overrides);
    let Work { job: first, config, card } = work(raw, task).map_err(|problems| places.locate(problems))?;
    let kind = match &first.device {
        Device::Virtual(_) => "virtual".to_owned(),
        Device::Cuda(index) => format!("cuda:{index}"),
    };
    let notes = notes(&understood, &ignored);
    Ok(NewJob { kind, name: first.name.clone(), config, notes, card, steps: first.steps, ..job })
}

/// Optimizer steps of a script, unless the request names others.
const STEPS_OF_SCRIPT: u64 = 3;

const MOST_SCRIPT_BYTES: usize = 1 << 20;

fn script(request: &JobRequest, job: NewJob) -> Result<NewJob, Vec<Problem>> {
    let JobRequest { config: text, file_name, training_args, card, device, steps, batch, sequence, .. } = request;
    let foreign = [
        ("training_args", training_args.is_some(), "a script has no training arguments of Hugging Face"),
        ("device", device.is_some(), "scripts run on virtual GPUs only: name a `card`"),
        ("batch", batch.is_some(), "a script sets its own batch"),
        ("sequence", sequence.is_some(), "a script sets its own sequence"),
        ("steps", steps.is_some_and(|steps| !(1..=10_000).contains(&steps)), "a run takes 1 to 10,000 steps"),
        ("config", text.trim().is_empty(), "the script is empty"),
        ("config", text.len() > MOST_SCRIPT_BYTES, "a script has at most 1 MiB"),
        ("config", text.contains('\0'), "a script is text, and this has a zero byte"),
    ];
    let mut problems: Vec<Problem> = foreign
        .into_iter()
        .filter(|(_, is_wrong, _)| *is_wrong)
        .map(|(path, _, message)| Problem::new(path, message, "change it and submit it again"))
        .collect();
    let cards = card.as_deref().map_or_else(|| Ok(Cards(vec![Card::default()])), Cards::parse);
    let cards =
        cards.map_err(|error| problems.push(Problem::new("card", error.to_string(), "`snapscope cards` lists them")));
    let Ok(cards) = cards else { return Err(problems) };
    if !problems.is_empty() {
        return Err(problems);
    }
    let (card, steps) = (cards.to_string(), steps.unwrap_or(STEPS_OF_SCRIPT));
    let name = file_name.as_deref().unwrap_or("script.py");
    let name = name.rsplit(['/', '\\']).next().unwrap_or(name).trim_end_matches(".py");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-. ".contains(c);
    let name: String = name.chars().filter(|c| is_plain(*c)).take(JobChange::MOST_NAME).collect();
    let name = if name.trim_matches(['.', ' ']).is_empty() { "script".to_owned() } else { name };
    let config = RawJob { card: Some(card.clone()), steps: Some(steps), ..RawJob::default() }.to_json();
    Ok(NewJob { kind: SCRIPTS.to_owned(), name, config, notes: notes(&[], &[]), card, steps, ..job })
}

/// Returns the cards and the steps of a script, given the config that was stored for it.
pub(super) fn of_script(config: &str) -> Option<(Cards, u64)> {
    let raw = RawJob::from_json(config).ok()?;
    Some((Cards::parse(raw.card.as_deref()?).ok()?, raw.steps?))
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

fn work(raw: RawJob, task: JobTask) -> Result<Work, Vec<Problem>> {
    let of_job = |job: Job| Work { config: job.to_json(), card: card_of(&job), job };
    match task {
        JobTask::Record | JobTask::Script => raw.resolve().map(of_job),
        JobTask::Fit => RawJob { batch: Some(1), ..raw }.resolve().map(of_job),
        // Remedies change the config as it was written: settled keys would contradict some.
        JobTask::Fix => {
            let config = raw.to_json();
            fix::resolve(raw).map(|(job, _)| Work { config, ..of_job(job) })
        }
        JobTask::Sweep => {
            let config = raw.to_json();
            let sweep = raw.into_sweep()?;
            let mut cards: Vec<_> = sweep.combinations.iter().map(|combination| card_of(&combination.job)).collect();
            cards.dedup();
            let first = sweep.combinations.into_iter().next().expect("a sweep has a combination");
            Ok(Work { job: first.job, config, card: cards.join(", ") })
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

fn notes(understood: &[ImportNote], ignored: &[ImportNote]) -> String {
    let rows = |notes: &[ImportNote], understood: bool| -> Vec<KeyNote> {
        notes.iter().map(|note| KeyNote { key: note.key.clone(), understood, note: note.note.clone() }).collect()
    };
    let notes = [rows(understood, true), rows(ignored, false)].concat();
    serde_json::to_string(&notes).expect("plain data can be written")
}

fn hash(request: &JobRequest) -> String {
    let json = serde_json::to_vec(request).expect("plain data can be written");
    hex(Sha256::digest(json))
}
