//! Summarizes the analyses of a recording: its first findings, and the categories of its peak without annotations.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shared::analysis::{Category, FindingCode, FindingsConfig, Phases, Timeline, categories, findings};
use shared::base::format;
use shared::base::frame_rules::RECORDED_OPERATOR;
use shared::trace::{Device, EventTable, FrameId, StackId, Trace};

use super::scripts::Pair;

/// Codes of findings about memory that is kept from step to step.
pub(super) const LEAKS: [FindingCode; 19] = [
    FindingCode::TensorsKept,
    FindingCode::CopiesKept,
    FindingCode::ModelsKept,
    FindingCode::KvCacheKept,
    FindingCode::CollectedInEpoch,
    FindingCode::EvaluationOutputsCollected,
    FindingCode::EvaluationWithGraph,
    FindingCode::FailedTryKept,
    FindingCode::GraphsKept,
    FindingCode::StateChained,
    FindingCode::TensorGrows,
    FindingCode::OutputsKept,
    FindingCode::ActivationsKept,
    FindingCode::BatchesKept,
    FindingCode::GradientsKept,
    FindingCode::EvaluationGraphsKept,
    FindingCode::EvaluationOutputsKept,
    FindingCode::OptimizerStateGrows,
    FindingCode::MemoryGrows,
];

/// Returns the first two findings, each with its code and its title.
pub(super) fn first_findings(trace: &Trace) -> Value {
    let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(trace, device)).collect();
    let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
    let found = findings(trace, &devices, &FindingsConfig::default());
    found.iter().take(2).map(|finding| json!({ "code": finding.code, "title": finding.title })).collect()
}

/// Key of the table in the figures for categories from operations alone.
pub(super) const OPERATIONS: &str = "categories";

/// Key of the table in the figures for categories without any frames.
pub(super) const SHAPES: &str = "categories_by_shape";

/// What remains of the stacks once the annotations are removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// The names of operations, as in PyTorch's C++ stacks, without steps, phases and modules.
    Operations,
    /// Nothing, as in recordings made without stacks.
    Nothing,
}

/// Sums the bytes at the peaks of all devices by their category with annotations and their category without.
pub(super) fn confusion(trace: &Trace, left: Left) -> BTreeMap<String, BTreeMap<String, u64>> {
    let bare = without_tags(trace, left);
    let mut table: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for (device, bare_device) in trace.devices.iter().zip(&bare.devices) {
        let timeline = Timeline::new(trace, device);
        let (told, found) = (sorted(trace, device), sorted(&bare, bare_device));
        for (id, size_bytes) in timeline.allocations.alive_at(timeline.live_peak().0) {
            let row = table.entry(told[id.index()].name().to_owned()).or_default();
            *row.entry(found[id.index()].name().to_owned()).or_default() += size_bytes;
        }
    }
    table
}

fn sorted(trace: &Trace, device: &Device) -> Vec<Category> {
    let timeline = Timeline::new(trace, device);
    let phases = Phases::find(trace, device, &timeline.allocations);
    categories(device, &timeline, &phases)
}

/// Returns the trace without annotations, and with little or nothing in its stacks.
fn without_tags(trace: &Trace, left: Left) -> Trace {
    let mut bare = trace.clone();
    bare.annotations.clear();
    let is_operation = |id: &FrameId| {
        left == Left::Operations && trace.strings.get(trace.frames.get(*id).filename) == RECORDED_OPERATOR
    };
    let mut stacks = vec![StackId::NONE; trace.stacks.len()];
    for id in trace.stacks.ids() {
        let frames: Vec<FrameId> = trace.stacks.frames(id).iter().copied().filter(is_operation).collect();
        stacks[id.index()] = bare.stacks.intern(&frames);
    }
    for device in &mut bare.devices {
        let mut events = EventTable::default();
        for event in device.events.iter() {
            events.push(shared::trace::Event { stack: stacks[event.stack.index()], ..event });
        }
        device.events = events;
        device.segments.blocks.iter_mut().for_each(|block| block.stack = stacks[block.stack.index()]);
    }
    bare
}

pub(super) fn codes(figures: &Value) -> Vec<FindingCode> {
    rows(figures).iter().filter_map(|finding| finding["code"].as_str().and_then(FindingCode::of_name)).collect()
}

fn rows(figures: &Value) -> &[Value] {
    figures["findings"].as_array().map_or(&[], Vec::as_slice)
}

/// Bytes at the peaks of many recordings, by their category with annotations and their category without.
pub(super) struct Confusion(Vec<(String, Vec<u64>)>);

impl Confusion {
    /// Sums the tables of recordings, which their figures have under `key`.
    pub(super) fn of<'a>(figures: impl IntoIterator<Item = &'a Value> + Clone, key: &str) -> Self {
        let bytes = |told: &str, found: &str| -> u64 {
            figures.clone().into_iter().filter_map(|figures| figures[key][told][found].as_u64()).sum()
        };
        let row = |told: Category| Category::ALL.map(|found| bytes(told.name(), found.name())).to_vec();
        Self(Category::ALL.map(|told| (told.name().to_owned(), row(told))).to_vec())
    }

    /// Returns the percentage of bytes with the same category in both.
    pub(super) fn right_percent(&self) -> f64 {
        let right: u64 = self.0.iter().enumerate().map(|(index, (_, row))| row[index]).sum();
        let all: u64 = self.0.iter().flat_map(|(_, row)| row).sum();
        right as f64 * 100.0 / all as f64
    }

    /// Returns the table in Markdown: rows by category with annotations, columns by category without.
    fn table(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|(name, _)| name.as_str()).collect();
        let mut text = format!("| | {} |\n|---{}|\n", names.join(" | "), "|---".repeat(names.len()));
        for (name, row) in self.0.iter().filter(|(_, row)| row.iter().any(|&bytes| bytes > 0)) {
            let cell = |&bytes: &u64| if bytes == 0 { String::new() } else { format::bytes(bytes) };
            text += &format!("| {name} | {} |\n", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
        }
        text
    }
}

/// Returns the section about the findings on mistakes and repairs, and about the categories of the configs' peaks.
pub(super) fn section(pairs: &[Pair], figures: &BTreeMap<String, Value>) -> String {
    let mut text = "\n## Findings\n\n\
        The table has the first two findings of `snapscope diagnose` for each mistake, and the first for its \
        repair.\n\n\
        | script | first finding | second finding | repaired |\n|---|---|---|---|\n"
        .to_owned();
    for Pair { names: [name, repair], .. } in pairs {
        let title = |name: &str, index: usize| {
            let finding = rows(&figures[name]).get(index);
            finding.and_then(|finding| finding["title"].as_str()).unwrap_or_default().to_owned()
        };
        let repaired = title(repair, 0);
        text += &format!("| [{name}]({name}.py) | {} | {} | {repaired} |\n", title(name, 0), title(name, 1));
    }
    let operations = Confusion::of(figures.values(), OPERATIONS);
    let shapes = Confusion::of(figures.values(), SHAPES);
    text += &format!(
        "\nThe recorder tags each allocation with its phase and module, which determine its category.\n\
         Without tags, the names of operations alone give the same category to {:.1} % of the bytes at the peaks of \
         all configs. In this table, rows are categories by tags, and columns are categories by operations.\n\n{}\n\
         Without any frames, sizes and lifetimes alone give the same category to {:.1} % of the bytes.\n\n{}",
        operations.right_percent(),
        operations.table(),
        shapes.right_percent(),
        shapes.table()
    );
    text
}
