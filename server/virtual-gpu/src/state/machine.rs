//! Models the machine: its devices, pinned memory and work, and the kinds of memory that addresses belong to.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::backing::{self, device_range};
use super::capture::Node;
use super::device::Device;
use super::host::PinnedMemory;
use super::stream::StreamId;
use super::virtual_memory::{Returned, VirtualMemory};
use super::work::Work;
use super::{driver, handle, thread};
use crate::config::{Values, config};
use crate::error::{Error, Result};
use crate::ffi::Handle;

/// Number of launches and copies so far; it is kept outside of the machine to make each launch cheap.
static TICKS: AtomicU64 = AtomicU64::new(0);

/// True while launches have to be recorded in their streams, because a stream is captured or events have a lag.
static NOTES_LAUNCHES: AtomicBool = AtomicBool::new(false);

/// True if the host runs ahead of the device, instead of by a fixed lag.
static RUNS_AHEAD: AtomicBool = AtomicBool::new(false);

/// The GPUs of the process, and the memory and work that belong to none of them alone.
pub(crate) struct Machine {
    /// Devices by ordinal.
    pub(crate) devices: Vec<Device>,
    /// Devices that `CUDA_VISIBLE_DEVICES` hides from CUDA.
    hidden: Vec<Device>,
    pub(crate) values: Values,
    pinned: Mutex<PinnedMemory>,
    virtual_memory: Mutex<VirtualMemory>,
    work: Mutex<Work>,
    event_lag: Option<u64>,
}

/// Kind of memory that an address belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Memory of the device with this ordinal.
    Device(usize),
    /// Pinned host memory, with the ordinal of the device that was current when it was pinned.
    Pinned(usize),
    /// Any other memory of the host.
    Host,
}

/// Returns the machine, which is built on the first call.
///
/// # Errors
/// Returns "not initialized" if the settings cannot be parsed, and "operating system" if the system refuses what a driver
/// needs.
pub(crate) fn machine() -> Result<&'static Machine> {
    static MACHINE: OnceLock<Result<Machine>> = OnceLock::new();
    MACHINE.get_or_init(Machine::new).as_ref().map_err(|error| *error)
}

/// Counts a launch or a copy, and returns its tick.
pub(crate) fn tick() -> u64 {
    TICKS.fetch_add(1, Ordering::Relaxed) + 1
}

pub(super) fn runs_ahead() -> bool {
    RUNS_AHEAD.load(Ordering::Relaxed)
}

pub(crate) fn now() -> u64 {
    TICKS.load(Ordering::Relaxed)
}

/// Counts the launch of a kernel, and records it in its stream only if [`NOTES_LAUNCHES`] is set.
///
/// # Errors
/// Returns an error if it is recorded and the stream is unknown or its capture is invalidated.
pub(crate) fn launch(stream: Handle) -> Result<()> {
    let tick = tick();
    if !NOTES_LAUNCHES.load(Ordering::Relaxed) {
        return Ok(());
    }
    machine()?.put_at(stream, Node::Device, tick).map(|_| ())
}

impl Machine {
    fn new() -> Result<Self> {
        let config = config()?;
        if config.is_driver {
            driver::start()?;
        }
        let is_hidden = |index: &usize| !config.visible.contains(index);
        let order = config.visible.iter().copied().chain((0..config.cards.len()).filter(is_hidden));
        let all = order.enumerate().map(|(ordinal, index)| (ordinal, index, config.cards[index].clone()));
        let mut devices: Vec<_> = all.map(|(ordinal, index, card)| Device::new(ordinal, index, card, config)).collect();
        let hidden = devices.split_off(config.visible.len());
        for device in &devices {
            backing::reserve(device_range(device.ordinal), config.values);
        }
        backing::reserve(backing::VIRTUAL_RANGE, config.values);
        NOTES_LAUNCHES.store(config.event_lag != Some(0), Ordering::Relaxed);
        RUNS_AHEAD.store(config.event_lag.is_none(), Ordering::Relaxed);
        Ok(Self {
            values: config.values,
            pinned: Mutex::default(),
            virtual_memory: Mutex::new(VirtualMemory::new()),
            work: Mutex::new(Work::new(devices.len(), config.event_lag)),
            event_lag: config.event_lag,
            devices,
            hidden,
        })
    }

    /// Returns the device with this ordinal.
    ///
    /// # Errors
    /// Returns "invalid device" if there is none.
    pub(crate) fn device(&self, ordinal: impl TryInto<usize>) -> Result<&Device> {
        ordinal.try_into().ok().and_then(|ordinal| self.devices.get(ordinal)).ok_or(Error::InvalidDevice)
    }

    /// Returns all devices of the machine, also those that are hidden from CUDA, in no particular order.
    pub(crate) fn cards(&self) -> impl Iterator<Item = &Device> {
        self.devices.iter().chain(&self.hidden)
    }

    /// Returns the number of devices that CUDA shows.
    ///
    /// # Errors
    /// Returns "no device" if there is none.
    pub(crate) fn count(&self) -> Result<i32> {
        match i32::try_from(self.devices.len()) {
            Ok(0) => Err(Error::NoDevice),
            count => Ok(count.unwrap_or(i32::MAX)),
        }
    }

    /// Returns the current device and creates its context if it has none.
    pub(crate) fn current(&self) -> Result<&Device> {
        let device = self.device(thread::device())?;
        device.is_active.store(true, Ordering::Relaxed);
        Ok(device)
    }

    pub(crate) fn pinned(&self) -> MutexGuard<'_, PinnedMemory> {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the virtual memory.
    ///
    /// Invariant: a thread that holds the lock of a device does not take this one.
    pub(crate) fn virtual_memory(&self) -> MutexGuard<'_, VirtualMemory> {
        self.virtual_memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the streams, events and graphs.
    ///
    /// Invariant: a thread that holds this lock takes no other lock of the machine.
    pub(crate) fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Completes the work of all devices up to a tick.
    pub(super) fn complete_all(&self, tick: u64) {
        let mut work = self.work();
        (0..self.devices.len()).for_each(|device| work.streams.finish_device(device, tick));
    }

    /// Updates [`NOTES_LAUNCHES`] after a capture has begun or ended.
    pub(crate) fn watch(&self, work: &Work) {
        NOTES_LAUNCHES.store(self.event_lag != Some(0) || work.is_capturing(), Ordering::Relaxed);
    }

    /// Puts an operation into a stream.
    ///
    /// Returns true if the operation is to be carried out now, false if it was captured.
    pub(crate) fn put(&self, stream: Handle, node: Node) -> Result<bool> {
        self.put_at(stream, node, tick())
    }

    fn put_at(&self, stream: Handle, node: Node, tick: u64) -> Result<bool> {
        let stream = handle::stream_of(stream)?;
        self.work().put(stream, node, tick)
    }

    /// Returns an error for a call that is unsafe during a capture, and invalidates the capture.
    pub(crate) fn check_unsafe(&self) -> Result<()> {
        self.work().check_unsafe()
    }

    /// Waits for a stream: all its work counts as done.
    ///
    /// # Errors
    /// Returns an error if the stream is unknown or captured.
    pub(crate) fn finish_stream(&self, stream: StreamId) -> Result<()> {
        let mut work = self.work();
        work.check_not_captured(stream)?;
        work.streams.finish(stream, now());
        Ok(())
    }

    /// Returns the kind of memory that an address belongs to.
    pub(crate) fn place(&self, address: usize) -> Place {
        let address = address as u64;
        if let Some(ordinal) = backing::device_of(address).filter(|&ordinal| ordinal < self.devices.len()) {
            return Place::Device(ordinal);
        }
        let (start, end) = backing::VIRTUAL_RANGE;
        if (start..end).contains(&address)
            && let Some(mapping) = self.virtual_memory().find(address)
        {
            return Place::Device(mapping.device);
        }
        self.pinned().device_of(address as usize).map_or(Place::Host, Place::Pinned)
    }

    /// Returns start and size of the allocation or mapping that holds a device address.
    pub(crate) fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        if let Some(mapping) = self.virtual_memory().find(address) {
            return Some((mapping.start, mapping.size_bytes));
        }
        let Place::Device(ordinal) = self.place(address as usize) else { return None };
        let contents = self.devices.get(ordinal)?.lock();
        let in_pool = contents.pools.iter().flatten().find_map(|pool| pool.find(address));
        in_pool.or_else(|| contents.memory.find(address))
    }

    /// Returns memory to the devices from which it came.
    pub(crate) fn refund(&self, returned: impl IntoIterator<Item = Returned>) {
        for memory in returned {
            if let Some(device) = self.devices.get(memory.device) {
                device.lock().memory.refund(memory.size_bytes);
            }
        }
    }
}
