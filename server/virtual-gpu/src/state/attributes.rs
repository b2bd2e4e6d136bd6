//! Looks up device attributes by their number in `cudaDeviceAttr`, which the driver shares.

use std::ffi::c_int;

use super::device::Device;

impl Device {
    /// Returns the value of an attribute, or `None` for a number that is not known.
    ///
    /// Values that all modelled cards share come from the table in the CUDA programming guide; a feature that does not
    /// exist is 0.
    pub(crate) fn attribute(&self, id: c_int) -> Option<c_int> {
        self.of_the_card(id).or_else(|| limit(id)).or_else(|| feature(id))
    }

    fn of_the_card(&self, id: c_int) -> Option<c_int> {
        let major = c_int::from(self.card.capability.major);
        let value = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
        Some(match id {
            13 | 36 => 1_500_000, // clock rates in kHz, any plausible value because nothing is timed
            16 => value(self.card.multiprocessors),
            33 => c_int::try_from(self.pci_bus()).unwrap_or(c_int::MAX),
            32 => c_int::from(matches!(major, 8..=10)), // ECC
            37 => 5120,                                 // bus width in bits
            38 => self.l2_bytes(),
            39 => value(self.card.threads_per_multiprocessor),
            75 => major,
            76 => self.card.capability.minor.into(),
            81 => value(self.shared_memory_per_multiprocessor_bytes()),
            97 => value(self.card.shared_memory_per_block_bytes),
            106 => value(self.blocks_per_multiprocessor()),
            108 if major >= 8 => self.l2_bytes() / 4 * 3,
            109 if major >= 8 => 128 << 20,
            111 => value(self.reserved_shared_memory_bytes()),
            120 => c_int::from(major >= 9), // clusters
            132 => c_int::from(false),      // multicast: not modelled
            _ => return None,
        })
    }

    /// Returns the size of the L2 cache, in bytes.
    pub(crate) fn l2_bytes(&self) -> c_int {
        c_int::try_from(self.card.l2_bytes).unwrap_or(c_int::MAX)
    }
}

/// Returns a limit that all cards share.
fn limit(id: c_int) -> Option<c_int> {
    Some(match id {
        1..=3 => 1024,
        4 => 64,
        5 => c_int::MAX,
        6 | 7 => 65_535,
        8 => 48 << 10,
        9 => 64 << 10,
        10 => 32,
        11 => c_int::MAX,
        12 | 82 => 65_536,
        14 => 512,
        51 => 32,
        30 => 512,
        21 | 22 | 23 | 55 | 56 | 57 => 131_072,
        24..=26 | 58..=60 => 16_384,
        27 | 28 | 42 | 45 | 46 | 52 | 53 | 61 | 63 | 64 | 66 | 67 => 32_768,
        29 | 43 | 62 | 65 => 2048,
        47 | 48 => 8192,
        49 => 32_768,
        54 | 68 => 2046,
        69 => 268_435_456,
        70 | 71 => 131_072,
        72 => 2_097_120,
        73 | 74 | 77 => 32_768,
        87 => 2,
        _ => return None,
    })
}

/// Returns a feature that is the same for all cards; features that are not modelled are 0.
fn feature(id: c_int) -> Option<c_int> {
    const YES: &[c_int] = &[15, 19, 31, 41, 78, 79, 80, 83, 89, 90, 91, 95, 98, 99, 102, 112, 113, 114, 115, 121, 125];
    const NO: &[c_int] = &[
        17, 18, 20, 34, 35, 50, 84, 85, 86, 88, 92, 93, 94, 96, 100, 101, 103, 104, 105, 107, 110, 116, 117, 118, 119,
        122, 123, 124, 127, 128, 129, 130, 133, 135, 138, 139, 140, 141, 142, 143, 144, 145, 147,
    ];
    match id {
        40 => Some(3),         // copy engines
        126 => Some(1),        // memory synchronization domains
        131 | 134 => Some(-1), // NUMA nodes
        _ if YES.contains(&id) => Some(1),
        _ if NO.contains(&id) => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use job::Card;

    use super::*;
    use crate::config::config;

    #[track_caller]
    fn check(card: &str, attributes: &[(c_int, c_int)]) {
        let card = Card::named(card).expect("the card is known");
        let device = Device::new(0, 0, card, config().expect("the settings are valid"));
        for (id, value) in attributes {
            assert_eq!(device.attribute(*id), Some(*value), "attribute {id}");
        }
    }

    #[test]
    fn attributes_are_those_of_the_card() {
        check("h100-80gb", &[(16, 132), (39, 2048), (75, 9), (76, 0), (97, 227 << 10), (81, 228 << 10), (120, 1)]);
        check("t4-16gb", &[(16, 40), (39, 1024), (75, 7), (76, 5), (97, 64 << 10), (81, 64 << 10), (120, 0)]);
    }

    #[test]
    fn limits_are_those_of_the_programming_guide() {
        check(
            "a100-80gb",
            &[(1, 1024), (2, 1024), (3, 1024), (4, 64), (5, c_int::MAX), (6, 65_535), (10, 32), (8, 49_152)],
        );
    }

    #[test]
    fn unknown_numbers_have_no_value() {
        let card = Card::named("a100-80gb").expect("the card is known");
        let device = Device::new(0, 0, card, config().expect("the settings are valid"));
        assert_eq!(device.attribute(9999), None);
        assert!((1..=147).filter(|id| device.attribute(*id).is_none()).count() <= 5);
    }
}
