//! The machine: its devices, its pinned memory, its work, and what an address means.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::backing::{self, device_range};
use super::capture::Node;
use super::device::Device;
use super::host::PinnedMemory;
use super::stream::StreamId;
use super::virtual_memory::{Returned, VirtualMemory};
use super::work::Work;
use super::{handle, thread};
use crate::config::{Values, config};
use crate::error::{Error, Result};
use crate::ffi::Handle;

/// Launches and copies so far; apart from the machine, as each launch counts.
static TICKS: AtomicU64 = AtomicU64::new(0);

/// Whether launches have to be noted in their streams: something is captured, or events take time.
static NOTES_LAUNCHES: AtomicBool = AtomicBool::new(false);

/// All that the process sees as its GPUs.
pub(crate) struct Machine {
    /// The devices, by ordinal.
    pub(crate) devices: Vec<Device>,
    /// What is read from a device.
    pub(crate) values: Values,
    pinned: Mutex<PinnedMemory>,
    virtual_memory: Mutex<VirtualMemory>,
    work: Mutex<Work>,
    event_lag: u64,
}

/// What an address means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Memory of a device.
    Device(usize),
    /// Pinned memory of the host, and the device for which it was pinned.
    Pinned(usize),
    /// Any other memory of the host.
    Host,
}

/// The machine; it is built when it is asked for first.
///
/// # Errors
/// Not initialized, where the settings cannot be understood.
pub(crate) fn machine() -> Result<&'static Machine> {
    static MACHINE: OnceLock<Option<Machine>> = OnceLock::new();
    MACHINE.get_or_init(|| Machine::new().ok()).as_ref().ok_or(Error::NotInitialized)
}

/// Counts a launch or a copy, and gives the tick.
pub(crate) fn tick() -> u64 {
    TICKS.fetch_add(1, Ordering::Relaxed) + 1
}

/// The tick of now.
pub(crate) fn now() -> u64 {
    TICKS.load(Ordering::Relaxed)
}

/// Notes the launch of a kernel: a tick, and nothing more unless streams are watched.
///
/// # Errors
/// The stream is unknown, or its capture was spoilt.
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
        let cards = config.cards.iter().cloned().enumerate();
        let devices: Vec<_> = cards.map(|(ordinal, card)| Device::new(ordinal, card, config)).collect();
        for device in &devices {
            backing::reserve(device_range(device.ordinal), config.values);
        }
        backing::reserve(backing::VIRTUAL_RANGE, config.values);
        NOTES_LAUNCHES.store(config.event_lag > 0, Ordering::Relaxed);
        Ok(Self {
            values: config.values,
            pinned: Mutex::default(),
            virtual_memory: Mutex::new(VirtualMemory::new()),
            work: Mutex::new(Work::new(devices.len(), config.event_lag)),
            event_lag: config.event_lag,
            devices,
        })
    }

    /// The device with this ordinal.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn device(&self, ordinal: impl TryInto<usize>) -> Result<&Device> {
        ordinal.try_into().ok().and_then(|ordinal| self.devices.get(ordinal)).ok_or(Error::InvalidDevice)
    }

    /// The current device, whose context this makes if it is not there.
    pub(crate) fn current(&self) -> Result<&Device> {
        let device = self.device(thread::device())?;
        device.is_active.store(true, Ordering::Relaxed);
        Ok(device)
    }

    /// Pinned memory, locked.
    pub(crate) fn pinned(&self) -> MutexGuard<'_, PinnedMemory> {
        self.pinned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Virtual memory, locked. Nobody locks it who holds a device's contents.
    pub(crate) fn virtual_memory(&self) -> MutexGuard<'_, VirtualMemory> {
        self.virtual_memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Streams, events and graphs, locked. Nobody locks another part who holds it.
    pub(crate) fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins or ends to note each launch, after a capture has begun or ended.
    pub(crate) fn watch(&self, work: &Work) {
        NOTES_LAUNCHES.store(self.event_lag > 0 || work.is_capturing(), Ordering::Relaxed);
    }

    /// Puts an operation into a stream, and says whether it is carried out now or captured.
    pub(crate) fn put(&self, stream: Handle, node: Node) -> Result<bool> {
        self.put_at(stream, node, tick())
    }

    fn put_at(&self, stream: Handle, node: Node, tick: u64) -> Result<bool> {
        let stream = handle::stream_of(stream)?;
        self.work().put(stream, node, tick)
    }

    /// Refuses a call that could disturb a capture.
    pub(crate) fn check_unsafe(&self) -> Result<()> {
        self.work().check_unsafe()
    }

    /// Waits for a stream.
    ///
    /// # Errors
    /// It is captured.
    pub(crate) fn finish_stream(&self, stream: StreamId) -> Result<()> {
        let mut work = self.work();
        work.check_not_captured(stream)?;
        work.streams.finish(stream, now());
        Ok(())
    }

    /// What an address means.
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

    /// The allocation or mapping that a device address lies in: start and size.
    pub(crate) fn allocation(&self, address: u64) -> Option<(u64, u64)> {
        if let Some(mapping) = self.virtual_memory().find(address) {
            return Some((mapping.start, mapping.size_bytes));
        }
        let Place::Device(ordinal) = self.place(address as usize) else { return None };
        let contents = self.devices.get(ordinal)?.lock();
        let in_pool = contents.pools.iter().flatten().find_map(|pool| pool.find(address));
        in_pool.or_else(|| contents.memory.find(address))
    }

    /// Returns memory to the devices that it came from.
    pub(crate) fn refund(&self, returned: impl IntoIterator<Item = Returned>) {
        for memory in returned {
            if let Some(device) = self.devices.get(memory.device) {
                device.lock().memory.refund(memory.size_bytes);
            }
        }
    }
}
