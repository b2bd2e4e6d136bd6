//! The config of a new job while it is edited, as text or through the form.

use super::edit::{Brought, FieldValue, TextFile, brought, set, written};
use crate::common::model::route::Change;
use shared::api::{JobRequest, JobTask};
use shared::job::{Card, Format, Import, ImportNote, Job, Problem, RawJob, Source};
use std::rc::Rc;

/// Initial text of the editor.
const EXAMPLE: &str = "\
# Everything that is left out has PyTorch's own default.
model = \"gpt2\"
batch = 4
sequence = 512
steps = 3
precision = \"autocast-bf16\"
card = \"a100-40gb\"
";

/// Ranges of a sweep that has none yet.
const EXAMPLE_RANGE: (&str, &str) = ("sweep.batch", "1..16x2");

/// Initial text of a script.
const EXAMPLE_SCRIPT: &str = "\
import torch

model = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(8))).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for step in range(100):
    loss = model(torch.randn(1024, 4096, device=\"cuda\")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
";

/// Python script of a new job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Script {
    /// Name of its file.
    pub name: String,
    pub text: String,
    /// Virtual GPUs as on the command line.
    pub card: String,
    /// Optimizer steps after which it ends.
    pub steps: u64,
}

impl Default for Script {
    fn default() -> Self {
        Self { name: "script.py".to_owned(), text: EXAMPLE_SCRIPT.to_owned(), card: Card::default().name, steps: 3 }
    }
}

/// Config text with its parsed job and its problems.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Check {
    pub format: Format,
    /// Keys as written, as far as the text can be parsed; `None` if it is not valid in its format.
    pub raw: Option<Rc<RawJob>>,
    /// Job with all defaults filled in, of several the first; `None` if there are problems.
    pub job: Option<Rc<Job>>,
    /// Number of recordings of a sweep without problems.
    pub combinations: Option<usize>,
    pub problems: Vec<Problem>,
}

impl Check {
    /// Checks a text with the rules that the server applies to a task.
    pub(crate) fn of(text: &str, task: JobTask) -> Self {
        let format = Format::of("", text);
        let mut check = Self { format, raw: None, job: None, combinations: None, problems: Vec::new() };
        match Import::read(Source { name: "", text }, None) {
            Err(problems) => {
                check.problems = problems;
                let readable = (format == Format::Toml).then(|| RawJob::readable(text, format));
                check.raw = readable.flatten().map(Rc::new);
            }
            Ok(Import { job: raw, places, .. }) => {
                check.raw = Some(Rc::new(raw.clone()));
                match resolved(raw, task) {
                    Ok((job, combinations)) => (check.job, check.combinations) = (Some(Rc::new(job)), combinations),
                    Err(problems) => check.problems = places.locate(problems),
                }
            }
        }
        check
    }
}

/// Returns the job of a config, or the first of several with their number if it is known.
fn resolved(raw: RawJob, task: JobTask) -> Result<(Job, Option<usize>), Vec<Problem>> {
    match task {
        JobTask::Record | JobTask::Fix | JobTask::Script => Ok((raw.resolve()?, None)),
        // A search tries batches of its own.
        JobTask::Fit => Ok((RawJob { batch: Some(1), ..raw }.resolve()?, None)),
        JobTask::Sweep => {
            let combinations = raw.into_sweep()?.combinations;
            let count = combinations.len();
            let first = combinations.into_iter().next().ok_or_else(Vec::new)?;
            Ok((first.job, Some(count)))
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum DraftAction {
    /// The text was edited by hand.
    Type(String),
    /// A form field set its key to a value, or removed it (`None`).
    Set(&'static str, Option<FieldValue>),
    /// Chooses what the job does.
    Task(JobTask),
    /// Replaces the script.
    Script(Script),
    /// Applies what differs from the config to start with.
    Change(Change),
    /// Replaces the config.
    Load(String),
    /// Loads the config of another job and applies the values that its request overrode.
    Again {
        /// Config as it was submitted.
        source: String,
        /// Cards or device that the job ran on.
        card: String,
        /// Number of steps that the job ran.
        steps: u64,
        /// What the job did.
        task: JobTask,
    },
    /// Files were dropped or chosen.
    Bring(Vec<TextFile>),
    /// Converts a text in another format to TOML.
    Convert,
}

/// Config of a new job while it is edited.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    pub text: String,
    /// Script of the task `script`, which has no config.
    pub script: Script,
    pub task: JobTask,
    /// Result of checking the current text.
    pub check: Check,
    /// Result of the last check that could parse its text; the form shows it while the current text is broken.
    pub readable: Check,
    /// Keys of an imported file that Snapscope uses.
    pub understood: Vec<ImportNote>,
    /// Keys of an imported file that it ignores.
    pub ignored: Vec<ImportNote>,
    /// Problems with files that could not be imported.
    pub refused: Vec<Problem>,
    /// Last model config that was imported, because its training arguments may follow in a second file.
    last: Option<TextFile>,
}

impl Default for Draft {
    fn default() -> Self {
        Self::of(EXAMPLE.to_owned(), JobTask::Record)
    }
}

impl Draft {
    fn of(text: String, task: JobTask) -> Self {
        let check = Check::of(&text, task);
        let (understood, ignored, refused) = (Vec::new(), Vec::new(), Vec::new());
        let (script, readable) = (Script::default(), check.clone());
        Self { text, script, task, check, readable, understood, ignored, refused, last: None }
    }

    /// Returns what is sent to the server.
    pub(crate) fn request(&self) -> JobRequest {
        let task = Some(self.task);
        if self.task != JobTask::Script {
            return JobRequest { config: self.text.clone(), task, ..JobRequest::default() };
        }
        let Script { name, text, card, steps } = self.script.clone();
        let (file_name, card, steps) = (Some(name), Some(card), Some(steps));
        JobRequest { config: text, file_name, card, steps, task, ..JobRequest::default() }
    }

    /// Returns true if the config came from Hugging Face, whose files leave out what a recording needs.
    pub(crate) fn is_imported(&self) -> bool {
        !self.understood.is_empty()
    }

    /// Returns true if the form can change the text.
    pub(crate) fn takes_fields(&self) -> bool {
        self.why_no_fields().is_none()
    }

    /// Returns why the form can't change the text, as a sentence without its full stop.
    pub(crate) fn why_no_fields(&self) -> Option<&'static str> {
        match (self.check.format, &self.check.raw) {
            (Format::Toml, Some(_)) => None,
            (Format::Toml, None) => Some("The form is disabled until the text is valid TOML"),
            _ => Some("The form edits only TOML: convert the text to TOML to use it"),
        }
    }

    pub(crate) fn after(&self, action: DraftAction) -> Self {
        match action {
            DraftAction::Type(text) => self.with(text),
            DraftAction::Set(path, value) => {
                let text = if self.takes_fields() { set_at(&self.text, path, value) } else { None };
                text.map_or_else(|| self.clone(), |text| self.with(text))
            }
            DraftAction::Task(task) => self.with_task(task),
            DraftAction::Script(script) => Self { script, task: JobTask::Script, refused: Vec::new(), ..self.clone() },
            DraftAction::Change(Change { task, values }) => {
                let draft = task.map_or_else(|| self.clone(), |task| self.with_task(task));
                let set = |draft: Self, (key, text): (&'static str, String)| {
                    let (key, value) = changed(key, text);
                    draft.after(DraftAction::Set(key, value))
                };
                values.into_iter().fold(draft, set)
            }
            DraftAction::Load(text) => Self::of(text, self.task),
            DraftAction::Again { source: text, card, steps, task: JobTask::Script } => {
                self.after(DraftAction::Script(Script { text, card, steps, ..Script::default() }))
            }
            DraftAction::Again { source, card, steps, task } => {
                let draft =
                    Self { task, ..self.clone() }.bringing(vec![TextFile { name: String::new(), text: source }]);
                // The cards of a sweep are its own, and a search has steps of its own.
                if task == JobTask::Record { draft.overridden(&card, steps) } else { draft }
            }
            DraftAction::Bring(files) => self.bringing(files),
            DraftAction::Convert => self.bringing(vec![TextFile { name: String::new(), text: self.text.clone() }]),
        }
    }

    /// Returns the values of a sweep's key as they are written; empty if there are none.
    pub(crate) fn range(&self, path: &str) -> String {
        written(&self.text, path).unwrap_or_default()
    }

    /// Changes the task; a sweep begins with an example of a range, and other tasks have none.
    fn with_task(&self, task: JobTask) -> Self {
        let draft = Self { task, ..self.clone() };
        let has_ranges = self.check.raw.as_ref().is_some_and(|raw| raw.sweep.is_some());
        let text = match task {
            _ if !self.takes_fields() => None,
            JobTask::Sweep if !has_ranges => {
                set(&self.text, EXAMPLE_RANGE.0, Some(FieldValue::Text(EXAMPLE_RANGE.1.to_owned())))
            }
            JobTask::Record | JobTask::Fit | JobTask::Fix | JobTask::Script if has_ranges => {
                set(&self.text, "sweep", None)
            }
            _ => None,
        };
        let text = text.unwrap_or_else(|| self.text.clone());
        draft.with(text)
    }

    fn with(&self, text: String) -> Self {
        let check = Check::of(&text, self.task);
        let readable = if check.raw.is_some() { check.clone() } else { self.readable.clone() };
        Self { text, check, readable, refused: Vec::new(), ..self.clone() }
    }

    /// Applies the card or device and the number of steps where they differ from the config's.
    fn overridden(self, card: &str, steps: u64) -> Self {
        let Some(job) = self.check.job.clone() else { return self };
        let place = if card.starts_with("cuda") { "device" } else { "card" };
        let place =
            (job.device.to_string() != card && !card.is_empty()).then(|| (place, FieldValue::Text(card.to_owned())));
        let steps = (job.steps != steps && steps > 0).then_some(("steps", FieldValue::Whole(steps)));
        let set = |draft: Self, (path, value)| draft.after(DraftAction::Set(path, Some(value)));
        [place, steps].into_iter().flatten().fold(self, set)
    }

    /// Imports files; training arguments on their own are combined with the model config that was imported before.
    fn bringing(&self, mut files: Vec<TextFile>) -> Self {
        if let Some(TextFile { name, text }) = files.iter().find(|file| file.name.ends_with(".py")).cloned() {
            return self.after(DraftAction::Script(Script { name, text, ..self.script.clone() }));
        }
        files.truncate(2);
        let alone = brought(&files);
        let together = match (&files[..], &self.last) {
            ([file], Some(last)) if alone.is_err() || !is_config(&alone) => brought(&[last.clone(), file.clone()]).ok(),
            _ => None,
        };
        match together.map_or(alone, Ok) {
            Err(refused) => Self { refused, ..self.clone() },
            Ok(read) => {
                let last = files.into_iter().find(|file| file.text.contains("model_type"));
                let last = last.or_else(|| self.last.clone());
                let task = if self.task == JobTask::Script { JobTask::Record } else { self.task };
                Self { understood: read.understood, ignored: read.ignored, last, ..Self::of(read.text, task) }
            }
        }
    }
}

/// Returns true if the imported text names a model.
fn is_config(read: &Result<Brought, Vec<Problem>>) -> bool {
    read.as_ref().is_ok_and(|read| Check::of(&read.text, JobTask::Record).raw.is_some_and(|raw| raw.model.is_some()))
}

/// Returns the key and the value that a text of an address sets; a GPU of the server is a device.
fn changed(key: &'static str, text: String) -> (&'static str, Option<FieldValue>) {
    match text.as_str() {
        "on" => (key, Some(FieldValue::Flag(true))),
        "off" => (key, None),
        _ if key == "card" && text.starts_with("cuda") => ("device", Some(FieldValue::Text(text))),
        _ => (key, Some(text.parse().map_or(FieldValue::Text(text), FieldValue::Whole))),
    }
}

/// Sets a key; `card` and `device` exclude each other, so setting one removes the other.
fn set_at(text: &str, path: &str, value: Option<FieldValue>) -> Option<String> {
    let other = match path {
        "card" => "device",
        "device" => "card",
        _ => return set(text, path, value),
    };
    set(&set(text, other, None)?, path, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(text: &str) -> Draft {
        Draft::default().after(DraftAction::Type(text.to_owned()))
    }

    #[test]
    fn the_example_is_a_job() {
        let draft = Draft::default();
        assert_eq!(draft.check.problems, []);
        assert!(draft.check.job.is_some() && draft.takes_fields());
    }

    #[test]
    fn a_script_is_one_beside_the_config() {
        let file = TextFile { name: "train.py".to_owned(), text: "import torch\n".to_owned() };
        let brought = draft("model = \"mlp\"\n").after(DraftAction::Bring(vec![file]));
        assert_eq!((brought.task, brought.script.name.as_str()), (JobTask::Script, "train.py"));
        assert_eq!((brought.script.text.as_str(), brought.text.as_str()), ("import torch\n", "model = \"mlp\"\n"));
        let (source, card) = ("pass".to_owned(), "t4-16gb".to_owned());
        let again = Draft::default().after(DraftAction::Again { source, card, steps: 5, task: JobTask::Script });
        let Script { text, card, steps, .. } = again.script;
        assert_eq!((text.as_str(), card.as_str(), steps), ("pass", "t4-16gb", 5));
    }

    #[test]
    fn problems_have_key_and_line() {
        let problems = draft("model = \"gpt2\"\n\nbatch = 0\n").check.problems;
        let places: Vec<_> =
            problems.iter().map(|problem| (problem.path.as_str(), problem.place.map(|p| p.line))).collect();
        assert_eq!(places, [("batch", Some(3))]);
        let broken = draft("model = \"gpt2\"\nbatch = \n");
        assert_eq!(broken.check.problems[0].place.map(|place| place.line), Some(2));
        assert!(!broken.takes_fields());
        let before = draft("model = \"gpt2\"\nbatch = 2\n");
        let broken = before.after(DraftAction::Type("batch = ".to_owned()));
        assert_eq!(broken.readable, before.check);
    }

    #[test]
    fn wrong_keys_do_not_stop_the_form() {
        let draft = draft("model = \"gtp2\"\nbatch = 0\nseqlen = 512\n");
        let told: Vec<String> = draft.check.problems.iter().map(ToString::to_string).collect();
        let expected = [
            "line 1, column 1: model.preset: unknown model `gtp2`; did you mean `gpt2`?",
            "line 2, column 1: batch: 0 is not between 1 and 65,536",
            "line 3, column 1: seqlen: unknown key; did you mean `sequence`?",
        ];
        assert_eq!(told, expected);
        assert_eq!(draft.why_no_fields(), None);
        let mended = draft.after(DraftAction::Set("batch", Some(FieldValue::Whole(2))));
        assert_eq!(mended.check.problems.len(), 2, "{}", mended.text);
    }

    #[test]
    fn the_form_changes_the_text() {
        let set = |draft: &Draft, path, value| draft.after(DraftAction::Set(path, value));
        let larger = set(&draft("# mine\nmodel = \"gpt2\"\n"), "batch", Some(FieldValue::Whole(2)));
        assert_eq!(larger.text, "# mine\nmodel = \"gpt2\"\nbatch = 2\n");
        assert_eq!(larger.check.job.map(|job| job.batch), Some(2));
        let moved = set(&draft("device = \"cuda:0\"\n"), "card", Some(FieldValue::Text("t4-16gb".to_owned())));
        assert_eq!(moved.text, "card = \"t4-16gb\"\n");
        let broken = draft("batch = ");
        assert_eq!(set(&broken, "steps", None), broken);
    }

    #[test]
    fn other_languages_become_toml() {
        let yaml = draft("model: gpt2\nbatch: 2\n");
        assert!(yaml.check.job.is_some() && !yaml.takes_fields());
        let converted = yaml.after(DraftAction::Convert);
        assert_eq!(converted.check.job, yaml.check.job);
        assert!(converted.takes_fields());
    }

    #[test]
    fn another_job_is_run_again_as_it_ran() {
        let again = |card: &str, steps| {
            let source = "model = \"gpt2\"\nsteps = 3\ncard = \"t4-16gb\"\n".to_owned();
            let (card, task) = (card.to_owned(), JobTask::Record);
            Draft::default().after(DraftAction::Again { source, card, steps, task }).text
        };
        assert_eq!(again("t4-16gb", 3), "model = \"gpt2\"\nsteps = 3\ncard = \"t4-16gb\"\n");
        assert_eq!(again("l4-24gb", 5), "model = \"gpt2\"\nsteps = 5\ncard = \"l4-24gb\"\n");
        assert_eq!(again("cuda:0", 3), "model = \"gpt2\"\nsteps = 3\ndevice = \"cuda:0\"\n");
    }

    #[test]
    fn a_sweep_begins_with_a_range() {
        let sweep = draft("model = \"gpt2\"\n").after(DraftAction::Task(JobTask::Sweep));
        assert_eq!(sweep.text, "model = \"gpt2\"\nsweep = { batch = \"1..16x2\" }\n");
        assert_eq!((sweep.check.combinations, sweep.check.problems.len()), (Some(5), 0));
        let wider = sweep.after(DraftAction::Set("sweep.precision", Some(FieldValue::Text("fp32,bf16".to_owned()))));
        assert_eq!(wider.check.combinations, Some(10), "{}", wider.text);
        assert_eq!(wider.range("sweep.batch"), "1..16x2");
        // Other tasks have no ranges.
        assert_eq!(wider.after(DraftAction::Task(JobTask::Fit)).text, "model = \"gpt2\"\n");
        let none = draft("model = \"gpt2\"\nbatch = [1]\n").after(DraftAction::Task(JobTask::Sweep));
        assert_eq!(none.check.combinations, None);
    }

    #[test]
    fn a_start_may_differ_in_task_and_values() {
        let change = |change| draft("model = \"gpt2\"\nbatch = 2\n").after(DraftAction::Change(change));
        let row = |card: &str, checkpointing: &str| {
            let values = [("card", card), ("checkpointing", checkpointing), ("batch", "13")];
            Change { task: Some(JobTask::Record), values: values.map(|(key, text)| (key, text.to_owned())).to_vec() }
        };
        let text = "model = \"gpt2\"\nbatch = 13\ncard = \"2x l4-24gb\"\ncheckpointing = true\n";
        assert_eq!(change(row("2x l4-24gb", "on")).text, text);
        assert_eq!(change(row("cuda:1", "off")).text, "model = \"gpt2\"\nbatch = 13\ndevice = \"cuda:1\"\n");
        assert_eq!(change(Change::to_task(JobTask::Fit)).task, JobTask::Fit);
        assert_eq!(change(Change::default()), draft("model = \"gpt2\"\nbatch = 2\n"));
    }

    #[test]
    fn training_arguments_may_come_later() {
        let file = |name: &str, text: &str| TextFile { name: name.to_owned(), text: text.to_owned() };
        let model = file("config.json", r#"{"model_type": "gpt2"}"#);
        let arguments = file("args.json", r#"{"per_device_train_batch_size": 16}"#);
        let first = Draft::default().after(DraftAction::Bring(vec![model]));
        assert!(!first.understood.is_empty());
        let both = first.after(DraftAction::Bring(vec![arguments]));
        assert_eq!(both.check.job.as_ref().map(|job| job.batch), Some(16), "{}", both.text);
        let refused = both.after(DraftAction::Bring(vec![file("x.json", "{")]));
        assert!(!refused.refused.is_empty());
        assert_eq!(refused.text, both.text);
    }
}
