//! Identifies binary files by signatures in their first bytes.

use super::words::{self, Kind};
use crate::logs::pprof::is_pprof;

/// Signatures at the very beginning of a file; no text begins with one of them.
const SIGNATURES: &[(&[u8], &Kind)] = &[
    (b"\x28\xb5\x2f\xfd", &words::ZSTD),
    (b"\xfd7zXZ\0", &words::XZ),
    (b"\x04\x22\x4d\x18", &words::LZ4),
    (b"x\x01", &words::ZLIB),
    (b"x\x9c", &words::ZLIB),
    (b"x\xda", &words::ZLIB),
    (b"7z\xbc\xaf\x27\x1c", &words::SEVEN_ZIP),
    (b"Rar!\x1a\x07", &words::RAR),
    (b"\x89PNG", &words::PICTURE),
    (b"\xff\xd8\xff", &words::PICTURE),
    (b"GIF87a", &words::PICTURE),
    (b"GIF89a", &words::PICTURE),
    (b"II*\0", &words::PICTURE),
    (b"MM\0*", &words::PICTURE),
    (b"\x1a\x45\xdf\xa3", &words::VIDEO),
    (b"%PDF-", &words::PDF),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", &words::OFFICE),
    (b"\x93NUMPY", &words::NUMPY),
    (b"\x89HDF\r\n", &words::HDF5),
    (b"GGUF", &words::GGUF),
    (b"PAR1", &words::TABLE_FILE),
    (b"ARROW1", &words::TABLE_FILE),
    (b"memray\0", &words::MEMRAY),
    (b"NVR\0", &words::NSIGHT_COMPUTE),
    (b"\x7fELF", &words::PROGRAM),
    (b"\xcf\xfa\xed\xfe", &words::PROGRAM),
];

/// Returns the kind of a file by its bytes, or `None` without a signature.
pub(super) fn kind(head: &[u8]) -> Option<&'static Kind> {
    let signed = SIGNATURES.iter().find(|(signature, _)| head.starts_with(signature)).map(|(_, kind)| *kind);
    signed
        .or_else(|| (head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")).then(|| of_zip(head)))
        .or_else(|| head.starts_with(b"SQLite format 3\0").then(|| of_database(head)))
        .or_else(|| is_bzip2(head).then_some(&words::BZIP2))
        .or_else(|| (head.get(257..262) == Some(b"ustar")).then_some(&words::TAR))
        .or_else(|| of_media(head))
        .or_else(|| is_safetensors(head).then_some(&words::SAFETENSORS))
        .or_else(|| is_tensorboard(head).then_some(&words::TENSORBOARD))
        .or_else(|| is_pprof(head).then_some(&words::MEMORY_PROFILE))
        .or_else(|| is_perfetto(head).then_some(&words::PERFETTO))
}

/// Returns the kind of a binary file without a signature, by names inside it.
pub(super) fn by_names(head: &[u8]) -> Option<&'static Kind> {
    (has(head, b"Nsight Systems") || has(head, b"QuadD")).then_some(&words::NSIGHT_SYSTEMS)
}

/// Returns true if `bytes` contains `wanted`.
pub(super) fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}

/// Returns the kind of a zip archive; torch.save stores its pickle uncompressed and first, so that a snapshot is
/// visible.
fn of_zip(head: &[u8]) -> &'static Kind {
    let name_len = head.get(26..28).map_or(0, |len| usize::from(u16::from_le_bytes([len[0], len[1]])));
    let name = &head[head.len().min(30)..head.len().min(30 + name_len)];
    if name == b"data.pkl" || name.ends_with(b"/data.pkl") {
        let is_snapshot = has(head, b"device_traces") || (has(head, b"segments") && has(head, b"total_size"));
        if is_snapshot { &words::TORCH_SAVE } else { &words::CHECKPOINT }
    } else if name.ends_with(b".npy") {
        &words::NUMPY
    } else if name == b"[Content_Types].xml" {
        &words::OFFICE
    } else {
        &words::ZIP
    }
}

/// Returns the kind of a database, whose first page contains the names of its tables.
fn of_database(head: &[u8]) -> &'static Kind {
    let tables: [&[u8]; 3] = [b"CUPTI_ACTIVITY", b"TARGET_INFO_", b"NVTX_EVENTS"];
    if tables.iter().any(|table| has(head, table)) { &words::NSIGHT_SYSTEMS } else { &words::DATABASE }
}

fn is_bzip2(head: &[u8]) -> bool {
    head.starts_with(b"BZh") && head.get(4..10).is_some_and(|block| block == b"1AY&SY" || block == b"\x17rE8P\x90")
}

fn of_media(head: &[u8]) -> Option<&'static Kind> {
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return Some(&words::PICTURE);
    }
    match (head.get(4..8)?, head.get(8..12)?) {
        (b"ftyp", b"heic" | b"heix" | b"avif" | b"mif1") => Some(&words::PICTURE),
        (b"ftyp", _) => Some(&words::VIDEO),
        _ => None,
    }
}

/// Returns true for the length of a JSON header, followed by the header.
fn is_safetensors(head: &[u8]) -> bool {
    const MOST_BYTES: u64 = 100 << 20;
    let Some((len, rest)) = head.split_first_chunk() else { return false };
    (2..=MOST_BYTES).contains(&u64::from_le_bytes(*len))
        && rest.starts_with(b"{\"")
        && (has(rest, b"\"dtype\"") || has(rest, b"\"__metadata__\""))
}

/// Returns true for records of a length, a checksum and an event, the first of which holds the file's version.
fn is_tensorboard(head: &[u8]) -> bool {
    has(&head[..head.len().min(64)], b"brain.Event:")
}

/// Returns true for consecutive Protocol Buffers packets: a tag, a length and that many bytes each.
fn is_perfetto(head: &[u8]) -> bool {
    const TAG: u8 = 0x0a;
    const ENOUGH: usize = 4;
    let mut rest = head;
    for packets in 0..ENOUGH {
        let Some((&TAG, after)) = rest.split_first() else { return rest.is_empty() && packets > 1 };
        let Some((len, after)) = varint(after) else { return false };
        let Some(&first) = after.first() else { return packets > 1 };
        // A field has a number greater than 0 and one of four wire types.
        if len == 0 || first >> 3 == 0 || !matches!(first & 7, 0 | 1 | 2 | 5) {
            return false;
        }
        rest = match usize::try_from(len).ok().and_then(|len| after.get(len..)) {
            Some(rest) => rest,
            None => return packets > 1,
        };
    }
    true
}

/// Reads a number of up to 28 bits with seven bits per byte; also returns the bytes behind it.
fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut value = 0;
    for (index, &byte) in bytes.iter().take(4).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Some((value, &bytes[index + 1..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &[u8], code: Option<&str>) {
        assert_eq!(kind(head).map(|kind| kind.code), code, "{}", String::from_utf8_lossy(head));
    }

    fn zip(name: &str, content: &[u8]) -> Vec<u8> {
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.resize(26, 0);
        bytes.extend([name.len() as u8, 0, 0, 0]);
        bytes.extend(name.as_bytes());
        bytes.extend(content);
        bytes
    }

    #[test]
    fn archives_are_told_by_what_they_hold() {
        check(&zip("model/data.pkl", b"\x80\x02ccollections\nOrderedDict"), Some("checkpoint"));
        check(&zip("archive/data.pkl", b"\x80\x02}X\x0d\0\0\0device_traces"), Some("snapshot-in-a-checkpoint"));
        check(&zip("arr_0.npy", b"\x93NUMPY"), Some("data-file"));
        check(&zip("[Content_Types].xml", b""), Some("document"));
        check(&zip("snapshot.pickle", b""), Some("archive"));
        check(b"PK\x03\x04", Some("archive"));
        check(b"PK\x03\x04\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0x", Some("archive"));
        check(&[&[b'x'; 257][..], b"ustar\x0000"].concat(), Some("archive"));
    }

    #[test]
    fn signatures_are_known() {
        check(b"\x89PNG\r\n\x1a\n", Some("picture"));
        check(b"\0\0\0\x20ftypisom", Some("picture"));
        check(b"%PDF-1.7", Some("document"));
        check(b"SQLite format 3\0...CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL", Some("nsight-report"));
        check(b"SQLite format 3\0...CREATE TABLE users", Some("database"));
        check(b"BZh91AY&SY", Some("compressed"));
        check(b"BZhang wrote this", None);
        check(b"\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04\x12\x00\x22\x00\x2a\x00", Some("memory-profile"));
        check(b"\x40\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[2]", Some("checkpoint"));
        check(b"\x18\0\0\0\0\0\0\0abcd\x09\0\0\0\0\0\0\xf8\x41\x1a\x0dbrain.Event:2", Some("tensorboard-log"));
        check(b"\x80\x04}.", None);
        check(b"", None);
    }

    #[test]
    fn perfetto_is_a_row_of_packets() {
        let packet = |content: &[u8]| [&[0x0a, content.len() as u8], content].concat();
        let trace = [packet(b"\x08\x01"), packet(b"\x40\x96\x01"), packet(b"\x0a\x02ab"), packet(b"\x10\x05")].concat();
        check(&trace, Some("profiler-trace"));
        check(&trace[..trace.len() - 1], Some("profiler-trace"));
        check(b"\n  a text after an empty line\n", None);
        check(b"\n\n\n\n\n\n\n\n", None);
        check(&[0x0a], None);
    }
}
