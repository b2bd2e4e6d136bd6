//! Compresses what is uploaded, and makes snapshots of any size that decode at once.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::generator::Random;

pub fn gzip(bytes: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

/// Returns a compressed snapshot of about `bytes` bytes, an empty trace beside incompressible bytes; another seed gives
/// other bytes.
pub fn padded(bytes: u32, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let padding: Vec<u8> = (0..bytes / 8).flat_map(|_| random.bits().to_le_bytes()).collect();
    let length = u32::try_from(padding.len()).expect("it was divided");
    // {"segments": [], "device_traces": [[]], "padding": b"…"}
    let mut pickle = b"\x80\x02}(X\x08\0\0\0segments]X\x0d\0\0\0device_traces](]eX\x07\0\0\0paddingB".to_vec();
    pickle.extend_from_slice(&length.to_le_bytes());
    pickle.extend_from_slice(&padding);
    pickle.extend_from_slice(b"u.");
    gzip(&pickle, Compression::none())
}

#[cfg(test)]
mod tests {
    use shared::import::import;

    use super::*;

    #[test]
    fn it_is_a_snapshot_of_its_size() {
        let bytes = padded(1 << 20, 1);
        assert!((bytes.len() as i64 - (1 << 20)).abs() < 4096, "{}", bytes.len());
        assert_ne!(bytes, padded(1 << 20, 2));
        let trace = import(&bytes).expect("a snapshot");
        assert!(trace.devices.iter().all(|device| device.events.is_empty()));
    }
}
