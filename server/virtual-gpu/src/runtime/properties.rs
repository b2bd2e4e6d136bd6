//! Lays out the structure of device properties, field by field as in CUDA 13 and in CUDA 12.

use Field::{Ints, Name, Size, TotalMemory, Uuid, Zeros};

use crate::state::device::Device;

/// Part of a `cudaDeviceProp`; the numbers are those of `cudaDeviceAttr`.
enum Field {
    Name,
    Uuid,
    TotalMemory,
    /// Attributes of 32 bits.
    Ints(&'static [i32]),
    /// An attribute as a `size_t`, which is aligned to its size.
    Size(i32),
    /// Values of 32 bits that are not modelled, such as the limits of textures and surfaces.
    Zeros(usize),
}

/// `cudaDeviceProp` of CUDA 13.0.
#[rustfmt::skip]
pub(super) const OF_13: Layout<1008> = Layout(&[
    Name, Uuid, Zeros(3), TotalMemory, Size(8), Ints(&[12, 10]), Size(11), Ints(&[1, 2, 3, 4, 5, 6, 7]), Size(9),
    Ints(&[75, 76]), Size(14), Size(51), Ints(&[16, 18, 19]), Zeros(39), Size(30),
    Ints(&[31, 32, 33, 34, 50, 35, 40, 41, 37, 38, 108, 39, 78, 79, 80]), Size(81),
    Ints(&[82, 83, 84, 85, 86, 88, 89, 90, 91, 95]), Size(97), Ints(&[100, 101, 106, 109]), Size(111),
    Ints(&[99, 112, 113, 114, 115, 116]), Zeros(1), Ints(&[118]), Zeros(1), Ints(&[121, 125, 120]), Zeros(1),
    Ints(&[130, 131, 133, 134]), Zeros(3 + 56),
]);

/// `cudaDeviceProp` of CUDA 12, which has clock rates and nothing about NUMA.
#[rustfmt::skip]
pub(super) const OF_12: Layout<1032> = Layout(&[
    Name, Uuid, Zeros(3), TotalMemory, Size(8), Ints(&[12, 10]), Size(11), Ints(&[1, 2, 3, 4, 5, 6, 7, 13]), Size(9),
    Ints(&[75, 76]), Size(14), Size(51), Ints(&[15, 16, 17, 18, 19, 20]), Zeros(40), Size(30),
    Ints(&[31, 32, 33, 34, 50, 35, 40, 41, 36, 37, 38, 108, 39, 78, 79, 80]), Size(81),
    Ints(&[82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 95, 96]), Size(97), Ints(&[100, 101, 106, 109]), Size(111),
    Ints(&[99, 112, 113, 114, 115, 116]), Zeros(1), Ints(&[118]), Zeros(1), Ints(&[121, 125, 120]), Zeros(1 + 63),
]);

/// The fields of a structure in their order, and its size in bytes.
pub(super) struct Layout<const SIZE: usize>(&'static [Field]);

impl<const SIZE: usize> Layout<SIZE> {
    /// Returns the bytes of the structure for a device; an attribute that is not known is 0.
    pub(super) fn of(&self, device: &Device) -> [u8; SIZE] {
        let attribute = |id| device.attribute(id).unwrap_or(0);
        let mut bytes = Vec::new();
        let size = |bytes: &mut Vec<u8>, value: u64| {
            bytes.resize(bytes.len().next_multiple_of(size_of::<u64>()), 0);
            bytes.extend(value.to_ne_bytes());
        };
        for field in self.0 {
            match *field {
                Name => bytes.extend(device.card.product.bytes().chain(std::iter::repeat(0)).take(256)),
                Uuid => bytes.extend(device.uuid()),
                TotalMemory => size(&mut bytes, device.card.memory_bytes),
                Ints(ids) => ids.iter().for_each(|id| bytes.extend(attribute(*id).to_ne_bytes())),
                Size(id) => size(&mut bytes, u64::try_from(attribute(id)).unwrap_or(0)),
                Zeros(count) => bytes.resize(bytes.len() + count * size_of::<i32>(), 0),
            }
        }
        let mut structure = [0; SIZE];
        structure[..bytes.len()].copy_from_slice(&bytes);
        structure
    }
}

#[cfg(test)]
mod tests {
    use job::Card;

    use super::*;
    use crate::config::config;

    #[test]
    fn the_structures_are_laid_out_as_in_cudas_headers() {
        let card = Card::named("h100-80gb").expect("the card is known");
        let device = Device::new(0, 0, card, config().expect("the settings are valid"));
        let int = |bytes: &[u8], place: usize| i32::from_ne_bytes(bytes[place..place + 4].try_into().expect("4 bytes"));
        let (new, old) = (OF_13.of(&device), OF_12.of(&device));
        for bytes in [&new[288..296], &old[288..296]] {
            assert_eq!(bytes, device.card.memory_bytes.to_ne_bytes(), "totalGlobalMem");
        }
        assert_eq!((int(&new, 384), int(&old, 388)), (132, 132), "multiProcessorCount");
        assert_eq!((int(&new, 672), int(&old, 696)), (227 << 10, 227 << 10), "sharedMemPerBlockOptin");
        assert_eq!((int(&new, 732), int(&new, 736)), (device.attribute(118).unwrap_or(0), 0), "the writes' order");
        assert_eq!((int(&old, 348), int(&old, 720)), (1_500_000, 1 << 10), "clockRate, reservedSharedMemPerBlock");
        assert_eq!(int(&old, 568), 512, "surfaceAlignment");
    }
}
