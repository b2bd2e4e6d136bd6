//! Describes a card to the real cuDNN.

use super::real::Description;
use crate::state::Device;
use crate::versions::versions;

/// Multiprocessors of each group of an H100 and an H200.
///
/// Of the ways to divide 132 multiprocessors, this one gives most of the workspaces that an H200 asked for: 264 of 266
/// that depend on it. Those in the last two groups are apart from the others, and form clusters of two at most.
const HOPPER: [i32; 10] = [18, 18, 18, 18, 16, 16, 16, 8, 2, 2];

/// Returns what cuDNN wants to know about a device.
///
/// Clock rates are any plausible value, because engines are not chosen by them.
pub(super) fn describe(device: &Device) -> Description {
    let card = &device.card;
    let capability = device.architecture() * 10;
    let cuda = versions().cuda_number();
    let json = format!(
        r#"{{"deviceVer":{capability},"driverVer":{cuda},"cudaDeviceId":0,"totalGlobalMem":{memory},
"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,
"multiProcessorCount":{multiprocessors},"warpSize":32,"maxSharedMemoryPerBlock":49152,
"maxSharedMemoryPerBlockOptin":{shared},"reservedSharedMemoryPerBlock":{reserved},"maxRegistersPerSM":65536,
"maxCtasPerSM":{blocks},"maxThreadsPerBlock":1024,"maxThreadsPerSM":{threads},"pciDeviceId":0,"isTccDriver":0,
"supportCoopLaunch":1,"smClockRateKHz":1500000,"memClockRateKHz":1500000,"l2CacheSize":{l2},
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
    fn groups_have_all_multiprocessors() {
        for (major, multiprocessors) in [(9, 132), (9, 78), (10, 148), (12, 170), (12, 188)] {
            assert_eq!(groups(major, multiprocessors).iter().sum::<i32>(), multiprocessors);
        }
        assert_eq!(groups(10, 148), [20, 20, 20, 20, 20, 20, 20, 8]);
    }
}
