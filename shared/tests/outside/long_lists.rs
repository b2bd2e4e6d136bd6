//! Checks that a list written in batches is complete wherever it is referred to.

use shared::import::import;
use shared::pickle::{MemoId, Style, Writer};

/// Longer than one batch of CPython, which has 1,000 items.
const DEEP: usize = 2_500;

fn text<S: FnMut(&[u8])>(writer: &mut Writer<S>, key: &str, text: &str) {
    writer.key(key);
    writer.key(text);
}

/// Writes a snapshot of three events that share one stack.
fn snapshot(style: Style) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(style, |piece: &[u8]| bytes.extend_from_slice(piece));
    writer.begin_dict(2);
    writer.key("segments");
    writer.begin_list(0);
    writer.end();
    writer.key("device_traces");
    writer.begin_list(1);
    writer.begin_list(3);
    let mut stack: Option<MemoId> = None;
    for addr in 0..3_u64 {
        writer.begin_dict(4);
        text(&mut writer, "action", "alloc");
        for (key, value) in [("addr", addr), ("size", 512)] {
            writer.key(key);
            writer.int(value);
        }
        writer.key("frames");
        match stack {
            Some(memo) => writer.again(memo),
            None => {
                writer.begin_list(DEEP);
                for line in 0..DEEP as u64 {
                    writer.begin_dict(3);
                    text(&mut writer, "name", "f");
                    text(&mut writer, "filename", "a.py");
                    writer.key("line");
                    writer.int(line);
                    writer.end();
                }
                stack = Some(writer.end_shared());
            }
        }
        writer.end();
    }
    (0..3).for_each(|_| writer.end());
    writer.finish();
    bytes
}

#[test]
fn a_deep_stack_is_whole_in_each_event() {
    for style in [Style::Python, Style::Torch] {
        let trace = import(&snapshot(style)).unwrap();
        let depths = trace.devices[0].events.iter().map(|event| trace.stacks.frames(event.stack).len());
        assert_eq!(depths.collect::<Vec<_>>(), [DEEP; 3], "{style:?}");
    }
}
