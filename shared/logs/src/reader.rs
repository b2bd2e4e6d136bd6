//! Reads a log of any source, or of several.

use super::clues::Clues;
use super::host::HostReader;
use super::pasted::PastedLines;
use super::sources::{DocumentReader, LineReaders, Log};
use shared::base::is_text;

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
    lines: PastedLines,
    host: HostReader,
    others: LineReaders,
    clues: Clues,
}

/// Returns true if the beginning of a file is a log that says something about memory.
///
/// It goes by content: a trace of a profiler, an error or counters of PyTorch, rows of nvidia-smi, a message of the
/// kernel about a killed process, or at least two rows about processes among at most twice as many lines that are not
/// understood.
pub fn is_log(head: &[u8]) -> bool {
    if DocumentReader::begin(head).is_some() {
        return true;
    }
    if !is_text(head) && !is_utf_16(head) {
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

    fn begin(&mut self) {
        let State::Start(start) = &mut self.0 else { return };
        let start = std::mem::take(start);
        self.0 = match DocumentReader::begin(&start) {
            Some(reader) => State::Document(reader),
            None => State::Text(Box::new(TextReader { is_utf_16: is_utf_16(&start), ..TextReader::default() })),
        };
        self.push(&start);
    }

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
        let Self { lines, host, others, clues, .. } = self;
        lines.push(bytes, &mut |line| {
            clues.see(line);
            host.line(line, &mut |line| others.line(line));
        });
    }

    fn finish(self) -> Log {
        let Self { lines, mut host, mut others, mut clues, .. } = self;
        lines.finish(&mut |line| {
            clues.see(line);
            host.line(line, &mut |line| others.line(line));
        });
        Log { clues, ..others.finish(host.finish()) }
    }
}

#[cfg(test)]
pub(super) fn read_text(text: &str) -> Log {
    let mut reader = LogReader::default();
    reader.push(text.as_bytes());
    reader.finish()
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
        let log = read_text(&text);
        assert_eq!((log.has_host(), log.host.times_ms.len(), log.host.steps.len()), (true, 2, 2));
        assert_eq!(log.printed.ooms.len(), 1);
        assert_eq!(log.host.diagnostics, [], "what the other reader understands is not odd");
    }
}
