//! Finds the script of a run.

use crate::analysis::study::studied::Study;
use crate::analysis::track::peak::live_by_stack;
use crate::base::frame_rules;
use crate::trace::{FrameId, StackId};
use hashbrown::HashMap;

/// Returns the file that most of the memory at the peak was allocated from, as the outermost own frame of its stacks.
///
/// It is `None` if no stack has an own frame, as in traces of our recorder.
pub fn script_of<'a>(study: &Study<'a>) -> Option<&'a str> {
    let trace = study.trace;
    let outermost = |stack: StackId| {
        // A choice of own code that names a library would name its file.
        let own = |frame: &&FrameId| frame_rules::is_own(trace.strings.get(trace.frames.get(**frame).filename));
        trace.stacks.frames(stack).iter().rev().find(own).map(|&frame| trace.frames.get(frame).filename)
    };
    let mut by_file = HashMap::new();
    let (moment, _) = study.timeline.live_peak();
    for group in live_by_stack(study.device, &study.timeline.allocations, moment) {
        if let Some(file) = outermost(group.stack) {
            let sum: &mut u64 = by_file.entry(file).or_default();
            *sum = sum.saturating_add(group.bytes);
        }
    }
    let (file, _) = by_file.into_iter().max_by_key(|&(file, bytes)| (bytes, file))?;
    trace.strings.get(file).rsplit(['/', '\\']).next()
}
