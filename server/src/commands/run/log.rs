//! Reads the log of the virtual GPU: which functions were called that are not modeled, and what it had to guess.

use std::path::Path;

use shared::job::messages::{LINE, NCCL_NOT_COUNTED, NOT_MODELED, UNKNOWN_WORKSPACES};

/// Most bytes that are read of the log.
const MOST_BYTES: usize = 1 << 20;

/// Most lines of the log that are shown.
const MOST_LINES: usize = 10;

/// What the virtual GPU said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Logged {
    /// Functions that are not modeled, with their library, each once.
    pub(super) unsupported: Vec<String>,
    /// What is not counted, each sentence once.
    pub(super) uncounted: Vec<String>,
    /// Last lines.
    pub(super) lines: Vec<String>,
}

/// Reads the log; a run without messages has none.
pub(super) fn read(path: &Path) -> Logged {
    let bytes = std::fs::read(path).unwrap_or_default();
    parse(&String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(MOST_BYTES)..]))
}

fn parse(text: &str) -> Logged {
    let lines: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(LINE)).collect();
    let mut unsupported: Vec<String> = Vec::new();
    for name in lines.iter().filter_map(|line| line.split_once(NOT_MODELED).map(|(name, _)| name)) {
        if !unsupported.iter().any(|known| known == name) {
            unsupported.push(name.to_owned());
        }
    }
    let first = |words: &str| lines.iter().find(|line| line.starts_with(words)).map(|line| (*line).to_owned());
    let uncounted = [UNKNOWN_WORKSPACES, NCCL_NOT_COUNTED].into_iter().filter_map(first).collect();
    let others: Vec<&str> = lines.into_iter().filter(|line| !line.starts_with(NCCL_NOT_COUNTED)).collect();
    let last = &others[others.len().saturating_sub(MOST_LINES)..];
    Logged { unsupported, uncounted, lines: last.iter().map(|line| (*line).to_owned()).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_counted_is_told_once() {
        let sentence = format!("{UNKNOWN_WORKSPACES}it is old");
        let text = format!(
            "virtual GPU: {NCCL_NOT_COUNTED}\nvirtual GPU: {sentence}\nvirtual GPU: {sentence}\nvirtual GPU: no such card\n\
             virtual GPU: {NCCL_NOT_COUNTED}\n"
        );
        let logged = parse(&text);
        assert_eq!(logged.uncounted, [sentence.as_str(), NCCL_NOT_COUNTED]);
        assert_eq!(logged.lines, [sentence.as_str(), &sentence, "no such card"], "what NCCL takes is no failure");
        assert!(parse("virtual GPU: no such card\n").uncounted.is_empty());
    }

    #[test]
    fn functions_are_listed_once() {
        let line = "virtual GPU: cudaMemcpy3D (cudart) is not implemented; it failed with status 801\n";
        let text = format!("{line}other\nvirtual GPU: no such card\n{line}");
        let logged = parse(&text);
        assert_eq!(logged.unsupported, ["cudaMemcpy3D (cudart)"]);
        assert_eq!((logged.lines.len(), logged.lines[1].as_str()), (3, "no such card"));
        assert_eq!(read(Path::new("/no/such/log")), Logged::default());
    }
}
