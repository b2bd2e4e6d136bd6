//! Parts of the model in words.

use crate::worker::{FrameText, Notice, SettingText};
use shared::base::{Diagnostic, StringId, frame_rules};
use shared::trace::{Container, Encoding, Format, Frame, Setting, Settings, StackId, Trace};

pub(super) fn format(format: Format) -> String {
    let encoding = match format.encoding {
        Encoding::Pickle(protocol) => format!("pickle protocol {protocol}"),
        Encoding::Json => "JSON".to_owned(),
    };
    match format.container {
        Container::Raw => encoding,
        Container::Gzip => format!("{encoding} in gzip"),
        Container::Html => format!("{encoding} in an HTML page"),
    }
}

/// Diagnostics in words, worst first; `device` is the CUDA index of the device that they are about.
pub(super) fn notices(diagnostics: &[Diagnostic], device: Option<i64>) -> Vec<Notice> {
    let notice = |diagnostic: &Diagnostic| Notice {
        code: diagnostic.code.to_owned(),
        severity: diagnostic.severity.name().to_owned(),
        count: diagnostic.count,
        device,
        message: diagnostic.message.clone(),
    };
    let mut notices: Vec<_> = diagnostics.iter().map(notice).collect();
    sort_notices(&mut notices);
    notices
}

/// Puts the worst first.
pub(super) fn sort_notices(notices: &mut [Notice]) {
    let rank = |notice: &Notice| match notice.severity.as_str() {
        "error" => 0,
        "warning" => 1,
        _ => 2,
    };
    notices.sort_by_key(rank);
}

pub(super) fn settings(settings: &Settings) -> Vec<SettingText> {
    let text = |(name, value): &(String, Setting)| SettingText { name: name.clone(), value: value.to_string() };
    settings.entries.iter().map(text).collect()
}

/// A stack in words, innermost frame first.
pub(super) fn frames(trace: &Trace, stack: StackId) -> Vec<FrameText> {
    trace.stacks.frames(stack).iter().map(|&id| frame(trace, trace.frames.get(id))).collect()
}

/// The frame that says best what a stack is about.
pub(super) fn title_frame(trace: &Trace, stack: StackId) -> Option<FrameText> {
    let mut frames = trace.stacks.frames(stack).iter().map(|&id| trace.frames.get(id));
    let names = frames.clone().map(|frame| (trace.strings.get(frame.name), trace.strings.get(frame.filename)));
    let position = frame_rules::title_position(names)?;
    frames.nth(position).map(|found| frame(trace, found))
}

/// A frame of which no more is known.
pub(super) fn plain_frame(name: &str, filename: &str, line: u64) -> FrameText {
    FrameText { name: name.to_owned(), filename: filename.to_owned(), line, fx: None }
}

fn frame(trace: &Trace, frame: &Frame) -> FrameText {
    let text = |id: StringId| trace.strings.get(id);
    let fx = frame.fx.map(|fx| {
        let node = format!("{} {} ({})", text(fx.op), text(fx.name), text(fx.target));
        match text(fx.original_trace) {
            "" => node,
            lines => format!("{node}\n{lines}"),
        }
    });
    FrameText { name: text(frame.name).to_owned(), filename: text(frame.filename).to_owned(), line: frame.line, fx }
}
