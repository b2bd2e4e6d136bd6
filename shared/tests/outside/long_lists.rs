//! Checks that a list written in batches is complete wherever it is referred to.

use crate::support::bombs::{self, Sink, again, dict, list, nothing, number, only, shared_list, with};
use shared::import::import;
use shared::pickle::Style;

/// Longer than one batch of CPython, which has 1,000 items.
const DEEP: usize = 2_500;

fn text(writer: &mut Sink, key: &str, text: &str) {
    with(writer, key, |writer| writer.key(text));
}

/// Writes a snapshot of three events that share one stack.
fn snapshot(style: Style) -> Vec<u8> {
    let frame = |writer: &mut Sink, line: usize| {
        dict(writer, 3, |writer| {
            text(writer, "name", "f");
            text(writer, "filename", "a.py");
            number(writer, "line", line);
        });
    };
    let mut stack = None;
    let event = |writer: &mut Sink, addr: usize| {
        dict(writer, 4, |writer| {
            text(writer, "action", "alloc");
            number(writer, "addr", addr);
            number(writer, "size", 512);
            with(writer, "frames", |writer| again(writer, &mut stack, |writer| shared_list(writer, DEEP, frame)));
        });
    };
    bombs::snapshot(style, nothing, |writer| only(writer, |writer| list(writer, 3, event)))
}

#[test]
fn a_deep_stack_is_whole_in_each_event() {
    for style in [Style::Python, Style::Torch] {
        let trace = import(&snapshot(style)).unwrap();
        let depths = trace.devices[0].events.iter().map(|event| trace.stacks.frames(event.stack).len());
        assert_eq!(depths.collect::<Vec<_>>(), [DEEP; 3], "{style:?}");
    }
}
