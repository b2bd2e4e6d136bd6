//! Makes the diagnosis of the open file.

use super::Engine;
use super::ready::Ready;
use shared::analysis::{FindingsConfig, Study};
use shared::report::{Diagnosis, DiagnosisConfig, diagnosis};

/// Diagnoses all GPUs with memory, for the card that was chosen last; their timelines must be built.
pub(super) fn findings(engine: &Engine) -> Diagnosis {
    let gpus = (0..engine.trace.devices.len() as u32).filter_map(|position| engine.built(position));
    let studies: Vec<Study<'_>> = gpus.filter(|ready| has_memory(*ready)).map(Ready::study).collect();
    let findings = FindingsConfig { capacity_bytes: engine.capacity_bytes, ..FindingsConfig::default() };
    diagnosis(&engine.trace, &studies, &DiagnosisConfig { findings, with_groups: false })
}

fn has_memory(ready: Ready<'_>) -> bool {
    ready.timeline.reserved_peak().1 > 0 || ready.timeline.live_peak().1 > 0
}
