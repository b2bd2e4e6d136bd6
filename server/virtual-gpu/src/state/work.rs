//! Combines streams, events, captures and graphs, which share one lock.
//!
//! Handles are made from the numbers of streams, events and graphs; see `handle`.

use std::collections::BTreeMap;
use std::thread;

use super::capture::{Capture, Graph, Node};
use super::stream::{Mark, Recorded, StreamId, Streams};
use super::thread::{CaptureMode, capture_mode};
use crate::error::{Error, Result};

/// Flag of a captured stream that records or waits for an event outside of its capture.
///
/// `cudaEventRecordExternal` and `cudaEventWaitExternal` have this value.
pub(crate) const RECORD_EXTERNAL: u32 = 1;

/// All work of the process.
#[derive(Debug)]
pub(crate) struct Work {
    /// Number of devices, whose default streams have the first numbers.
    devices: usize,
    pub(crate) streams: Streams,
    captures: BTreeMap<u64, Capture>,
    next_capture: u64,
    graphs: Vec<Option<Graph>>,
    /// Objects that graphs keep alive.
    pub(crate) user_objects: Vec<UserObject>,
}

/// An object of the program, and the function that destroys it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserObject {
    /// Argument of the function.
    pub(crate) object: usize,
    /// Address of the function.
    pub(crate) destroy: usize,
    /// Number of references that the program and graphs hold.
    pub(crate) references: u32,
}

/// Result of `cudaStreamGetCaptureInfo` for a captured stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CaptureInfo {
    pub(crate) id: u64,
    pub(crate) is_invalid: bool,
    /// Number of the graph into which the stream is captured.
    pub(crate) graph: usize,
}

impl Work {
    pub(crate) fn new(devices: usize, lag: Option<u64>) -> Self {
        Self {
            devices,
            streams: Streams::new(devices, lag),
            captures: BTreeMap::new(),
            next_capture: 1,
            graphs: Vec::new(),
            user_objects: Vec::new(),
        }
    }

    /// Returns true if any stream is captured.
    pub(crate) fn is_capturing(&self) -> bool {
        !self.captures.is_empty()
    }

    /// Puts an operation into a stream: into its capture if it has one, or else as work at this tick.
    ///
    /// Returns true if the operation is to be carried out now, false if it was captured.
    pub(crate) fn put(&mut self, stream: StreamId, node: Node, tick: u64) -> Result<bool> {
        let Some(id) = self.streams.get(stream)?.capture else {
            self.streams.work(stream, tick)?;
            return Ok(true);
        };
        self.captures.get_mut(&id).ok_or(Error::CaptureInvalidated)?.add(stream, node)?;
        Ok(false)
    }

    /// Checks that no capture forbids unsafe calls to this thread.
    ///
    /// # Errors
    /// Returns an error if a capture does, and invalidates that capture.
    pub(crate) fn check_unsafe(&mut self) -> Result<()> {
        let (thread, mode) = (thread::current().id(), capture_mode());
        let mut result = Ok(());
        for capture in self.captures.values_mut().filter(|capture| capture.forbids(thread, mode)) {
            capture.is_invalid = true;
            result = Err(Error::CaptureUnsupported);
        }
        result
    }

    /// Checks that a stream is not captured, so that the host may wait for it; otherwise invalidates the capture.
    pub(crate) fn check_not_captured(&mut self, stream: StreamId) -> Result<()> {
        let Some(id) = self.streams.get(stream)?.capture else { return Ok(()) };
        if let Some(capture) = self.captures.get_mut(&id) {
            capture.is_invalid = true;
        }
        Err(Error::CaptureUnsupported)
    }

    /// Destroys a stream, and invalidates its capture if it has one.
    pub(crate) fn destroy_stream(&mut self, stream: StreamId) -> Result<()> {
        if let Some(id) = self.streams.get(stream)?.capture
            && let Some(capture) = self.captures.get_mut(&id)
        {
            capture.is_invalid = true;
        }
        self.streams.destroy(stream, self.devices)
    }

    /// Records an event in a stream, or in the stream's capture.
    pub(crate) fn record(&mut self, event: usize, stream: StreamId, flags: u32, tick: u64) -> Result<()> {
        let capture = self.streams.get(stream)?.capture;
        let recorded = match capture.filter(|_| flags & RECORD_EXTERNAL == 0) {
            None => Recorded::At(Mark { stream, tick }),
            Some(id) => {
                let capture = self.captures.get(&id).filter(|capture| !capture.is_invalid);
                Recorded::Captured(id, capture.ok_or(Error::CaptureInvalidated)?.frontier(stream))
            }
        };
        self.streams.event_mut(event)?.recorded = recorded;
        Ok(())
    }

    /// Makes a stream wait for an event; if the event was captured, the stream joins the capture.
    pub(crate) fn wait(&mut self, stream: StreamId, event: usize, flags: u32, now: u64) -> Result<()> {
        let own = self.streams.get(stream)?.capture;
        match self.streams.event(event)?.recorded.clone() {
            Recorded::Never => Ok(()),
            Recorded::At(_) if own.is_some() && flags & RECORD_EXTERNAL == 0 => {
                self.spoil(own, Error::CaptureIsolation)
            }
            Recorded::At(mark) => self.streams.wait(stream, mark, now),
            Recorded::Captured(id, moment) => {
                let Some(capture) = self.captures.get_mut(&id) else { return Ok(()) };
                if own.is_some_and(|own| own != id) {
                    return self.spoil(own, Error::CaptureMerge);
                }
                capture.join(stream, &moment)?;
                self.streams.get_mut(stream)?.capture = Some(id);
                Ok(())
            }
        }
    }

    /// Returns true if an event is done.
    ///
    /// # Errors
    /// Returns an error if the event is unknown or was recorded in a capture.
    pub(crate) fn is_done(&self, event: usize, now: u64) -> Result<bool> {
        match self.streams.event(event)?.recorded {
            Recorded::Never => Ok(true),
            Recorded::At(mark) => Ok(self.streams.is_done(mark, now)),
            Recorded::Captured(..) => Err(Error::CapturedEvent),
        }
    }

    /// Waits for an event: the work of its stream up to the event counts as done.
    pub(crate) fn finish_event(&mut self, event: usize) -> Result<()> {
        match self.streams.event(event)?.recorded {
            Recorded::Never => {}
            Recorded::At(mark) => self.streams.finish(mark.stream, mark.tick),
            Recorded::Captured(..) => return Err(Error::CapturedEvent),
        }
        Ok(())
    }

    /// Begins a capture in a stream, which must not be a default stream.
    pub(crate) fn begin_capture(&mut self, stream: StreamId, mode: CaptureMode) -> Result<()> {
        if self.streams.get(stream)?.capture.is_some() || stream < self.devices {
            return Err(Error::CaptureUnsupported);
        }
        let graph = self.add_graph(Graph::default());
        let id = self.next_capture;
        self.next_capture += 1;
        self.captures.insert(id, Capture::new(stream, mode, graph));
        self.streams.get_mut(stream)?.capture = Some(id);
        Ok(())
    }

    /// Ends a capture and returns the number of its graph.
    ///
    /// # Errors
    /// Returns an error if the capture is invalidated, began in another stream or thread, or has work that was not
    /// joined. The capture is over all the same, unless it began in another stream or thread.
    pub(crate) fn end_capture(&mut self, stream: StreamId) -> Result<usize> {
        let id = self.streams.get(stream)?.capture.ok_or(Error::InvalidValue)?;
        let capture = self.captures.get(&id).ok_or(Error::InvalidValue)?;
        let result = capture.check_end(stream);
        if matches!(result, Err(Error::CaptureUnmatched | Error::CaptureWrongThread)) {
            return result.map(|()| 0);
        }
        let captured: Vec<_> = capture.streams().collect();
        for stream in captured {
            if let Ok(stream) = self.streams.get_mut(stream) {
                stream.capture = None;
            }
        }
        let Some(capture) = self.captures.remove(&id) else { return Err(Error::InvalidValue) };
        self.graphs[capture.graph_id] = result.is_ok().then_some(capture.graph);
        result.map(|()| capture.graph_id)
    }

    /// Returns the capture of a stream, or `None` if the stream is not captured.
    pub(crate) fn capture_info(&self, stream: StreamId) -> Result<Option<CaptureInfo>> {
        let Some(id) = self.streams.get(stream)?.capture else { return Ok(None) };
        let capture = self.captures.get(&id).ok_or(Error::CaptureInvalidated)?;
        Ok(Some(CaptureInfo { id, is_invalid: capture.is_invalid, graph: capture.graph_id }))
    }

    pub(crate) fn add_graph(&mut self, graph: Graph) -> usize {
        self.graphs.push(Some(graph));
        self.graphs.len() - 1
    }

    /// Returns the graph with this number; during its capture, the part that is captured so far.
    ///
    /// # Errors
    /// Returns "invalid value" for an unknown graph.
    pub(crate) fn graph(&self, number: usize) -> Result<&Graph> {
        let growing = self.captures.values().find(|capture| capture.graph_id == number).map(|capture| &capture.graph);
        growing.or(self.graphs.get(number).and_then(Option::as_ref)).ok_or(Error::InvalidValue)
    }

    /// Returns the graph with this number for modification.
    pub(crate) fn graph_mut(&mut self, number: usize) -> Result<&mut Graph> {
        let growing = self.captures.values_mut().find(|capture| capture.graph_id == number);
        match growing {
            Some(capture) => Ok(&mut capture.graph),
            None => self.graphs.get_mut(number).and_then(Option::as_mut).ok_or(Error::InvalidValue),
        }
    }

    /// Removes a graph and returns the user objects that lost their last reference.
    pub(crate) fn remove_graph(&mut self, number: usize) -> Result<Vec<UserObject>> {
        let graph = self.graphs.get_mut(number).and_then(Option::take).ok_or(Error::InvalidValue)?;
        let released =
            graph.user_objects.into_iter().filter_map(|(object, count)| self.release_object(object, count).ok());
        Ok(released.flatten().collect())
    }

    /// Releases `count` references to a user object; returns the object if none is left.
    pub(crate) fn release_object(&mut self, number: usize, count: u32) -> Result<Option<UserObject>> {
        let object = self.user_objects.get_mut(number).filter(|object| object.references >= count);
        let object = object.ok_or(Error::InvalidValue)?;
        object.references -= count;
        Ok((object.references == 0).then_some(*object))
    }

    fn spoil(&mut self, capture: Option<u64>, error: Error) -> Result<()> {
        if let Some(capture) = capture.and_then(|id| self.captures.get_mut(&id)) {
            capture.is_invalid = true;
        }
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates the work of one device with its default stream and two more, numbered 1 and 2.
    fn work(lag: u64) -> Work {
        let mut work = Work::new(1, Some(lag));
        for _ in 0..2 {
            work.streams.create(0, 1, 0);
        }
        work
    }

    #[test]
    fn waiting_for_a_captured_event_joins_the_capture() {
        let mut work = work(0);
        let event = work.streams.create_event(false);
        work.begin_capture(1, CaptureMode::Global).expect("nothing is captured yet");
        assert_eq!(work.put(1, Node::Device, 1), Ok(false));
        assert_eq!(work.put(2, Node::Device, 2), Ok(true), "the other stream is not captured yet");
        work.record(event, 1, 0, 3).expect("both are there");
        work.wait(2, event, 0, 3).expect("both are there");
        assert_eq!(work.put(2, Node::Device, 4), Ok(false));
        assert_eq!(work.is_done(event, 4), Err(Error::CapturedEvent));
        work.record(event, 2, 0, 5).expect("both are there");
        work.wait(1, event, 0, 5).expect("both are there");
        let graph = work.end_capture(1).expect("all work is joined");
        assert_eq!(work.graph(graph).map(|graph| graph.nodes.len()), Ok(2));
        assert!(!work.is_capturing());
        assert_eq!(work.put(2, Node::Device, 6), Ok(true));
    }

    #[test]
    fn an_unsafe_call_spoils_a_capture() {
        let mut work = work(0);
        work.begin_capture(1, CaptureMode::Global).expect("nothing is captured yet");
        assert_eq!(work.check_unsafe(), Err(Error::CaptureUnsupported));
        assert_eq!(work.put(1, Node::Device, 1), Err(Error::CaptureInvalidated));
        assert_eq!(work.end_capture(1), Err(Error::CaptureInvalidated));
        assert_eq!(work.end_capture(1), Err(Error::InvalidValue), "it is over");
        assert_eq!(work.check_unsafe(), Ok(()));
    }

    #[test]
    fn captures_do_not_mix_with_each_other_or_with_other_work() {
        let mut work = work(0);
        let (before, inside) = (work.streams.create_event(false), work.streams.create_event(false));
        work.record(before, 2, 0, 1).expect("both are there");
        work.begin_capture(1, CaptureMode::Relaxed).expect("nothing is captured yet");
        work.record(inside, 1, 0, 1).expect("both are there");
        assert_eq!(work.wait(1, before, 0, 2), Err(Error::CaptureIsolation));
        work.begin_capture(2, CaptureMode::Relaxed).expect("the stream is not captured yet");
        assert_eq!(work.wait(2, inside, 0, 2), Err(Error::CaptureMerge));
        assert_eq!(work.begin_capture(0, CaptureMode::Relaxed), Err(Error::CaptureUnsupported));
    }

    #[test]
    fn waiting_for_an_event_makes_it_done() {
        let mut work = work(10);
        let event = work.streams.create_event(true);
        assert_eq!(work.is_done(event, 1), Ok(true), "it was never recorded");
        work.record(event, 1, 0, 5).expect("both are there");
        assert_eq!(work.is_done(event, 6), Ok(false));
        work.finish_event(event).expect("it is there");
        assert_eq!(work.is_done(event, 6), Ok(true));
    }
}
