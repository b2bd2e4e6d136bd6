//! Reads what inference engines logged of their start: who has the memory of the GPU, and why an engine did not start.

use std::path::Path;

use logs::{Log, LogReader, log_report};
use shared::base::Severity;
use shared::report::LogReport;

/// Reads the file to which the processes appended; `None` if no line is about memory.
pub(super) fn read(path: &Path) -> Option<Box<LogReport>> {
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
    fn an_engine_without_room_says_what_would_do() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("engine.log");
        assert_eq!(read(&file), None);
        std::fs::write(&file, "(EngineCore pid=7) Model loading took 2.0 GiB and 1.5 seconds\n").unwrap();
        assert_eq!(refusal(&read(&file).unwrap()), None);
        let line = "(EngineCore pid=7) To serve at least one request with the models's max seq len (262144), (18.35 GiB KV \
                    cache is needed, which is larger than the available KV cache memory (8.72 GiB). Based on the available \
                    memory, the estimated maximum model length is 121840.\n";
        std::fs::write(&file, line).unwrap();
        let said = refusal(&read(&file).unwrap()).unwrap();
        assert!(said.contains("8.72 GiB is left. Set `--max-model-len 121840` or less"), "{said}");
    }
}
