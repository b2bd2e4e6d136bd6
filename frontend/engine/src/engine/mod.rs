//! Holds the model of one file, and answers questions about it.
//!
//! It runs in the Web Worker but does not depend on it, so that tests can ask it natively.
//!
//! Invariant: it is a function of questions. Sanitized copies, exports and tables are written here, too.

mod allocations;
mod answers;
mod areas;
mod around;
mod compare;
mod details;
#[cfg(test)]
mod explain_tests;
mod export;
mod flame;
mod hit;
mod kind;
mod outline;
mod parts;
mod picture;
mod ready;
mod reports;
mod segments;
mod selection;
mod sheet;
mod sheets;
mod source;
#[cfg(test)]
mod tests;
mod what_if;

use self::ready::{FlameCache, Kept, Ready};
use frontend::ask::FileSummary;
use shared::analysis::{Axis, Timeline};
use shared::trace::{Device, Trace};

/// Decoded file, with the lifetimes of the devices that have been examined.
#[derive(Debug)]
pub(crate) struct Engine {
    trace: Trace,
    pub(crate) summary: FileSummary,
    /// One per device of [`FileSummary::devices`], built at first use.
    timelines: Vec<Option<Timeline>>,
    /// Other results for each device.
    kept: Vec<Kept>,
    /// Basis of the most recent flame graphs.
    flames: FlameCache,
    /// Reports that the page has not received yet; the next one is the last element.
    untold: Vec<Untold>,
    /// Memory of the card, if the page knows it.
    capacity_bytes: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Untold {
    Device(u32),
    /// Preparation without a report, which makes pictures of wide views cheap.
    Pictures(u32, Axis),
    Notices,
    Parts(u32),
    Findings,
}

impl Engine {
    pub(crate) fn new(trace: Trace) -> Self {
        let count = trace.devices.len() + usize::from(trace.host.is_some());
        let summary = outline::summary(&trace);
        let first = summary.first_device();
        let gpus = trace.devices.len() as u32;
        let (timelines, kept) = (vec![None; count], (0..count).map(|_| Kept::default()).collect());
        let in_turn = |end: u32| {
            let others = (0..end).rev().filter(move |&device| device != first);
            others.chain((first < end).then_some(first))
        };
        let mut untold = vec![Untold::Findings];
        untold.extend(in_turn(gpus).map(Untold::Parts));
        untold.push(Untold::Notices);
        // Pictures of the device that is shown are prepared before any other analysis.
        untold.extend([Axis::Time, Axis::Events].map(|axis| Untold::Pictures(first, axis)));
        untold.extend(in_turn(count as u32).map(Untold::Device));
        Self { trace, summary, timelines, kept, flames: FlameCache::default(), untold, capacity_bytes: None }
    }

    fn build_all(&mut self) {
        for position in 0..self.timelines.len() as u32 {
            self.ready(position);
        }
    }

    /// Returns a device for a question of the page, or an error if there is no such device.
    fn ready_at(&mut self, position: u32) -> Result<Ready<'_>, String> {
        self.ready(position).ok_or_else(|| no_device(position))
    }

    fn ready(&mut self, position: u32) -> Option<Ready<'_>> {
        let device = device_at(&self.trace, position)?;
        self.timelines[position as usize].get_or_insert_with(|| Timeline::new(&self.trace, device));
        self.built(position)
    }

    /// Returns a device whose timeline has been built.
    fn built(&self, position: u32) -> Option<Ready<'_>> {
        let (trace, device) = (&self.trace, device_at(&self.trace, position)?);
        let timeline = self.timelines[position as usize].as_ref()?;
        Some(Ready { trace, device, timeline, kept: &self.kept[position as usize], flames: &self.flames })
    }
}

#[cfg(test)]
impl Engine {
    /// Creates the engine of a trace in the language of fixtures.
    pub(crate) fn of(trace: &str) -> Self {
        Self::new(shared::trace::text::parse(trace).unwrap())
    }
}

fn no_device(position: u32) -> String {
    format!("there is no device at position {position}")
}

fn device_at(trace: &Trace, position: u32) -> Option<&Device> {
    let position = position as usize;
    trace.devices.get(position).or(trace.host.as_ref().filter(|_| position == trace.devices.len()))
}
