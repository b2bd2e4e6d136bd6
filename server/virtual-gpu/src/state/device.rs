//! Models a device: its card, the limits that follow from it, and its memory.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use job::Card;

use super::backing::device_range;
use super::memory::DeviceMemory;
use super::pool::Pool;
use crate::config::Config;
use crate::identity;

/// Architectures for which PyTorch's wheel for CUDA 13 has kernels, as major × 10 + minor.
const WHEEL_ARCHITECTURES: &[u32] = &[75, 80, 86, 90, 100, 120];

/// PCI bus of the first device.
const FIRST_BUS: usize = 1;

#[derive(Debug)]
pub(crate) struct Device {
    /// Number of the device for CUDA.
    pub(crate) ordinal: usize,
    /// Number of the card in the machine, which NVML counts by.
    pub(crate) index: usize,
    pub(crate) card: Card,
    /// True once the device has a context.
    pub(crate) is_active: AtomicBool,
    contents: Mutex<Contents>,
}

/// The state of a device that changes while a program runs.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) memory: DeviceMemory,
    /// Memory pools; the first is the default pool, and destroyed ones are `None`.
    pub(crate) pools: Vec<Option<Pool>>,
    /// Ordinals of the devices to which peer access is enabled.
    pub(crate) peers: BTreeSet<usize>,
}

impl Device {
    /// Creates a device with nothing allocated.
    pub(crate) fn new(ordinal: usize, index: usize, card: Card, config: &Config) -> Self {
        let (start, end) = device_range(ordinal);
        let capacity_bytes = card.memory_bytes.saturating_sub(config.context_bytes.unwrap_or(card.context_bytes));
        let memory = DeviceMemory::new(capacity_bytes, start, end, config.addresses);
        let contents = Contents { memory, pools: vec![Some(Pool::new())], peers: BTreeSet::new() };
        Self { ordinal, index, card, is_active: AtomicBool::new(false), contents: Mutex::new(contents) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the compute capability as major × 10 + minor.
    pub(crate) fn architecture(&self) -> u32 {
        u32::from(self.card.capability.major) * 10 + u32::from(self.card.capability.minor)
    }

    /// Returns the architecture of the kernels that run on this card.
    ///
    /// It is the newest in the wheel that has the card's major version and is not newer than the card. A card for which
    /// the wheel has none gets its own architecture, as in a wheel that was built for it.
    pub(crate) fn kernel_architecture(&self) -> u32 {
        let own = self.architecture();
        let fits = |&arch: &u32| arch / 10 == own / 10 && arch <= own;
        WHEEL_ARCHITECTURES.iter().copied().filter(fits).max().unwrap_or(own)
    }

    /// Returns the architecture of the PTX of the kernels: the newest in the wheel that the card supports.
    ///
    /// CUB chooses its algorithms by it and knows only the wheel's architectures; an older card gets the oldest.
    pub(crate) fn ptx_architecture(&self) -> u32 {
        let own = self.architecture();
        let fits = WHEEL_ARCHITECTURES.iter().copied().filter(|&arch| arch <= own).max();
        fits.unwrap_or(WHEEL_ARCHITECTURES[0])
    }

    /// Returns the maximum number of resident blocks per multiprocessor, from the CUDA programming guide.
    pub(crate) fn blocks_per_multiprocessor(&self) -> u32 {
        match self.architecture() {
            75 | 86 => 16,
            89 | 120 => 24,
            _ => 32,
        }
    }

    /// Returns the shared memory that the driver reserves in each block, in bytes.
    pub(crate) fn reserved_shared_memory_bytes(&self) -> u32 {
        if self.card.capability.major >= 8 { 1024 } else { 0 }
    }

    /// Returns the shared memory of a multiprocessor, in bytes: a block's maximum plus the reserved part.
    pub(crate) fn shared_memory_per_multiprocessor_bytes(&self) -> u32 {
        self.card.shared_memory_per_block_bytes + self.reserved_shared_memory_bytes()
    }

    /// Returns the number of a kernel's blocks that one multiprocessor holds at a time; at least one.
    pub(crate) fn occupancy(&self, block_threads: u32, shared_bytes: u64) -> u32 {
        let threads = block_threads.max(1).next_multiple_of(32);
        let by_threads = self.card.threads_per_multiprocessor / threads;
        let by_memory = u64::from(self.shared_memory_per_multiprocessor_bytes())
            / (shared_bytes + u64::from(self.reserved_shared_memory_bytes())).max(1);
        let by_memory = u32::try_from(by_memory).unwrap_or(u32::MAX);
        by_threads.min(by_memory).min(self.blocks_per_multiprocessor()).max(1)
    }

    /// Returns the PCI bus, which no other device shares.
    pub(crate) fn pci_bus(&self) -> usize {
        self.index + FIRST_BUS
    }

    /// Returns the PCI bus ID, in the format of NVIDIA's tools.
    pub(crate) fn pci_bus_id(&self) -> String {
        format!("0000:{:02X}:00.0", self.pci_bus())
    }

    /// Returns an identifier that is unique to the device and the same in each run.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        identity::uuid(self.index)
    }

    /// Returns the identifier in the format of NVML and `CUDA_VISIBLE_DEVICES`.
    pub(crate) fn uuid_text(&self) -> String {
        identity::uuid_text(self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::config;

    #[track_caller]
    fn device(name: &str) -> Device {
        Device::new(0, 3, Card::named(name).expect("the card is known"), config().expect("the settings are valid"))
    }

    #[test]
    fn kernels_are_of_the_cards_major_version() {
        for (card, architecture) in
            [("v100-32gb", 70), ("t4-16gb", 75), ("l4-24gb", 86), ("h200-141gb", 90), ("b200-180gb", 100)]
        {
            assert_eq!(device(card).kernel_architecture(), architecture, "{card}");
        }
    }

    #[test]
    fn ptx_is_of_an_architecture_of_the_wheel() {
        for (card, architecture) in [("v100-32gb", 75), ("t4-16gb", 75), ("l4-24gb", 86), ("b200-180gb", 100)] {
            assert_eq!(device(card).ptx_architecture(), architecture, "{card}");
        }
    }

    #[test]
    fn occupancy_is_the_scarcest_of_threads_memory_and_blocks() {
        let a100 = device("a100-80gb");
        assert_eq!(a100.occupancy(256, 0), 8);
        assert_eq!(a100.occupancy(32, 0), 32);
        assert_eq!(a100.occupancy(33, 0), 32);
        assert_eq!(a100.occupancy(128, 81 << 10), 2);
        assert_eq!(a100.occupancy(1024, 200 << 10), 1);
        assert_eq!(device("t4-16gb").occupancy(32, 0), 16);
    }

    #[test]
    fn identifiers_carry_the_index() {
        let device = device("t4-16gb");
        assert_eq!(device.pci_bus_id(), "0000:04:00.0");
        assert_eq!(device.uuid_text(), "GPU-736e6170-7363-6f70-652d-677075000003");
    }
}
