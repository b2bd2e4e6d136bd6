//! Formats bytes as hexadecimal text.

/// Formats bytes as two lower-case hexadecimal digits each.
pub(crate) fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}
