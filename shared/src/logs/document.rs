//! Tells apart the documents of profilers, which fill a whole file.

use crate::logs::memray::{Memray, MemrayReader, is_memray};
use crate::logs::pprof::{HeapProfile, HeapReader, is_pprof};
use crate::logs::torch_profiler::{Profile, ProfileReader, Timeline, TimelineReader, is_profile, timeline_form};
use crate::logs::tracemalloc::{TracemallocReader, TracemallocSnapshot, is_tracemalloc};

/// Declares the kinds of documents: the name of each, its type, its reader, and a function that returns the reader if
/// the first bytes of a file are such a document.
macro_rules! documents {
    ($($(#[$about:meta])* $name:ident: $document:ty, $reader:ty, $begin:expr;)*) => {
        /// Output of a profiler.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Document {
            $($(#[$about])* $name(Box<$document>),)*
        }

        /// Reader of a document that arrives in chunks of any size.
        #[derive(Debug)]
        pub(super) enum DocumentReader {
            $($name(Box<$reader>),)*
        }

        impl DocumentReader {
            /// Chooses the reader by the first bytes of a file; `None` if it is no document.
            pub(super) fn new(start: &[u8]) -> Option<Self> {
                $(
                    let begin: fn(&[u8]) -> Option<$reader> = $begin;
                    if let Some(reader) = begin(start) {
                        return Some(Self::$name(Box::new(reader)));
                    }
                )*
                None
            }

            /// Reads the next bytes, beginning with those that [`new`](Self::new) saw.
            pub(super) fn push(&mut self, bytes: &[u8]) {
                match self {
                    $(Self::$name(reader) => reader.push(bytes),)*
                }
            }

            /// Returns the document after the last bytes.
            pub(super) fn finish(self) -> Document {
                match self {
                    $(Self::$name(reader) => Document::$name(Box::new(reader.finish())),)*
                }
            }
        }
    };
}

documents! {
    /// Trace of torch.profiler in Chrome's format.
    Profile: Profile, ProfileReader, |start| is_profile(start).then(|| ProfileReader::new(start));
    /// Memory timeline of torch.profiler.
    Timeline: Timeline, TimelineReader, |start| timeline_form(start).map(|form| TimelineReader::new(start, form));
    /// File of memray.
    Memray: Memray, MemrayReader, |start| is_memray(start).then(|| MemrayReader::new(start));
    /// Snapshot of Python's tracemalloc.
    Tracemalloc: TracemallocSnapshot, TracemallocReader, |start| is_tracemalloc(start).then(|| TracemallocReader::new(start));
    /// Memory profile in the format of pprof, such as one of JAX.
    Heap: HeapProfile, HeapReader, |start| is_pprof(start).then(|| HeapReader::new(start));
}
