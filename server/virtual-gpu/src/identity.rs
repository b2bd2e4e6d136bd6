//! Identifies the cards of the machine, in the same way in each run.

/// Returns the identifier of a card by its index.
pub(crate) fn uuid(index: usize) -> [u8; 16] {
    let mut uuid = *b"snapscope-gpu\0\0\0";
    uuid[14..].copy_from_slice(&(index as u16).to_be_bytes());
    uuid
}

/// Returns the identifier of a card in the format of NVML and `CUDA_VISIBLE_DEVICES`.
pub(crate) fn uuid_text(index: usize) -> String {
    let hex: String = uuid(index).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("GPU-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
