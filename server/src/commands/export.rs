//! `snapscope export`: a snapshot in another form, or as a copy that others may see.

use std::fmt::Write as _;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use flate2::Compression;
use flate2::write::GzEncoder;
use shared::base::format::{bytes, counted};
use shared::export::{self, Change, SanitizeOptions, SanitizeReport, Sanitized};
use shared::pickle::Style;
use tempfile::NamedTempFile;

use super::open::import;
use crate::Failure;

/// The options of `snapscope export`.
#[derive(Debug, Clone, Args)]
pub struct ExportArgs {
    /// The snapshot
    file: PathBuf,

    /// The form to write
    #[arg(long, value_enum)]
    to: Target,

    /// Leave out paths up to the project, names of people and machines, and metadata
    #[arg(long)]
    sanitize: bool,

    /// Leave out the annotated spans too
    #[arg(long, requires = "sanitize")]
    drop_annotations: bool,

    /// Leave out a further name wherever it stands; may be given several times
    #[arg(long, value_name = "NAME", requires = "sanitize")]
    drop_name: Vec<String>,

    /// Keep only the frames of a package, such as `torch` or `project`; may be given several times
    #[arg(long, value_name = "PACKAGE", requires = "sanitize")]
    keep_package: Vec<String>,

    /// The file to write; it is compressed where its name ends with `.gz`
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

/// What a snapshot can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Target {
    /// The official snapshot, which PyTorch's own page opens too
    Pickle,
}

impl ExportArgs {
    /// Writes the file and returns what to print.
    ///
    /// # Errors
    ///
    /// The snapshot cannot be read, or the output not be written.
    pub fn run(&self) -> Result<String, Failure> {
        let trace = import(&self.file, &self.file.display().to_string())?;
        // With one form there is nothing to choose from yet.
        let Target::Pickle = self.to;
        let sanitized = self.sanitize.then(|| Sanitized::new(&trace, &self.options()));
        let written = write(&self.output, |sink| match &sanitized {
            Some(sanitized) => sanitized.pickle(Style::Python, sink, |_| ()),
            None => export::pickle(&trace, Style::Python, sink),
        });
        let size_bytes = written.map_err(|error| {
            Failure::new(format!("{}: {error}", self.output.display()), "check the folder and the room in it")
        })?;
        let mut text = format!("{}: {}\n", self.output.display(), bytes(size_bytes));
        if let Some(sanitized) = &sanitized {
            text += &report(sanitized.report());
        }
        Ok(text)
    }

    fn options(&self) -> SanitizeOptions {
        SanitizeOptions {
            names: self.drop_name.clone(),
            packages: (!self.keep_package.is_empty()).then(|| self.keep_package.clone()),
            drop_annotations: self.drop_annotations,
            ..SanitizeOptions::default()
        }
    }
}

/// Writes a file whole or not at all, and says how long it is.
pub(super) fn write(path: &Path, export: impl FnOnce(&mut dyn FnMut(&[u8]))) -> std::io::Result<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = NamedTempFile::new_in(folder)?;
    let is_compressed = path.extension().is_some_and(|extension| extension == "gz");
    if is_compressed {
        let mut gzip = GzEncoder::new(BufWriter::new(&file), Compression::default());
        pour(&mut gzip, export)?;
        gzip.finish()?.flush()?;
    } else {
        let mut plain = BufWriter::new(&file);
        pour(&mut plain, export)?;
        plain.flush()?;
    }
    let size_bytes = file.as_file().metadata()?.len();
    file.persist(path)?;
    Ok(size_bytes)
}

/// Writes all pieces, and stops at the first error.
fn pour(writer: &mut impl Write, export: impl FnOnce(&mut dyn FnMut(&[u8]))) -> std::io::Result<()> {
    let mut outcome = Ok(());
    export(&mut |piece| {
        if outcome.is_ok() {
            outcome = writer.write_all(piece);
        }
    });
    outcome
}

/// What was left out, with an example of each kind.
fn report(report: &SanitizeReport) -> String {
    let mut text = String::new();
    let mut line = |what: &str, change: &Change, noun: &str| {
        if change.count > 0 {
            let _ = writeln!(text, "{what}: {}", counted(change.count, noun));
            for (before, after) in change.examples.iter().take(2) {
                let _ = writeln!(text, "  {before} → {}", if after.is_empty() { "(nothing)" } else { after });
            }
        }
    };
    line("Paths cut", &report.paths, "path");
    line("Names taken out", &report.texts, "text");
    line("Metadata left out", &report.metadata, "text");
    if !report.names.is_empty() {
        let _ = writeln!(text, "Names looked for: {}", report.names.join(", "));
    }
    if report.annotations > 0 {
        let _ = writeln!(text, "Annotations left out: {}", counted(report.annotations, "mark"));
    }
    if report.dropped_frames() > 0 {
        let _ = writeln!(text, "Frames left out: {}", counted(report.dropped_frames(), "frame"));
    }
    text
}
