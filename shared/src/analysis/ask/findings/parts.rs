//! Names the allocations that a finding is about, and what of the trace shows it.

use super::code::FindingCode;
use super::finding::Finding;
use crate::analysis::ask::selection::{GroupKey, Label, frame_label};
use crate::analysis::study::categories::live_by_category;
use crate::analysis::study::studied::Study;
use crate::analysis::track::category::Category;
use crate::analysis::track::peak::{StackBytes, live_by_stack};
use crate::analysis::track::stack_title::{own_frame, stack_labels};
use crate::base::{StackLabel, format};
use crate::trace::StackId;
use std::cmp::Reverse;

/// Parts that a reader takes in at a glance.
const MOST_PARTS: usize = 3;

/// Stacks with fewer bytes than that many others are in no part that matters.
const MOST_STACKS: usize = 500;

/// A part below 1/50 of the largest one does not matter.
const LEAST_SHARE: u64 = 50;

/// Live allocations of one line of the user's code, or of one stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingPart {
    /// Place in the user's own code, or else the title of the stack.
    pub title: String,
    /// Sum of the requested sizes at the target's moment.
    pub bytes: u64,
    pub count: u64,
    pub target: FindingTarget,
}

impl FindingPart {
    /// Formats the part in one line, such as `785 MiB in 2 allocations: forward (model.py:3)`.
    pub fn text(&self) -> String {
        part_text(&self.title, self.bytes, self.count)
    }
}

/// Formats a part by its place, bytes and number of allocations.
pub fn part_text(title: &str, bytes: u64, count: u64) -> String {
    match count {
        1 => format!("{}: {title}", format::bytes(bytes)),
        count => format!("{} in {}: {title}", format::bytes(bytes), format::counted(count, "allocation")),
    }
}

/// What of a trace shows a finding, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingTarget {
    /// First moment of the range; the moment after event `i` is `i + 1`.
    pub first: u32,
    /// Last moment of the range; equals `first` if a single moment shows it.
    pub last: u32,
    /// Category of the allocations, if they have one in common.
    pub category: Option<Category>,
    /// Stack of the allocations, if they have one in common.
    pub stack: Option<StackId>,
    /// Line of the user's own code in the stacks of the allocations, if they have one in common, as tables name it.
    pub line: Option<Label>,
}

/// Returns up to three parts of the memory that a finding is about, most bytes first.
pub fn finding_parts(study: &Study<'_>, finding: &Finding) -> Vec<FindingPart> {
    let Some(FindingTarget { last: moment, .. }) = range(finding) else { return Vec::new() };
    let stacks = &finding.evidence.stacks;
    let is_part = |row: &StackBytes| is_about_all(finding.code) || stacks.contains(&row.stack);
    let rows = live_by_stack(study.device, &study.timeline.allocations, moment);
    let mut found: Vec<(GroupKey, StackBytes, u64)> = Vec::new();
    for row in rows.into_iter().filter(|row| row.stack.has_frames() && is_part(row)).take(MOST_STACKS) {
        let key = own_frame(study.trace, row.stack, false);
        let key = key.map_or(GroupKey::Stack(row.stack), |frame| GroupKey::Frame(Some(frame)));
        match found.iter_mut().find(|(other, ..)| *other == key) {
            Some((_, sum, stacks)) => {
                sum.bytes += row.bytes;
                sum.count += row.count;
                *stacks += 1;
            }
            None => found.push((key, row, 1)),
        }
    }
    found.sort_by_key(|(_, row, _)| Reverse(row.bytes));
    let most_bytes = found.first().map_or(0, |(_, row, _)| row.bytes);
    found.retain(|(_, row, _)| row.bytes.saturating_mul(LEAST_SHARE) >= most_bytes);
    found.truncate(MOST_PARTS);
    let labels = stack_labels(study.trace, found.iter().map(|(_, row, _)| row.stack));
    let titles: Vec<String> = found.iter().map(|(_, row, _)| study.title(row.stack)).collect();
    let is_ambiguous = |title: &String| titles.iter().filter(|other| *other == title).count() > 1;
    let part = |(position, (key, row, stacks)): (usize, (GroupKey, StackBytes, u64))| {
        let title = &titles[position];
        let at = FindingTarget { first: moment, last: moment, ..FindingTarget::default() };
        FindingPart {
            title: told_apart(title, labels[position].as_ref().filter(|_| is_ambiguous(title))),
            bytes: row.bytes,
            count: row.count,
            target: match (key, stacks) {
                (GroupKey::Frame(Some(frame)), 2..) => {
                    FindingTarget { line: Some(frame_label(study.trace, frame)), ..at }
                }
                _ => FindingTarget { stack: Some(row.stack), ..at },
            },
        }
    };
    found.into_iter().enumerate().map(part).collect()
}

/// Adds the leaf and the frames in which a stack differs from others with the same title.
fn told_apart(title: &str, label: Option<&StackLabel>) -> String {
    let tail = label.map_or_else(String::new, StackLabel::tail);
    format!("{title} {tail}").trim_end().to_owned()
}

/// Returns what of the trace shows a finding; `None` if no event does.
pub fn finding_target(study: &Study<'_>, finding: &Finding) -> Option<FindingTarget> {
    let range = range(finding)?;
    if finding.code == FindingCode::Peak && study.phases.are_told() {
        let category = live_by_category(study, range.last).first().map(|share| share.category);
        return Some(FindingTarget { category: category.filter(|&category| category != Category::Unknown), ..range });
    }
    let stack = match finding.evidence.stacks.as_slice() {
        [stack] if !is_about_all(finding.code) => Some(*stack),
        _ => None,
    };
    Some(FindingTarget { stack, ..range })
}

/// Returns the range of a finding's events.
fn range(finding: &Finding) -> Option<FindingTarget> {
    let events = &finding.evidence.events;
    // A failed request allocates nothing, so what was live before it is what matters.
    let after = u32::from(finding.code != FindingCode::OutOfMemory);
    let (first, last) = (*events.iter().min()?, *events.iter().max()?);
    let last = if finding.code == FindingCode::OutOfMemory { first } else { last };
    Some(FindingTarget {
        first: first.saturating_add(after),
        last: last.saturating_add(after),
        ..FindingTarget::default()
    })
}

/// Returns true if a finding is about all memory that is live at a moment.
fn is_about_all(code: FindingCode) -> bool {
    matches!(
        code,
        FindingCode::OutOfMemory
            | FindingCode::Peak
            | FindingCode::PeakAboveLimit
            | FindingCode::ReservedAboveLimit
            | FindingCode::CardTooSmall
            | FindingCode::CardNearlyFull
            | FindingCode::DevicesUneven
            | FindingCode::DeviceWithoutWeights
    )
}

#[cfg(test)]
mod tests {
    use super::super::{FindingsConfig, findings_of, studies};
    use super::*;
    use crate::analysis::track::timeline::Timeline;
    use crate::trace::text;

    const TRACE: &str = "
        alloc a 8MiB @mm@v/site-packages/torch/functional.py<forward@model.py<main
        alloc b 4MiB @relu@v/site-packages/torch/functional.py<forward@model.py<main
        alloc c 6MiB @load@data.py<main
        alloc d 5KiB @seed@data.py<main
        oom 40MiB free=1MiB @head@model.py<main
    ";

    /// Returns a line for each part of a finding: its text, and what its allocations have in common.
    fn parts_of(code: FindingCode) -> Vec<String> {
        let trace = text::parse(TRACE).unwrap();
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        let studies = studies(&trace, &[(&trace.devices[0], &timeline)]);
        let found = findings_of(&trace, &studies, &FindingsConfig::default());
        let finding = found.iter().find(|finding| finding.code == code).expect("the finding");
        assert!(finding_target(&studies[0], finding).is_some_and(|target| target.first == 4), "{finding:?}");
        let text = |part: FindingPart| {
            let common = match (part.target.stack, &part.target.line) {
                (Some(_), None) => "one stack",
                (None, Some(_)) => "one line",
                _ => "neither",
            };
            format!("{}, {common}", part.text())
        };
        finding_parts(&studies[0], finding).into_iter().map(text).collect()
    }

    #[test]
    fn parts_are_lines_of_the_users_code_without_small_ones() {
        let parts =
            ["12.0 MiB in 2 allocations: forward (model.py:1), one line", "6.00 MiB: load (data.py:1), one stack"];
        assert_eq!(parts_of(FindingCode::Peak), parts);
        assert_eq!(parts_of(FindingCode::OutOfMemory), parts, "what was live when the request failed");
    }
}
