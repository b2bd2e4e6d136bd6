//! Runs programs on virtual GPUs, through the commands that do it at a terminal.

use std::path::{Path, PathBuf};

use serde_json::json;
use shared::api::{FitReport, FixReport, RunReport, RunStatus, RunsReport};
use shared::base::format::{bytes, counted};
use shared::recordings::{self, fix};

use super::question;
use crate::Failure;
use crate::commands::fit::has_placeholder;
use crate::commands::mcp::answer::Answer;
use crate::commands::mcp::maker::Maker;
use crate::commands::mcp::options::{FitOptions, FixOptions, RunOptions};
use crate::commands::mcp::words::Words;

/// Optimizer steps of a recording for `fit` without a number; memory is stable after the second.
const STEPS: u64 = 2;

pub(in crate::commands::mcp) fn run(maker: &Maker, options: &RunOptions) -> Result<Answer, Failure> {
    let RunOptions { command, steps, folder, .. } = options;
    let words = Words::of(options, &["command", "folder"]).word("--json").last(command);
    let folder = existing(folder.as_deref())?;
    let report: RunsReport = maker.document(&folder, words.behind("run"))?;
    let runs_out = report.runs.iter().any(|run| run.status == RunStatus::OutOfMemory);
    let snapshot = report.runs.iter().find_map(|run| run.snapshot.as_ref());
    let snapshot = snapshot.map(|snapshot| folder.join(snapshot).display().to_string());
    let mut answer = Answer::new(lines(&report), &report);
    if let Some(snapshot) = snapshot {
        answer = answer.then(question("findings", &json!({ "files": [snapshot] }), "what fills the memory"));
    }
    Ok(answer.then_if(runs_out, || {
        question("fit", &json!({ "command": command, "steps": steps }), "the smallest GPU that holds it")
    }))
}

/// Finds the largest batch of a config, the largest value of a command's placeholder, or the smallest card for a command.
pub(in crate::commands::mcp) fn fit(maker: &Maker, options: &FitOptions) -> Result<Answer, Failure> {
    let FitOptions { config: training, command, cards, steps, folder, .. } = options;
    let folder = existing(folder.as_deref())?;
    match (training, command) {
        (Some(training), None) => searched(maker, &folder, options, |words| words.word(training)),
        (None, Some(command)) if command.iter().any(|word| has_placeholder(word)) => {
            searched(maker, &folder, options, |words| words.last(command))
        }
        (None, Some(command)) => {
            let cards = cards.as_ref().map(|cards| cards.join(","));
            let words = Words::of(&json!({ "fit": true, "cards": cards, "steps": steps, "json": true }), &[]);
            let report: RunsReport = maker.document(&folder, words.last(command).behind("run"))?;
            let fits = report.runs.iter().filter(|run| run.status == RunStatus::Fits);
            let smallest = fits.min_by_key(|run| run.capacity_bytes).map(|run| run.card.clone());
            let text = match &smallest {
                Some(card) => format!("The smallest card that holds it is {card}\n{}", lines(&report)),
                None => format!("None of these cards holds it\n{}", lines(&report)),
            };
            Ok(Answer::new(text, &report))
        }
        _ => Err(not_one("fit")),
    }
}

/// Searches for the largest value of what the words name.
fn searched(
    maker: &Maker,
    folder: &Path,
    FitOptions { config, card, steps, seq_len, .. }: &FitOptions,
    of: impl Fn(Words) -> Words,
) -> Result<Answer, Failure> {
    let steps = steps.unwrap_or(STEPS);
    // A command has no tokens per sample.
    let seq_len = config.as_ref().and(*seq_len);
    let words = Words::of(&json!({ "card": card, "steps": steps, "seq-len": seq_len, "json": true }), &[]);
    let report: FitReport = maker.document(folder, of(words).behind("fit"))?;
    let mut text = format!("{} on {}\n", recordings::answer(&report), report.card);
    let rows = match recordings::frontier(&report, steps) {
        Some(table) => [table.head].into_iter().chain(table.rows).collect(),
        None => recordings::proof(&report, steps),
    };
    rows.iter().for_each(|row| text += &format!("{}\n", row.join(" ")));
    recordings::notes(&report).iter().for_each(|note| text += &format!("{note}\n"));
    Ok(Answer::new(text, &report))
}

/// Tries remedies on a config or a command.
pub(in crate::commands::mcp) fn fix(maker: &Maker, options: &FixOptions) -> Result<Answer, Failure> {
    let FixOptions { config, command, card, steps, seq_len, folder } = options;
    let folder = existing(folder.as_deref())?;
    let words = Words::of(&json!({ "card": card, "steps": steps, "seq-len": seq_len, "json": true }), &[]);
    let arguments = match (config, command) {
        (Some(config), None) => words.word(config).behind("fix"),
        (None, Some(command)) => words.last(command).behind("fix"),
        _ => return Err(not_one("fix")),
    };
    let mut report: FixReport = maker.document(&folder, arguments)?;
    // Curves are for eyes.
    let remedies = report.remedies.iter_mut().chain(report.together.as_mut()).map(|remedy| &mut remedy.figures);
    remedies.chain([&mut report.baseline]).for_each(|figures| figures.curve.clear());
    let mut text = format!("{}\n{}", fix::answer(&report), fix::table(&report).markdown());
    if !fix::lines(&report).is_empty() {
        text += &format!("Lines to add:\n{}\n", fix::lines(&report).join("\n"));
    }
    fix::notes(&report).iter().for_each(|note| text += &format!("{note}\n"));
    Ok(Answer::new(text, &report))
}

fn not_one(tool: &str) -> Failure {
    let message = format!("there is either a config or a command to {tool}");
    Failure::new(message, "pass `config` or `command`, and not both")
}

fn existing(folder: Option<&Path>) -> Result<PathBuf, Failure> {
    let folder = std::path::absolute(folder.unwrap_or(Path::new("."))).unwrap_or_default();
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(Failure::new(format!("there is no folder {}", folder.display()), "pass an existing `folder`"))
}

fn lines(report: &RunsReport) -> String {
    report.runs.iter().map(|run| line(run) + "\n").collect()
}

fn line(run: &RunReport) -> String {
    let rank = run.rank.map(|rank| format!(", rank {rank}")).unwrap_or_default();
    let (reserved, capacity) = (bytes(run.peak_reserved_bytes), bytes(run.capacity_bytes));
    let message = run.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    let (name, steps) = (run.status.name().replace('-', " "), counted(run.steps, "step"));
    let snapshot = run.snapshot.as_ref().map(|file| format!(", snapshot {file}")).unwrap_or_default();
    format!("{}{rank}: {name} after {steps}, {reserved} reserved of {capacity}{snapshot}{message}", run.card)
}
