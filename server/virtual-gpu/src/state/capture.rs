//! Records the operations that streams capture into a CUDA graph, and checks that forked streams are joined.
//!
//! A stream joins a capture by waiting for an event that was recorded in it, and its work has to flow back into the
//! origin stream before the capture ends. Each captured stream counts its own work, and its [`Frontier`] says how much
//! of the other streams' work precedes it; at the end, the frontier of the origin has to cover all of it.

use std::collections::BTreeMap;
use std::thread::ThreadId;

use super::stream::{Frontier, StreamId};
use super::thread::CaptureMode;
use crate::error::{Error, Result};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Node {
    /// A kernel, a copy or a fill, which does nothing when the graph is launched.
    Device,
    /// Address and argument of a host function, which each launch of the graph calls.
    Host(usize, usize),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Graph {
    /// Operations in the order of their capture.
    pub(crate) nodes: Vec<Node>,
    /// User objects that the graph keeps alive, as (number, references that the graph holds).
    pub(crate) user_objects: Vec<(usize, u32)>,
}

#[derive(Debug)]
pub(crate) struct Capture {
    /// Stream in which the capture began and has to end.
    pub(crate) origin: StreamId,
    pub(crate) mode: CaptureMode,
    /// Thread that began the capture.
    pub(crate) thread: ThreadId,
    /// True once an operation that is not allowed during a capture has invalidated it.
    pub(crate) is_invalid: bool,
    /// Graph of the operations captured so far.
    pub(crate) graph: Graph,
    /// Number of the graph, which programs may query during the capture.
    pub(crate) graph_id: usize,
    frontiers: BTreeMap<StreamId, Frontier>,
}

impl Capture {
    /// Begins a capture in a stream.
    pub(crate) fn new(origin: StreamId, mode: CaptureMode, graph_id: usize) -> Self {
        let thread = std::thread::current().id();
        let frontiers = BTreeMap::from([(origin, Frontier::new())]);
        Self { origin, mode, thread, is_invalid: false, graph: Graph::default(), graph_id, frontiers }
    }

    /// Iterates over the streams that take part.
    pub(crate) fn streams(&self) -> impl Iterator<Item = StreamId> {
        self.frontiers.keys().copied()
    }

    /// Records an operation in a stream.
    ///
    /// # Errors
    /// Returns an error if the capture is invalidated.
    pub(crate) fn add(&mut self, stream: StreamId, node: Node) -> Result<()> {
        self.check()?;
        self.graph.nodes.push(node);
        *self.frontiers.entry(stream).or_default().entry(stream).or_default() += 1;
        Ok(())
    }

    /// Returns the work that precedes the next operation of a stream.
    pub(crate) fn frontier(&self, stream: StreamId) -> Frontier {
        self.frontiers.get(&stream).cloned().unwrap_or_default()
    }

    /// Orders a moment of the capture before the next operations of a stream, which thereby joins the capture.
    ///
    /// # Errors
    /// Returns an error if the capture is invalidated.
    pub(crate) fn join(&mut self, stream: StreamId, moment: &Frontier) -> Result<()> {
        self.check()?;
        let known = self.frontiers.entry(stream).or_default();
        for (&other, &count) in moment {
            let own = known.entry(other).or_default();
            *own = count.max(*own);
        }
        Ok(())
    }

    /// Returns true if a thread in this mode must refuse calls that are unsafe during the capture.
    pub(crate) fn forbids(&self, thread: ThreadId, mode: CaptureMode) -> bool {
        let is_own = self.thread == thread && self.mode != CaptureMode::Relaxed;
        let is_others = mode == CaptureMode::Global && self.mode == CaptureMode::Global;
        mode != CaptureMode::Relaxed && (is_own || is_others)
    }

    /// Checks that the capture may end here: in its origin stream, with all work joined.
    ///
    /// # Errors
    /// Returns an error if the stream is not the origin, the capture is invalidated, the thread is another one (unless
    /// the mode is relaxed), or work of another stream is not joined.
    pub(crate) fn check_end(&self, stream: StreamId) -> Result<()> {
        if stream != self.origin {
            return Err(Error::CaptureUnmatched);
        }
        self.check()?;
        let thread = std::thread::current().id();
        if self.mode != CaptureMode::Relaxed && thread != self.thread {
            return Err(Error::CaptureWrongThread);
        }
        let known = &self.frontiers[&self.origin];
        let is_joined = |(stream, frontier): (&StreamId, &Frontier)| known.get(stream) >= frontier.get(stream);
        if self.frontiers.iter().all(is_joined) { Ok(()) } else { Err(Error::CaptureUnjoined) }
    }

    fn check(&self) -> Result<()> {
        if self.is_invalid { Err(Error::CaptureInvalidated) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture() -> Capture {
        Capture::new(1, CaptureMode::Global, 0)
    }

    #[test]
    fn a_fork_that_comes_back_may_end() {
        let mut capture = capture();
        capture.add(1, Node::Device).expect("it goes on");
        let fork = capture.frontier(1);
        capture.join(2, &fork).expect("it goes on");
        capture.add(2, Node::Device).expect("it goes on");
        assert_eq!(capture.check_end(1), Err(Error::CaptureUnjoined));
        let back = capture.frontier(2);
        capture.join(1, &back).expect("it goes on");
        assert_eq!(capture.check_end(1), Ok(()));
        assert_eq!(capture.check_end(2), Err(Error::CaptureUnmatched));
        assert_eq!(capture.graph.nodes.len(), 2);
    }

    #[test]
    fn work_after_the_join_is_unjoined_again() {
        let mut capture = capture();
        capture.join(2, &capture.frontier(1)).expect("it goes on");
        assert_eq!(capture.check_end(1), Ok(()), "a fork without work needs no join");
        capture.add(2, Node::Device).expect("it goes on");
        capture.join(1, &capture.frontier(2)).expect("it goes on");
        capture.add(2, Node::Device).expect("it goes on");
        assert_eq!(capture.check_end(1), Err(Error::CaptureUnjoined));
    }

    #[test]
    fn who_must_not_disturb() {
        let capture = capture();
        let here = std::thread::current().id();
        let elsewhere = std::thread::spawn(|| std::thread::current().id()).join().expect("it returns");
        assert!(capture.forbids(here, CaptureMode::Global));
        assert!(capture.forbids(here, CaptureMode::ThreadLocal));
        assert!(!capture.forbids(here, CaptureMode::Relaxed));
        assert!(capture.forbids(elsewhere, CaptureMode::Global));
        assert!(!capture.forbids(elsewhere, CaptureMode::ThreadLocal));
    }

    #[test]
    fn a_spoilt_capture_takes_nothing_more() {
        let mut capture = capture();
        capture.is_invalid = true;
        assert_eq!(capture.add(1, Node::Device), Err(Error::CaptureInvalidated));
        assert_eq!(capture.check_end(1), Err(Error::CaptureInvalidated));
    }
}
