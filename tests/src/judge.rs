//! Compares the findings about recordings with their known truth.
//!
//! The truth of folders is the first one's `truth.json`, whose fields `tests/mistakes/README.md` describes, or a table in a
//! Markdown file whose rows begin with file names. Only the first two findings count as naming a mistake, because users
//! rarely read further.

use serde_json::Value;
use shared::analysis::{Finding, FindingCode, FindingsConfig, Timeline, findings_of, studies};
use shared::base::Severity;
use shared::import::import;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Number of findings that can name a mistake.
pub const READ: usize = 2;

/// Known truth about a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    pub text: String,
    /// True for a recording with a mistake; `None` if unknown.
    pub is_mistake: Option<bool>,
    /// Words in lower case, one of which an answer must contain.
    pub words: Vec<String>,
    /// Words in lower case that would be a false accusation.
    pub never: Vec<String>,
    /// Words in lower case that a warning may contain nonetheless.
    pub allowed: Vec<String>,
    /// Lines of which one of the findings must name one, if the table has a column of lines.
    pub lines: Vec<u64>,
    /// True for a mistake that a trace hardly shows, so that silence is right, too.
    pub is_hidden: bool,
}

/// Findings about a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// File name without its extensions.
    pub name: String,
    /// Kind of workload of each device with memory.
    pub kinds: Vec<&'static str>,
    pub codes: Vec<FindingCode>,
    /// Severity, title and advice of all findings.
    pub findings: Vec<(Severity, String, String)>,
    /// Line of each finding, 0 if it names none.
    pub lines: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The mistake is the first or second finding.
    Named,
    /// The mistake is neither the first nor the second finding.
    Missed,
    /// A recording without a mistake is said to have one.
    Accused,
    /// Nothing is wrong and nothing is claimed, or a hidden mistake is not named.
    Fine,
    /// The truth is unknown.
    Open,
}

impl Verdict {
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

/// Reads a recording and returns its findings.
///
/// # Errors
///
/// Returns a sentence if the file cannot be read or decoded.
pub fn ask(path: &Path) -> Result<Said, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let trace = import(&bytes).map_err(|error| error.to_string())?;
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(&trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    let studies = studies(&trace, &devices);
    let found = findings_of(&trace, &studies, &FindingsConfig::default());
    let row = |finding: Finding| (finding.severity, finding.title, finding.advice.text());
    Ok(Said {
        name: stem(path),
        kinds: studies.iter().map(|study| study.kind.name()).collect(),
        codes: found.iter().map(|finding| finding.code).collect(),
        lines: found.iter().map(|finding| finding.line.as_ref().map_or(0, |line| line.line)).collect(),
        findings: found.into_iter().map(row).collect(),
    })
}

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
            // Without words, any reported problem counts.
            let is_told = !truth.words.is_empty() || read().any(|finding| is_problem(&finding));
            let is_line = truth.lines.is_empty() || said.lines.iter().take(READ).any(|line| truth.lines.contains(line));
            match is_named && is_told && is_line && !read().any(is_accusation) {
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

/// Truths of a folder by the names of its recordings.
pub struct Truths(Source);

enum Source {
    Json(Vec<Value>),
    Table(Vec<Row>),
}

/// Row of a table.
struct Row {
    name: String,
    text: String,
    lines: Vec<u64>,
}

impl Truths {
    /// Reads `truth.json` or a Markdown table.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or is not valid JSON.
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = fs::read_to_string(path)?;
        if path.extension().is_some_and(|extension| extension == "json") {
            let mut document: Value = serde_json::from_str(&text)?;
            return Ok(Self(Source::Json(serde_json::from_value(document["recordings"].take())?)));
        }
        let mut column = None;
        let row = |line: &str| {
            let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
            let (first, rest) = cells.split_first()?;
            if cells.contains(&COLUMN_OF_LINES) || !line.starts_with('|') {
                column = cells.iter().position(|cell| *cell == COLUMN_OF_LINES);
            }
            let lines = column.and_then(|column| cells.get(column)).map(|cell| numbers(cell)).unwrap_or_default();
            let row = || Row { name: (*first).to_owned(), text: rest.join("; "), lines };
            (line.starts_with('|') && !first.starts_with('-')).then(row)
        };
        Ok(Self(Source::Table(text.lines().filter_map(row).collect())))
    }

    pub fn of(&self, name: &str) -> Truth {
        match &self.0 {
            Source::Json(cases) => {
                cases.iter().find(|case| case["name"] == name).map(truth_of_case).unwrap_or_default()
            }
            Source::Table(rows) => {
                let row = rows.iter().find(|row| row.name.split(", ").any(|pattern| is_match(name, pattern)));
                Truth {
                    text: row.map(|row| row.text.clone()).unwrap_or_default(),
                    lines: row.map(|row| row.lines.clone()).unwrap_or_default(),
                    is_mistake: is_mistake_by_name(name),
                    ..Truth::default()
                }
            }
        }
    }
}

const COLUMN_OF_LINES: &str = "lines that are right";

/// Returns the numbers with which the parts of a list begin, such as 37 and 71 of `37 (append), 71 (logits)`.
fn numbers(list: &str) -> Vec<u64> {
    let begin = |part: &str| part.trim().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    list.split(',').filter_map(begin).collect()
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
        lines: Vec::new(),
        is_hidden: case["visible"] == false,
    }
}

/// Guesses from a name whether the recording has a mistake.
///
/// `01_name_bad` has one; `01_name_good`, `H1_name` and `plain_name` have none; other names are unknown.
fn is_mistake_by_name(name: &str) -> Option<bool> {
    let is_healthy = name.ends_with("_good") || name.starts_with("plain_") || {
        let mut letters = name.chars();
        letters.next() == Some('H') && letters.next().is_some_and(|letter| letter.is_ascii_digit())
    };
    if name.ends_with("_bad") { Some(true) } else { is_healthy.then_some(false) }
}

/// Returns true if all parts of a pattern occur in a name in their order, the first one at its start.
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

/// Returns the recordings of folders, sorted by folder and name.
pub fn recordings(folders: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for folder in folders {
        for entry in fs::read_dir(folder)? {
            files.push(entry?.path());
        }
    }
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

/// Writes the Markdown table of folders, with totals below it.
pub fn table(folders: &[PathBuf], truths: &Truths) -> io::Result<String> {
    let mut text = "| recording | truth | kind | verdict | what is said |\n|---|---|---|---|---|\n".to_owned();
    let mut sums = [Verdict::Named, Verdict::Missed, Verdict::Accused, Verdict::Fine].map(|verdict| (verdict, 0));
    for path in recordings(folders)? {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_in_a_table_of_lines_is_named_with_one_of_them() {
        let path = std::env::temp_dir().join(format!("snapscope-judge-{}.md", std::process::id()));
        fs::write(&path, "| script | lines that are right |\n|---|---|\n| mrr | 37 (append), 71 (f(x)), 59 |\n")
            .unwrap();
        let truth = Truths::read(&path).unwrap().of("mrr_bad");
        fs::remove_file(&path).unwrap();
        assert_eq!(truth.lines, [37, 71, 59]);
        let said = |line: u64| Said {
            name: "mrr_bad".to_owned(),
            kinds: Vec::new(),
            codes: Vec::new(),
            findings: vec![(Severity::Error, String::new(), String::new())],
            lines: vec![line],
        };
        assert_eq!([59, 60].map(|line| judge(&said(line), &truth)), [Verdict::Named, Verdict::Missed]);
    }
}
