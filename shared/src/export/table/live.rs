//! Writes the rows of the tables of what is alive at a moment.

use super::{Cell, Rows};
use crate::analysis::{Category, live_by_category, live_by_stack};
use crate::base::Moment;
use crate::export::subject::Subject;

pub(super) const STACKS: &[&str] = &["device", "event", "stack", "bytes", "count", "initial_bytes", "title", "frames"];

pub(super) fn stacks(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for &(device, timeline) in subject.devices {
        let moment = subject.moment_of(timeline);
        for group in live_by_stack(device, &timeline.allocations, moment) {
            row(&[
                Cell::number(device.index),
                Cell::number(Moment(moment).event_number()),
                Cell::stack(group.stack),
                Cell::number(group.bytes),
                Cell::number(group.count),
                Cell::number(group.initial_bytes),
                Cell::text(subject.title(group.stack)),
                Cell::Frames(group.stack),
            ]);
        }
    }
}

pub(super) const CATEGORIES: &[&str] = &["device", "event", "category", "bytes", "count"];

pub(super) fn categories(subject: &Subject<'_>, row: &mut Rows<'_>) {
    for study in subject.studies() {
        let moment = subject.moment_of(study.timeline);
        for held in live_by_category(&study, moment) {
            row(&[
                Cell::number(study.device.index),
                Cell::number(Moment(moment).event_number()),
                Cell::text(Category::name(held.category)),
                Cell::number(held.bytes),
                Cell::number(held.count),
            ]);
        }
    }
}
