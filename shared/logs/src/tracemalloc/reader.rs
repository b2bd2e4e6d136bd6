//! Reads a snapshot in chunks, plain or compressed with gzip, and takes its parts as the pickle closes them.
//!
//! A frame is `(file, line)`, a stack a tuple of frames with the innermost one first, and a trace
//! `(domain, size, stack)`, to which Python 3.9 added the number of frames before the stack was cut
//! (`Lib/tracemalloc.py` and `Python/tracemalloc.c` of CPython).

use super::snapshot::{Flaw, Stacks, Total, TracemallocSnapshot};
use crate::source::FileReader;
use hashbrown::HashMap;
use shared::base::{ShortSort, Sink, StringId, StringTable, unpacked_head};
use shared::pickle::{Build, Error, ErrorKind, Finished, Heap, Kind, Reader, Val};

/// Returns true if the beginning of a file is a snapshot, plain or compressed.
///
/// A pickle begins with its protocol, from protocol 4 on with a frame's length, and with the class of its object.
pub fn is_tracemalloc(head: &[u8]) -> bool {
    let head = unpacked_head(head);
    let Some([0x80, 2..=5, rest @ ..]) = head.get(..) else { return false };
    let rest = match rest {
        [0x95, _, _, _, _, _, _, _, _, rest @ ..] => rest,
        rest => rest,
    };
    [&b"\x8c\x0btracemalloc"[..], b"X\x0b\0\0\0tracemalloc", b"ctracemalloc\nSnapshot\n"]
        .iter()
        .any(|class| rest.starts_with(class))
}

/// Unpacked pickle, up to its first error.
#[derive(Debug)]
pub struct TracemallocReader {
    reader: Reader<Builder>,
    error: Option<Error>,
}

impl Default for TracemallocReader {
    fn default() -> Self {
        Self { reader: Reader::new(Builder::default()), error: None }
    }
}

impl FileReader for TracemallocReader {
    type Log = TracemallocSnapshot;

    fn begin(head: &[u8]) -> Option<Self> {
        is_tracemalloc(head).then(Self::default)
    }

    fn finish(self) -> TracemallocSnapshot {
        let Self { mut reader, error } = self;
        match error.map_or_else(|| reader.has_ended(), Err) {
            Err(error) => broken(reader.into_builder(), &error),
            Ok(false) => reader.into_builder().partial(Flaw::Cut),
            Ok(true) => reader.finish().map_or_else(|error| foreign(error.to_string()), whole),
        }
    }
}

impl Sink for TracemallocReader {
    fn push(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.reader.push(bytes).err();
        }
    }
}

fn whole(finished: Finished<Builder>) -> TracemallocSnapshot {
    let Finished { builder, root, trailing_bytes, .. } = finished;
    let snapshot = builder.whole(root).unwrap_or_else(|| foreign("it holds another object".to_owned()));
    TracemallocSnapshot { trailing_bytes, ..snapshot }
}

fn broken(builder: Builder, error: &Error) -> TracemallocSnapshot {
    match &error.kind {
        ErrorKind::Refused { .. } => foreign(error.to_string()),
        _ => builder.partial(Flaw::Damaged(error.offset)),
    }
}

fn foreign(reason: String) -> TracemallocSnapshot {
    TracemallocSnapshot { flaw: Some(Flaw::Foreign(reason)), ..TracemallocSnapshot::default() }
}

// Kinds of the builder's handles.
const CLASS: u8 = 0;
const INSTANCE: u8 = 1;
const FRAME: u8 = 2;
const STACK: u8 = 3;
const TRACE: u8 = 4;
const LIST: u8 = 5;

/// Classes by the numbers of their handles.
const CLASSES: [&str; 2] = ["Snapshot", "_Traces"];
const SNAPSHOT: u32 = 0;
const TRACES: u32 = 1;

#[derive(Debug, Default)]
pub(super) struct Builder {
    names: StringTable,
    frame_ids: HashMap<(StringId, u32), u32>,
    stacks: Stacks,
    traces: Vec<Trace>,
    /// Lists of traces, by the numbers of the traces.
    lists: Vec<Vec<u32>>,
    instances: Vec<Instance>,
    /// Number of items in lists of traces that are no traces.
    unread: u64,
}

/// Block of memory.
#[derive(Clone, Copy, Debug)]
struct Trace {
    bytes: u64,
    stack: u32,
    domain: u32,
}

#[derive(Clone, Copy, Debug)]
struct Instance {
    class: u32,
    /// Value of its attribute `traces` or `_traces`.
    traces: Option<Val>,
    traceback_limit: u64,
}

impl Build for Builder {
    fn intern(&mut self, text: &str) -> StringId {
        self.names.intern(text)
    }

    /// States stay in the heap until their instance takes them.
    fn dict(&mut self, _entries: &[Val], _heap: &Heap) -> Option<Val> {
        None
    }

    fn list(&mut self, items: &[Val], _heap: &Heap) -> Option<Val> {
        of_kind(*items.first()?, TRACE)?;
        self.lists.push(Vec::new());
        let list = last_of(&self.lists, LIST);
        self.extend(list, items);
        Some(list)
    }

    fn extend(&mut self, list: Val, items: &[Val]) -> bool {
        let Some(list) = of_kind(list, LIST) else { return false };
        let traces = items.iter().filter_map(|&item| of_kind(item, TRACE));
        let list = &mut self.lists[list as usize];
        let before = list.len();
        list.extend(traces);
        self.unread += (items.len() - (list.len() - before)) as u64;
        true
    }

    fn len(&self, list: Val) -> Option<usize> {
        of_kind(list, LIST).map(|list| self.lists[list as usize].len())
    }

    fn expand(&self, list: Val, items: &mut Vec<Val>) {
        if let Some(list) = of_kind(list, LIST) {
            items.extend(self.lists[list as usize].iter().map(|&trace| Val::handle(TRACE, trace)));
        }
    }

    fn tuple(&mut self, items: &[Val]) -> Option<Val> {
        self.frame(items).or_else(|| self.trace(items)).or_else(|| self.stack(items))
    }

    fn class(&mut self, module: StringId, name: StringId) -> Option<Val> {
        let name = self.names.get(name);
        let class = CLASSES.iter().position(|class| *class == name)?;
        (self.names.get(module) == "tracemalloc").then(|| Val::handle(CLASS, class as u32))
    }

    fn instance(&mut self, class: Val) -> Option<Val> {
        let class = of_kind(class, CLASS)?;
        self.instances.push(Instance { class, traces: None, traceback_limit: 0 });
        Some(last_of(&self.instances, INSTANCE))
    }

    fn state(&mut self, instance: Val, state: Val, heap: &Heap) -> bool {
        let (Some(number), Some(entries)) = (of_kind(instance, INSTANCE), heap.entries(state)) else { return false };
        for entry in entries.chunks_exact(2) {
            self.set(number, entry[0], entry[1], heap);
        }
        true
    }
}

impl Builder {
    fn frame(&mut self, items: &[Val]) -> Option<Val> {
        let &[file, line] = items else { return None };
        let (file, line) = (file.as_str()?, u32::try_from(line.as_small_int()?).ok()?);
        let Self { frame_ids, stacks, .. } = self;
        let frame = frame_ids.entry((file, line)).or_insert_with(|| stacks.add_frame(file, line));
        Some(Val::handle(FRAME, *frame))
    }

    fn stack(&mut self, items: &[Val]) -> Option<Val> {
        let are_frames = !items.is_empty() && items.iter().all(|&item| of_kind(item, FRAME).is_some());
        let frames = items.iter().filter_map(|&item| of_kind(item, FRAME));
        are_frames.then(|| Val::handle(STACK, self.stacks.add(frames)))
    }

    fn trace(&mut self, items: &[Val]) -> Option<Val> {
        let (&[domain, size, stack] | &[domain, size, stack, _]) = items else { return None };
        self.traces.push(Trace {
            bytes: u64::try_from(size.as_small_int()?).ok()?,
            stack: of_kind(stack, STACK)?,
            domain: u32::try_from(domain.as_small_int()?).ok()?,
        });
        Some(last_of(&self.traces, TRACE))
    }

    fn set(&mut self, instance: u32, name: Val, value: Val, heap: &Heap) {
        let name = name.as_str().map_or("", |name| self.names.get(name));
        let instance = &mut self.instances[instance as usize];
        match (instance.class, name) {
            (SNAPSHOT, "traces") => instance.traces = Some(value),
            (SNAPSHOT, "traceback_limit") => instance.traceback_limit = heap.as_u64(value).unwrap_or(0),
            (TRACES, "_traces") => {
                instance.traces = Some(value);
                // The builder takes no list that begins with something else.
                self.unread += heap.items(value).map_or(0, <[Val]>::len) as u64;
            }
            _ => {}
        }
    }

    /// Returns the snapshot that the pickle leaves on the stack; `None` if it is none.
    pub(super) fn whole(mut self, root: Val) -> Option<TracemallocSnapshot> {
        let attribute = |of: Val, class: u32| {
            let instance = self.instances[of_kind(of, INSTANCE)? as usize];
            (instance.class == class).then_some((instance.traces?, instance.traceback_limit))
        };
        let (traces, traceback_limit) = attribute(root, SNAPSHOT)?;
        let (list, _) = attribute(traces, TRACES)?;
        let list = of_kind(list, LIST).map_or_else(Vec::new, |list| std::mem::take(&mut self.lists[list as usize]));
        Some(TracemallocSnapshot { traceback_limit, ..self.summed(list.into_iter()) })
    }

    /// Returns a snapshot of all traces so far, because the file ends or is damaged before the snapshot does.
    pub(super) fn partial(self, flaw: Flaw) -> TracemallocSnapshot {
        let traces = 0..self.traces.len() as u32;
        TracemallocSnapshot { flaw: Some(flaw), ..self.summed(traces) }
    }

    /// Sums traces by their stacks and by their domains.
    fn summed(self, traces: impl Iterator<Item = u32>) -> TracemallocSnapshot {
        let mut by_stack = vec![Total::default(); self.stacks.len()];
        let mut by_domain: HashMap<u32, Total> = HashMap::new();
        for trace in traces {
            let Trace { bytes, stack, domain } = self.traces[trace as usize];
            let block = Total { bytes, blocks: 1 };
            by_stack[stack as usize].add(block);
            by_domain.entry(domain).or_default().add(block);
        }
        let mut domains: Vec<(u32, Total)> = by_domain.into_iter().collect();
        domains.short_sort_by_key(|&(domain, _)| domain);
        let files = self.names.ids().map(|id| self.names.get(id).to_owned()).collect();
        TracemallocSnapshot {
            domains,
            unread: self.unread,
            files,
            stacks: self.stacks,
            by_stack,
            ..TracemallocSnapshot::default()
        }
    }
}

/// Returns the number of a handle of this kind.
fn of_kind(val: Val, kind: u8) -> Option<u32> {
    match val.kind() {
        Kind::Handle(of, number) if of == kind => Some(number),
        _ => None,
    }
}

/// Returns the handle of the last row of a table.
fn last_of<T>(table: &[T], kind: u8) -> Val {
    Val::handle(kind, u32::try_from(table.len() - 1).expect("fewer than 2^32 objects"))
}
