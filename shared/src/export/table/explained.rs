//! Writes the rows of the tables of training steps and findings.

use super::{Cell, Rows};
use crate::analysis::{Axis, FindingPart};
use crate::base::Moment;
use crate::export::subject::Subject;
use crate::trace::StackId;

pub(super) const STEPS: &[&str] = &[
    "device",
    "step",
    "first_event",
    "last_event",
    "start_us",
    "end_us",
    "peak_live_bytes",
    "peak_event",
    "end_live_bytes",
    "peak_reserved_bytes",
];

pub(super) fn steps(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for study in subject.studies() {
        let (device, timeline) = (study.device, study.timeline);
        let time_us = |moment: u32| match timeline.has_times() {
            true => Cell::number(timeline.x_of_moment(device, Axis::Time, moment) as i64),
            false => Cell::Nothing,
        };
        for (index, step) in study.steps.iter().flat_map(|steps| &steps.steps).enumerate() {
            let (peak_moment, peak_live_bytes) = timeline.live_max_in(step.start..step.end + 1);
            row(&[
                Cell::number(device.index),
                Cell::number(index as i64),
                Cell::number(step.start),
                Cell::number(Moment(step.end).event_number()),
                time_us(step.start + 1),
                time_us(step.end),
                Cell::number(peak_live_bytes),
                Cell::number(Moment(peak_moment).event_number()),
                Cell::number(timeline.live_at(step.end)),
                Cell::number(timeline.reserved_max_in(step.start..step.end + 1).1),
            ]);
        }
    }
}

pub(super) const FINDINGS: &[&str] = &[
    "code",
    "severity",
    "confidence",
    "device",
    "bytes",
    "title",
    "shows",
    "advice",
    "events",
    "stack",
    "frames",
    "parts",
    "steps",
    "why",
];

pub(super) fn findings(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for (finding, parts) in subject.findings() {
        let parts: Vec<String> = parts.iter().map(FindingPart::text).collect();
        let steps = finding.advice.steps.iter().zip(1..);
        let steps: Vec<String> = steps.map(|(step, number)| format!("{number}. {}", step.text)).collect();
        let stack = finding.evidence.stacks.first().copied().unwrap_or(StackId::NONE);
        row(&[
            Cell::text(finding.code.name()),
            Cell::text(finding.severity.name()),
            Cell::text(finding.confidence.name()),
            Cell::number(finding.device),
            Cell::number(finding.bytes),
            Cell::text(finding.title),
            Cell::text(finding.evidence.shows),
            Cell::text(finding.advice.text()),
            Cell::Numbers(finding.evidence.events),
            Cell::stack(stack),
            Cell::Frames(stack),
            Cell::text(parts.join("; ")),
            Cell::text(steps.join(" ")),
            Cell::text(finding.advice.why),
        ]);
    }
}
