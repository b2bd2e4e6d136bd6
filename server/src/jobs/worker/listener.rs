//! Receives the recorder's lines on its thread and reduces the number of events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use shared::api::{JobEvent, Message, Progress, RecorderLine};
use tokio::sync::mpsc::UnboundedSender;

use crate::recording::repro::Watcher;

/// Interval between progress events; the detail in between is in the snapshot anyway.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// Number of first events without thinning.
///
/// Until then each progress line is an event, at most twenty per second, so that the curves of the many recordings that
/// take seconds have a shape.
const FIRST_EVENTS: usize = 400;

/// Number of events after which the progress interval doubles, and again after half as many more.
///
/// A run of hours keeps its first events and loses detail later.
const MOST_EVENTS: usize = 5000;

/// Maximum number of messages of one recording, because a recorder may never stop sending them.
const MOST_MESSAGES: usize = 200;

/// Sends events to the task that writes them to the database.
pub(super) struct Listener {
    events: UnboundedSender<JobEvent>,
    cancelled: Arc<AtomicBool>,
    sent: usize,
    messages: usize,
    last_progress: Option<Instant>,
    /// Progress that came too soon after the last event.
    held: Option<Progress>,
    every: Duration,
    memory_bytes: u64,
}

impl Listener {
    /// Makes a listener that stops the recording once `cancelled` is true.
    pub(super) fn new(events: UnboundedSender<JobEvent>, cancelled: Arc<AtomicBool>) -> Self {
        Self {
            events,
            cancelled,
            sent: 0,
            messages: 0,
            last_progress: None,
            held: None,
            every: PROGRESS_EVERY,
            memory_bytes: 0,
        }
    }

    /// Returns the highest observed host memory of the recorder, in bytes.
    pub(super) fn memory_bytes(&self) -> u64 {
        self.memory_bytes
    }

    fn send(&mut self, event: JobEvent) {
        self.sent += 1;
        // The receiving task may have ended already.
        let _ = self.events.send(event);
    }

    fn message(&mut self, text: String) {
        self.messages += 1;
        match self.messages {
            ..MOST_MESSAGES => self.send(JobEvent::Message { text }),
            MOST_MESSAGES => self.send(JobEvent::Message { text: "Further messages are not kept".to_owned() }),
            _ => {}
        }
    }

    fn progress(&mut self, progress: Progress) {
        let is_soon = self.last_progress.is_some_and(|last| last.elapsed() < self.every);
        if is_soon && self.sent >= FIRST_EVENTS {
            self.held = Some(progress);
            return;
        }
        if self.sent >= MOST_EVENTS {
            // The interval doubles, so that a long run still shows progress.
            self.every *= 2;
            self.sent = MOST_EVENTS / 2;
        }
        self.last_progress = Some(Instant::now());
        self.held = None;
        self.send(JobEvent::Progress(progress));
    }
}

impl Watcher for Listener {
    fn line(&mut self, line: &RecorderLine) {
        match line.clone() {
            RecorderLine::Started(started) => self.send(JobEvent::Started {
                device: started.device,
                memory_bytes: started.memory_bytes,
                parameters: started.parameters,
                steps: started.steps,
            }),
            RecorderLine::Progress(progress) => self.progress(progress),
            RecorderLine::Message(Message { text }) => self.message(text),
            RecorderLine::Finished(finished) => {
                if let Some(progress) = self.held.take() {
                    self.send(JobEvent::Progress(progress));
                }
                if let Some(oom) = finished.oom {
                    self.send(JobEvent::OutOfMemory(oom));
                }
            }
            RecorderLine::Snapshot(_) | RecorderLine::Failed(_) => {}
        }
    }

    fn is_cancelled(&mut self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    fn memory(&mut self, bytes: u64) {
        self.memory_bytes = self.memory_bytes.max(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::mpsc::unbounded_channel;

    #[test]
    fn messages_are_bounded() {
        let (sender, mut events) = unbounded_channel();
        let mut listener = Listener::new(sender, Arc::default());
        for number in 0..10 * MOST_MESSAGES {
            listener.line(&RecorderLine::Message(Message { text: number.to_string() }));
        }
        drop(listener);
        let told: Vec<JobEvent> = std::iter::from_fn(|| events.try_recv().ok()).collect();
        assert_eq!(told.len(), MOST_MESSAGES);
        assert_eq!(told.last(), Some(&JobEvent::Message { text: "Further messages are not kept".to_owned() }));
    }
}
