//! Describes why a recording failed.

use std::fmt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;

use shared::api::Finished;
use shared::base::format::bytes;
use shared::recordings::place;

use super::Limits;
use super::keeper::{End, Stop, Transcript};
use crate::Failure;

/// The reason why a recording failed, the place in the run, and what is left of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordingFailure {
    /// Description of what happened: a sentence without the full stop.
    pub message: String,
    /// Suggested remedy: a sentence without the full stop.
    pub hint: String,
    /// Current step, from 0; `None` before the first.
    pub step: Option<u64>,
    /// Phase of the step; empty if unknown.
    pub phase: String,
    /// Module that was running; empty if unknown.
    pub module: String,
    /// Last lines of the recorder's log.
    pub log_tail: Vec<String>,
    /// Path of the trace up to the failure, if there is one.
    pub partial: Option<PathBuf>,
    /// True if the recorder was killed from outside, so that another attempt may succeed.
    pub is_from_outside: bool,
}

/// A failure before the recorder started.
impl From<Failure> for Box<RecordingFailure> {
    fn from(Failure { message, hint }: Failure) -> Self {
        Self::new(RecordingFailure { message, hint, ..RecordingFailure::default() })
    }
}

impl RecordingFailure {
    /// Makes a failure that happened after the recorder started, with its place in the run.
    pub(super) fn after(transcript: Transcript, Failure { message, hint }: Failure) -> Self {
        let Transcript { progress, failed, log, .. } = transcript;
        let place = failed.map(|failed| (failed.step, failed.phase, failed.module));
        let place = place.or_else(|| progress.map(|progress| (progress.step, progress.phase, String::new())));
        let (step, phase, module) = place.unwrap_or_default();
        Self { message, hint, step, phase, module, log_tail: log, ..Self::default() }
    }

    /// Formats the place in the run, as in `step 2 of 3, backward, layers.3.attention`.
    pub fn place(&self, steps: Option<u64>) -> String {
        place(self.step, steps, &self.phase, &self.module)
    }
}

impl fmt::Display for RecordingFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for RecordingFailure {}

/// Returns the final line of a recorder that finished.
///
/// # Errors
///
/// Returns the reason if it did not finish, as far as its exit status and its output tell.
pub(super) fn finished(end: End, transcript: &Transcript, limits: &Limits) -> Result<Finished, Failure> {
    let status = match (end, &transcript.finished) {
        (End::Stopped(stop), _) => return Err(stopped(stop, limits)),
        // The snapshot is complete by then, so the exit status does not matter.
        (End::Exited(_), Some(finished)) => return Ok(finished.clone()),
        (End::Exited(status), None) => status,
    };
    Err(match (&transcript.failed, status.signal(), missing_library(&transcript.log)) {
        (Some(failed), _, _) if transcript.started.is_none() => Failure::new(
            failed.message.clone(),
            "see the last lines of the recorder; `nvidia-smi` shows whether the driver of a real GPU works",
        ),
        (Some(failed), _, _) => {
            Failure::new(failed.message.clone(), "see the last lines of its log; change the job and try again")
        }
        (None, Some(signal), _) => crashed(signal, limits),
        (None, None, Some(library)) => Failure::new(
            format!("the recorder cannot be loaded: {library}"),
            "for a virtual GPU, run `./dev build` in a clone of Snapscope; for a real GPU, install NVIDIA's packages \
             next to PyTorch",
        ),
        (None, None, None) => Failure::new(
            format!("the recorder ended without a result, with exit status {}", status.code().unwrap_or_default()),
            "see the last lines of the recorder for the reason",
        ),
    })
}

fn stopped(stop: Stop, limits: &Limits) -> Failure {
    match stop {
        Stop::Cancelled => Failure::new("the recording was cancelled", "start it again to get the whole trace"),
        Stop::Time => Failure::new(
            format!("the recording took longer than {} s and was stopped", limits.time.as_secs_f64()),
            "record fewer steps, or raise the time limit",
        ),
        Stop::Memory(taken_bytes) => Failure::new(
            format!(
                "the recorder was stopped: it took {} of this machine's memory, more than its limit of {}",
                bytes(taken_bytes),
                bytes(limits.memory_bytes)
            ),
            "record fewer steps or a smaller model, or raise the memory limit; each event takes host memory",
        ),
    }
}

fn crashed(signal: i32, limits: &Limits) -> Failure {
    let (name, meaning, hint) = match signal {
        4 => ("SIGILL", "this processor lacks an instruction", "use a newer processor"),
        6 => ("SIGABRT", "it aborted", LOG),
        7 => ("SIGBUS", "access to memory that does not exist", "check that the disk is not full"),
        8 => ("SIGFPE", "a division by zero", LOG),
        9 => ("SIGKILL", "killed from outside", "this machine may have run out of memory: record a smaller model"),
        11 => ("SIGSEGV", "an invalid memory access", LOG),
        15 => ("SIGTERM", "ended from outside", "start it again"),
        24 => ("SIGXCPU", "it exceeded its limit of processor time", "record fewer steps, or raise the time limit"),
        25 => {
            let message = format!("the snapshot grew larger than its limit of {}", bytes(limits.output_bytes));
            return Failure::new(message, "record fewer steps");
        }
        _ => {
            return Failure::new(format!("the recorder was ended by signal {signal}"), LOG);
        }
    };
    Failure::new(format!("the recorder crashed with {name}: {meaning}"), hint)
}

const LOG: &str = "see the last lines of the recorder for the reason; other settings may avoid it";

/// Returns the dynamic loader's message about a missing library or symbol.
fn missing_library(log: &[String]) -> Option<String> {
    const SIGNS: [&str; 3] = ["error while loading shared libraries: ", "symbol lookup error: ", "version `"];
    log.iter().rev().find_map(|line| {
        let sign = SIGNS.iter().find(|sign| line.contains(**sign))?;
        let start = line.find(sign).expect("it contains it");
        let rest = if sign.ends_with(": ") { &line[start + sign.len()..] } else { &line[start..] };
        Some(rest.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::api::{Failed, Progress};

    #[track_caller]
    fn check(end: End, transcript: &Transcript, parts: &[&str]) {
        let failure = finished(end, transcript, &Limits::default()).expect_err("a failure").to_string();
        for part in parts {
            assert!(failure.contains(part), "{part:?} in {failure}");
        }
    }

    /// Makes an end from a status as the operating system encodes it.
    fn exited(raw: i32) -> End {
        End::Exited(std::process::ExitStatus::from_raw(raw))
    }

    fn log(lines: &[&str]) -> Transcript {
        Transcript { log: lines.iter().map(|line| (*line).to_owned()).collect(), ..Transcript::default() }
    }

    #[test]
    fn every_end_has_its_sentence() {
        check(End::Stopped(Stop::Cancelled), &log(&[]), &["was cancelled"]);
        check(End::Stopped(Stop::Time), &log(&[]), &["longer than 3600 s", "fewer steps"]);
        check(End::Stopped(Stop::Memory(20 << 30)), &log(&[]), &["took 20.0 GiB", "more than its limit of 16.0 GiB"]);
        check(exited(11), &log(&[]), &["crashed with SIGSEGV"]);
        check(exited(6), &log(&["terminate called"]), &["crashed with SIGABRT"]);
        check(exited(24), &log(&[]), &["crashed with SIGXCPU", "its limit of processor time"]);
        check(exited(25), &log(&[]), &["larger than its limit of 16.0 GiB"]);
        check(exited(64), &log(&[]), &["ended by signal 64"]);
        check(exited(3 << 8), &log(&[]), &["exit status 3"]);
        check(exited(0), &log(&[]), &["exit status 0"]);
        // The loader is quoted.
        let loader = "recorder: error while loading shared libraries: libcudart.so.13: cannot open shared object file";
        check(exited(127 << 8), &log(&[loader]), &["cannot be loaded: libcudart.so.13: cannot open", "./dev build"]);
        let symbol = "recorder: symbol lookup error: libtorch.so: undefined symbol: cudaMalloc";
        check(exited(127 << 8), &log(&[symbol]), &["cannot be loaded: libtorch.so: undefined symbol: cudaMalloc"]);
        let version = "recorder: libnvshmem_host.so.3: version `NVSHMEM' not found (required by libtorch_nvshmem.so)";
        check(exited(1 << 8), &log(&[version]), &["version `NVSHMEM' not found"]);
    }

    #[test]
    fn the_recorders_own_words_come_first() {
        let failed =
            Failed { message: "no kernel".into(), step: Some(1), phase: "forward".into(), module: "h.0".into() };
        let transcript = Transcript { failed: Some(failed), ..log(&["version `X' not found"]) };
        check(exited(3 << 8), &transcript, &["error: no kernel"]);
        let failure = RecordingFailure::after(transcript, Failure::new("", ""));
        assert_eq!(failure.place(Some(3)), "step 2 of 3, forward, h.0");
    }

    #[test]
    fn a_crash_is_where_the_run_was_last_unless_it_had_finished() {
        let progress = Progress { step: None, phase: "model".into(), live_bytes: 0, reserved_bytes: 0 };
        let transcript = Transcript { progress: Some(progress), ..log(&[]) };
        assert_eq!(RecordingFailure::after(transcript, Failure::new("", "")).place(None), "model");
        assert_eq!(RecordingFailure::after(log(&[]), Failure::new("", "")).place(None), "");
        let words = Finished { steps: 1, peak_allocated_bytes: 1, peak_reserved_bytes: 1, oom: None };
        let transcript = Transcript { finished: Some(words.clone()), ..Transcript::default() };
        assert_eq!(finished(exited(11), &transcript, &Limits::default()), Ok(words));
    }
}
