//! Maps addresses to pages and back.

use shared::api::JobTask;

/// Page that an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// List of jobs, and the gallery.
    List,
    /// Form for a new job, and what differs from the config to start with.
    New(Start, Change),
    /// Page of one job, by its id.
    Job(String),
    /// Recording of a config of the gallery, by the config's name; opens it in the viewer.
    See(String),
}

/// Source of a new job's initial config.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// A small example.
    Example,
    /// A config of the gallery, by its name.
    Gallery(String),
    /// The config of another job, by its id.
    Job(String),
    /// A config that was dropped on the viewer.
    Brought,
}

/// Keys of a config that an address can set.
const KEYS: [&str; 5] = ["card", "precision", "checkpointing", "sequence", "batch"];

/// Difference between a new job and the config that it starts with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// What the job does; `None` for what the other job did, or one recording.
    pub task: Option<JobTask>,
    /// Keys of the config with their values: numbers, words, or `on` and `off`.
    pub values: Vec<(&'static str, String)>,
}

impl Change {
    pub(crate) fn to_task(task: JobTask) -> Self {
        Self { task: Some(task), values: Vec::new() }
    }

    /// Returns the change to one recording with values of some keys; keys that no address can set are left out.
    pub(crate) fn to_recording(value: impl Fn(&str) -> Option<String>) -> Self {
        Self { task: Some(JobTask::Record), values: Self::values(value) }
    }

    fn values(value: impl Fn(&str) -> Option<String>) -> Vec<(&'static str, String)> {
        KEYS.into_iter().filter_map(|key| Some((key, value(key)?))).collect()
    }
}

impl Route {
    /// Returns the page with the form of a new job.
    pub(crate) fn new_job(start: Start) -> Self {
        Self::New(start, Change::default())
    }

    /// Returns the page for a path with parameters, such as `/jobs` and `?new`.
    ///
    /// The site may lie in a folder of its host, so only the part from `jobs` on counts.
    pub(crate) fn of(path: &str, parameter: impl Fn(&str) -> Option<String>) -> Self {
        let mut parts = path.trim_end_matches('/').rsplit('/');
        let last = parts.next().unwrap_or_default();
        if parts.next() == Some("jobs") && !last.is_empty() {
            return Self::Job(last.to_owned());
        }
        if let Some(name) = parameter("see").filter(|name| is_name(name)) {
            return Self::See(name);
        }
        if parameter("new").is_none() {
            return Self::List;
        }
        let task = parameter("task").and_then(|task| JobTask::of(&task));
        let change = Change { task, values: Change::values(&parameter) };
        let start = match (parameter("gallery"), parameter("from")) {
            _ if parameter("brought").is_some() => Start::Brought,
            (Some(name), _) => Start::Gallery(name),
            (None, Some(id)) => Start::Job(id),
            (None, None) => Start::Example,
        };
        Self::New(start, change)
    }

    /// Returns the page's path below the site's top.
    pub(crate) fn path(&self) -> String {
        match self {
            Self::List => "jobs".to_owned(),
            Self::New(start, Change { task, values }) => {
                let start = match start {
                    Start::Example => String::new(),
                    Start::Gallery(name) => format!("&gallery={name}"),
                    Start::Job(id) => format!("&from={id}"),
                    Start::Brought => "&brought".to_owned(),
                };
                let task = task.map(|task| format!("&task={}", task.word()));
                let values: String = values.iter().map(|(key, value)| format!("&{key}={}", encoded(value))).collect();
                format!("jobs?new{start}{}{values}", task.unwrap_or_default())
            }
            Self::Job(id) => format!("jobs/{id}"),
            Self::See(name) => format!("jobs?see={name}"),
        }
    }
}

/// Returns true if a text can be the name of a gallery config; any other text could lead elsewhere.
fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('.') && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Encodes a value of an address's parameter.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b':' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(address: &str, expected: Route) {
        let (path, search) = address.split_once('?').unwrap_or((address, ""));
        let parameter = |name: &str| {
            let pair = |part: &str| {
                part.split_once('=').map_or((part.to_owned(), String::new()), |(a, b)| (a.into(), b.into()))
            };
            search.split('&').map(pair).find(|(key, _)| key == name).map(|(_, value)| value)
        };
        assert_eq!(Route::of(path, parameter), expected, "{address}");
        assert!(
            address.ends_with(&expected.path()) || address.ends_with('/') || address.ends_with("html"),
            "{address}"
        );
    }

    #[test]
    fn addresses_name_pages() {
        check("/jobs", Route::List);
        check("/jobs/", Route::List);
        check("/snapscope/jobs.html", Route::List);
        check("/jobs?new", Route::new_job(Start::Example));
        check("/jobs?new&gallery=resnet50-t4", Route::new_job(Start::Gallery("resnet50-t4".to_owned())));
        check("/jobs?new&from=0194", Route::new_job(Start::Job("0194".to_owned())));
        check("/jobs?new&task=sweep", Route::New(Start::Example, Change::to_task(JobTask::Sweep)));
        let start = Start::Job("0194".to_owned());
        let batch = |batch: u64| Change::to_recording(|key| (key == "batch").then(|| batch.to_string()));
        check("/jobs?new&from=0194&task=record&batch=13", Route::New(start, batch(13)));
        let change = Change::to_recording(|key| (key == "card").then(|| "2x t4-16gb".to_owned()));
        assert_eq!(Route::New(Start::Example, change).path(), "jobs?new&task=record&card=2x%20t4-16gb");
        check("/jobs?new&brought", Route::new_job(Start::Brought));
        check("/jobs?see=llama-3.2-1b-a100", Route::See("llama-3.2-1b-a100".to_owned()));
        assert_eq!(Route::of("/jobs", |name| (name == "see").then(|| "../limits".to_owned())), Route::List);
        check("/folder/jobs/0194ab", Route::Job("0194ab".to_owned()));
    }
}
