//! Follows the tracebacks of Python in a log, so that an error has the line that raised it.

use crate::analysis::SourceLine;
use crate::base::frame_rules;

/// Most frames of a traceback that are kept.
const MOST_FRAMES: usize = 256;

/// Frames of the traceback that was printed last, outermost first.
#[derive(Debug, Default)]
pub(super) struct TraceBack {
    frames: Vec<SourceLine>,
}

impl TraceBack {
    /// Reads a line if it belongs to a traceback.
    pub(super) fn line(&mut self, line: &str) -> bool {
        if line.contains("Traceback (most recent call last)") {
            self.frames.clear();
            return true;
        }
        let Some(frame) = frame(line) else { return false };
        if self.frames.len() == MOST_FRAMES {
            // The innermost frames are those that matter.
            self.frames.remove(0);
        }
        self.frames.push(frame);
        true
    }

    /// Returns the inference engine whose files are in the traceback.
    pub(super) fn engine(&self) -> Option<&'static str> {
        self.frames.iter().find_map(|frame| engine_of(&frame.file))
    }

    /// Takes the innermost frame of the user's own code, at the end of the traceback.
    pub(super) fn take_own(&mut self) -> Option<SourceLine> {
        let mut frames = std::mem::take(&mut self.frames);
        let innermost = frames.iter().rev().map(|frame| (frame.function.as_str(), frame.file.as_str()));
        let position = frame_rules::innermost_own_position(innermost)?;
        Some(frames.swap_remove(frames.len() - 1 - position))
    }
}

/// Reads `File "train.py", line 12, in main`, behind whatever prefix.
fn frame(line: &str) -> Option<SourceLine> {
    let (_, rest) = line.split_once("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let (number, function) = rest.split_once(", in ").unwrap_or((rest, ""));
    Some(SourceLine { file: file.to_owned(), function: function.trim().to_owned(), line: number.trim().parse().ok()? })
}

/// Returns the inference engine that a line of a log or of a traceback names.
pub(super) fn engine_of(line: &str) -> Option<&'static str> {
    const WORDS: [(&str, &str); 4] =
        [("vllm", "vLLM"), ("EngineCore", "vLLM"), ("VllmWorker", "vLLM"), ("sglang", "SGLang")];
    WORDS.iter().find_map(|(words, name)| line.contains(words).then_some(*name))
}
