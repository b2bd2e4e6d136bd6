//! Shows the progress of a recording on standard error.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use shared::api::{Progress, RecorderLine};
use shared::base::format::bytes;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::recording::repro::Watcher;

/// Minimum time between two progress lines, where no bar can be drawn.
const LINE_EVERY: Duration = Duration::from_secs(2);

enum Shown {
    Quiet,
    /// Bar that is redrawn in place.
    Bar(ProgressBar),
    /// Lines; holds the time of the last one, or of the start, so that a very short run prints none.
    Lines(Instant),
}

/// Display of progress that also notices an interrupt by the user.
pub(super) struct Display {
    shown: Shown,
    steps: Option<u64>,
    interrupted: Arc<AtomicBool>,
}

impl Display {
    /// Creates a display: a bar at a terminal, lines elsewhere, nothing if `is_quiet`.
    pub(super) fn new(is_quiet: bool) -> Self {
        let shown = match () {
            () if is_quiet => Shown::Quiet,
            () if std::io::stderr().is_terminal() => {
                Shown::Bar(bar(ProgressBar::new(1), "{spinner} {bar:12} {wide_msg} {elapsed}"))
            }
            () => Shown::Lines(Instant::now()),
        };
        Self { shown, steps: None, interrupted: interrupted() }
    }

    pub(super) fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }

    fn progress(&mut self, progress: &Progress) {
        let text = text(progress, self.steps);
        match &mut self.shown {
            Shown::Quiet => {}
            Shown::Bar(bar) => {
                bar.set_position(progress.step.unwrap_or(0));
                bar.set_message(text);
            }
            Shown::Lines(last) if last.elapsed() < LINE_EVERY => {}
            Shown::Lines(last) => {
                *last = Instant::now();
                eprintln!("{text}");
            }
        }
    }

    fn message(&self, text: &str) {
        match &self.shown {
            Shown::Quiet => {}
            Shown::Bar(bar) => bar.println(format!("note: {text}")),
            Shown::Lines(_) => eprintln!("note: {text}"),
        }
    }
}

impl Watcher for Display {
    fn line(&mut self, line: &RecorderLine) {
        match line {
            RecorderLine::Started(started) => {
                self.steps = Some(started.steps);
                if let Shown::Bar(bar) = &self.shown {
                    bar.set_length(started.steps);
                }
            }
            RecorderLine::Progress(progress) => self.progress(progress),
            RecorderLine::Message(message) => self.message(&message.text),
            RecorderLine::Snapshot(_) | RecorderLine::Finished(_) | RecorderLine::Failed(_) => {}
        }
    }

    fn is_cancelled(&mut self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Returns a flag that becomes true on SIGINT or SIGTERM.
pub(in crate::commands) fn interrupted() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // If this fails, the signal ends the program at once, as it does by default.
        let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
    }
    interrupted
}

/// Lets a bar turn until the recorder has started.
pub(in crate::commands) fn bar(bar: ProgressBar, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is right").progress_chars("━╸─");
    let bar = bar.with_style(style).with_message("starting the recorder");
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// Formats progress as `step 2 of 3 · backward · 12.3 GiB live · 14.0 GiB reserved`.
fn text(progress: &Progress, steps: Option<u64>) -> String {
    let step = shared::recordings::place(progress.step, steps, "", "");
    let memory = [(progress.live_bytes, "live"), (progress.reserved_bytes, "reserved")];
    let memory = memory.map(|(size_bytes, name)| format!("{} {name}", bytes(size_bytes)));
    let parts = [step, progress.phase.clone()].into_iter().chain(memory);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_one_line() {
        let mut progress =
            Progress { step: Some(1), phase: "backward".into(), live_bytes: 3 << 30, reserved_bytes: 4 << 30 };
        assert_eq!(text(&progress, Some(3)), "step 2 of 3 · backward · 3.00 GiB live · 4.00 GiB reserved");
        progress.step = None;
        progress.phase = "model".into();
        assert_eq!(text(&progress, Some(3)), "model · 3.00 GiB live · 4.00 GiB reserved");
    }
}
