//! Describes a card to the real cuDNN.

use job::{Card, ComputeCapability};

use super::real::Description;
use crate::state::Device;
use crate::versions::versions;

/// Multiprocessors of each group of an H100 and an H200.
///
/// Of the ways to divide 132 multiprocessors, this one gives most of the workspaces that an H200 asked for: 264 of 266
/// that depend on it. Those in the last two groups are apart from the others, and form clusters of two at most.
const HOPPER: [i32; 10] = [18, 18, 18, 18, 16, 16, 16, 8, 2, 2];

/// Highest clock rates of the multiprocessors and of the memory in MHz, as the driver reports them, by capability.
///
/// cuDNN weighs them when it divides the work of a convolution. Those of 9.0 are an H200's and an H100's, as they reported
/// them; no card confirms the others, which are the products' published rates.
const CLOCKS: [((u8, u8), u32, u32); 7] = [
    ((7, 0), 1530, 877),
    ((7, 5), 1590, 5001),
    ((8, 0), 1410, 1593),
    ((8, 9), 2520, 9001),
    ((9, 0), 1980, 3201),
    ((10, 0), 1965, 3996),
    ((12, 0), 2407, 14_001),
];

/// Products whose memory has another clock rate than that of their capability.
const MEMORY_CLOCKS: [(&str, u32); 4] = [
    ("NVIDIA A100-SXM4-40GB", 1215),
    ("NVIDIA GeForce RTX 4090", 10_501),
    ("NVIDIA H100 80GB HBM3", 2619),
    ("NVIDIA L4", 6251),
];

/// Returns true if the cuDNN for a version of CUDA runs on a compute capability: 13 begins with Turing.
pub(super) fn has_kernels(capability: ComputeCapability, cuda: u32) -> bool {
    cuda < 13 || capability >= ComputeCapability { major: 7, minor: 5 }
}

/// Returns what cuDNN wants to know about a device.
pub(super) fn describe(device: &Device) -> Description {
    let card = &device.card;
    let capability = device.architecture() * 10;
    let cuda = versions().cuda_number();
    let (clock_khz, memory_clock_khz) = clocks(card);
    let json = format!(
        r#"{{"deviceVer":{capability},"driverVer":{cuda},"cudaDeviceId":0,"totalGlobalMem":{memory},
"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,
"multiProcessorCount":{multiprocessors},"warpSize":32,"maxSharedMemoryPerBlock":49152,
"maxSharedMemoryPerBlockOptin":{shared},"reservedSharedMemoryPerBlock":{reserved},"maxRegistersPerSM":65536,
"maxCtasPerSM":{blocks},"maxThreadsPerBlock":1024,"maxThreadsPerSM":{threads},"pciDeviceId":0,"isTccDriver":0,
"supportCoopLaunch":1,"smClockRateKHz":{clock_khz},"memClockRateKHz":{memory_clock_khz},"l2CacheSize":{l2},
"deviceName":"{name}"}}"#,
        memory = card.memory_bytes,
        multiprocessors = card.multiprocessors,
        shared = card.shared_memory_per_block_bytes,
        reserved = device.reserved_shared_memory_bytes(),
        blocks = device.blocks_per_multiprocessor(),
        threads = card.threads_per_multiprocessor,
        l2 = card.l2_bytes,
        name = card.product,
    );
    let groups = groups(card.capability.major, card.multiprocessors.cast_signed());
    Description { json, numbers: [capability.cast_signed(), cuda], groups }
}

/// Returns the clock rates of a card, in kHz; of a capability without a row, those of the nearest older one.
fn clocks(card: &Card) -> (u32, u32) {
    let capability = (card.capability.major, card.capability.minor);
    let (_, clock, memory) = CLOCKS.iter().rfind(|row| row.0 <= capability).unwrap_or(&CLOCKS[0]);
    let own = MEMORY_CLOCKS.iter().find(|(product, _)| *product == card.product);
    (clock * 1000, own.map_or(*memory, |(_, memory)| *memory) * 1000)
}

/// Returns the multiprocessors of each group: full groups and a rest, where nothing better is known.
fn groups(major: u8, multiprocessors: i32) -> Vec<i32> {
    let full = match (major, multiprocessors) {
        (9, 132) => return HOPPER.to_vec(),
        (9, _) => 18,
        (10, _) => 20,
        _ => 12,
    };
    let rest = multiprocessors % full;
    let mut groups = vec![full; usize::try_from(multiprocessors / full).unwrap_or(0)];
    groups.extend((rest > 0).then_some(rest));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_rates_are_those_of_the_product_or_of_its_capability() {
        let of = |name: &str| clocks(&Card::named(name).expect("the card is known"));
        assert_eq!((of("h200-141gb"), of("h100-80gb")), ((1_980_000, 3_201_000), (1_980_000, 2_619_000)));
        assert_eq!(of("custom:24GiB:8.6"), of("a100-80gb"), "the nearest older capability that has a row");
    }

    #[test]
    fn a_v100_has_kernels_up_to_cuda_12() {
        let of = |name: &str, cuda| has_kernels(Card::named(name).expect("the card is known").capability, cuda);
        assert_eq!([of("v100-32gb", 12), of("v100-32gb", 13), of("t4-16gb", 13)], [true, false, true]);
    }

    #[test]
    fn groups_have_all_multiprocessors() {
        for (major, multiprocessors) in [(9, 132), (9, 78), (10, 148), (12, 170), (12, 188)] {
            assert_eq!(groups(major, multiprocessors).iter().sum::<i32>(), multiprocessors);
        }
        assert_eq!(groups(10, 148), [20, 20, 20, 20, 20, 20, 20, 8]);
    }
}
