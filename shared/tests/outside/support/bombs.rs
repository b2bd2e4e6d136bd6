//! Small pickles that describe a great deal of data, because they refer to the same part again and again.

use shared::pickle::{MemoId, Style, Writer};

/// Degree to which a part is shared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    /// Items of the shared part, or bytes if it is a string.
    pub(crate) len: usize,
    /// Number of references to it.
    pub(crate) times: usize,
}

/// Name and constructor of a kind of pickle.
pub(crate) type Bomb = (&'static str, fn(Sharing) -> Vec<u8>);

pub(crate) const ALL: [Bomb; 14] = [
    ("lines", lines),
    ("settings", settings),
    ("setting-tables", setting_tables),
    ("blocks", blocks),
    ("histories", histories),
    ("segments", segments),
    ("traces", traces),
    ("empty-traces", empty_traces),
    ("expand", expand),
    ("stacks", stacks),
    ("annotations", annotations),
    ("annotation-keys", annotation_keys),
    ("texts", texts),
    ("growing", growing),
];

type Sink<'a> = Writer<&'a mut dyn FnMut(&[u8])>;

fn pickle(write: impl FnOnce(&mut Sink)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sink = |piece: &[u8]| bytes.extend_from_slice(piece);
    let mut writer: Sink = Writer::new(Style::Python, &mut sink);
    write(&mut writer);
    writer.finish();
    bytes
}

/// Writes a snapshot with these segments and device traces.
fn snapshot(segments: impl FnOnce(&mut Sink), traces: impl FnOnce(&mut Sink)) -> Vec<u8> {
    pickle(|writer| {
        writer.begin_dict(2);
        writer.key("segments");
        segments(writer);
        writer.key("device_traces");
        traces(writer);
        writer.end();
    })
}

fn nothing(writer: &mut Sink) {
    writer.begin_list(0);
    writer.end();
}

/// Writes a list of a value and of references to it.
fn shared(writer: &mut Sink, times: usize, value: impl FnOnce(&mut Sink) -> MemoId) {
    writer.begin_list(times);
    let memo = value(writer);
    (1..times).for_each(|_| writer.again(memo));
    writer.end();
}

fn long_text(len: usize) -> String {
    "x".repeat(len)
}

fn number(writer: &mut Sink, key: &str, value: usize) {
    writer.key(key);
    writer.int(value as i128);
}

/// Writes the keys of an event except its list of frames.
fn event_keys(writer: &mut Sink) {
    writer.key("action");
    writer.key("alloc");
    ["addr", "size", "stream"].into_iter().for_each(|key| number(writer, key, 512));
}

fn event(writer: &mut Sink) -> MemoId {
    writer.begin_dict(4);
    event_keys(writer);
    writer.end_shared()
}

fn block(writer: &mut Sink) -> MemoId {
    writer.begin_dict(2);
    number(writer, "size", 1);
    writer.key("state");
    writer.key("inactive");
    writer.end_shared()
}

fn begin_segment(writer: &mut Sink, address: usize) {
    writer.begin_dict(3);
    number(writer, "address", address);
    number(writer, "total_size", 1);
    writer.key("blocks");
}

/// Event whose forward stack repeats one long line.
fn lines(Sharing { len, times }: Sharing) -> Vec<u8> {
    snapshot(nothing, |writer| {
        writer.begin_list(1);
        writer.begin_list(1);
        writer.begin_dict(5);
        event_keys(writer);
        writer.key("forward_frames");
        shared(writer, times, |writer| writer.text(&long_text(len)));
        writer.end();
        writer.end();
        writer.end();
    })
}

fn with_settings(setting: impl FnOnce(&mut Sink)) -> Vec<u8> {
    pickle(|writer| {
        writer.begin_dict(2);
        writer.key("segments");
        nothing(writer);
        writer.key("allocator_settings");
        writer.begin_dict(1);
        writer.key("a");
        setting(writer);
        writer.end();
        writer.end();
    })
}

/// Setting that is a list of one long string.
fn settings(Sharing { len, times }: Sharing) -> Vec<u8> {
    with_settings(|writer| shared(writer, times, |writer| writer.text(&long_text(len))))
}

/// Setting that is a list of lists of one small dictionary.
fn setting_tables(Sharing { len, times }: Sharing) -> Vec<u8> {
    with_settings(|writer| {
        shared(writer, times, |writer| {
            writer.begin_list(len);
            writer.begin_dict(1);
            number(writer, "a", 1);
            let memo = writer.end_shared();
            (1..len).for_each(|_| writer.again(memo));
            writer.end_shared()
        });
    })
}

/// Segments that share one list of blocks.
fn blocks(Sharing { len, times }: Sharing) -> Vec<u8> {
    let segments = |writer: &mut Sink| {
        let mut list = None;
        writer.begin_list(times);
        for address in 0..times {
            begin_segment(writer, address);
            match list {
                Some(memo) => writer.again(memo),
                None => {
                    writer.begin_list(len);
                    for _ in 0..len {
                        block(writer);
                    }
                    list = Some(writer.end_shared());
                }
            }
            writer.end();
        }
        writer.end();
    };
    snapshot(segments, nothing)
}

/// Blocks that share one history.
fn histories(Sharing { len, times }: Sharing) -> Vec<u8> {
    let segments = |writer: &mut Sink| {
        let mut list = None;
        writer.begin_list(1);
        begin_segment(writer, 0);
        writer.begin_list(times);
        for _ in 0..times {
            writer.begin_dict(3);
            number(writer, "size", 1);
            writer.key("state");
            writer.key("inactive");
            writer.key("history");
            match list {
                Some(memo) => writer.again(memo),
                None => {
                    writer.begin_list(len);
                    for addr in 0..len {
                        writer.begin_dict(2);
                        number(writer, "addr", addr);
                        number(writer, "real_size", 1);
                        writer.end();
                    }
                    list = Some(writer.end_shared());
                }
            }
            writer.end();
        }
        writer.end();
        writer.end();
        writer.end();
    };
    snapshot(segments, nothing)
}

/// One segment with some blocks, repeated.
fn segments(Sharing { len, times }: Sharing) -> Vec<u8> {
    let segments = |writer: &mut Sink| {
        shared(writer, times, |writer| {
            begin_segment(writer, 0);
            writer.begin_list(len);
            for _ in 0..len {
                block(writer);
            }
            writer.end();
            writer.end_shared()
        });
    };
    snapshot(segments, nothing)
}

/// Devices that share one list of events.
fn traces(Sharing { len, times }: Sharing) -> Vec<u8> {
    snapshot(nothing, |writer| {
        shared(writer, times, |writer| {
            writer.begin_list(len);
            for _ in 0..len {
                event(writer);
            }
            writer.end_shared()
        });
    })
}

/// Devices without events, one per reference.
fn empty_traces(Sharing { times, .. }: Sharing) -> Vec<u8> {
    snapshot(nothing, |writer| {
        shared(writer, times, |writer| {
            writer.begin_list(0);
            writer.end_shared()
        });
    })
}

/// List of blocks that gets a `None`, which can't be a row, through the memo each time.
fn expand(Sharing { len, times }: Sharing) -> Vec<u8> {
    let mut bytes = b"\x80\x04}(\x8c\x04sizeK\x01\x8c\x05state\x8c\x08inactiveuq\x000]q\x01(".to_vec();
    bytes.extend(b"h\x00".repeat(len));
    bytes.extend(b"e0");
    bytes.extend(b"h\x01Na0".repeat(times));
    bytes.extend(b"].");
    bytes
}

/// Same as [`expand`] for a stack, at another stack position than the one where it was created.
fn stacks(Sharing { len, times }: Sharing) -> Vec<u8> {
    let mut bytes = b"\x80\x04}(\x8c\x04nameX\x00\x00\x00\x00\x8c\x08filenameX\x00\x00\x00\x00uq\x000]q\x01(".to_vec();
    bytes.extend(b"h\x00".repeat(len));
    bytes.extend(b"e0");
    bytes.extend(b"Nh\x01Na00".repeat(times));
    bytes.extend(b"].");
    bytes
}

/// Annotations that are the same large list.
fn annotations(Sharing { len, times }: Sharing) -> Vec<u8> {
    pickle(|writer| {
        writer.begin_dict(2);
        writer.key("segments");
        nothing(writer);
        writer.key("external_annotations");
        shared(writer, times, |writer| {
            writer.begin_list(len);
            (0..len).for_each(|_| writer.none());
            writer.end_shared()
        });
        writer.end();
    })
}

/// Annotations that are the same dictionary, with many keys that annotations do not have.
fn annotation_keys(Sharing { len, times }: Sharing) -> Vec<u8> {
    pickle(|writer| {
        writer.begin_dict(2);
        writer.key("segments");
        nothing(writer);
        writer.key("external_annotations");
        shared(writer, times, |writer| {
            writer.begin_dict(len + 2);
            [("stage", "START"), ("name", "step")].into_iter().for_each(|(key, value)| {
                writer.key(key);
                writer.text(value);
            });
            (0..len).for_each(|number| {
                writer.int(number as i64);
                writer.none();
            });
            writer.end_shared()
        });
        writer.end();
    })
}

/// No snapshot: nested lists that each hold eight references to the next one, with a long string inside.
fn texts(Sharing { len, .. }: Sharing) -> Vec<u8> {
    fn nested(writer: &mut Sink, levels: usize, len: usize) -> MemoId {
        if levels == 0 {
            return writer.text(&long_text(len));
        }
        writer.begin_list(8);
        let memo = nested(writer, levels - 1, len);
        (1..8).for_each(|_| writer.again(memo));
        writer.end_shared()
    }
    pickle(|writer| {
        nested(writer, 5, len);
    })
}

/// List that is no list of rows because of one item.
///
/// It grows by an item at a time and is put into a new tuple each time.
fn growing(Sharing { len, times }: Sharing) -> Vec<u8> {
    let mut bytes = b"\x80\x04}(\x8c\x04sizeK\x01\x8c\x05state\x8c\x08inactiveuq\x000]2q\x010h\x01(".to_vec();
    bytes.extend(b"h\x00".repeat(len));
    bytes.extend(b"Ne0");
    bytes.extend(b"h\x01Na\x850".repeat(times));
    bytes.extend(b"].");
    bytes
}
