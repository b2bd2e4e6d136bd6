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

pub(super) fn notices(diagnostics: &[Diagnostic]) -> Vec<Notice> {
    let mut worst_first: Vec<&Diagnostic> = diagnostics.iter().collect();
    worst_first.sort_by_key(|diagnostic| std::cmp::Reverse(diagnostic.severity));
    let notice = |diagnostic: &Diagnostic| Notice {
        code: diagnostic.code.to_owned(),
        severity: diagnostic.severity.name().to_owned(),
        count: diagnostic.count,
        message: diagnostic.message.clone(),
    };
    worst_first.into_iter().map(notice).collect()
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
