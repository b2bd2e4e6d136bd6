//! Names a place in a run.

use crate::api::OutOfMemory;

/// Formats a place in a run; steps count from 1, and unknown parts are omitted.
pub fn place(step: Option<u64>, steps: Option<u64>, phase: &str, module: &str) -> String {
    let step = step.map(|step| match steps {
        Some(steps) => format!("step {} of {steps}", step + 1),
        None => format!("step {}", step + 1),
    });
    let parts = step.into_iter().chain([phase.to_owned(), module.to_owned()]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Formats the place of an out-of-memory error as in `in step 1 of 3, forward, h.11.mlp`, or as the start.
pub(super) fn where_it_ran_out(oom: &OutOfMemory, steps: u64) -> String {
    let place = place(oom.step, Some(steps), &oom.phase, &oom.module);
    if place.is_empty() { "at the start".to_owned() } else { format!("in {place}") }
}
