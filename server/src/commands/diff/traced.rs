//! Compares two snapshots of tracemalloc.

use std::path::Path;

use shared::analysis::DiffBy;
use shared::logs::traced_comparison;
use shared::logs::tracemalloc::{Flaw, TracemallocSnapshot};

use super::page::Table;
use super::{DiffArgs, Part};
use crate::Failure;
use crate::commands::output::document;

impl DiffArgs {
    /// Compares the files by line; at least one of them is a snapshot of tracemalloc.
    pub(super) fn traced(&self, a: Part, b: Part) -> Result<String, Failure> {
        let (a, b) = (side(&self.a, a)?, side(&self.b, b)?);
        self.only_traced_options()?;
        let (of_a, of_b) = (self.a.display().to_string(), self.b.display().to_string());
        let report = traced_comparison((&of_a, &a), (&of_b, &b), self.top);
        if self.json {
            return Ok(document(&report));
        }
        Ok(self.written(&Table::traced(&report, self.by == DiffBy::Module, self.top)))
    }

    /// Refuses options that mean nothing for tracemalloc.
    fn only_traced_options(&self) -> Result<(), Failure> {
        let has_moment = (self.at_a, self.at_b) != (None, None) || (self.step_a, self.step_b) != (None, None);
        if self.device.is_some() || has_moment {
            let message = "snapshots of tracemalloc have no GPUs, events and steps";
            return Err(Failure::new(message, "leave out --device, --at-a, --at-b, --step-a and --step-b"));
        }
        match self.by {
            DiffBy::Category => {
                Err(Failure::new("snapshots of tracemalloc have no categories", "pass --by module to compare files"))
            }
            DiffBy::Stack | DiffBy::Module => Ok(()),
        }
    }
}

/// Returns a side that can be compared.
fn side(path: &Path, part: Part) -> Result<Box<TracemallocSnapshot>, Failure> {
    let file = path.display();
    let Part::Traced(snapshot) = part else {
        let message = format!("{file}: the other file is a snapshot of tracemalloc, and this one is not");
        return Err(Failure::new(message, "compare two snapshots of the same kind"));
    };
    match &snapshot.flaw {
        None => Ok(snapshot),
        Some(Flaw::Cut) => Err(Failure::new(
            format!("{file}: the file ends within the snapshot, so that its figures are lower bounds"),
            "run snapscope diagnose to see what there is of it",
        )),
        Some(Flaw::Damaged(offset)) => Err(Failure::new(
            format!("{file}: the file is damaged from byte {offset} on"),
            "run snapscope diagnose to see what there is of it",
        )),
        Some(Flaw::Foreign(reason)) => Err(Failure::new(
            format!("{file}: the file is no snapshot of tracemalloc: {reason}"),
            "pass files that Snapshot.dump has written",
        )),
    }
}
