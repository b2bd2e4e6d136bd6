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

/// Returns the constructor of a kind of pickle.
pub(crate) fn of_name(name: &str) -> fn(Sharing) -> Vec<u8> {
    ALL.into_iter().find(|bomb| bomb.0 == name).expect("a bomb").1
}

pub(crate) type Sink<'a> = Writer<&'a mut dyn FnMut(&[u8])>;

pub(crate) fn pickle(style: Style, write: impl FnOnce(&mut Sink)) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut sink = |piece: &[u8]| bytes.extend_from_slice(piece);
    let mut writer: Sink = Writer::new(style, &mut sink);
    write(&mut writer);
    writer.finish();
    bytes
}

/// Writes a dictionary of `len` pairs.
pub(crate) fn dict(writer: &mut Sink, len: usize, pairs: impl FnOnce(&mut Sink)) {
    writer.begin_dict(len);
    pairs(writer);
    writer.end();
}

/// Writes a list of `len` items, each of which `item` writes by its number.
pub(crate) fn list(writer: &mut Sink, len: usize, item: impl FnMut(&mut Sink, usize)) {
    items(writer, len, item);
    writer.end();
}

/// Writes a list that is referred to.
pub(crate) fn shared_list(writer: &mut Sink, len: usize, item: impl FnMut(&mut Sink, usize)) -> MemoId {
    items(writer, len, item);
    writer.end_shared()
}

fn items(writer: &mut Sink, len: usize, mut item: impl FnMut(&mut Sink, usize)) {
    writer.begin_list(len);
    (0..len).for_each(|index| item(writer, index));
}

pub(crate) fn with<R>(writer: &mut Sink, key: &str, value: impl FnOnce(&mut Sink) -> R) {
    writer.key(key);
    value(writer);
}

pub(crate) fn number(writer: &mut Sink, key: &str, value: usize) {
    with(writer, key, |writer| writer.int(value as i128));
}

/// Writes a snapshot with these segments and device traces.
pub(crate) fn snapshot(style: Style, segments: impl FnOnce(&mut Sink), traces: impl FnOnce(&mut Sink)) -> Vec<u8> {
    with_segments(style, segments, "device_traces", traces)
}

/// Writes a snapshot with segments and what is under another key.
fn with_segments(style: Style, segments: impl FnOnce(&mut Sink), key: &str, value: impl FnOnce(&mut Sink)) -> Vec<u8> {
    pickle(style, |writer| {
        dict(writer, 2, |writer| {
            with(writer, "segments", segments);
            with(writer, key, value);
        });
    })
}

/// Writes a list of one item.
pub(crate) fn only(writer: &mut Sink, item: impl FnOnce(&mut Sink)) {
    writer.begin_list(1);
    item(writer);
    writer.end();
}

pub(crate) fn nothing(writer: &mut Sink) {
    list(writer, 0, |_, _| ());
}

/// Writes a list of a value and of references to it.
fn shared(writer: &mut Sink, times: usize, mut value: impl FnMut(&mut Sink) -> MemoId) {
    let mut memo = None;
    list(writer, times, |writer, _| again(writer, &mut memo, &mut value));
}

/// Writes a value the first time, and then references to it.
pub(crate) fn again(writer: &mut Sink, memo: &mut Option<MemoId>, value: impl FnOnce(&mut Sink) -> MemoId) {
    match *memo {
        Some(memo) => writer.again(memo),
        None => *memo = Some(value(writer)),
    }
}

fn long_text(len: usize) -> String {
    "x".repeat(len)
}

/// Writes the keys of an event except its list of frames.
fn event_keys(writer: &mut Sink) {
    with(writer, "action", |writer| writer.key("alloc"));
    ["addr", "size", "stream"].into_iter().for_each(|key| number(writer, key, 512));
}

/// Writes the keys of a block except its history.
fn block_keys(writer: &mut Sink) {
    number(writer, "size", 1);
    with(writer, "state", |writer| writer.key("inactive"));
}

fn block(writer: &mut Sink, _: usize) {
    writer.begin_dict(2);
    block_keys(writer);
    writer.end_shared();
}

fn segment_keys(writer: &mut Sink, address: usize, blocks: impl FnOnce(&mut Sink)) {
    number(writer, "address", address);
    number(writer, "total_size", 1);
    with(writer, "blocks", blocks);
}

/// Event whose forward stack repeats one long line.
fn lines(Sharing { len, times }: Sharing) -> Vec<u8> {
    let event = |writer: &mut Sink| {
        event_keys(writer);
        with(writer, "forward_frames", |writer| shared(writer, times, |writer| writer.text(&long_text(len))));
    };
    snapshot(Style::Python, nothing, |writer| only(writer, |writer| only(writer, |writer| dict(writer, 5, event))))
}

fn with_setting(setting: impl FnOnce(&mut Sink)) -> Vec<u8> {
    with_segments(Style::Python, nothing, "allocator_settings", |writer| {
        dict(writer, 1, |writer| with(writer, "a", setting))
    })
}

/// Setting that is a list of one long string.
fn settings(Sharing { len, times }: Sharing) -> Vec<u8> {
    with_setting(|writer| shared(writer, times, |writer| writer.text(&long_text(len))))
}

/// Setting that is a list of lists of one small dictionary.
fn setting_tables(Sharing { len, times }: Sharing) -> Vec<u8> {
    let table = |writer: &mut Sink| {
        writer.begin_dict(1);
        number(writer, "a", 1);
        writer.end_shared()
    };
    let tables = |writer: &mut Sink| {
        let mut memo = None;
        shared_list(writer, len, |writer, _| again(writer, &mut memo, table))
    };
    with_setting(|writer| shared(writer, times, tables))
}

/// Segments that share one list of blocks.
fn blocks(Sharing { len, times }: Sharing) -> Vec<u8> {
    let mut memo = None;
    let segment = |writer: &mut Sink, address: usize| {
        let blocks = |writer: &mut Sink| again(writer, &mut memo, |writer| shared_list(writer, len, block));
        dict(writer, 3, |writer| segment_keys(writer, address, blocks));
    };
    snapshot(Style::Python, |writer| list(writer, times, segment), nothing)
}

/// Blocks that share one history.
fn histories(Sharing { len, times }: Sharing) -> Vec<u8> {
    let entry = |writer: &mut Sink, addr: usize| {
        dict(writer, 2, |writer| {
            number(writer, "addr", addr);
            number(writer, "real_size", 1);
        });
    };
    let mut memo = None;
    let block = |writer: &mut Sink, _: usize| {
        dict(writer, 3, |writer| {
            block_keys(writer);
            with(writer, "history", |writer| again(writer, &mut memo, |writer| shared_list(writer, len, entry)));
        });
    };
    let blocks = |writer: &mut Sink| list(writer, times, block);
    let segment = |writer: &mut Sink| dict(writer, 3, |writer| segment_keys(writer, 0, blocks));
    snapshot(Style::Python, |writer| only(writer, segment), nothing)
}

/// One segment with some blocks, repeated.
fn segments(Sharing { len, times }: Sharing) -> Vec<u8> {
    let segment = |writer: &mut Sink| {
        writer.begin_dict(3);
        segment_keys(writer, 0, |writer| list(writer, len, block));
        writer.end_shared()
    };
    snapshot(Style::Python, |writer| shared(writer, times, segment), nothing)
}

/// Devices that share one list of events.
fn traces(Sharing { len, times }: Sharing) -> Vec<u8> {
    let event = |writer: &mut Sink, _: usize| {
        writer.begin_dict(4);
        event_keys(writer);
        writer.end_shared();
    };
    snapshot(Style::Python, nothing, |writer| shared(writer, times, |writer| shared_list(writer, len, event)))
}

/// Devices without events, one per reference.
fn empty_traces(Sharing { times, .. }: Sharing) -> Vec<u8> {
    snapshot(Style::Python, nothing, |writer| shared(writer, times, |writer| shared_list(writer, 0, |_, _| ())))
}

/// Joins opcodes that begin a list of `len` rows, and those of each of the `times` that it is changed.
fn opcodes(start: &[u8], Sharing { len, times }: Sharing, end: &[u8], change: &[u8]) -> Vec<u8> {
    [start, &b"h\x00".repeat(len), end, &change.repeat(times), b"]."].concat()
}

/// List of blocks that gets a `None`, which can't be a row, through the memo each time.
fn expand(sharing: Sharing) -> Vec<u8> {
    let start = b"\x80\x04}(\x8c\x04sizeK\x01\x8c\x05state\x8c\x08inactiveuq\x000]q\x01(";
    opcodes(start, sharing, b"e0", b"h\x01Na0")
}

/// Same as [`expand`] for a stack, at another stack position than the one where it was created.
fn stacks(sharing: Sharing) -> Vec<u8> {
    let start = b"\x80\x04}(\x8c\x04nameX\x00\x00\x00\x00\x8c\x08filenameX\x00\x00\x00\x00uq\x000]q\x01(";
    opcodes(start, sharing, b"e0", b"Nh\x01Na00")
}

fn with_annotations(times: usize, annotation: impl FnMut(&mut Sink) -> MemoId) -> Vec<u8> {
    with_segments(Style::Python, nothing, "external_annotations", |writer| shared(writer, times, annotation))
}

/// Annotations that are the same large list.
fn annotations(Sharing { len, times }: Sharing) -> Vec<u8> {
    with_annotations(times, |writer| shared_list(writer, len, |writer, _| writer.none()))
}

/// Annotations that are the same dictionary, with many keys that annotations do not have.
fn annotation_keys(Sharing { len, times }: Sharing) -> Vec<u8> {
    with_annotations(times, |writer| {
        writer.begin_dict(len + 2);
        for (key, value) in [("stage", "START"), ("name", "step")] {
            with(writer, key, |writer| writer.text(value));
        }
        for number in 0..len {
            writer.int(number as i64);
            writer.none();
        }
        writer.end_shared()
    })
}

/// No snapshot: nested lists that each hold eight references to the next one, with a long string inside.
fn texts(Sharing { len, .. }: Sharing) -> Vec<u8> {
    fn nested(writer: &mut Sink, levels: usize, len: usize) -> MemoId {
        if levels == 0 {
            return writer.text(&long_text(len));
        }
        let mut memo = None;
        shared_list(writer, 8, |writer, _| again(writer, &mut memo, |writer| nested(writer, levels - 1, len)))
    }
    pickle(Style::Python, |writer| {
        nested(writer, 5, len);
    })
}

/// List that is no list of rows because of one item.
///
/// It grows by an item at a time and is put into a new tuple each time.
fn growing(sharing: Sharing) -> Vec<u8> {
    let start = b"\x80\x04}(\x8c\x04sizeK\x01\x8c\x05state\x8c\x08inactiveuq\x000]2q\x010h\x01(";
    opcodes(start, sharing, b"Ne0", b"h\x01Na\x850")
}
