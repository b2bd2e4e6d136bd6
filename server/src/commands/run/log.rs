//! Reads the log of the virtual GPU: which functions were called that are not modeled, and what it had to guess; and
//! what inference engines logged of their start: who has the memory of the GPU, and why an engine did not start.

use std::path::Path;

use logs::{Log, LogReader, log_report};
use shared::base::Severity;
use shared::job::messages::{LINE, NCCL_NOT_COUNTED, NOT_MODELED, UNKNOWN_WORKSPACES};
use shared::report::LogReport;

const MOST_BYTES: usize = 1 << 20;

const MOST_LINES: usize = 10;

/// What the virtual GPU said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Logged {
    /// Functions that are not modeled, with their library, each once.
    pub(super) unsupported: Vec<String>,
    /// What is not counted, each sentence once.
    pub(super) uncounted: Vec<String>,
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

/// Reads the file to which the processes appended; `None` if no line is about memory.
pub(super) fn read_engine(path: &Path) -> Option<Box<LogReport>> {
    let mut reader = LogReader::default();
    reader.push(&std::fs::read(path).ok()?);
    let log = Log { engine: reader.finish().engine, ..Log::default() };
    (!log.is_empty()).then(|| Box::new(log_report(&log)))
}

/// Returns why the engine found too little memory to start, and what would do, in sentences.
pub(super) fn refusal(report: &LogReport) -> Option<String> {
    let finding = report.diagnosis.findings.first().filter(|finding| finding.severity == Severity::Error)?;
    let remedy = finding.steps.first().map(|step| format!(". {}", step.text.trim_end_matches('.')));
    Some(format!("{}{}", finding.title, remedy.unwrap_or_default()))
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
        // Functions are listed once.
        let line = "virtual GPU: cudaMemcpy3D (cudart) is not implemented; it failed with status 801\n";
        let text = format!("{line}other\nvirtual GPU: no such card\n{line}");
        let logged = parse(&text);
        assert_eq!(logged.unsupported, ["cudaMemcpy3D (cudart)"]);
        assert_eq!((logged.lines.len(), logged.lines[1].as_str()), (3, "no such card"));
        assert_eq!(read(Path::new("/no/such/log")), Logged::default());
    }

    #[test]
    fn an_engine_without_room_says_what_would_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("engine.log");
        assert_eq!(read_engine(&file), None);
        std::fs::write(&file, "(EngineCore pid=7) Model loading took 2.0 GiB and 1.5 seconds\n").unwrap();
        assert_eq!(refusal(&read_engine(&file).unwrap()), None);
        let line = "(EngineCore pid=7) To serve at least one request with the models's max seq len (262144), (18.35 GiB KV \
                    cache is needed, which is larger than the available KV cache memory (8.72 GiB). Based on the available \
                    memory, the estimated maximum model length is 121840.\n";
        std::fs::write(&file, line).unwrap();
        let said = refusal(&read_engine(&file).unwrap()).unwrap();
        assert!(said.contains("8.72 GiB is left. Set `--max-model-len 121840` or less"), "{said}");
    }
}
