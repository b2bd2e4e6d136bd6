//! Keeps the order of work in streams and events, and decides when work counts as done.
//!
//! Time is measured in *ticks*, the number of launches and copies so far. An event is done when the lag has passed
//! since it was recorded, or when the host has waited for it. A host that does not wait runs ahead of the device: the lag
//! is half of what was launched since it last waited, as a program on an H200 had it, unless a number is set.
//! Waiting for a stream completes its work up to now, and the work of other streams for which it waited itself:
//!
//! ```text
//! tick        1         2               3        4
//! stream A   work   record e
//! stream B                    wait e   work   synchronize: the work of B to 4 and that of A to 2 is done
//! ```

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// Launches that CUDA queues before the host has to wait for the device.
const QUEUE: u64 = 1024;

/// Number of a stream; the default streams of the devices come first.
pub(crate) type StreamId = usize;

#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) device: usize,
    pub(crate) flags: u32,
    /// Priority given at creation; lower is more urgent.
    pub(crate) priority: i32,
    /// Number of the capture that the stream takes part in.
    pub(crate) capture: Option<u64>,
    /// Tick of the latest work.
    latest: u64,
    /// Tick up to which the work is done.
    done: u64,
    /// Waits for other streams, as (tick in this stream, other stream, tick in that stream).
    waits: Vec<(u64, StreamId, u64)>,
}

/// The moment at which an event was recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    pub(crate) stream: StreamId,
    pub(crate) tick: u64,
}

/// Number of operations of each captured stream that precede a moment.
pub(crate) type Frontier = BTreeMap<StreamId, u64>;

/// The moment that an event marks.
#[derive(Debug, Clone)]
pub(crate) enum Recorded {
    /// The event was never recorded, and counts as done.
    Never,
    /// A moment of a stream.
    At(Mark),
    /// A moment of the capture with this number.
    Captured(u64, Frontier),
}

#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) has_timing: bool,
    pub(crate) recorded: Recorded,
}

/// All streams and events of the process.
#[derive(Debug)]
pub(crate) struct Streams {
    /// The number that was set.
    lag: Option<u64>,
    /// Latest tick for which the host has waited.
    waited: u64,
    streams: Vec<Option<Stream>>,
    events: Vec<Option<Event>>,
    free_events: Vec<usize>,
}

impl Streams {
    /// Creates the default stream of each device, and no event.
    pub(crate) fn new(devices: usize, lag: Option<u64>) -> Self {
        let mut streams = Self { lag, waited: 0, streams: Vec::new(), events: Vec::new(), free_events: Vec::new() };
        for device in 0..devices {
            streams.create(device, 0, 0);
        }
        streams
    }

    /// Creates a stream; numbers are not reused, so that a handle never refers to another stream.
    pub(crate) fn create(&mut self, device: usize, flags: u32, priority: i32) -> StreamId {
        let stream = Stream { device, flags, priority, capture: None, latest: 0, done: 0, waits: Vec::new() };
        self.streams.push(Some(stream));
        self.streams.len() - 1
    }

    /// Destroys a stream, which must not be a default stream.
    ///
    /// # Errors
    /// Returns "invalid handle" for an unknown or a default stream.
    pub(crate) fn destroy(&mut self, id: StreamId, devices: usize) -> Result<()> {
        self.get(id)?;
        if id < devices {
            return Err(Error::InvalidHandle);
        }
        self.streams[id] = None;
        Ok(())
    }

    /// Returns the stream with this number.
    ///
    /// # Errors
    /// Returns "invalid handle" for an unknown stream.
    pub(crate) fn get(&self, id: StreamId) -> Result<&Stream> {
        self.streams.get(id).and_then(Option::as_ref).ok_or(Error::InvalidHandle)
    }

    /// Returns the stream with this number for modification.
    ///
    /// # Errors
    /// Returns "invalid handle" for an unknown stream.
    pub(crate) fn get_mut(&mut self, id: StreamId) -> Result<&mut Stream> {
        self.streams.get_mut(id).and_then(Option::as_mut).ok_or(Error::InvalidHandle)
    }

    /// Iterates over all streams that are not destroyed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (StreamId, &mut Stream)> {
        self.streams.iter_mut().enumerate().filter_map(|(id, stream)| Some((id, stream.as_mut()?)))
    }

    /// Records work in a stream at a tick.
    pub(crate) fn work(&mut self, id: StreamId, tick: u64) -> Result<()> {
        self.get_mut(id)?.latest = tick;
        Ok(())
    }

    /// Returns true if all work of a stream is done.
    pub(crate) fn is_idle(&self, id: StreamId, now: u64) -> Result<bool> {
        let stream = self.get(id)?;
        Ok(stream.latest <= stream.done || now.saturating_sub(stream.latest) >= self.lag_of(stream.latest))
    }

    /// Returns how many ticks after one the device has done its work.
    fn lag_of(&self, tick: u64) -> u64 {
        self.lag.unwrap_or_else(|| (tick.saturating_sub(self.waited) / 2).min(QUEUE))
    }

    /// Completes the work of a stream up to a tick, and the work of other streams for which it waited.
    pub(crate) fn finish(&mut self, id: StreamId, tick: u64) {
        self.waited = self.waited.max(tick);
        let mut pending = vec![(id, tick)];
        while let Some((id, tick)) = pending.pop() {
            let Ok(stream) = self.get_mut(id) else { continue };
            stream.done = stream.done.max(tick);
            let done = stream.done;
            pending.extend(stream.waits.extract_if(.., |wait| wait.0 <= done).map(|(_, other, tick)| (other, tick)));
        }
    }

    /// Completes the work of all streams of a device up to a tick.
    pub(crate) fn finish_device(&mut self, device: usize, tick: u64) {
        let of_device: Vec<_> =
            self.iter_mut().filter(|(_, stream)| stream.device == device).map(|(id, _)| id).collect();
        for id in of_device {
            self.finish(id, tick);
        }
    }

    /// Creates an event; numbers are reused, because programs create millions of events.
    pub(crate) fn create_event(&mut self, has_timing: bool) -> usize {
        let event = Some(Event { has_timing, recorded: Recorded::Never });
        if let Some(id) = self.free_events.pop() {
            self.events[id] = event;
            return id;
        }
        self.events.push(event);
        self.events.len() - 1
    }

    pub(crate) fn destroy_event(&mut self, id: usize) -> Result<()> {
        self.event(id)?;
        self.events[id] = None;
        self.free_events.push(id);
        Ok(())
    }

    /// Returns the event with this number.
    ///
    /// # Errors
    /// Returns "invalid handle" for an unknown event.
    pub(crate) fn event(&self, id: usize) -> Result<&Event> {
        self.events.get(id).and_then(Option::as_ref).ok_or(Error::InvalidHandle)
    }

    /// Returns the event with this number for modification.
    ///
    /// # Errors
    /// Returns "invalid handle" for an unknown event.
    pub(crate) fn event_mut(&mut self, id: usize) -> Result<&mut Event> {
        self.events.get_mut(id).and_then(Option::as_mut).ok_or(Error::InvalidHandle)
    }

    /// Returns true if the work before a mark is done.
    pub(crate) fn is_done(&self, mark: Mark, now: u64) -> bool {
        // The work of a destroyed stream counts as done.
        let done = self.get(mark.stream).map_or(u64::MAX, |stream| stream.done);
        mark.tick <= done || now.saturating_sub(mark.tick) >= self.lag_of(mark.tick)
    }

    /// Makes a stream wait for a moment of another stream.
    pub(crate) fn wait(&mut self, id: StreamId, mark: Mark, now: u64) -> Result<()> {
        let is_over = mark.stream == id || self.is_done(mark, now);
        let stream = self.get_mut(id)?;
        if !is_over {
            stream.waits.push((now, mark.stream, mark.tick));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: StreamId = 1;
    const B: StreamId = 2;

    /// Creates the streams of one device: its default stream, [`A`] and [`B`].
    fn streams(lag: u64) -> Streams {
        let mut streams = Streams::new(1, Some(lag));
        assert_eq!((streams.create(0, 1, 0), streams.create(0, 1, -1)), (A, B));
        streams
    }

    fn mark(stream: StreamId, tick: u64) -> Mark {
        Mark { stream, tick }
    }

    #[test]
    fn an_event_is_done_when_the_lag_has_passed() {
        let streams = streams(5);
        assert!(!streams.is_done(mark(A, 10), 14));
        assert!(streams.is_done(mark(A, 10), 15));
    }

    #[test]
    fn a_host_that_does_not_wait_runs_ahead() {
        let mut streams = Streams::new(1, None);
        assert!(!streams.is_done(mark(0, 20), 29) && streams.is_done(mark(0, 20), 30));
        streams.finish(0, 18);
        assert!(!streams.is_done(mark(0, 20), 20) && streams.is_done(mark(0, 20), 21));
        assert!(streams.is_done(mark(0, 1 << 20), (1 << 20) + QUEUE));
    }

    #[test]
    fn without_a_lag_all_is_done_at_once() {
        assert!(streams(0).is_done(mark(A, 10), 10));
    }

    #[test]
    fn finishing_a_stream_finishes_what_it_waited_for() {
        let mut streams = streams(100);
        streams.wait(B, mark(A, 2), 3).expect("both streams are there");
        streams.finish(B, 4);
        assert!(streams.is_done(mark(B, 4), 4));
        assert!(streams.is_done(mark(A, 2), 4));
        assert!(!streams.is_done(mark(A, 3), 4));
    }

    #[test]
    fn a_wait_after_the_moment_does_not_count() {
        let mut streams = streams(100);
        streams.wait(B, mark(A, 5), 6).expect("both streams are there");
        streams.finish(B, 4);
        assert!(!streams.is_done(mark(A, 5), 6));
    }

    #[test]
    fn finishing_a_device_finishes_all_its_streams() {
        let mut streams = streams(100);
        streams.work(A, 7).expect("the stream is there");
        assert_eq!(streams.is_idle(A, 8), Ok(false));
        streams.finish_device(0, 8);
        assert_eq!(streams.is_idle(A, 8), Ok(true));
    }

    #[test]
    fn slots_of_events_are_used_again_and_streams_are_not() {
        let mut streams = streams(0);
        let event = streams.create_event(true);
        streams.destroy_event(event).expect("the event is there");
        assert_eq!(streams.destroy_event(event), Err(Error::InvalidHandle));
        assert_eq!(streams.create_event(false), event);
        streams.destroy(B, 1).expect("the stream is there");
        assert_eq!(streams.create(0, 0, 0), B + 1);
        assert_eq!(streams.destroy(0, 1), Err(Error::InvalidHandle));
    }
}
