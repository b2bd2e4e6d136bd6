//! Tests the sentences, the table, the curves and the page of a made report.

use super::*;
use crate::api::{FixLeftOut, FixShare};

const GIB: u64 = 1 << 30;

fn figures(live_gib: u64, reserved_gib: u64) -> FixFigures {
    let curve = (0..50).map(|part| live_gib * GIB * (part % 25 + 1) / 25).collect();
    FixFigures {
        peak_live_bytes: live_gib * GIB,
        peak_reserved_bytes: reserved_gib * GIB,
        fits: reserved_gib < 14,
        curve,
    }
}

fn remedy(name: &str, reserved_gib: u64, class: FixCostClass, changes: Option<&str>) -> FixRemedy {
    FixRemedy {
        name: name.into(),
        title: format!("Apply `{name}` <here>"),
        changes: changes.map(str::to_owned),
        figures: figures(reserved_gib - 1, reserved_gib),
        saves_bytes: (21 - reserved_gib) * GIB,
        cost: FixCost { class, reason: "a reason".into() },
        applied: vec!["12 blocks of GPT.blocks (Block)".into()],
        lines: vec![format!("{name}(\"<model>\")")],
    }
}

fn report() -> FixReport {
    FixReport {
        card: "t4-16gb".into(),
        name: "train.py".into(),
        capacity_bytes: 14_930 << 20,
        margin_bytes: 448 << 20,
        steps: 3,
        baseline: figures(19, 21),
        at_peak: vec![FixShare { category: "Activations".into(), bytes: 12 * GIB }],
        remedies: vec![
            remedy("expandable", 18, FixCostClass::None, None),
            remedy("checkpoint", 15, FixCostClass::Moderate, None),
            remedy("adafactor", 16, FixCostClass::Small, Some("another update rule")),
        ],
        smallest_set: vec!["expandable".into(), "checkpoint".into()],
        together: Some(remedy("expandable+checkpoint", 12, FixCostClass::Moderate, None)),
        largest_batch: Some(6),
        left_out: vec![FixLeftOut { name: "fused".into(), reason: "the optimizer is fused already".into() }],
        notes: vec!["a note".into()],
    }
}

#[test]
fn the_answer_says_what_is_enough() {
    let needs = "It needs 21.0 GiB and t4-16gb has 14.6 GiB: ";
    let told = |report: &FixReport| answer(report).strip_prefix(needs).map(str::to_owned);
    let mut report = report();
    let expected = "with expandable and checkpoint it fits, 12.0 GiB; largest batch 6";
    assert_eq!(told(&report).as_deref(), Some(expected));
    assert_eq!(lines(&report), ["expandable+checkpoint(\"<model>\")"]);
    report.remedies[2].figures.fits = true;
    let faster = format!("{expected}; adafactor is faster, and changes the mathematics");
    assert_eq!(told(&report), Some(faster), "small and not moderate");
    report.remedies[2].figures.fits = false;
    report.smallest_set.clear();
    report.largest_batch = None;
    let expected = "nothing that was tried makes it fit; with expandable+checkpoint it takes 12.0 GiB; as it is, rtx4090-24gb has room";
    assert_eq!(told(&report).as_deref(), Some(expected));
    assert_eq!(lines(&report), [""; 0]);
    (report.together, report.largest_batch) = (None, Some(3));
    let expected = "nothing that was tried makes it fit; a batch of 3 fits; as it is, rtx4090-24gb has room";
    assert_eq!(told(&report).as_deref(), Some(expected));
    assert!(lines(&report).is_empty());
    report.notes.push(INTERRUPTED.to_owned());
    assert_eq!(told(&report).as_deref(), Some("nothing that was tried before the interrupt makes it fit"));
    report.remedies[1].figures.fits = true;
    report.remedies[1].lines = vec!["model.gradient_checkpointing_enable()".to_owned()];
    assert_eq!(told(&report).as_deref(), Some("with checkpoint it should fit, by a run on a larger card"));
    assert_eq!(lines(&report), ["model.gradient_checkpointing_enable()"], "an interrupt loses nothing");
    (report.remedies, report.left_out) = Default::default();
    assert_eq!(told(&report).as_deref(), Some("no remedy was tried"));
    (report.baseline.fits, report.largest_batch) = (true, None);
    assert_eq!(answer(&report), "It needs 14.6 GiB and t4-16gb has 14.6 GiB: it fits as it is");
}

#[test]
fn remedies_that_change_the_mathematics_stand_apart() {
    let table = table(&report());
    let first: Vec<&str> = table.rows.iter().map(|row| row[0].as_str()).collect();
    let expected = ["as it is", "expandable", "checkpoint", "expandable+checkpoint", MATHEMATICS, "adafactor"];
    assert_eq!(first, expected);
    let row = ["checkpoint", "14.0 GiB", "15.0 GiB", "6.00 GiB", "no", "moderate: a reason"];
    assert_eq!(table.rows[2], row);
    assert_eq!(table.rows[5][5], "another update rule; slowdown: small: a reason");
}

#[test]
fn what_is_left_out_has_its_reason() {
    let mut report = report();
    assert_eq!(notes(&report), ["a note", "without fused: the optimizer is fused already"]);
    report.remedies[1].figures.fits = true;
    assert_eq!(notes(&report)[1], GIVES_BACK, "15 GiB of 14.6");
}

#[test]
fn each_run_has_a_labelled_curve() {
    let mut report = report();
    let picture = svg(&report);
    for label in ["as it is", "expandable", "checkpoint", "adafactor", "expandable+checkpoint", ">t4-16gb<"] {
        assert!(picture.contains(label), "{label} in {picture}");
    }
    let limits = |picture: &str| picture.matches("stroke-dasharray").count();
    assert_eq!(limits(&picture), 5, "the limit is a line in each row");
    report.capacity_bytes = 80 * GIB;
    assert_eq!(limits(&svg(&report)), 0, "a limit far above would flatten the curves");
}

#[test]
fn the_page_is_whole_and_escaped() {
    let page = html(&report());
    for part in ["it fits, 12.0 GiB", "Lines to add", "<svg", "Activations", "12 blocks", "prefers-color-scheme"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<model>") && !page.contains("<here>") && !page.contains("<script"));
}
