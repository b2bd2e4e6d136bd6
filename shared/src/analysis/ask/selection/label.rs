//! Describes groups in a few words.

use super::{GroupKey, Groups};
use crate::analysis::track::stack_title::{former_title, place, stack_callers, stack_label};
use crate::base::frame_rules::is_recorded;
use crate::base::{StackLabel, format};
use crate::trace::{FrameId, PoolId, StackId, Trace};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    pub title: String,
    /// Text that distinguishes the group from others with the same title, or empty.
    pub detail: String,
}

/// Returns the description of a group; `key` must be one of `groups`.
pub fn label(trace: &Trace, groups: &Groups, key: GroupKey) -> Label {
    let plain = |title: String| Label { title, detail: String::new() };
    match key {
        GroupKey::Stack(stack) => stack_group(trace, stack, stack_label(trace, stack)),
        GroupKey::Frame(None) | GroupKey::Function(None) => plain("no stack recorded".to_owned()),
        GroupKey::Frame(Some(frame)) => frame_label(trace, frame),
        GroupKey::Function(Some(frame)) => {
            let (name, path, _) = frame_text(trace, frame);
            Label { title: place(name, path, 0), detail: shown_path(path) }
        }
        GroupKey::Module(module) => match groups.module(module) {
            "" => plain("no module recorded".to_owned()),
            name => plain(name.to_owned()),
        },
        GroupKey::Category(category) => plain(category.name().replace('-', " ")),
        GroupKey::Stream(stream) => plain(stream_text(stream)),
        GroupKey::Pool(pool) => plain(pool_text(pool)),
        GroupKey::SizeClass(power) => plain(sizes_text(power)),
    }
}

/// Returns the description of a stack with this label.
///
/// The detail has the leaf, and then what tells the stack apart from others of a list, or else its callers.
pub fn stack_group(trace: &Trace, stack: StackId, label: Option<StackLabel>) -> Label {
    let Some(label) = label else { return Label { title: "no stack recorded".to_owned(), detail: String::new() } };
    let (title, tail) = (label.head(), label.tail());
    let frames = trace.stacks.frames(stack);
    let is_recorded = frames.first().is_some_and(|&frame| is_recorded(frame_text(trace, frame).1));
    if is_recorded || !label.differs.is_empty() {
        return Label { title, detail: tail };
    }
    Label { title, detail: format!("{tail} {}", stack_callers(trace, stack)).trim().to_owned() }
}

/// Returns the description by which addresses of older versions know a group, if it has changed.
pub fn former_label(trace: &Trace, key: GroupKey) -> Option<Label> {
    let GroupKey::Stack(stack) = key else { return None };
    former_title(trace, stack).map(|(title, detail)| Label { title, detail })
}

pub(in crate::analysis) fn frame_label(trace: &Trace, frame: FrameId) -> Label {
    let (name, path, line) = frame_text(trace, frame);
    let shown = shown_path(path);
    let detail = if shown.is_empty() || line == 0 { shown } else { format!("{shown}:{line}") };
    Label { title: place(name, path, line), detail }
}

fn frame_text(trace: &Trace, frame: FrameId) -> (&str, &str, u64) {
    let frame = trace.frames.get(frame);
    (trace.strings.get(frame.name), trace.strings.get(frame.filename), frame.line)
}

/// Returns the path of a frame's file; recorded frames have none.
fn shown_path(path: &str) -> String {
    if is_recorded(path) { String::new() } else { path.to_owned() }
}

fn stream_text(stream: Option<u64>) -> String {
    match stream {
        None => "stream not recorded".to_owned(),
        Some(0) => "default stream".to_owned(),
        Some(stream) => format!("stream {}", format::address(stream)),
    }
}

fn pool_text(pool: Option<PoolId>) -> String {
    match pool {
        None => "pool not recorded".to_owned(),
        Some(PoolId(0, 0)) => "default pool".to_owned(),
        Some(PoolId(0, handle)) => format!("private pool {handle}"),
        Some(PoolId(capture, handle)) => format!("private pool {capture}, {handle} of a graph capture"),
    }
}

fn sizes_text(power: u32) -> String {
    let from = format::bytes(if power == 0 { 0 } else { 1 << power });
    match power {
        63 => format!("{from} or more"),
        _ => format!("{from} to {}", format::bytes(2 << power)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Filter, GroupBy, Scope, Weigher, Weight, group, select};
    use super::*;
    use crate::analysis::ask::tests::Sample;

    const TRACE: &str = "
        alloc a 600 @relu@nn.py<forward@app/model.py<main
        alloc b 0 stream=255
    ";

    #[track_caller]
    fn check(by: GroupBy, labels: &[(&str, &str)]) {
        let sample = Sample::of(TRACE);
        let (population, scope) = (sample.population(), Scope::all(&sample.timeline));
        let selection = select(&population, &scope, &Filter::default());
        let groups = group(&population, &selection, &Weigher::new(&population, &scope, Weight::Bytes), by);
        let found: Vec<Label> = groups.rows.iter().map(|row| label(&sample.trace, &groups, row.key)).collect();
        let found: Vec<_> = found.iter().map(|label| (label.title.as_str(), label.detail.as_str())).collect();
        assert_eq!(found, labels);
    }

    #[test]
    fn groups_pools_and_sizes_have_names() {
        let none = ("no stack recorded", "");
        check(GroupBy::Stack, &[("relu (nn.py:1)", "< forward (model.py:1) < main (main.py:1)"), none]);
        let [relu, forward] = [("relu (nn.py:1)", "nn.py:1"), ("forward (model.py:1)", "app/model.py:1")];
        check(GroupBy::Frame, &[relu, forward, ("main (main.py:1)", "main.py:1"), none]);
        let [relu, forward] = [("relu (nn.py)", "nn.py"), ("forward (model.py)", "app/model.py")];
        check(GroupBy::Function, &[relu, forward, ("main (main.py)", "main.py"), none]);
        check(GroupBy::Module, &[("no module recorded", "")]);
        check(GroupBy::Category, &[("unknown", "")]);
        check(GroupBy::Stream, &[("default stream", ""), ("stream 0xff", "")]);
        check(GroupBy::Pool, &[("pool not recorded", "")]);
        check(GroupBy::SizeClass, &[("512 B to 1.00 KiB", ""), ("0 B to 2 B", "")]);
        assert_eq!(pool_text(Some(PoolId(0, 2))), "private pool 2");
        assert_eq!(pool_text(Some(PoolId(3, 0))), "private pool 3, 0 of a graph capture");
        assert_eq!(sizes_text(63), "8.00 EiB or more");
    }
}
