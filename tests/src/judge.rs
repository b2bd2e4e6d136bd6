//! What findings say of recordings whose truth is known, beside that truth.
//!
//! A folder is judged by its `truth.json`, whose fields `tests/mistakes/README.md` describes, or by the table of a
//! Markdown file in it whose rows begin with the names of files. Only the first two findings count: nobody reads on.

use serde_json::Value;
use shared::analysis::{Finding, FindingsConfig, Timeline, findings_of, studies};
use shared::base::Severity;
use shared::import::import;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// So many findings are read.
pub const READ: usize = 2;

/// What is known of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// What it is, in a sentence.
    pub text: String,
    /// Whether something is wrong in it; `None` where nothing tells.
    pub is_mistake: Option<bool>,
    /// Words one of which an answer needs, in lower case.
    pub words: Vec<String>,
    /// Words that accuse it falsely, in lower case.
    pub never: Vec<String>,
    /// Words that a warning may have all the same, in lower case.
    pub allowed: Vec<String>,
    /// Whether a trace shows next to nothing of it, so that silence is right too.
    pub is_hidden: bool,
}

/// What is said of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// The file, without its endings.
    pub name: String,
    /// What each device with memory did.
    pub kinds: Vec<&'static str>,
    /// Severity, title and advice of all findings.
    pub findings: Vec<(Severity, String, String)>,
}

/// How an answer compares with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The mistake is named first or second.
    Named,
    /// It is not.
    Missed,
    /// A run that has no mistake is told that it has one.
    Accused,
    /// Nothing is wrong, and nothing is said to be.
    Fine,
    /// Nothing tells what would be right.
    Open,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Missed => "MISSED",
            Self::Accused => "ACCUSED",
            Self::Fine => "fine",
            Self::Open => "",
        }
    }
}

/// Reads a recording and says what is found in it.
///
/// # Errors
/// What is wrong with the file, in a sentence.
pub fn ask(path: &Path) -> Result<Said, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let trace = import(&bytes).map_err(|error| error.to_string())?;
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(&trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    let studies = studies(&trace, &devices);
    let found = findings_of(&trace, &studies, &FindingsConfig::default());
    let row = |finding: Finding| (finding.severity, finding.title, finding.advice);
    Ok(Said {
        name: stem(path),
        kinds: studies.iter().map(|study| study.kind.name()).collect(),
        findings: found.into_iter().map(row).collect(),
    })
}

/// Compares an answer with the truth.
pub fn judge(said: &Said, truth: &Truth) -> Verdict {
    let has = |text: &str, words: &[String]| words.iter().any(|word| text.to_lowercase().contains(word.as_str()));
    let read = || said.findings.iter().take(READ);
    let is_problem = |finding: &&(Severity, String, String)| finding.0 > Severity::Info;
    let is_accusation =
        |finding: &(Severity, String, String)| has(&finding.1, &truth.never) && !has(&finding.1, &truth.allowed);
    match truth.is_mistake {
        None => Verdict::Open,
        Some(true) => {
            let is_named = read().any(|(_, title, advice)| {
                truth.words.is_empty() || has(title, &truth.words) || has(advice, &truth.words)
            });
            // Without words any problem that is told counts.
            let is_told = !truth.words.is_empty() || read().any(|finding| is_problem(&finding));
            match is_named && is_told && !read().any(is_accusation) {
                true => Verdict::Named,
                false if truth.is_hidden => Verdict::Fine,
                false => Verdict::Missed,
            }
        }
        Some(false) => {
            let text = |finding: &(Severity, String, String)| format!("{} {}", finding.1, finding.2);
            let blames = |finding: &(Severity, String, String)| !has(&text(finding), &truth.allowed);
            match said.findings.iter().filter(is_problem).any(blames) || said.findings.iter().any(is_accusation) {
                true => Verdict::Accused,
                false => Verdict::Fine,
            }
        }
    }
}

/// The truths of a folder, by the names of its recordings.
pub struct Truths(Source);

enum Source {
    Json(Vec<Value>),
    /// The first cell of each row, and the others.
    Table(Vec<(String, String)>),
}

impl Truths {
    /// Reads `truth.json` or a table in Markdown.
    ///
    /// # Errors
    /// If neither can be read.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(path)?;
        if path.extension().is_some_and(|extension| extension == "json") {
            let mut document: Value = serde_json::from_str(&text)?;
            return Ok(Self(Source::Json(serde_json::from_value(document["recordings"].take())?)));
        }
        let row = |line: &str| {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            let (first, rest) = cells.split_first()?;
            (line.starts_with('|') && !first.starts_with('-')).then(|| ((*first).to_owned(), rest.join("; ")))
        };
        Ok(Self(Source::Table(text.lines().filter_map(row).collect())))
    }

    /// What is known of a recording.
    pub fn of(&self, name: &str) -> Truth {
        match &self.0 {
            Source::Json(cases) => {
                cases.iter().find(|case| case["name"] == name).map(truth_of_case).unwrap_or_default()
            }
            Source::Table(rows) => {
                let row = rows.iter().find(|row| row.0.split(", ").any(|pattern| is_match(name, pattern)));
                Truth {
                    text: row.map(|row| row.1.clone()).unwrap_or_default(),
                    is_mistake: is_mistake_by_name(name),
                    ..Truth::default()
                }
            }
        }
    }
}

fn truth_of_case(case: &Value) -> Truth {
    let texts = |key: &str| -> Vec<String> {
        let list = case[key].as_array().into_iter().flatten();
        list.filter_map(Value::as_str).map(str::to_lowercase).collect()
    };
    Truth {
        text: case["cause"].as_str().unwrap_or_default().to_owned(),
        is_mistake: case["kind"].as_str().map(|kind| kind == "mistake"),
        words: texts("words"),
        never: texts("never"),
        allowed: texts("allowed"),
        is_hidden: case["visible"] == false,
    }
}

/// `01_name_bad` has a mistake; `01_name_good`, `H1_name` and `plain_name` have none; other names tell nothing.
fn is_mistake_by_name(name: &str) -> Option<bool> {
    let is_healthy = name.ends_with("_good") || name.starts_with("plain_") || {
        let mut letters = name.chars();
        letters.next() == Some('H') && letters.next().is_some_and(|letter| letter.is_ascii_digit())
    };
    if name.ends_with("_bad") { Some(true) } else { is_healthy.then_some(false) }
}

/// Whether all parts of a pattern stand in a name in their order, the first one at its start.
fn is_match(name: &str, pattern: &str) -> bool {
    let mut rest = name;
    let parts = pattern.split(['…', ' ']).filter(|part| !part.is_empty());
    let mut is_first = true;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        if std::mem::take(&mut is_first) && at > 0 {
            return false;
        }
        rest = &rest[at + part.len()..];
    }
    !is_first
}

/// The recordings of a folder, by name.
///
/// # Errors
/// If it can't be listed.
pub fn recordings(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        [".pickle", ".pkl", ".gz"].iter().any(|ending| name.ends_with(ending))
    });
    files.sort();
    Ok(files)
}

fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    [".pickle", ".pkl", ".json", ".html"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name).to_owned()
}

/// The table of a folder in Markdown, with sums below it.
///
/// # Errors
/// If the folder can't be listed.
pub fn table(folder: &Path, truths: &Truths) -> io::Result<String> {
    let mut text = "| recording | truth | kind | verdict | what is said |\n|---|---|---|---|---|\n".to_owned();
    let mut sums = [Verdict::Named, Verdict::Missed, Verdict::Accused, Verdict::Fine].map(|verdict| (verdict, 0));
    for path in recordings(folder)? {
        let name = stem(&path);
        let truth = truths.of(&name);
        let (kinds, verdict, said) = match ask(&path) {
            Ok(said) => {
                let verdict = judge(&said, &truth);
                sums.iter_mut().filter(|sum| sum.0 == verdict).for_each(|sum| sum.1 += 1);
                let read = said.findings.iter().take(READ);
                let read: Vec<String> = read.map(|found| format!("*{}* {}", found.0.name(), found.1)).collect();
                (said.kinds.join(", "), verdict, read.join("<br>"))
            }
            Err(error) => (String::new(), Verdict::Open, error),
        };
        let _ = writeln!(text, "| {name} | {} | {kinds} | {} | {said} |", truth.text.replace('|', "/"), verdict.word());
    }
    let sums: Vec<String> = sums.iter().map(|(verdict, count)| format!("{count} {}", verdict.word())).collect();
    let _ = writeln!(text, "\n{}", sums.join(", "));
    Ok(text)
}
