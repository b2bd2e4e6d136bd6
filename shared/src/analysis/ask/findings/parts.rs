//! Names the allocations that a finding is about, and what of the trace shows it.

use super::code::FindingCode;
use super::finding::Finding;
use crate::analysis::ask::selection::{Label, frame_label};
use crate::analysis::study::categories::live_by_category;
use crate::analysis::study::studied::Study;
use crate::analysis::track::category::Category;
use crate::analysis::track::peak::{StackBytes, live_by_stack};
use crate::analysis::track::stack_title::{own_frame, stack_label, stack_labels};
use crate::base::{ShortSort, StackLabel, format};
use crate::trace::{FrameId, StackId};
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
    /// Regular expression that names all modules of the allocations, which have their place in different layers.
    pub pattern: Option<String>,
}

/// Returns up to three parts of the memory that a finding is about, most bytes first.
///
/// A part is a line of the user's own code, or the same module of all layers, or else a stack. If one line that calls a
/// library's model has more than half of the bytes, its parts are what it led to.
pub fn finding_parts(study: &Study<'_>, finding: &Finding) -> Vec<FindingPart> {
    let Some(FindingTarget { last: moment, .. }) = range(finding) else { return Vec::new() };
    let stacks = &finding.evidence.stacks;
    let is_part = |row: &StackBytes| is_about_all(finding.code) || stacks.contains(&row.stack);
    let rows = live_by_stack(study.device, &study.timeline.allocations, moment);
    let rows: Vec<_> =
        rows.into_iter().filter(|row| row.stack.has_frames() && is_part(row)).take(MOST_STACKS).collect();
    let all_bytes: u64 = rows.iter().map(|row| row.bytes).sum();
    let mut found = parts_by(&rows, |stack| Common::of(study, stack));
    if let Some(Part { common, bytes, .. }) = found.first()
        && matches!(common, Common::Frame(_))
        && bytes.saturating_mul(2) > all_bytes
    {
        let common = common.clone();
        found = parts_by(&rows, |stack| match Common::of(study, stack) {
            own if own == common => library_frame(study, stack).map_or(own, Common::Frame),
            other => other,
        });
    }
    let most_bytes = found.first().map_or(0, |part| part.bytes);
    found.retain(|part| part.bytes.saturating_mul(LEAST_SHARE) >= most_bytes);
    found.truncate(MOST_PARTS);
    let labels = stack_labels(study.trace, found.iter().map(|part| part.stack));
    let titles: Vec<String> = found.iter().map(|part| part.title(study)).collect();
    let is_ambiguous = |title: &str| titles.iter().filter(|other| *other == title).count() > 1;
    let part = |((part, title), label): ((&Part, &String), &Option<StackLabel>)| {
        let tail = label.as_ref().filter(|_| is_ambiguous(title)).map_or_else(String::new, StackLabel::tail);
        FindingPart {
            // The leaf and the frames in which a stack differs from others with the same title.
            title: format!("{title} {tail}").trim_end().to_owned(),
            bytes: part.bytes,
            count: part.count,
            target: FindingTarget { first: moment, last: moment, ..part.target(study) },
        }
    };
    found.iter().zip(&titles).zip(&labels).map(part).collect()
}

#[derive(Clone, PartialEq)]
enum Common {
    /// A frame of the user's own code, or one of a library that it led to.
    Frame(FrameId),
    /// Name of a module, with a star for the number of a layer.
    Layers(String),
    Stack(StackId),
}

impl Common {
    fn of(study: &Study<'_>, stack: StackId) -> Self {
        if let Some(frame) = own_frame(study.trace, stack, false) {
            return Self::Frame(frame);
        }
        let title = study.title(stack);
        let layers = of_all_layers(&title);
        if layers == title { Self::Stack(stack) } else { Self::Layers(layers) }
    }
}

/// Live allocations with something in common; `stack` is the one with the most bytes.
struct Part {
    common: Common,
    stack: StackId,
    stacks: u64,
    bytes: u64,
    count: u64,
}

impl Part {
    fn title(&self, study: &Study<'_>) -> String {
        let label = stack_label(study.trace, self.stack).unwrap_or_default();
        match &self.common {
            Common::Layers(title) => title.clone(),
            Common::Frame(frame) if own_frame(study.trace, self.stack, false) != Some(*frame) => label.text(),
            Common::Frame(_) | Common::Stack(_) => study.title(self.stack),
        }
    }

    fn target(&self, study: &Study<'_>) -> FindingTarget {
        let at = FindingTarget::default();
        match &self.common {
            _ if self.stacks == 1 => FindingTarget { stack: Some(self.stack), ..at },
            Common::Frame(frame) => FindingTarget { line: Some(frame_label(study.trace, *frame)), ..at },
            Common::Layers(title) => {
                FindingTarget { pattern: Some(title.replace('.', r"\.").replace('*', r"\d+")), ..at }
            }
            Common::Stack(_) => at,
        }
    }
}

/// Adds up stacks with something in common; most bytes first.
fn parts_by(rows: &[StackBytes], common: impl Fn(StackId) -> Common) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for &StackBytes { stack, bytes, count, .. } in rows {
        let common = common(stack);
        match parts.iter_mut().find(|part| part.common == common) {
            Some(part) => {
                part.bytes += bytes;
                part.count += count;
                part.stacks += 1;
            }
            None => parts.push(Part { common, stack, stacks: 1, bytes, count }),
        }
    }
    parts.short_sort_by_key(|part| Reverse(part.bytes));
    parts
}

/// Returns the innermost frame of a library that the user's own frame led to.
fn library_frame(study: &Study<'_>, stack: StackId) -> Option<FrameId> {
    let frames = study.trace.stacks.frames(stack).iter().copied();
    let mut inside = frames.take_while(|&frame| !study.trace.frame_kind(frame).is_own);
    inside.find(|&frame| !study.trace.frame_kind(frame).is_runtime)
}

/// Puts a star for the numbers of layers: `layers.*.mlp` of `layers.16.mlp`.
fn of_all_layers(module: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let starred: Vec<&str> = module.split('.').map(|part| if is_number(part) { "*" } else { part }).collect();
    starred.join(".")
}

/// Returns what of the trace shows a finding; `None` if no event does.
pub fn finding_target(study: &Study<'_>, finding: &Finding) -> Option<FindingTarget> {
    let range = range(finding)?;
    if finding.code == FindingCode::Peak && study.phases.are_told() {
        let category = live_by_category(study, range.last).first().map(|share| share.category);
        return Some(FindingTarget { category: category.filter(|&category| category != Category::Unknown), ..range });
    }
    let stacks = &finding.evidence.stacks;
    let stack = stacks.first().copied().filter(|_| stacks.len() == 1 && !is_about_all(finding.code));
    Some(FindingTarget { stack, ..range })
}

fn range(finding: &Finding) -> Option<FindingTarget> {
    let events = &finding.evidence.events;
    let (first, last) = (*events.iter().min()?, *events.iter().max()?);
    // A failed request allocates nothing, so what was live before it is what matters.
    let (first, last) = match finding.code {
        FindingCode::OutOfMemory => (first, first),
        _ => (first.saturating_add(1), last.saturating_add(1)),
    };
    Some(FindingTarget { first, last, ..FindingTarget::default() })
}

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
    use super::super::{FindingsConfig, findings_of};
    use super::*;
    use crate::analysis::ask::tests::Sample;

    const TRACE: &str = "
        alloc a 8MiB @mm@v/site-packages/torch/functional.py<forward@model.py<main
        alloc b 4MiB @relu@v/site-packages/torch/functional.py<forward@model.py<main
        alloc c 6MiB @load@data.py<main
        alloc d 5KiB @seed@data.py<main
        oom 40MiB free=1MiB @head@model.py<main
    ";

    /// Returns the parts of a finding, and the first moment of its target.
    fn found(source: &str, code: FindingCode) -> (Vec<FindingPart>, Option<u32>) {
        let sample = Sample::of(source);
        let studies = [sample.study()];
        let found = findings_of(&sample.trace, &studies, &FindingsConfig::default());
        let finding = found.iter().find(|finding| finding.code == code).expect("the finding");
        (finding_parts(&studies[0], finding), finding_target(&studies[0], finding).map(|target| target.first))
    }

    /// Returns a line for each part of a finding: its text, and what its allocations have in common.
    fn parts_of(code: FindingCode) -> Vec<String> {
        let (parts, first) = found(TRACE, code);
        assert_eq!(first, Some(4));
        let text = |part: FindingPart| {
            let common = match (part.target.stack, &part.target.line) {
                (Some(_), None) => "one stack",
                (None, Some(_)) => "one line",
                _ => "neither",
            };
            format!("{}, {common}", part.text())
        };
        parts.into_iter().map(text).collect()
    }

    /// Returns the parts of the peak.
    fn peak_of(source: &str) -> Vec<(String, Option<String>)> {
        let parts = found(source, FindingCode::Peak).0.into_iter();
        parts.map(|part| (part.text(), part.target.pattern)).collect()
    }

    #[test]
    fn equal_layers_are_added_up() {
        let layer = |layer: u32, module: &str, mib: u32| {
            format!("alloc {module}{layer} {mib}MiB @aten::mul@operator<layers.{layer}.{module}@module\n")
        };
        let layers: String = (0..12).map(|number| layer(number, "mlp", 8) + &layer(number, "norm", 1)).collect();
        let parts = peak_of(&(layers + "alloc head 9MiB @aten::mm@operator<head@module\n"));
        assert_eq!(parts[0], ("96.0 MiB in 12 allocations: layers.*.mlp".into(), Some(r"layers\.\d+\.mlp".into())));
        assert_eq!(parts[1], ("12.0 MiB in 12 allocations: layers.*.norm".into(), Some(r"layers\.\d+\.norm".into())));
        assert_eq!(parts[2], ("9.00 MiB: head".into(), None));
    }

    #[test]
    fn a_line_that_calls_a_librarys_model_is_told_by_what_it_led_to() {
        let (gelu, layer) = ("gelu@v/site-packages/hf/activations.py:7", "forward@v/site-packages/hf/modeling.py");
        let source = format!(
            "alloc a 8MiB @{gelu}<{layer}:3<train@train.py\nalloc b 8MiB @{gelu}<{layer}:4<train@train.py\n\
             alloc c 4MiB @{layer}:3<train@train.py\nalloc d 3MiB @load@data.py"
        );
        let texts: Vec<String> = peak_of(&source).into_iter().map(|(text, _)| text).collect();
        let expected = [
            "16.0 MiB in 2 allocations: train (train.py:1) → gelu (activations.py:7)",
            "4.00 MiB: train (train.py:1) → forward (modeling.py:3)",
            "3.00 MiB: load (data.py:1)",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn parts_are_lines_of_the_users_code_without_small_ones() {
        let parts =
            ["12.0 MiB in 2 allocations: forward (model.py:1), one line", "6.00 MiB: load (data.py:1), one stack"];
        assert_eq!(parts_of(FindingCode::Peak), parts);
        assert_eq!(parts_of(FindingCode::OutOfMemory), parts, "what was live when the request failed");
    }
}
