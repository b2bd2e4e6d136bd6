//! Lists the sources of logs, in the order in which they are tried.

use super::clues::Clues;
use super::engine::{Engine, EngineError, EngineLog, EngineReader};
use super::host::HostLog;
use super::nccl::{NcclLog, NcclReader};
use super::nearest::Nearest;
use super::nvidia_smi::{CardLog, CardReader};
use super::printed::{Printed, PrintedReader};
use super::source::{FileReader, LineReader, Source, joined};
use super::torch_profiler::{Profile, ProfileReader};
use super::tracemalloc::{TracemallocReader, TracemallocSnapshot};
use shared::base::Unpacker;
use shared::report::LogReport;

/// Declares the content and the reader of each source, from which the types of logs and documents and their readers are
/// made.
macro_rules! sources {
    (
        lines { $($(#[$line_about:meta])* $line:ident: $log:ty, $line_reader:ty;)* }
        files { $($(#[$about:meta])* $name:ident: $document:ty, $reader:ty;)* }
    ) => {
        /// What a log says about memory.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Log {
            pub host: HostLog,
            $($(#[$line_about])* pub $line: $log,)*
            /// Output of a profiler that fills the whole file, if the file is one.
            pub document: Option<Document>,
            /// What comes nearest to memory in lines that no source understands.
            pub nearest: Nearest,
            /// What stands beside errors and changes the advice.
            pub clues: Clues,
        }

        #[derive(Clone, Debug, PartialEq)]
        pub enum Document {
            $($(#[$about])* $name(Box<$document>),)*
        }

        /// Readers of lines that are not about processes of the host.
        #[derive(Debug, Default)]
        pub(super) struct LineReaders {
            $($line: $line_reader,)*
            nearest: Nearest,
        }

        /// Reader of a document that arrives in chunks of any size.
        #[derive(Debug)]
        pub(super) enum DocumentReader {
            $($name(Box<Unpacker<$reader>>),)*
        }

        impl Log {
            /// Returns the sources in the order of the report.
            fn sources(&self) -> impl Iterator<Item = &dyn Source> {
                let document = self.document.as_ref().map(|document| match document {
                    $(Document::$name(document) => &**document as &dyn Source,)*
                });
                let lines = [&self.host as &dyn Source, $(&self.$line,)* &self.clues];
                lines.into_iter().chain(document).filter(|source| !source.is_empty())
            }
        }

        impl LineReaders {
            /// Reads a line that says nothing about processes; returns true if a reader understands it.
            pub(super) fn line(&mut self, line: &str) -> bool {
                // A paragraph may tell an error beside something else.
                let is_error = line.contains("out of memory");
                let mut is_understood = false;
                $(is_understood |= (is_error || !is_understood) && self.$line.line(line);)*
                if !is_understood {
                    self.nearest.see(line);
                }
                is_understood
            }

            /// Returns the log after the last line.
            pub(super) fn finish(self, host: HostLog) -> Log {
                let mut log = Log { host, $($line: self.$line.finish(),)* document: None, nearest: self.nearest, clues: Clues::default() };
                log.printed.engine = log.printed.engine.or(log.engine.engine.map(Engine::name));
                log.printed.has_too_small_share = log.engine.errors.iter().any(|error| matches!(error, EngineError::NoCache { .. }));
                // The failures at two shares are one.
                if log.printed.has_too_small_share && !log.printed.ooms.is_empty() {
                    log.engine.errors.retain(|error| !matches!(error, EngineError::NoCache { .. }));
                }
                log.printed.has_cards = !log.cards.cards.is_empty();
                log.printed.idle_gpu = log.cards.idle();
                log.printed.holder = log.cards.holder().map(|one| (one.name.clone(), one.pid, one.bytes));
                // The shell tells of what was left of an engine that had failed before, or of what the kernel tells, too.
                if !log.engine.errors.is_empty() || !log.host.kills.is_empty() {
                    log.printed.host_errors.retain(|one| one.error.text != "Killed");
                }
                log
            }
        }

        impl DocumentReader {
            /// Chooses the reader by the first bytes of a file; `None` if it is no document.
            pub(super) fn begin(head: &[u8]) -> Option<Self> {
                $(
                    if let Some(reader) = <$reader>::begin(head) {
                        return Some(Self::$name(Box::new(Unpacker::new(head, reader))));
                    }
                )*
                None
            }

            /// Reads the next bytes, beginning with those that [`begin`](Self::begin) saw.
            pub(super) fn push(&mut self, bytes: &[u8]) {
                match self {
                    $(Self::$name(reader) => reader.push(bytes),)*
                }
            }

            /// Returns the document after the last bytes.
            pub(super) fn finish(self) -> Document {
                match self {
                    $(Self::$name(reader) => Document::$name(Box::new(reader.finish().finish())),)*
                }
            }
        }
    };
}

sources! {
    lines {
        cards: CardLog, CardReader;
        nccl: NcclLog, NcclReader;
        /// Memory of an inference engine at its start.
        engine: EngineLog, EngineReader;
        printed: Printed, PrintedReader;
    }
    files {
        /// Trace of torch.profiler in Chrome's format.
        Profile: Profile, ProfileReader;
        /// Snapshot of Python's tracemalloc.
        Tracemalloc: TracemallocSnapshot, TracemallocReader;
    }
}

impl Log {
    /// Returns true if the file is no log that says something about memory.
    pub fn is_empty(&self) -> bool {
        self.sources().next().is_none()
    }

    pub fn has_host(&self) -> bool {
        !self.host.is_empty()
    }
}

pub fn log_report(log: &Log) -> LogReport {
    let mut report = joined(log.sources().map(Source::part));
    log.clues.apply(&mut report.diagnosis.findings);
    report
}
