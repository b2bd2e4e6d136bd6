//! Sums up a device in one sentence: what ran, on what, and what went wrong or how much room is left.

use crate::analysis::{
    AtPeak, Budget, Category, RunKind, Study, live_by_category, recorded_version, script_of, until_full,
};
use crate::base::format;
use crate::trace::{Accelerator, Action, Trace};

/// Sentence about a device, in its two parts.
pub(super) struct Headline {
    /// What ran, and on what.
    pub(super) subject: String,
    /// What went wrong, or how much room is left.
    pub(super) outcome: String,
    pub(super) has_problem: bool,
}

impl Headline {
    /// `error` has the title of the worst finding about the device, if it has one, and what that holds; `capacity_bytes`
    /// is the memory of the card, if it is known.
    pub(super) fn of(
        trace: &Trace,
        study: &Study<'_>,
        error: Option<(&str, AtPeak)>,
        capacity_bytes: Option<u64>,
    ) -> Self {
        let problem = problem(study, error, capacity_bytes);
        Self {
            subject: format!("{} on {}", what(study), on(trace, study, capacity_bytes)),
            has_problem: problem.is_some(),
            outcome: problem.unwrap_or_else(|| room(study, capacity_bytes)),
        }
    }

    pub(super) fn sentence(&self) -> String {
        format!("{}: {}", self.subject, self.outcome)
    }
}

/// Returns the sentence about each device with memory, as far as it can be said without findings.
pub fn headlines(trace: &Trace, studies: &[Study<'_>]) -> Vec<String> {
    studies.iter().map(|study| Headline::of(trace, study, None, None).sentence()).collect()
}

/// Names the run and its script: `Training in train.py, 3 steps`.
fn what(study: &Study<'_>) -> String {
    let kind = match study.kind {
        RunKind::Training => "Training",
        RunKind::Forward => "Forward passes with gradients",
        RunKind::Inference => "Inference",
        RunKind::Generation => "Text generation",
        RunKind::Evaluation => "Evaluation",
        RunKind::SetUp => "Model setup",
        RunKind::NoTrace => "A snapshot without events",
        RunKind::Unknown => "A run",
    };
    let script = script_of(study).map_or_else(String::new, |script| format!(" in {script}"));
    let steps = study.steps.as_ref().map_or(0, |steps| steps.steps.len() as u64);
    let steps = if steps > 1 { format!(", {}", format::counted(steps, "step")) } else { String::new() };
    format!("{kind}{script}{steps}")
}

/// Names the device, its memory and the release of PyTorch, as far as they are known.
fn on(trace: &Trace, study: &Study<'_>, capacity_bytes: Option<u64>) -> String {
    let device = match study.device.index {
        index if index < 0 => "pinned host memory".to_owned(),
        index => format!("{} {index}", Accelerator::of(trace).device()),
    };
    let memory = capacity_bytes.map_or_else(String::new, |bytes| format!(" with {}", format::bytes(bytes)));
    let version = recorded_version(trace)
        .map_or_else(String::new, |version| format!(" (PyTorch {}.{} or later)", version.0, version.1));
    format!("{device}{memory}{version}")
}

/// States the worst problem: what fills the memory, none left, growth, or else the first error.
fn problem(study: &Study<'_>, error: Option<(&str, AtPeak)>, capacity_bytes: Option<u64>) -> Option<String> {
    let events = &study.device.events;
    let failed = events.actions().iter().position(|action| action == Action::Oom);
    let peak_bytes = study.timeline.live_peak().1;
    if let Some((title, at_peak)) = error.filter(|(_, at_peak)| at_peak.fills(peak_bytes)) {
        let out = if failed.is_some() { "ran out of memory: " } else { "" };
        let (title, peak) = (lower(title), format::bytes(peak_bytes));
        let (bytes, rest) = (format::bytes(at_peak.bytes), format::bytes(at_peak.rest_bytes));
        return Some(format!("{out}{title}; {bytes} of {peak} at the peak, about {rest} without it"));
    }
    if let Some(event) = failed.map(|event| events.at(event)) {
        let (asked, free) = (format::bytes(event.size_bytes), format::bytes(event.addr));
        return Some(format!("ran out of memory, tried to allocate {asked} with {free} free{}", filled_by(study)));
    }
    /// Less is harmless in runs of any length, such as a loss that is kept as a tensor.
    const NOTABLE_BYTES: u64 = 4096;
    let grows = study.growth.bytes_per_step();
    if grows >= NOTABLE_BYTES {
        let full = until_full(study, capacity_bytes)
            .map_or_else(String::new, |full| format!(", full after {}", format::counted(full.steps, "more step")));
        let cause = error.filter(|(_, at_peak)| at_peak.rest_bytes > 0);
        let what = || format!("grows by {} per step", format::bytes(grows));
        return Some(cause.map_or_else(what, |(title, _)| lower(title)) + &full);
    }
    error.map(|(title, _)| lower(title))
}

/// Names the category that has most of the peak: `; activations are 135 of 137 GiB`.
fn filled_by(study: &Study<'_>) -> String {
    let (moment, peak_bytes) = study.timeline.live_peak();
    let shares = if study.phases.are_told() { live_by_category(study, moment) } else { Vec::new() };
    let most = shares.first().filter(|share| share.category != Category::Unknown && share.bytes * 2 > peak_bytes);
    most.map_or_else(String::new, |share| {
        let (bytes, peak) = (format::bytes(share.bytes), format::bytes(peak_bytes));
        format!("; {} are {bytes} of {peak}", share.category.plural())
    })
}

/// States the room that the peak leaves, or the peak if the memory of the card is not known.
fn room(study: &Study<'_>, capacity_bytes: Option<u64>) -> String {
    let timeline = study.timeline;
    let (live, reserved) = (timeline.live_peak().1, timeline.reserved_peak().1);
    let peak = format!("peak {} live, {} reserved", format::bytes(live), format::bytes(reserved));
    match Budget::of(study, capacity_bytes) {
        Some(budget) if budget.bytes >= reserved => format!("{peak}, {} left", format::bytes(budget.bytes - reserved)),
        Some(budget) => format!("{peak}, {} too much", format::bytes(reserved - budget.bytes)),
        None => peak,
    }
}

/// Begins a title in the middle of a sentence; names and abbreviations keep their capitals.
fn lower(title: &str) -> String {
    let mut letters = title.chars();
    let (first, second) = (letters.next(), letters.clone().next());
    match (first, second) {
        (Some(first), Some(second)) if second.is_lowercase() && !title.starts_with("PyTorch") => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::studies;
    use crate::analysis::{FindingsConfig, Timeline};
    use crate::report::{DiagnosisConfig, diagnosis};
    use crate::trace::text;

    #[track_caller]
    fn check(source: &str, capacity_bytes: Option<u64>, headline: &str, is_problem: bool) {
        let trace = text::parse(source).unwrap();
        let timelines: Vec<_> = trace.devices.iter().map(|device| Timeline::new(&trace, device)).collect();
        let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
        let findings = FindingsConfig { capacity_bytes, ..FindingsConfig::default() };
        let config = DiagnosisConfig { findings, with_groups: false };
        let run = diagnosis(&trace, &studies(&trace, &devices), &config).runs.remove(0);
        assert_eq!((run.headline.as_str(), run.has_problem), (headline, is_problem));
    }

    #[test]
    fn a_headline_says_what_ran_and_how_it_ended() {
        let (begin, end) =
            ("segment_alloc s 2MiB\nalloc a 1MiB @f@/srv/model.py<main@/srv/train.py", "segment s 2MiB\nblock a 1MiB");
        let quiet = format!("{begin}\n{end}");
        check(&quiet, None, "A run in train.py on GPU 0: peak 1.00 MiB live, 2.00 MiB reserved", false);
        let room = "A run in train.py on GPU 0 with 8.00 MiB: peak 1.00 MiB live, 2.00 MiB reserved, 6.00 MiB left";
        check(&quiet, Some(8 << 20), room, false);
        let failed = format!("{begin}\noom 4MiB free=512 @f@/srv/model.py<main@/srv/train.py\n{end}");
        let failed_text = "A run in train.py on GPU 0: ran out of memory, tried to allocate 4.00 MiB with 512 B free";
        check(&failed, None, failed_text, true);
        let step = |step: usize| {
            format!(
                "alloc a{step} 2MiB @forward@phase\nalloc g{step} 1MiB @backward@phase\n\
                 alloc s{step} 1MiB @step@torch/optim/sgd.py<main@train.py\nfree s{step}\nfree g{step}\n"
            )
        };
        let growing: String = (0..6).map(step).collect();
        let filled = "Training in train.py, 6 steps on GPU 0: the model's outputs stay after every step: 2.00 MiB per step, in forward; \
                      10.0 MiB of 14.0 MiB at the peak, about 4.00 MiB without it";
        check(&growing, None, filled, true);
        let failed = format!("{growing}oom 4MiB free=512 @forward@m.py<train@train.py\n");
        let failed_text = filled.replace("0: ", "0: ran out of memory: ");
        check(&failed, None, &failed_text, true);
        let state = "segment s 2MiB\nblock b 1MiB";
        check(state, None, "A snapshot without events on GPU 0: peak 1.00 MiB live, 2.00 MiB reserved", false);
    }
}
