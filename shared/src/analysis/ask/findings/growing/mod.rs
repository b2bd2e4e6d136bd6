//! Finds memory that grows from step to step, or from call to call of a model without training, and its causes.

mod cause;
mod held;
mod words;

use super::advice::Advice;
use super::code::FindingCode;
use super::finding::{AtPeak, Confidence, Finding, Rank, SourceLine, events_of};
use super::limits::FindingsConfig;
use super::own_code::{Own, line_of_part, own_line};
use crate::analysis::ask::until_full::{BudgetSource, UntilFull, until_full};
use crate::analysis::study::growth::Kept;
use crate::analysis::study::phases::PhaseBasis;
use crate::analysis::study::run_kind::RunKind;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::Lifetime;
use crate::base::{Severity, format};
use crate::trace::StackId;
use cause::Cause;
use hashbrown::HashSet;

/// Growth per step of at least 1/1000 of the peak is an error.
const SERIOUS: u64 = 1000;

/// Growing memory of at least 1/100 of the peak at the end is a warning.
const NOTABLE: u64 = 100;

/// Growth per step below this is not reported, because it is harmless in runs of any length.
const HARMLESS_BYTES: u64 = 4096;

/// With fewer steps it remains unclear whether a cache fills up or memory leaks.
const STEPS_TO_BE_SURE: usize = 4;

/// `unused` has what no backward uses of each call.
pub(super) fn findings(study: &Study<'_>, config: &FindingsConfig, unused: &[Vec<Lifetime>]) -> Vec<Finding> {
    let growing: Vec<&Kept> = study.growth.growing().collect();
    if growing.is_empty() {
        return Vec::new();
    }
    let causes = cause::causes(study, &growing, unused);
    let is_worth_it = |(cause, rows): &&(Cause, Vec<&Kept>)| {
        let bytes: u64 = rows.iter().map(|kept| kept.bytes_per_step).sum();
        let has_graph = matches!(study.kind, RunKind::Training | RunKind::Forward | RunKind::Unknown);
        if *cause == Cause::Numbers { has_graph } else { bytes >= HARMLESS_BYTES }
    };
    causes.iter().filter(is_worth_it).map(|(cause, rows)| finding(study, config, *cause, rows)).collect()
}

pub(super) fn unit(study: &Study<'_>) -> &'static str {
    if study.steps.is_some() { "step" } else { "call" }
}

fn finding(study: &Study<'_>, config: &FindingsConfig, cause: Cause, rows: &[&Kept]) -> Finding {
    let bytes_per_step: u64 = rows.iter().map(|kept| kept.bytes_per_step).sum();
    let words = words::of(cause);
    let every = every(rows);
    let each = each_of(every, unit(study));
    let about = if every == 1 || rows.iter().all(|kept| kept.is_regular) { "" } else { "about " };
    let what = match words.what.strip_prefix("Every {}") {
        Some(rest) if !about.is_empty() => format!("About every {each}{}", rest.replace("{}", &each)),
        _ => words.what.replace("every {}", &format!("{about}every {{}}")).replace("{}", &each),
    };
    let rate = match (every, words.what.contains("{}")) {
        (1, _) => format!("per {each}"),
        (_, true) => "each time".to_owned(),
        (_, false) => format!("{about}every {each}"),
    };
    let rise = format::bytes(rise_bytes(rows, every));
    let largest = rows.iter().max_by_key(|kept| kept.bytes_per_step).expect("a cause has rows");
    let weighed = || rows.iter().map(|kept| (kept.bytes_per_step, kept.stack));
    let own = match words.code {
        FindingCode::GraphsKept if words.own == Own::Call => line_of_part(study, weighed()),
        _ => own_line(study, weighed(), words.own),
    };
    let place = own.as_ref().map_or_else(|| study.title(largest.stack), SourceLine::place);
    let look = own.as_ref().map_or_else(String::new, |own| words.look.replace("{}", &own.place()));
    let full = until_full(study, config.capacity_bytes);
    let until = full.map_or_else(String::new, |full| sentence(&full, unit(study)));
    let peak_bytes = study.timeline.live_peak().1;
    let at_peak = at_peak(study, rows);
    let end_bytes: u64 = rows.iter().map(|kept| kept.end_bytes).sum();
    let severity = match bytes_per_step {
        _ if cause == Cause::Numbers => Severity::Info,
        bytes if bytes.saturating_mul(SERIOUS) >= peak_bytes => Severity::Error,
        _ if end_bytes.saturating_mul(NOTABLE) >= peak_bytes => Severity::Warning,
        _ => Severity::Info,
    };
    let advice = Advice::of(words.advice);
    let advice = match held::holder(study, rows) {
        Some(holder) if holder.is_exception() => Advice::of(OF_EXCEPTION).then(&holder.sentence()),
        Some(holder) if holder.is_cache() => Advice::of(OF_CACHE).then(&holder.sentence()),
        Some(holder) if holder.is_function() => Advice::of(OF_FUNCTION).then(&holder.sentence()),
        Some(holder) => advice.first(&holder.sentence()),
        None => match held::how_to_tell(study).filter(|_| own.is_some()) {
            Some(step) => advice.then(step),
            None => advice,
        },
    };
    // Exceptions and functions have a reason of their own.
    let why = if advice.why.is_empty() { words.why } else { "" };
    let advice = advice.because(&look).because(why).because(&until);
    let rank = if at_peak.fills(peak_bytes) { Rank::Filling } else { Rank::Growth };
    let confidence = confidence(study, cause);
    let found = Finding::new(study.device.index, words.code, severity, confidence, rank, bytes_per_step)
        .titled(&what, [format!(": {rise} {rate}"), format!(", in {place}")])
        .shown(shows(study, rows, largest), events_of(study, rows), weighed());
    Finding { at_peak, line: own, advice, ..found }
}

/// Returns what earlier steps have left in `rows` at the peak, and the highest live bytes of any step without it.
///
/// A step's own tensors do not count as left, since the step needs them.
fn at_peak(study: &Study<'_>, rows: &[&Kept]) -> AtPeak {
    let (device, timeline) = (study.device, study.timeline);
    let allocations = &timeline.allocations;
    let starts: Vec<u32> = study.repeats().iter().map(|step| step.start).collect();
    let Some(&first) = starts.first() else { return AtPeak::default() };
    let ends = starts[1..].iter().copied().chain([timeline.events() + 1]);
    let highest: Vec<(u32, u64)> =
        starts.iter().zip(ends).map(|(&start, end)| timeline.live_max_in(start..end.max(start + 1))).collect();
    let keys: HashSet<(StackId, Option<u64>)> = rows.iter().map(|kept| (kept.stack, kept.size_bytes)).collect();
    // Changes of what is left at the highest moment of each step.
    let mut changes = vec![0i64; starts.len() + 1];
    for id in allocations.ids().filter(|&id| allocations.born_at(id.0) > first) {
        let (stack, size_bytes) = (allocations.allocation_stack(id, device), allocations.size_bytes(id));
        let key = if stack.has_frames() { (stack, None) } else { (StackId::NONE, Some(size_bytes)) };
        if keys.contains(&key) {
            let next = starts.partition_point(|&start| start < allocations.born_at(id.0));
            let gone = highest.partition_point(|&(moment, _)| moment < allocations.died[id.index()]).max(next);
            changes[next] += size_bytes as i64;
            changes[gone] -= size_bytes as i64;
        }
    }
    let mut left = 0;
    let mut at_peak = AtPeak { bytes: 0, rest_bytes: timeline.live_max_in(0..first.max(1)).1 };
    for (&(moment, live), change) in highest.iter().zip(changes) {
        left += change;
        let left = u64::try_from(left).unwrap_or(0);
        at_peak.rest_bytes = at_peak.rest_bytes.max(live.saturating_sub(left));
        if moment == timeline.live_peak().0 {
            at_peak.bytes = left;
        }
    }
    at_peak
}

const OF_EXCEPTION: &str = "Keep the text of the exception, not the exception: ``errors.append(str(error))``. Or cut it off its \
                            frames: `error.with_traceback(None)`.\n\n\
                            A kept exception refers to its traceback, that to the frames of the failed call, and these to \
                            all their tensors.";

const OF_CACHE: &str = "Limit the cache: ``functools.lru_cache(maxsize=8)``, or keep its results in host memory and move them when \
                        they are used.\nOr compute the result anew, if that takes less than a step.\n\n\
                        A cache keeps the result of each call with other arguments, such as another length, until the program \
                        ends.";

const OF_FUNCTION: &str = "Let functions that are kept for later hold a copy in host memory: ``field = field.cpu()`` before the \
                           `def` or `lambda`.\nIf they are hooks, register one once, or remove it when its step is over: \
                           ``handle.remove()``, with what `register_hook` or `register_forward_hook` returns.\n\n\
                           A function keeps its default values and the variables around it. One that is made in every step \
                           stays as long as a tensor or a module has it as a hook, or a list has it.";

fn confidence(study: &Study<'_>, cause: Cause) -> Confidence {
    let is_guess = matches!(cause, Cause::Unknown | Cause::Numbers | Cause::OwnTensors | Cause::Activations);
    match study.growth.steps {
        _ if is_guess || study.phases.basis() != PhaseBasis::Functions => Confidence::Medium,
        steps if steps < STEPS_TO_BE_SURE => Confidence::Medium,
        _ => Confidence::High,
    }
}

fn shows(study: &Study<'_>, rows: &[&Kept], largest: &Kept) -> String {
    let end_bytes = rows.iter().map(|kept| kept.end_bytes).sum();
    let count: u64 = rows.iter().map(|kept| kept.end_count).sum();
    let of_steps = format!("{} {} of {}", unit(study), study.growth.steps, study.growth.steps);
    let operation = study.operation(largest.stack).map_or_else(String::new, |name| format!(" by `{name}`"));
    let each = rhythm(largest, unit(study));
    let many = match (largest.is_replaced, largest.count_per_step) {
        (true, _) => format!("{each} replaces it with a larger one"),
        (false, 1) => format!("{each} adds one"),
        (false, count) => format!("{each} adds {}", format::count(count)),
    };
    let live = format!(
        "At the end of {of_steps}, {} is live in {}",
        format::bytes(end_bytes),
        format::counted(count, "allocation")
    );
    let place = study.title(largest.stack);
    match rows.len() {
        1 => format!("{live}, allocated{operation} in {place}; {many}."),
        stacks => format!(
            "{live} from {}. The stack that grows fastest adds {} per {}, allocated{operation} in {place}; {many}.",
            format::counted(stacks as u64, "stack"),
            format::bytes(largest.bytes_per_step),
            unit(study)
        ),
    }
}

/// Returns the number of steps from one rise to the next, if all rows rise together, and 1 otherwise.
fn every(rows: &[&Kept]) -> u32 {
    let every = rows.first().map_or(1, |kept| kept.every);
    let is_common = rows.iter().all(|kept| kept.every == every && !kept.is_replaced);
    if is_common { every.max(1) } else { 1 }
}

/// Returns the bytes that a rise adds; `every` is the number of steps from one to the next.
fn rise_bytes(rows: &[&Kept], every: u32) -> u64 {
    let rises = |kept: &&Kept| u64::from((kept.last_rise - kept.first_rise) / every + 1);
    match every {
        1 => rows.iter().map(|kept| kept.bytes_per_step).sum(),
        _ => rows.iter().map(|kept| kept.end_bytes / rises(kept)).sum(),
    }
}

/// Names the steps of a rhythm: `step`, `third step`, `18th step`.
fn each_of(every: u32, unit: &str) -> String {
    match every {
        1 => unit.to_owned(),
        2 => format!("second {unit}"),
        3 => format!("third {unit}"),
        every => {
            let ending = match (every % 10, every % 100) {
                (_, 11..=13) => "th",
                (1, _) => "st",
                (2, _) => "nd",
                (3, _) => "rd",
                _ => "th",
            };
            format!("{every}{ending} {unit}")
        }
    }
}

fn rhythm(kept: &Kept, unit: &str) -> String {
    let each = match kept.every {
        1 => format!("each {unit}"),
        every @ 2..=3 if kept.is_regular => format!("every {}", each_of(every, unit)),
        every if kept.is_regular => format!("one {unit} in {every}"),
        every => format!("about one {unit} in {every}"),
    };
    // The first rise of a slower rhythm does not come in the first step.
    match kept.first_rise {
        first if first >= kept.every => format!("from {unit} {} on, {each}", first + 1),
        _ => each,
    }
}

fn sentence(full: &UntilFull, unit: &str) -> String {
    let room = format::bytes(full.budget_bytes);
    let whose = match full.source {
        BudgetSource::Given => format!("the GPU's {room}"),
        BudgetSource::GivenLessOutside => format!("the {room} of GPU memory that is left for PyTorch"),
        BudgetSource::OutOfMemory => format!("the {room} that PyTorch could use when it ran out of memory"),
    };
    if full.steps == 0 {
        return format!("At this rate, all growth together fills {whose} within one more {unit}.");
    }
    let time = full.time_us.filter(|&us| us > 0).map_or_else(String::new, |us| format!(", {}", format::duration(us)));
    format!(
        "At this rate, all growth together fills {whose} after at most {} ({}{time}).",
        format::counted(full.steps, &format!("more {unit}")),
        format::counted(full.events, "event"),
    )
}
