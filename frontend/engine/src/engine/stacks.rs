//! Lists the stacks that hold the live bytes of a moment.

use super::Ready;
use frontend::ask::{StackRow, Stacks};
use shared::analysis::{StackBytes, live_by_stack};
use shared::report::frames;

pub(super) fn stacks(ready: Ready<'_>, moment: u32, limit: u32) -> Stacks {
    let moment = moment.min(ready.timeline.events());
    let all = live_by_stack(ready.device, &ready.timeline.allocations, moment);
    let (shown, others) = all.split_at(all.len().min(limit as usize));
    let row = |stack: &StackBytes| StackRow {
        bytes: stack.bytes,
        count: stack.count,
        frames: frames(ready.trace, stack.stack),
    };
    Stacks {
        moment,
        live_bytes: ready.timeline.live_at(moment),
        rows: shown.iter().map(row).collect(),
        other_stacks: others.len() as u64,
        other_bytes: others.iter().map(|stack| stack.bytes).sum(),
    }
}
