//! Compares two snapshots of tracemalloc.

use std::path::Path;

use shared::analysis::DiffBy;
use shared::log::Document;
use shared::report::traced_comparison;
use shared::tracemalloc::{Flaw, TracemallocSnapshot};

use super::DiffArgs;
use super::page::Table;
use crate::{Failure, log_file};

impl DiffArgs {
    /// Compares the files by line if one of them is a snapshot of tracemalloc; `None` if neither is.
    pub(super) fn traced(&self) -> Option<Result<String, Failure>> {
        let (a, b) = (traced(&self.a), traced(&self.b));
        (a.is_some() || b.is_some()).then(|| self.compared(side(&self.a, a)?, side(&self.b, b)?))
    }

    fn compared(&self, a: TracemallocSnapshot, b: TracemallocSnapshot) -> Result<String, Failure> {
        self.only_traced_options()?;
        let (of_a, of_b) = (self.a.display().to_string(), self.b.display().to_string());
        let report = traced_comparison((&of_a, &a), (&of_b, &b), self.top);
        if self.json {
            return Ok(serde_json::to_string_pretty(&report).expect("plain data can be written") + "\n");
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

fn traced(path: &Path) -> Option<TracemallocSnapshot> {
    match log_file::log(path)?.document? {
        Document::Tracemalloc(snapshot) => Some(*snapshot),
        _ => None,
    }
}

/// Returns a side that can be compared.
fn side(path: &Path, snapshot: Option<TracemallocSnapshot>) -> Result<TracemallocSnapshot, Failure> {
    let file = path.display();
    let Some(snapshot) = snapshot else {
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
