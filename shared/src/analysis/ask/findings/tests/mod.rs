//! Tests findings on small traces; the recordings of scripts test them on real ones.

use super::*;
use crate::base::Severity;
use crate::trace::{Setting, text};
use std::fmt::Write;

mod card;
mod growth;
mod laws;
mod pinned;
mod programs;

/// Number of layers of the small model, so many that they do not look like single tensors.
const LAYERS: usize = 6;

/// Writes a training of `steps` steps: each line of `body` for step `k` becomes a line of the trace.
fn training(steps: usize, body: impl Fn(usize) -> Vec<String>) -> String {
    let mut text = "alloc weights 64MiB @setup@phase t=1\n".to_owned();
    let mut time_us = 10;
    for step in 0..steps {
        let _ = writeln!(text, "start step_{step} t={time_us}");
        for line in body(step) {
            time_us += 1;
            let _ = writeln!(text, "{line} t={time_us}");
        }
        let _ = writeln!(text, "end step_{step} t={time_us}");
        time_us += 1;
    }
    text
}

/// Writes the forward of a step: a tensor of 1 MiB for each layer, and the output of 2 MiB.
fn forward(step: usize) -> Vec<String> {
    let layers = (0..LAYERS).map(|layer| format!("alloc a{layer}.{step} 1MiB @layer{layer}<forward@phase"));
    layers.chain([format!("alloc out.{step} 2MiB @head<forward@phase")]).collect()
}

/// Writes the backward of a step, which frees the tensors unless `kept` returns true for them.
fn backward(step: usize, kept: impl Fn(&str) -> bool) -> Vec<String> {
    let mut lines = Vec::new();
    for layer in (0..LAYERS).rev() {
        lines.push(format!("alloc g{layer}.{step} 512KiB @layer{layer}<backward@phase"));
        lines.extend((!kept("a")).then(|| format!("free a{layer}.{step}")));
    }
    lines.extend((!kept("out")).then(|| format!("free out.{step}")));
    lines
}

/// Writes the optimizer's update, which frees the gradients unless they are kept.
fn update(step: usize, keeps_gradients: bool) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if step == 0 {
        lines.push("alloc state 32MiB @optimizer@phase".to_owned());
    }
    if !keeps_gradients {
        lines.extend((0..LAYERS).map(|layer| format!("free g{layer}.{step}")));
    }
    lines
}

/// Returns all findings of a trace after checking the properties that each must have.
fn found_with(text: &str, config: &FindingsConfig) -> Vec<Finding> {
    let trace = text::parse(text).unwrap();
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(&trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    let found = findings(&trace, &devices, config);
    for finding in &found {
        let is_line = !finding.title.ends_with('.') && finding.title.chars().count() <= LONGEST_TITLE;
        let texts = finding.advice.steps.iter().map(|step| &step.text).chain([&finding.advice.why]);
        assert!(is_line && texts.into_iter().all(|text| text.is_empty() || text.ends_with('.')), "{finding:?}");
        let events = trace.devices.iter().map(|device| device.events.len()).max().unwrap_or(0);
        assert!(finding.evidence.events.iter().all(|&event| (event as usize) < events), "{finding:?}");
    }
    found
}

fn findings_in(text: &str) -> Vec<Finding> {
    found_with(text, &FindingsConfig::default())
}

/// Returns the first finding of a kind.
fn finding_of(text: &str, code: FindingCode) -> Option<Finding> {
    findings_in(text).into_iter().find(|finding| finding.code == code)
}

/// Returns the codes of errors and warnings.
fn codes_with(text: &str, config: &FindingsConfig) -> Vec<(FindingCode, Severity)> {
    let found = found_with(text, config);
    let problems = found.iter().filter(|finding| finding.severity > Severity::Info);
    problems.map(|finding| (finding.code, finding.severity)).collect()
}

fn codes_in(text: &str) -> Vec<(FindingCode, Severity)> {
    codes_with(text, &FindingsConfig::default())
}

/// Returns the codes of notes, except the one about the peak.
fn notes(text: &str) -> Vec<FindingCode> {
    let found = findings_in(text);
    let notes = found.iter().filter(|finding| finding.severity == Severity::Info && finding.code != FindingCode::Peak);
    notes.map(|finding| finding.code).collect()
}

#[track_caller]
fn check(text: &str, codes: &[FindingCode]) {
    let found = codes_in(text);
    assert_eq!(found.iter().map(|(code, _)| *code).collect::<Vec<_>>(), codes);
}

fn healthy(step: usize) -> Vec<String> {
    keeping(step, |_| false, false)
}

/// Writes a step that keeps some of its tensors, or its gradients.
fn keeping(step: usize, kept: impl Fn(&str) -> bool, keeps_gradients: bool) -> Vec<String> {
    [forward(step), backward(step, kept), update(step, keeps_gradients)].concat()
}

#[test]
fn a_healthy_training_has_no_findings() {
    check(&training(5, healthy), &[]);
    check("", &[]);
    check("alloc a 1MiB", &[]);
}

#[test]
fn whole_graphs_are_told_from_single_tensors() {
    let graphs = |step| keeping(step, |_| true, false);
    check(&training(5, graphs), &[FindingCode::GraphsKept]);
    let outputs = |step| keeping(step, |name| name == "out", false);
    check(&training(5, outputs), &[FindingCode::OutputsKept]);
    let hooked = |step| {
        let mut lines = healthy(step);
        lines.retain(|line| !line.starts_with("free a2") && !line.starts_with("free a3"));
        lines
    };
    check(&training(5, hooked), &[FindingCode::ActivationsKept]);
}

#[test]
fn a_backward_that_lengthens_tells_a_chain() {
    let chained = |step| {
        let longer = (0..step * 2).map(|index| format!("alloc b{index}.{step} 512 @longer{index}<backward@phase"));
        let freed = (0..step * 2).map(|index| format!("free b{index}.{step}"));
        let kept = [forward(step), longer.collect(), backward(step, |name| name == "a")];
        [kept.concat(), freed.collect(), update(step, false)].concat()
    };
    check(&training(6, chained), &[FindingCode::StateChained]);
}

#[test]
fn what_is_kept_is_told_by_its_phase() {
    let gradients = |step| keeping(step, |_| false, true);
    check(&training(5, gradients), &[FindingCode::GradientsKept]);
    let batches = |step| [vec![format!("alloc x.{step} 1MiB @data@phase")], healthy(step)].concat();
    check(&training(5, batches), &[FindingCode::BatchesKept]);
    let evaluated = |step| {
        let lines = forward(step).into_iter().map(|line| line.replace("forward@", "evaluation@").replace(" a", " e"));
        [healthy(step), lines.map(|line| line.replace(" out", " eout")).collect()].concat()
    };
    check(&training(5, evaluated), &[FindingCode::EvaluationGraphsKept]);
    let state = |step| [healthy(step), vec![format!("alloc m.{step} 1MiB @optimizer@phase")]].concat();
    check(&training(5, state), &[FindingCode::OptimizerStateGrows]);
    let scores = |step| [healthy(step), vec![format!("alloc e.{step} 1MiB @head<evaluation@phase")]].concat();
    check(&training(5, scores), &[FindingCode::EvaluationOutputsKept]);
    let models = |step| [healthy(step), vec![format!("alloc w.{step} 8MiB @setup@phase")]].concat();
    check(&training(5, models), &[FindingCode::ModelsKept]);
    let others =
        |step: usize| vec![format!("alloc o.{step} 1MiB"), format!("alloc t.{step} 2MiB"), format!("free t.{step}")];
    check(&training(5, others).replace(" @setup@phase", ""), &[FindingCode::MemoryGrows]);
}

#[test]
fn a_tensor_that_takes_the_place_of_a_smaller_one_grows() {
    let longer = |step: usize| {
        let older = step.checked_sub(1).map(|older| format!("free all.{older}"));
        let all = format!("alloc all.{step} {}MiB @cat<forward@phase", step + 1);
        [healthy(step), vec![all], older.into_iter().collect()].concat()
    };
    check(&training(5, longer), &[FindingCode::TensorGrows]);
}

#[test]
fn gradients_that_are_never_cleared_stay() {
    let never = |step| {
        let mut lines = keeping(step, |_| false, true);
        lines.retain(|line| step == 0 || !line.starts_with("alloc g"));
        lines
    };
    check(&training(5, never), &[FindingCode::GradientsStay]);
}

#[test]
fn a_graph_may_outlive_its_step() {
    let retained = |step: usize| {
        let older = step.checked_sub(1).map(|older| backward(older, |_| false)).unwrap_or_default();
        let freed = older.into_iter().filter(|line| line.starts_with("free")).collect();
        [forward(step), freed, backward(step, |_| true), update(step, false)].concat()
    };
    check(&training(5, retained), &[FindingCode::GraphOutlivesStep]);
}

#[test]
fn several_passes_before_backward_are_counted() {
    let once = |step| {
        let passes = (0..3).flat_map(|pass| forward(step * 10 + pass));
        let freed = (0..3).flat_map(|pass| backward(step * 10 + pass, |_| false));
        let updated = (0..3).flat_map(|pass| update(step * 10 + pass, false));
        passes.chain(freed).chain(updated.filter(|line| line.starts_with("free"))).collect::<Vec<_>>()
    };
    check(&training(4, once), &[FindingCode::SeveralGraphsAtOnce]);
}

#[test]
fn a_cache_that_is_emptied_by_hand_is_told_from_one_that_was_needed() {
    let emptied = |stack: &'static str| {
        move |step| {
            let segments = vec![
                format!("segment_alloc S 20MiB @malloc"),
                format!("segment_free S 20MiB @{stack}"),
                format!("segment_alloc T 2MiB @malloc"),
                format!("segment_free T 2MiB @{stack}"),
                format!("segment_alloc U.{step} 64MiB @malloc"),
            ];
            [healthy(step), segments].concat()
        }
    };
    let emptied_codes = |stack| codes_in(&training(4, emptied(stack)));
    assert_eq!(emptied_codes("empty_cache"), [(FindingCode::CacheEmptied, Severity::Warning)]);
    assert_eq!(emptied_codes("malloc"), []);
    assert_eq!(emptied_codes("empty_cache<__enter__@v/torch/cuda/graphs.py<main"), []);
}

#[test]
fn a_loss_of_two_bytes_is_in_16_bits() {
    let half = |step| {
        [vec![format!("alloc l.{step} 2 @cross_entropy<forward@phase"), format!("free l.{step}")], healthy(step)]
    };
    check(&training(3, |step| half(step).concat()), &[FindingCode::LossIn16Bits]);
}

#[test]
fn limits_are_errors() {
    let config = FindingsConfig {
        capacity_bytes: Some(100 << 20),
        max_peak_bytes: Some(100 << 20),
        max_reserved_bytes: Some(100 << 20),
        max_growth_bytes: Some(3 << 20),
    };
    let found = codes_with(&training(5, healthy), &config);
    assert_eq!(found, [(FindingCode::PeakAboveLimit, Severity::Error), (FindingCode::CardTooSmall, Severity::Warning)]);
    let graphs = |step| keeping(step, |_| true, false);
    let found: Vec<_> = codes_with(&training(5, graphs), &config).into_iter().map(|row| row.0).collect();
    let limits = [FindingCode::PeakAboveLimit, FindingCode::GrowthAboveLimit];
    assert_eq!(found, [&limits[..], &[FindingCode::GraphsKept, FindingCode::CardTooSmall]].concat());
}

#[test]
fn reserved_memory_has_a_limit_of_its_own() {
    let text = "segment_alloc S 40MiB\nalloc S 8MiB @a\nfree S\nsegment S 40MiB\nblock S 40MiB inactive";
    let codes = |limit: u64| {
        let config = FindingsConfig { max_reserved_bytes: Some(limit), ..FindingsConfig::default() };
        found_with(text, &config).into_iter().map(|finding| (finding.code, finding.bytes)).collect::<Vec<_>>()
    };
    let is_reported = |limit| codes(limit).contains(&(FindingCode::ReservedAboveLimit, 40 << 20));
    assert!(is_reported((40 << 20) - 1), "{:?}", codes((40 << 20) - 1));
    assert!(!is_reported(40 << 20));
}

#[test]
fn devices_that_do_not_share_the_work_are_named() {
    let second = "device 1\nalloc x 1MiB @loss<forward@phase t=3\nfree x t=4\nalloc y 1MiB @loss<forward@phase t=5\nfree y t=6\n";
    check(&(training(4, healthy) + second), &[FindingCode::DeviceWithoutWeights]);
    let second = "device 1\nalloc v 16MiB @setup@phase t=3\nalloc y 1MiB @loss<forward@phase t=5\n";
    check(&(training(4, healthy) + second), &[FindingCode::DevicesUneven]);
}

#[test]
fn waste_names_the_setting_that_helps() {
    let sizes = || (10..25).map(|size| size * 8);
    let steps: String =
        sizes().map(|size| format!("segment_alloc S{size} {size}MiB\nalloc S{size}\nfree S{size}\n")).collect();
    let rests: String =
        sizes().map(|size| format!("segment S{size} {size}MiB\nblock S{size} {size}MiB inactive\n")).collect();
    let waste = finding_of(&(steps + &rests), FindingCode::ReservedAboveLive).unwrap();
    let helps = "Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`: in a replay, the recording reserves 200 MiB at \
                 the peak instead of 1.99 GiB.";
    assert_eq!(waste.advice.steps[0].text, helps);
}

#[test]
fn many_tiny_tensors_are_noted_and_few_are_not() {
    let kept = |count: usize| {
        let numbers = (0..count).fold(String::new(), |mut lines, number| {
            let _ = writeln!(lines, "alloc n{number} 4 @append<train");
            lines
        });
        finding_of(&format!("alloc weights 64MiB @setup\n{numbers}"), FindingCode::TinyAllocations)
    };
    assert_eq!(kept(9_999), None);
    let tiny = kept(10_000).expect("there are enough");
    assert_eq!((tiny.severity, tiny.bytes), (Severity::Info, 10_000 * 512));
    assert!(tiny.title.starts_with("10,000 tensors") && tiny.title.contains("append"), "{}", tiny.title);
    assert!(tiny.evidence.shows.contains("39.1 KiB"), "{}", tiny.evidence.shows);
}
