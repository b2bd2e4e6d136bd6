//! Checks what a run may use of this machine.

use std::path::Path;

use crate::Failure;
use crate::commands::repro;

/// Refuses an output file that is something else than a snapshot, and a folder that cannot be written to.
pub(super) fn check_output(output: &Path) -> Result<(), Failure> {
    repro::check_output(output)?;
    let folder = output.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    tempfile::tempfile_in(folder).map(drop).map_err(|error| {
        let message = format!("the folder {} cannot be written: {error}", folder.display());
        Failure::new(message, "choose another file with --output")
    })
}

/// Returns the memory of this machine that nothing uses, in bytes; unlimited if it cannot be read.
pub(super) fn free_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    crate::commands::host::kib_of(&text, "MemAvailable:").unwrap_or(u64::MAX)
}

/// Returns the memory of this machine, in bytes; unlimited if it cannot be read.
pub(super) fn machine_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    crate::commands::host::kib_of(&text, "MemTotal:").unwrap_or(u64::MAX)
}
