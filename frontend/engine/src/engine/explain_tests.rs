//! Tests what the engine explains about small trainings: findings, steps and phases, categories.

use super::*;
use frontend::ask::*;
use shared::analysis::{Category, FindingCode, GrowthClass, PictureRequest};
use shared::base::{Moment, Severity};
use shared::report::Diagnosis;
use std::fmt::Write;

/// Number of layers of the model, enough to distinguish a graph from single tensors.
const LAYERS: usize = 6;

/// Returns five steps of a small model; `annotate` names them, and `leak` keeps the tensors of forward.
fn training(annotate: bool, leak: bool) -> String {
    let mut source = "alloc weights 64MiB @setup@phase t=1\n".to_owned();
    let mut time_us = 10;
    for step in 0..5 {
        if annotate {
            writeln!(source, "start step_{step} t={time_us}").unwrap();
        }
        for line in step_lines(step, leak) {
            time_us += 1;
            writeln!(source, "{line} t={time_us}").unwrap();
        }
        if annotate {
            writeln!(source, "end step_{step} t={time_us}").unwrap();
        }
        time_us += 5;
    }
    source
}

fn step_lines(step: usize, leak: bool) -> Vec<String> {
    let mut lines = vec![format!("alloc x.{step} 1MiB @data@phase")];
    lines.extend((0..LAYERS).map(|layer| format!("alloc a{layer}.{step} 4MiB @layer{layer}<forward@phase")));
    for layer in (0..LAYERS).rev() {
        lines.push(format!("alloc g{layer}.{step} 512KiB @layer{layer}<backward@phase"));
        lines.extend((!leak).then(|| format!("free a{layer}.{step}")));
    }
    lines.push(format!("alloc t.{step} 64KiB @optimizer@phase"));
    lines.push(format!("free t.{step}"));
    lines.extend((0..LAYERS).map(|layer| format!("free g{layer}.{step}")));
    lines.push(format!("free x.{step}"));
    lines
}

/// Returns the parts and the findings that the engine reports without a question.
fn told(source: &str) -> (Vec<Parts>, Diagnosis) {
    all_reports(Engine::of(source))
}

fn all_reports(mut engine: Engine) -> (Vec<Parts>, Diagnosis) {
    let mut all = (Vec::new(), Diagnosis::default());
    while let Some(report) = engine.next_report() {
        match report {
            Report::Parts(parts) => all.0.push(parts),
            Report::Findings(findings) => all.1 = findings,
            _ => (),
        }
    }
    all
}

fn codes(findings: &Diagnosis) -> Vec<(FindingCode, Severity)> {
    findings.findings.iter().map(|finding| (finding.code, finding.severity)).collect()
}

#[test]
fn a_leak_is_found_with_its_stacks_and_events() {
    let (_, findings) = told(&training(true, true));
    assert_eq!(codes(&findings), [(FindingCode::GraphsKept, Severity::Error), (FindingCode::Peak, Severity::Info)]);
    let leak = &findings.findings[0];
    assert_eq!((leak.bytes, leak.device), (LAYERS as u64 * (4 << 20), 0));
    assert!(leak.evidence.stacks[0][0].name.starts_with("layer"), "{:?}", leak.evidence.stacks);
    let mut engine = Engine::of(&training(true, true));
    for &event in &leak.evidence.events {
        let find = FindAllocation { device: 0, key: AllocationKey::Event(event), moment: event + 1 };
        let hit = engine.answer(&find).expect("the event allocates");
        assert_eq!(hit.allocation.map(|found| found.size_bytes), Some(4 << 20));
    }
}

#[test]
fn what_holds_the_peak_is_there_without_problems() {
    let (_, findings) = told(&training(false, false));
    assert_eq!(codes(&findings), [(FindingCode::Peak, Severity::Info)]);
    assert!(findings.findings[0].title.contains("72 % parameters"), "{}", findings.findings[0].title);
    let compared: Vec<_> = findings.growth.iter().map(|growth| (growth.steps, growth.bytes_per_step)).collect();
    assert_eq!(compared, [(5, 0)]);
}

#[test]
fn findings_follow_the_card() {
    let mut engine = Engine::of(&training(true, true));
    let mut on = |capacity_bytes| engine.answer(&GetFindings { capacity_bytes }).unwrap();
    assert!(!on(None).findings[0].advice.contains("At this rate"));
    let on_card = on(Some(1 << 30));
    assert!(on_card.findings[0].advice.contains("fills the GPU's 1.00 GiB"), "{}", on_card.findings[0].advice);
    assert!(on(Some(100 << 20)).findings.iter().any(|row| row.code == FindingCode::CardTooSmall));
    let growth = &on_card.growth[0].classes;
    assert_eq!((growth[0].class, growth[0].bytes_per_step), (GrowthClass::Leak, LAYERS as u64 * (4 << 20)));
    // Reports without a question use the same card.
    on(Some(1 << 30));
    let (_, told) = all_reports(engine);
    assert_eq!(told, on_card);
}

#[test]
fn findings_name_their_device_by_its_cuda_index() {
    let idle = "segment s 1KiB\n";
    let (_, findings) = told(&format!("device 3\n{idle}device 7\n{}", training(true, true)));
    assert!(
        findings.findings.iter().any(|finding| finding.code == FindingCode::GraphsKept && finding.device == 7),
        "{findings:?}"
    );
}

#[test]
fn a_file_without_devices_says_that_too_little_was_recorded() {
    let (parts, findings) = all_reports(Engine::new(Trace::default()));
    assert_eq!(parts, vec![]);
    let codes: Vec<FindingCode> = findings.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [FindingCode::TooLittleRecorded]);
}

#[test]
fn steps_are_found_where_weights_are_updated() {
    let (parts, _) = told(&training(false, false));
    assert_eq!((parts.len(), parts[0].steps_basis, parts[0].steps.len()), (1, StepSource::Optimizer, 5));
    let events_of_a_step: usize =
        step_lines(0, false).iter().map(|line| 1 + usize::from(line.starts_with("free"))).sum();
    for pair in parts[0].steps.windows(2) {
        assert_eq!(pair[0].end_moment, pair[1].start_moment);
        assert_eq!((pair[1].end_moment - pair[1].start_moment) as usize, events_of_a_step);
        assert_eq!(pair[0].end_us, pair[1].start_us);
    }
}

#[test]
fn phases_cover_a_step_in_turn() {
    let (parts, _) = told(&training(true, false));
    assert_eq!((parts[0].steps_basis, parts[0].phases_basis), (StepSource::Annotations, PhaseBasis::Functions));
    let PartSpan { start_moment, end_moment, .. } = parts[0].steps[2];
    let inside =
        parts[0].phases.iter().filter(|(_, part)| part.start_moment >= start_moment && part.end_moment <= end_moment);
    let names: Vec<_> = inside.map(|(name, _)| *name).collect();
    use Phase::{Backward, Data, Forward, Optimizer};
    assert_eq!(names, [Data, Forward, Backward, Optimizer]);
}

#[test]
fn phases_that_are_annotated_are_not_told_again() {
    let source =
        training(true, false) + "start forward t=12\nend forward t=15\nstart backward t=15\nend backward t=20\n";
    assert_eq!(told(&source).0[0].phases, []);
    assert_eq!(awaited(&source), (false, false));
}

/// Returns whether the marks announce steps, and whether they announce phases.
fn awaited(source: &str) -> (bool, bool) {
    let marks = Engine::of(source).answer(&GetMarks { device: 0 }).unwrap();
    (marks.awaits_steps, marks.awaits_phases)
}

#[test]
fn marks_say_what_is_to_come() {
    assert_eq!(awaited(&training(true, false)), (false, true));
    assert_eq!(awaited(&training(false, false)), (true, true));
    assert_eq!(awaited("segment s 1KiB"), (false, false), "nothing is allocated");
}

#[test]
fn categories_sum_up_to_what_is_live() {
    let source = training(false, false) + "segment S 2MiB\nblock old 2MiB requested=2000000\n";
    let mut engine = Engine::of(&source);
    let Some(Report::Figures(figures)) = engine.next_report() else { panic!("figures come first") };
    for moment in [0, 1, figures.peak_moment, u32::MAX] {
        let bytes = engine.answer(&GetCategories { device: 0, moment }).unwrap();
        let sum = bytes.initial_bytes + bytes.rows.iter().map(|row| row.1).sum::<u64>();
        let stacks = engine.answer(&GetStacks { device: 0, moment, limit: 0 }).unwrap();
        assert_eq!((sum, bytes.moment), (stacks.live_bytes, Moment::of_event_number(stacks.event).0));
        assert_eq!(bytes.initial_bytes, 2_000_000);
        let categories: Vec<_> = bytes.rows.iter().map(|&(category, _)| category.name()).collect();
        assert_eq!(categories, ["parameter", "gradient", "activation", "input", "temporary"]);
    }
}

#[test]
fn a_picture_is_in_the_colours_that_were_asked_for() {
    let source = training(false, false);
    let mut engine = Engine::of(&source);
    let colors = |engine: &mut Engine, color| {
        let (x1, y1) = (200.0, (128 << 20) as f64);
        let request = PictureRequest { x1, y1, width_px: 400, height_px: 600, ..PictureRequest::default() };
        let view = View { request, pixel_ratio: 1.0, color, ..View::default() };
        let data = engine.answer(&GetPicture { device: 0, view, kind: None }).unwrap();
        let colors = data.bands.chunks_exact(raster::BAND_BYTES).map(|row| u32::from(row[20]));
        colors.collect::<std::collections::BTreeSet<_>>()
    };
    let categories = colors(&mut engine, ColorBy::Category);
    let expected = [Category::Parameter, Category::Gradient, Category::Activation, Category::Input];
    assert!(expected.iter().all(|&category| categories.contains(&(category as u32 + 1))), "{categories:?}");
    assert!(categories.iter().all(|&color| color as usize <= Category::ALL.len()), "{categories:?}");
    assert!(colors(&mut engine, ColorBy::Stack).len() > categories.len(), "layers have stacks of their own");
}
