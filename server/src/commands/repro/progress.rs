//! What is shown while a recording runs, on standard error.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use shared::api::{Progress, RecorderLine};
use shared::base::format::bytes;
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::repro::Watcher;

/// How often a line is written where no bar can be drawn.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// How progress is shown.
enum Shown {
    /// Not at all.
    Quiet,
    /// As a bar that is drawn over and over.
    Bar(ProgressBar),
    /// As a line now and then; when the last one was, or the start: a run of a moment has none.
    Lines(Instant),
}

/// Shows progress to a person, who may interrupt.
pub(super) struct Display {
    shown: Shown,
    steps: Option<u64>,
    interrupted: Arc<AtomicBool>,
}

impl Display {
    /// A bar at a terminal, lines elsewhere, nothing where it is to be quiet.
    pub(super) fn new(is_quiet: bool) -> Self {
        let shown = match () {
            () if is_quiet => Shown::Quiet,
            () if std::io::stderr().is_terminal() => Shown::Bar(bar()),
            () => Shown::Lines(Instant::now()),
        };
        Self { shown, steps: None, interrupted: interrupted() }
    }

    /// Takes the bar away.
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

/// What becomes true when the person at the terminal interrupts, or somebody asks this program to end.
pub(in crate::commands) fn interrupted() -> Arc<AtomicBool> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Where that fails an interrupt ends this program at once, as it would without.
        let _ = signal_hook::flag::register(signal, Arc::clone(&interrupted));
    }
    interrupted
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {bar:12} {wide_msg} {elapsed}")
        .expect("the template is right")
        .progress_chars("━╸─");
    let bar = ProgressBar::new(1).with_style(style).with_message("starting the recorder");
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// `step 2 of 3 · backward · 12.3 GiB live · 14.0 GiB reserved`
fn text(progress: &Progress, steps: Option<u64>) -> String {
    let step = crate::repro::place(progress.step, steps, "", "");
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
