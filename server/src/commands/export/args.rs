//! Options of `snapscope export`, and the file that they name.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use shared::export::{Table, TableFormat};

use super::picture::PictureArgs;
use super::write::{Sink, write};
use crate::{Failure, units};

/// The options of `snapscope export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// The snapshot, or a log
    pub(super) file: PathBuf,

    /// Output format
    #[arg(long, value_enum)]
    pub(super) to: Target,

    /// The GPU index [default: all, or for a picture the one with the highest peak]
    #[arg(long, value_name = "N")]
    pub(super) device: Option<i64>,

    /// Export the state after this event instead of the peak, except in timelines and copies; -1 is the state before
    /// the first event
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true)]
    pub(super) at: Option<i64>,

    /// The table to write as CSV, JSON or Markdown [default: stacks]
    #[arg(long, value_parser = tables())]
    pub(super) table: Option<Table>,

    /// GPU memory, such as 80GiB, or the name of a GPU, such as t4-16gb, for the findings in tables and reports
    #[arg(long, value_name = "SIZE", value_parser = units::capacity)]
    pub(super) capacity: Option<u64>,

    #[command(flatten)]
    pub(super) picture: PictureArgs,

    /// Remove names, hosts, addresses, keys, metadata, and the parts of paths above the project
    #[arg(long)]
    pub(super) sanitize: bool,

    /// List every text that remains in the copy
    #[arg(long, requires = "sanitize")]
    pub(super) list_texts: bool,

    /// Also remove the annotations
    #[arg(long, requires = "sanitize")]
    pub(super) drop_annotations: bool,

    /// Also remove this name everywhere; may be repeated
    #[arg(long, value_name = "NAME", requires = "sanitize")]
    pub(super) drop_name: Vec<String>,

    /// Keep only the frames of a package, such as `torch` or `project`; may be repeated
    #[arg(long, value_name = "PACKAGE", requires = "sanitize")]
    pub(super) keep_package: Vec<String>,

    /// The file to write, compressed if its name ends in `.gz`
    #[arg(short, long, value_name = "OUT")]
    pub(super) output: PathBuf,
}

/// Values of `--to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Target {
    /// Vector picture with selectable text
    Svg,
    /// Bitmap picture
    Png,
    /// Table for spreadsheets
    Csv,
    /// Table for programs
    Json,
    /// Table for issues and reports
    Markdown,
    /// Timeline for ui.perfetto.dev
    Perfetto,
    /// Live memory at the peak, for speedscope.app
    Speedscope,
    /// Report in one HTML file, for example for a ticket
    Html,
    /// Snapshot in PyTorch's format, which PyTorch's own viewer opens too
    Pickle,
}

impl Target {
    pub(super) fn table_format(self) -> Option<TableFormat> {
        TableFormat::of_name(self.to_possible_value()?.get_name())
    }
}

fn tables() -> impl TypedValueParser<Value = Table> {
    PossibleValuesParser::new(Table::ALL.map(Table::name))
        .map(|name: String| Table::of_name(&name).expect("only names of tables are possible"))
}

impl ExportArgs {
    /// Returns the file name to show inside an export; a sanitized one hides it, because it may name people.
    pub(super) fn name(&self) -> String {
        let name = self.file.file_name().filter(|_| !self.sanitize);
        name.map_or_else(|| "Snapshot".to_owned(), |name| name.to_string_lossy().into_owned())
    }

    /// Writes the file whole or not at all, and returns its size in bytes.
    pub(super) fn write(&self, fill: impl FnOnce(&mut Sink<'_>)) -> Result<u64, Failure> {
        write(&self.output, fill).map_err(|error| Failure::writing(&self.output, &error))
    }
}
