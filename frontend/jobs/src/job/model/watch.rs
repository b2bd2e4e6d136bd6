//! State of a job as its events report it, during the run and afterwards.

use frontend::views::head::model::{Emphasis, Figure};
use shared::api::{JobEvent, JobState, OutOfMemory, Progress, Recorded};
use shared::base::format;

/// Largest number of samples that are kept, chosen to exceed the width of a screen in pixels.
const MOST_SAMPLES: usize = 2048;

/// Largest number of messages that are kept.
const MOST_MESSAGES: usize = 500;

/// State of the connection to the server's event stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Link {
    #[default]
    Opening,
    Live,
    /// The stream broke off and is being reopened.
    Away,
    /// The job has ended, so no more events will arrive.
    Over,
}

/// Memory at one moment of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Current step; `None` while the model is built.
    pub step: Option<u64>,
    /// Sum of the requested bytes of live allocations.
    pub live_bytes: u64,
    /// Sum of the bytes of segments.
    pub reserved_bytes: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum WatchAction {
    /// Events arrived, each with its number, which counts from 1.
    Hear(Vec<(u64, JobEvent)>),
    /// The state of the connection changed.
    Linked(Link),
}

/// State of a job as its events report it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Watch {
    pub link: Link,
    /// Last state that an event reported.
    pub state: Option<JobState>,
    /// Name of the device as CUDA reports it.
    pub device: Option<String>,
    /// Total memory of the device, in bytes.
    pub memory_bytes: Option<u64>,
    pub parameters: Option<u64>,
    /// Number of steps of the run.
    pub steps: Option<u64>,
    /// Last reported progress.
    pub progress: Option<Progress>,
    /// Memory over the run so far.
    pub samples: Vec<Sample>,
    /// Messages of the recorder.
    pub messages: Vec<String>,
    /// Report of the out-of-memory error, if there was one.
    pub oom: Option<OutOfMemory>,
    /// Recordings that have ended, of a job that makes several.
    pub recorded: Vec<Recorded>,
    /// Number of the last event, because a reopened stream may repeat events from the first one.
    last: u64,
    /// Base-2 logarithm of the number of reports per sample.
    merged: u32,
    /// Number of reports that the last sample covers so far.
    pending: u32,
}

impl Watch {
    /// Returns the state after an action.
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
            JobEvent::Recorded(recorded) => self.recorded.push(recorded),
        }
    }

    fn enter(&mut self, state: JobState) {
        if state == JobState::Running {
            // A job that is restarted loses what its earlier attempt reported.
            (self.samples, self.messages, self.recorded) = (Vec::new(), Vec::new(), Vec::new());
            (self.progress, self.oom, self.merged, self.pending) = (None, None, 0, 0);
        }
        if state.is_over() {
            self.link = Link::Over;
        }
        self.state = Some(state);
    }

    /// Adds a report to the curve.
    ///
    /// A full curve is halved first: each pair of samples becomes one with the larger values, so peaks are kept.
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

    /// Returns the current memory figures of the running job.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let Some(progress) = &self.progress else { return Vec::new() };
        let peak = |bytes: fn(&Sample) -> u64| {
            format!("peak {}", format::bytes(self.samples.iter().map(bytes).max().unwrap_or(0)))
        };
        vec![
            Figure {
                label: "Live",
                value: format::bytes(progress.live_bytes),
                note: peak(|sample| sample.live_bytes),
                explanation: "Requested bytes of all tensors that are live now.",
                emphasis: Emphasis::Live,
            },
            Figure {
                label: "Reserved",
                value: format::bytes(progress.reserved_bytes),
                note: peak(|sample| sample.reserved_bytes),
                explanation: "Bytes that PyTorch holds from CUDA now.",
                emphasis: Emphasis::Reserved,
            },
        ]
    }
}

/// Merges two samples into one with the larger of each value and the step of the first.
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
