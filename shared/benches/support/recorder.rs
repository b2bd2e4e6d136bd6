//! Records events of a made-up program, whose tensors get the addresses that were freed last.

use shared::trace::{Action, Device, Event, EventContext, StackId, Trace};

/// Time of the first event; events are 7 µs apart.
const START_US: i64 = 1_700_000_000_000_000;

pub(crate) struct Recorder {
    pub(crate) trace: Trace,
    pub(crate) device: Device,
    free_addrs: Vec<u64>,
    next_addr: u64,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        let (trace, device) = (Trace::default(), Device::default());
        Self { trace, device, free_addrs: Vec::new(), next_addr: 0x7f00_0000_0000 }
    }

    pub(crate) fn now_us(&self) -> i64 {
        START_US + self.device.events.len() as i64 * 7
    }

    fn push(&mut self, action: Action, addr: u64, size_bytes: u64, stack: StackId) {
        let context = self.trace.contexts.intern(EventContext::default());
        let time_us = self.now_us();
        self.device.events.push(Event { action, addr, size_bytes, time_us, stack, context });
    }

    /// Records an allocation and returns its address and size.
    pub(crate) fn alloc(&mut self, size_bytes: u64, stack: StackId) -> (u64, u64) {
        let addr = self.free_addrs.pop().unwrap_or_else(|| {
            self.next_addr += 1 << 26;
            self.next_addr
        });
        self.push(Action::Alloc, addr, size_bytes, stack);
        (addr, size_bytes)
    }

    /// Records the two events of a free, with the stacks that they have.
    pub(crate) fn free(&mut self, (addr, size_bytes): (u64, u64), stacks: [StackId; 2]) {
        self.push(Action::FreeRequested, addr, size_bytes, stacks[0]);
        self.push(Action::FreeCompleted, addr, size_bytes, stacks[1]);
        self.free_addrs.push(addr);
    }

    pub(crate) fn into_trace(self) -> Trace {
        Trace { devices: vec![self.device], ..self.trace }
    }
}
