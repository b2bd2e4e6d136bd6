//! Reads logs of runs: what tools and trainings print about memory, in whatever mixture.
//!
//! Lines about processes go to [`host`], all others to [`nvidia_smi`], [`nccl`], [`engine`] and [`printed`], so that a loop
//! of `ps` and `nvidia-smi` and the training's own output may share a file. A file that one tool wrote as a whole, such as
//! a trace of torch.profiler, is a [`Document`].

use crate::logs::engine::{EngineLog, EngineReader};
use crate::logs::host::{HostForm, HostLog, HostReader};
use crate::logs::nccl::{NcclLog, NcclReader};
use crate::logs::nvidia_smi::{CardLog, CardReader};
use crate::logs::printed::{Printed, PrintedReader};
use document::DocumentReader;

pub mod engine;
pub mod host;
pub mod nccl;
pub mod nvidia_smi;
pub mod printed;

pub mod memray;
pub mod pprof;
pub mod torch_profiler;
pub mod tracemalloc;

mod card_shares;
mod document;
mod part;
mod report;

pub use card_shares::{CardShares, CardSnapshot, card_shares};
pub use document::Document;
pub use report::log_report;
pub use torch_profiler::{OperatorsAtPeak, operators_at_peak};
pub use tracemalloc::{ComparedPlace, TracedComparison, TracedSide, traced_comparison, traced_growth};

/// What a log says about memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Log {
    /// Memory of processes over time.
    pub host: HostLog,
    /// Memory of GPUs over time.
    pub cards: CardLog,
    /// Memory of NCCL by process.
    pub nccl: NcclLog,
    /// Memory of an inference engine at its start.
    pub engine: EngineLog,
    /// Errors and counters.
    pub printed: Printed,
    /// Output of a profiler that fills the whole file, if the file is one.
    pub document: Option<Document>,
}

/// Bytes by which a reader tells documents from texts.
const START_BYTES: usize = 4096;

/// Reader of a log that arrives in chunks of any size.
#[derive(Debug)]
pub struct LogReader(State);

#[derive(Debug)]
enum State {
    /// First bytes, too few to tell what the file is.
    Start(Vec<u8>),
    Text(Box<TextReader>),
    Document(DocumentReader),
}

#[derive(Debug, Default)]
struct TextReader {
    is_utf_16: bool,
    host: HostReader,
    others: OtherReaders,
}

/// Readers of lines that are not about processes of the host.
#[derive(Debug, Default)]
struct OtherReaders {
    cards: CardReader,
    nccl: NcclReader,
    engine: EngineReader,
    printed: PrintedReader,
}

/// Returns true if the beginning of a file is a log that says something about memory.
///
/// It goes by content: a trace of a profiler, an error or counters of PyTorch, rows of nvidia-smi, a message of the
/// kernel about a killed process, or at least two rows about processes among at most twice as many lines that are not
/// understood.
pub fn is_log(head: &[u8]) -> bool {
    if DocumentReader::new(head).is_some() {
        return true;
    }
    // No other text has a zero byte, and pickles have many.
    if head.contains(&0) && !is_utf_16(head) {
        return false;
    }
    let mut reader = LogReader::default();
    // The last line may be cut.
    let whole = head.iter().rposition(|byte| *byte == b'\n').map_or(head, |end| &head[..end]);
    reader.push(whole);
    !reader.finish().is_empty()
}

impl Default for LogReader {
    fn default() -> Self {
        Self(State::Start(Vec::new()))
    }
}

/// Returns true for texts in UTF-16, such as those that `>` writes in Windows PowerShell.
fn is_utf_16(start: &[u8]) -> bool {
    start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff")
}

impl LogReader {
    /// Reads the next bytes of the file.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            State::Text(reader) => reader.push(bytes),
            State::Document(reader) => reader.push(bytes),
            State::Start(start) => {
                let (first, rest) = bytes.split_at(bytes.len().min(START_BYTES - start.len()));
                start.extend_from_slice(first);
                if start.len() == START_BYTES {
                    self.begin();
                    self.push(rest);
                }
            }
        }
    }

    /// Chooses the reader by the first bytes.
    fn begin(&mut self) {
        let State::Start(start) = &mut self.0 else { return };
        let start = std::mem::take(start);
        self.0 = match DocumentReader::new(&start) {
            Some(reader) => State::Document(reader),
            None => State::Text(Box::new(TextReader { is_utf_16: is_utf_16(&start), ..TextReader::default() })),
        };
        self.push(&start);
    }

    /// Returns the log after the last bytes.
    pub fn finish(mut self) -> Log {
        self.begin();
        match self.0 {
            State::Start(_) => Log::default(),
            State::Text(reader) => reader.finish(),
            State::Document(reader) => Log { document: Some(reader.finish()), ..Log::default() },
        }
    }
}

impl TextReader {
    fn push(&mut self, bytes: &[u8]) {
        // Of characters beyond Latin-1, which only names have, something unreadable is left.
        let narrow: Vec<u8> =
            if self.is_utf_16 { bytes.iter().copied().filter(|byte| *byte != 0).collect() } else { Vec::new() };
        let bytes = if self.is_utf_16 { &narrow } else { bytes };
        let Self { host, others, .. } = self;
        host.push(bytes, &mut |line| others.line(line));
    }

    fn finish(self) -> Log {
        let Self { host, mut others, .. } = self;
        let host = host.finish(&mut |line| others.line(line));
        let OtherReaders { cards, nccl, engine, printed } = others;
        Log {
            host,
            cards: cards.finish(),
            nccl: nccl.finish(),
            engine: engine.finish(),
            printed: printed.finish(),
            document: None,
        }
    }
}

impl OtherReaders {
    /// Reads a line that says nothing about processes; returns true if a reader understands it.
    fn line(&mut self, line: &str) -> bool {
        let Self { cards, nccl, engine, printed } = self;
        cards.line(line) || nccl.line(line) || engine.line(line) || printed.line(line)
    }
}

impl Log {
    /// Returns true if the file is no log that says something about memory.
    pub fn is_empty(&self) -> bool {
        let has_gpus = !(self.cards.is_empty() && self.nccl.is_empty() && self.engine.is_empty());
        self.document.is_none() && self.printed.is_empty() && !has_gpus && !self.has_host()
    }

    /// Returns true if the log has the memory of processes or of the machine.
    pub fn has_host(&self) -> bool {
        let rows: u64 = self.host.processes.iter().map(|process| process.samples.len() as u64).sum();
        let rows = rows + self.host.machine.samples.len() as u64;
        let unread = self.host.diagnostics.iter().filter(|one| one.code == "host-lines-unread");
        let unread: u64 = unread.map(|one| one.count).sum();
        // One row can be chance, but no other text has the lines of a file of /proc or of free.
        let is_certain = matches!(self.host.form, HostForm::Proc | HostForm::Meminfo | HostForm::Free);
        let least = if is_certain { 1 } else { 2 };
        !self.host.kills.is_empty() || (rows >= least && rows * 2 >= unread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_no_logs() {
        for text in
            ["", "a: 1\nb: 2\n", "epoch 1 step 3 loss 0.4\n", "MEM\n", "K\0CUDA out of memory. Tried to allocate"]
        {
            assert!(!is_log(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn texts_of_powershell_are_read() {
        let error = "epoch 1\r\nCUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity)\r\n";
        let wide: Vec<u8> = [0xfeff].into_iter().chain(error.encode_utf16()).flat_map(u16::to_le_bytes).collect();
        assert!(is_log(&wide));
        for size in [1, 5, wide.len()] {
            let mut reader = LogReader::default();
            wide.chunks(size).for_each(|chunk| reader.push(chunk));
            assert_eq!(reader.finish().printed.ooms[0].error.capacity_bytes, Some(8 << 30));
        }
    }

    #[test]
    fn tools_and_the_training_may_share_a_file() {
        let row = |second: u32| {
            format!(
                "10:00:0{second}\nml 17 99.5 12.3 98765 81234 pts/0 Rl+ 10:12 1:0{second} python train.py\n\
                 step {second} loss 0.3\n"
            )
        };
        let error = "RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 6.50 GiB \
                     already allocated; 1.00 GiB free; 6.60 GiB reserved in total by PyTorch)\n";
        let text = row(1) + &row(2) + error;
        assert!(is_log(text.as_bytes()));
        let mut reader = LogReader::default();
        reader.push(text.as_bytes());
        let log = reader.finish();
        assert_eq!((log.has_host(), log.host.times_ms.len(), log.host.steps.len()), (true, 2, 2));
        assert_eq!(log.printed.ooms.len(), 1);
        assert_eq!(log.host.diagnostics, [], "what the other reader understands is not odd");
    }
}
