//! What is known of a job from its events, while it runs and afterwards.

use shared::api::{JobEvent, JobState, OutOfMemory, Progress};

/// The most samples of the curve that are kept: more than a screen has pixels.
const MOST_SAMPLES: usize = 2048;

/// The most messages that are kept.
const MOST_MESSAGES: usize = 500;

/// Whether the server's events come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Link {
    /// The stream is being opened.
    #[default]
    Opening,
    /// It is open.
    Live,
    /// It broke off, and is being opened again.
    Away,
    /// There is nothing more to come.
    Over,
}

/// Memory at one moment of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The step under way; `None` while the model is built.
    pub step: Option<u64>,
    /// Requested bytes alive.
    pub live_bytes: u64,
    /// Bytes of segments.
    pub reserved_bytes: u64,
}

/// Everything that happens to a watch.
#[derive(Clone, Debug)]
pub(crate) enum WatchAction {
    /// Events came, each with its number, which counts from 1.
    Hear(Vec<(u64, JobEvent)>),
    /// The stream was opened, or broke off.
    Linked(Link),
}

/// What is known of a job from its events.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Watch {
    /// Whether events come.
    pub link: Link,
    /// The last state that was told.
    pub state: Option<JobState>,
    /// The name that CUDA gives the device.
    pub device: Option<String>,
    /// Total memory of the device, in bytes.
    pub memory_bytes: Option<u64>,
    /// Parameters of the model.
    pub parameters: Option<u64>,
    /// Steps that the run takes.
    pub steps: Option<u64>,
    /// Where it is.
    pub progress: Option<Progress>,
    /// The curve so far.
    pub samples: Vec<Sample>,
    /// What the recorder said.
    pub messages: Vec<String>,
    /// Where memory ran out.
    pub oom: Option<OutOfMemory>,
    /// The number of the last event: a stream that is opened anew may begin from the first.
    last: u64,
    /// How many reports each sample stands for, a power of two.
    merged: u32,
    /// How many reports the last sample stands for so far.
    pending: u32,
}

impl Watch {
    /// What is known after an action.
    pub(crate) fn after(&self, action: WatchAction) -> Self {
        let mut watch = self.clone();
        match action {
            WatchAction::Linked(_) if watch.link == Link::Over => {}
            WatchAction::Linked(link) => watch.link = link,
            WatchAction::Hear(events) => {
                for (number, event) in events.into_iter().skip_while(|(number, _)| *number <= self.last) {
                    watch.last = number;
                    watch.link = Link::Live;
                    watch.hear(event);
                }
            }
        }
        watch
    }

    fn hear(&mut self, event: JobEvent) {
        match event {
            JobEvent::State { state } => self.enter(state),
            JobEvent::Started { device, memory_bytes, parameters, steps } => {
                (self.device, self.memory_bytes) = (Some(device), Some(memory_bytes));
                (self.parameters, self.steps) = (Some(parameters), Some(steps));
            }
            JobEvent::Progress(progress) => {
                self.push(Sample {
                    step: progress.step,
                    live_bytes: progress.live_bytes,
                    reserved_bytes: progress.reserved_bytes,
                });
                self.progress = Some(progress);
            }
            JobEvent::Message { text } => {
                if self.messages.len() < MOST_MESSAGES {
                    self.messages.push(text);
                }
            }
            JobEvent::OutOfMemory(oom) => self.oom = Some(oom),
        }
    }

    fn enter(&mut self, state: JobState) {
        if state == JobState::Running {
            // A job that runs again begins again.
            (self.samples, self.messages) = (Vec::new(), Vec::new());
            (self.progress, self.oom, self.merged, self.pending) = (None, None, 0, 0);
        }
        if state.is_over() {
            self.link = Link::Over;
        }
        self.state = Some(state);
    }

    /// Adds a report; a full curve is halved first, each pair becoming its higher one.
    fn push(&mut self, sample: Sample) {
        if (1..1 << self.merged).contains(&self.pending)
            && let Some(last) = self.samples.last_mut()
        {
            *last = higher(*last, sample);
            self.pending += 1;
            return;
        }
        if self.samples.len() == MOST_SAMPLES {
            self.samples =
                self.samples.chunks(2).map(|pair| pair.iter().copied().reduce(higher).unwrap_or(sample)).collect();
            self.merged += 1;
        }
        self.samples.push(sample);
        self.pending = 1;
    }
}

/// The higher bytes of two samples, and the step of the first.
fn higher(a: Sample, b: Sample) -> Sample {
    Sample {
        step: a.step,
        live_bytes: a.live_bytes.max(b.live_bytes),
        reserved_bytes: a.reserved_bytes.max(b.reserved_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(step: u64, bytes: u64) -> JobEvent {
        JobEvent::Progress(Progress {
            step: Some(step),
            phase: "forward".to_owned(),
            live_bytes: bytes,
            reserved_bytes: 2 * bytes,
        })
    }

    fn heard(events: impl IntoIterator<Item = JobEvent>) -> Watch {
        Watch::default().after(WatchAction::Hear((1..).zip(events).collect()))
    }

    #[test]
    fn a_run_is_followed_to_its_end() {
        let state = |state| JobEvent::State { state };
        let message = JobEvent::Message { text: "attention takes flash".to_owned() };
        let watch = heard([state(JobState::Queued), state(JobState::Running), message, progress(0, 5), progress(1, 9)]);
        assert_eq!((watch.link, watch.state), (Link::Live, Some(JobState::Running)));
        assert_eq!(watch.samples.iter().map(|sample| sample.live_bytes).collect::<Vec<_>>(), [5, 9]);
        assert_eq!(watch.progress.as_ref().and_then(|progress| progress.step), Some(1));
        let over = watch.after(WatchAction::Hear(vec![(6, state(JobState::Finished))]));
        assert_eq!(over.after(WatchAction::Linked(Link::Away)).link, Link::Over);
    }

    #[test]
    fn events_count_once() {
        let watch = heard([progress(0, 5)]);
        let away = watch.after(WatchAction::Linked(Link::Away));
        assert_eq!(away.link, Link::Away);
        assert_eq!(away.after(WatchAction::Hear(vec![(1, progress(0, 5))])).samples.len(), 1);
    }

    #[test]
    fn a_job_that_runs_again_begins_again() {
        let again = JobEvent::State { state: JobState::Running };
        let watch = heard([progress(0, 5), JobEvent::Message { text: String::new() }, again, progress(0, 3)]);
        assert_eq!((watch.samples.len(), watch.messages.len()), (1, 0));
    }

    #[test]
    fn a_long_curve_keeps_its_peaks() {
        let count = 10 * MOST_SAMPLES as u64;
        let watch = heard((0..count).map(|step| progress(step, if step == 7777 { 1000 } else { step % 10 })));
        assert!((MOST_SAMPLES / 2..=MOST_SAMPLES).contains(&watch.samples.len()), "{}", watch.samples.len());
        assert_eq!(watch.samples.iter().map(|sample| sample.live_bytes).max(), Some(1000));
        let steps: Vec<_> = watch.samples.iter().map(|sample| sample.step).collect();
        assert!(steps.is_sorted());
    }
}
