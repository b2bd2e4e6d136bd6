//! Shows the progress of several recordings on standard error.

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use indicatif::ProgressBar;
use shared::base::format::bytes;

use crate::commands::repro::progress::{bar, interrupted};
use crate::recording::sweep::{Audience, Outcome};

/// Display of finished recordings that also notices an interrupt by the user.
pub(in crate::commands) struct Display {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    done: AtomicUsize,
    /// Number of recordings; `None` for a search, which does not know it in advance.
    total: Option<usize>,
    pub(in crate::commands) interrupted: Arc<AtomicBool>,
}

impl Display {
    /// Creates a display: a bar at a terminal, one line per recording elsewhere, nothing if `is_quiet`.
    pub(in crate::commands) fn new(is_quiet: bool, total: Option<usize>) -> Self {
        let bar = (!is_quiet && std::io::stderr().is_terminal()).then(|| match total {
            Some(total) => {
                let template = "{spinner} {bar:12} {pos} of {len} · {wide_msg} {elapsed}";
                bar(ProgressBar::new(total as u64), template)
            }
            None => bar(ProgressBar::no_length(), "{spinner} {wide_msg} {elapsed}"),
        });
        Self { bar, is_quiet, done: AtomicUsize::new(0), total, interrupted: interrupted() }
    }

    /// Shows what runs now, at a terminal and until the first result.
    pub(in crate::commands) fn starting(&self, label: &str) {
        if let Some(bar) = self.bar.as_ref().filter(|bar| bar.position() == 0) {
            bar.set_message(label.to_owned());
        }
    }

    pub(in crate::commands) fn line(&self, line: &str) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        match (&self.bar, self.total) {
            (Some(bar), _) => {
                bar.inc(1);
                bar.set_message(line.to_owned());
            }
            (None, _) if self.is_quiet => {}
            (None, Some(total)) => eprintln!("{done} of {total} · {line}"),
            (None, None) => eprintln!("{line}"),
        }
    }

    pub(in crate::commands) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Audience for Display {
    fn finished(&self, label: &str, outcome: &Outcome) {
        self.line(&format!("{label} · {}", text(outcome)));
    }

    fn is_cancelled(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

fn text(outcome: &Outcome) -> String {
    match outcome {
        Ok(recording) if recording.oom.is_some() => "out of memory".to_owned(),
        Ok(recording) => format!("{} reserved", bytes(recording.peak_reserved_bytes)),
        Err(failure) => failure.message.clone(),
    }
}
