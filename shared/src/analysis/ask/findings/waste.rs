//! Finds memory that is reserved but not used.

use super::advice::{Advice, StepKind};
use super::code::FindingCode;
use super::finding::{Confidence, Finding, Rank};
use super::memory_out::is_expandable;
use super::own_code::{Own, own_line, row_of};
use super::tried;
use crate::analysis::ask::fragmentation::Fragmentation;
use crate::analysis::ask::replay::recorded_settings;
use crate::analysis::ask::until_full::Budget;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::sites::SpineId;
use crate::analysis::study::studied::Study;
use crate::base::{Severity, format};
use crate::trace::StackId;
use hashbrown::HashMap;

/// A smaller excess of reserved bytes over the peak is normal for the allocator; in percent of the reserved bytes.
const LEAST_PERCENT: u64 = 20;

/// Excess from which a change is worthwhile, in percent of the reserved bytes.
const WARNING_PERCENT: u64 = 33;

/// Excess from which a change is worthwhile on a card of unknown size.
const WARNING_PERCENT_ANYWHERE: u64 = 66;

/// Smallest requests that are compared, 1 MiB: larger ones are served from the large pool (PyTorch's `kSmallSize`).
const LARGE_BYTES: u64 = 1 << 20;

/// An excess below 512 MiB is no problem on any card.
const MUCH_BYTES: u64 = 512 << 20;

/// On a card of which less than 80 % is reserved at the peak, an excess is no problem either.
const FULL_PERCENT: u64 = 80;

/// An excess below 64 MiB is not reported.
const LEAST_BYTES: u64 = 64 << 20;

/// Returns the stacks whose large requests have different sizes, each with its largest, if they are most of all, as with
/// batches of varying size.
///
/// Where the steps are known, a stack counts by its largest request in each: layers of several widths may share one.
fn varying(study: &Study<'_>) -> Option<Vec<(u64, StackId)>> {
    let allocations = &study.timeline.allocations;
    let mut steps = study.repeats().iter().peekable();
    let has_steps = !study.repeats().is_empty();
    let mut sizes: HashMap<StackId, (u64, u64)> = HashMap::new();
    let mut of_step: HashMap<StackId, u64> = HashMap::new();
    let mut count = |stack: StackId, size_bytes: u64| {
        let (least, most) = sizes.entry(stack).or_insert((size_bytes, size_bytes));
        (*least, *most) = (size_bytes.min(*least), size_bytes.max(*most));
    };
    for id in allocations.ids().skip(allocations.initial_count()) {
        let ((size_bytes, stack), born) = (row_of(study, id), allocations.born_at(id.0));
        if size_bytes < LARGE_BYTES {
            continue;
        }
        if !has_steps {
            count(stack, size_bytes);
        }
        while steps.next_if(|step| step.end <= born).is_some() {
            of_step.drain().for_each(|(stack, most)| count(stack, most));
        }
        let most = of_step.entry(stack).or_default();
        *most = size_bytes.max(*most);
    }
    of_step.drain().for_each(|(stack, most)| count(stack, most));
    let vary = sizes.iter().filter(|(_, (least, most))| least < most);
    let vary: Vec<(u64, StackId)> = vary.map(|(stack, (_, most))| (*most, *stack)).collect();
    // In small models, layers of several widths share stacks.
    (vary.len() * 2 > sizes.len()).then_some(vary)
}

/// Puts settings that were replayed in the place of settings that were not.
fn with_trial(mut advice: Advice, tried: Option<String>) -> Advice {
    let Some(tried) = tried else { return advice };
    advice.steps.retain(|step| step.kind != StepKind::Try);
    advice.first(&tried)
}

/// Tells of a recorded limit that PyTorch ignores: it frees unused segments in time only if the memory of the process is
/// limited, too (`set_fraction` in `CUDACachingAllocator.cpp`).
fn ignored(study: &Study<'_>) -> Option<&'static str> {
    let settings = recorded_settings(study.trace).ok()?;
    (settings.garbage_collection_threshold > 0.0 && settings.per_process_memory_fraction >= 1.0).then_some(
        "PyTorch ignores `garbage_collection_threshold` unless the memory of the process is limited, too: call \
         `torch.cuda.set_per_process_memory_fraction(0.95)` at the start.",
    )
}

/// Reports reserved memory well above the peak of live bytes; `capacity_bytes` is the memory of the card, if it is known.
pub(super) fn finding(study: &Study<'_>, capacity_bytes: Option<u64>) -> Option<Finding> {
    let (moment, reserved) = study.timeline.reserved_peak();
    let (_, live) = study.timeline.live_peak();
    let beyond = reserved.checked_sub(live)?;
    let percent = u128::from(beyond) * 100 / u128::from(reserved.max(1));
    if beyond < LEAST_BYTES || percent < u128::from(LEAST_PERCENT) {
        return None;
    }
    let is_full = |room: u64| u128::from(reserved) * 100 >= u128::from(room) * u128::from(FULL_PERCENT);
    let parts = Fragmentation::at(study, moment);
    let budget = Budget::of(study, capacity_bytes);
    let fills_card = budget.as_ref().is_none_or(|budget| is_full(budget.bytes));
    let least = if budget.is_some() { WARNING_PERCENT } else { WARNING_PERCENT_ANYWHERE };
    let is_private = parts.private_free_bytes.saturating_mul(2) > parts.free_bytes();
    let is_much = !is_private && percent >= u128::from(least) && beyond >= MUCH_BYTES && fills_card;
    // Bytes that were reserved before the trace belong to a peak that was not recorded.
    let has_risen = reserved - study.timeline.reserved_at(0) >= beyond / 2;
    let varying = varying(study);
    let varies = varying.is_some();
    let is_of_program = |row: &(u64, StackId)| study.sites.of_stack(row.1).spine != SpineId::NONE;
    let own = varying.and_then(|stacks| own_line(study, stacks.into_iter().filter(is_of_program), Own::Call));
    let advice = if is_private {
        "\n\nMost of it is in private pools of CUDA graphs. Only replays of these graphs use it, and it stays as long as \
         they do."
    } else if is_expandable(study) {
        if varies {
            "Use batches of one size, or start with the longest one, so that freed blocks can be reused.\n\n\
             Segments are already expandable."
        } else {
            "\n\nSegments are already expandable. The unused memory is left from an earlier peak."
        }
    } else if parts.free_segment_bytes > parts.free_in_used_bytes && varies {
        "[try] Set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``, so that blocks of other sizes can use this \
         memory.\n\
         Or start with the longest batch, or use batches of few sizes: sort samples by length, or limit what a batch \
         holds in all.\n\n\
         Most of it is in unused segments that were made for tensors of other sizes, since sizes differ from batch to batch."
    } else if parts.free_segment_bytes > parts.free_in_used_bytes {
        "[try] Set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``, so that blocks of other sizes can use this \
         memory.\n\n\
         Most of it is in unused segments: they are left from an earlier peak, or they belong to another stream, and \
         streams do not share segments."
    } else if varies {
        "[try] Set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``.\n\
         Or start with the longest batch, or use batches of one size.\n\n\
         Most of the unused memory is fragmented: it lies between live blocks, in gaps that are too small for larger \
         requests, as with batches of many sizes."
    } else {
        "[try] Set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``.\n\n\
         Most of the unused memory is fragmented: it lies between live blocks, in gaps that are too small for larger \
         requests."
    };
    let sizes = own.as_ref().map(|own| format!("The sizes differ in the call at `{}`.", own.place()));
    let look = [sizes, ignored(study).map(str::to_owned)].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let (reserves, lives) = (format::bytes(reserved), format::bytes(live));
    // The peak of live bytes before the trace is unknown.
    let known = if study.timeline.allocations.initial_count() == 0 { "" } else { " in this trace" };
    let what = match study.kind {
        RunKind::NoTrace => format!("At the snapshot, PyTorch reserves {reserves}, but only {lives} is live"),
        _ => format!("PyTorch reserves {reserves}, but never more than {lives} is live{known}"),
    };
    let shows = format!(
        "At the peak of reserved memory, {} is live, {} is free in segments in use, {} is in unused segments, and {} is \
         lost to rounding. The largest free range is {}.",
        format::bytes(parts.live_bytes),
        format::bytes(parts.free_in_used_bytes),
        format::bytes(parts.free_segment_bytes),
        format::bytes(parts.rounding_bytes + parts.unsplit_bytes),
        format::bytes(parts.largest_free_bytes),
    );
    let severity = if is_much && has_risen { Severity::Warning } else { Severity::Info };
    let advice = with_trial(Advice::of(advice), tried::less_reserved(study)).because(&look);
    let code = FindingCode::ReservedAboveLive;
    let found = Finding::new(study.device.index, code, severity, Confidence::High, Rank::Reserved, beyond);
    Some(Finding { line: own, advice, ..found.titled(&what, []).shown(shows, moment.checked_sub(1), []) })
}
