//! Implements `snapscope fix`, which tries remedies on a training and tells what makes it fit.

mod config;

use std::path::PathBuf;

use clap::Args;
use shared::api::FixReport;
use shared::recordings::fix::{answer, lines, notes, table};

use super::output::document;
use super::text;
use crate::Failure;

/// The options of `snapscope fix`.
#[derive(Debug, Clone, Args)]
pub struct FixArgs {
    /// The training config in TOML, YAML or JSON, or a Hugging Face `config.json`
    config: PathBuf,

    /// The virtual GPU to fit in, such as h100-80gb or custom:48GiB
    #[arg(long, value_name = "CARD")]
    card: Option<String>,

    /// Optimizer steps of each run; memory use is stable after the second
    #[arg(long, value_name = "N", default_value = "2")]
    steps: u64,

    #[command(flatten)]
    of_config: config::OfConfig,

    /// Print one JSON document, and no progress
    #[arg(long)]
    json: bool,
}

impl FixArgs {
    /// Tries the remedies and returns the text to print.
    ///
    /// # Errors
    ///
    /// Returns an error if the training cannot be recorded as it is.
    pub fn run(&self) -> Result<String, Failure> {
        let report = self.of_config.report(&self.config, self.card.clone(), self.steps, self.json)?;
        Ok(if self.json { document(&report) } else { page(&report) })
    }
}

/// Formats the answer, the remedies and the lines.
fn page(report: &FixReport) -> String {
    let table = table(report);
    let rows: Vec<_> = [table.head].into_iter().chain(table.rows).collect();
    let indented = |lines: &[String]| lines.iter().map(|line| format!("  {line}\n")).collect::<String>();
    let mut page = format!("{}\n\n{}", answer(report), indented(&text::table(&rows, &table.right)));
    if !lines(report).is_empty() {
        page += &format!("\nadd\n{}", indented(lines(report)));
    }
    for note in notes(report) {
        page += &format!("\nnote: {note}");
    }
    page + "\n"
}
