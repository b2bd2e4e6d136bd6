//! Writes the result files of a sweep, in the formats that their suffixes name.

use std::path::{Path, PathBuf};

use shared::api::SweepReport;
use shared::recordings;

use crate::Failure;
use crate::commands::output::document;

/// File for the result of a sweep.
pub(super) struct Output {
    path: PathBuf,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Markdown,
    Csv,
    Json,
    Svg,
}

impl Output {
    /// Checks a path and takes the format from its suffix.
    ///
    /// # Errors
    ///
    /// Returns an error if the suffix is unknown, if the file is the config itself, or if its folder does not exist.
    pub(super) fn new(path: &Path, config: &Path) -> Result<Self, Failure> {
        const KINDS: [(&str, Kind); 4] =
            [("md", Kind::Markdown), ("csv", Kind::Csv), ("json", Kind::Json), ("svg", Kind::Svg)];
        let end = path.extension().unwrap_or_default().to_ascii_lowercase();
        let Some((_, kind)) = KINDS.into_iter().find(|(name, _)| end == *name) else {
            return Err(Failure::new(
                format!("the name `{}` has no known file type", path.display()),
                "end the name in .md, .csv, .json or .svg",
            ));
        };
        let is_config = path.canonicalize().is_ok_and(|path| config.canonicalize().is_ok_and(|config| path == config));
        if is_config {
            return Err(Failure::new(
                format!("{} is the config itself", path.display()),
                "choose another file with --output",
            ));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Failure::new(format!("there is no folder {}", folder.display()), "create it first"));
        }
        Ok(Self { path: path.to_owned(), kind })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the report in the format of this file.
    pub(super) fn write(&self, report: &SweepReport, steps: u64) -> Result<(), Failure> {
        let text = match self.kind {
            Kind::Markdown => recordings::table(report, steps).markdown(),
            Kind::Csv => recordings::sweep_csv(report),
            Kind::Json => json(report),
            Kind::Svg => recordings::svg(report, steps),
        };
        std::fs::write(&self.path, text).map_err(|error| {
            Failure::new(format!("{} cannot be written: {error}", self.path.display()), "choose another path")
        })
    }
}

/// Formats the report as a JSON document.
pub(super) fn json(report: &SweepReport) -> String {
    document(report)
}
