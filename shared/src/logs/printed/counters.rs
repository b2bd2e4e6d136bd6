//! Reads the counters of `torch.cuda.memory_stats`, as JSON or as Python prints the dictionary.

/// Current and highest value of a counter, in bytes; `None` if the text does not have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub now_bytes: Option<u64>,
    pub peak_bytes: Option<u64>,
}

/// Counters of one device, as `torch.cuda.memory_summary` and `torch.cuda.memory_stats` print them, as far as the text
/// has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Index of the device; `memory_stats` does not have it.
    pub device: Option<u32>,
    /// Tensors, rounded up to blocks.
    pub allocated: Usage,
    /// Tensors, and blocks that wait for other streams.
    pub active: Usage,
    /// Sizes that the program asked for, before rounding.
    pub requested: Usage,
    pub reserved: Usage,
    /// Free parts of segments that are in use, which PyTorch can't return to the GPU.
    pub non_releasable: Usage,
    /// Number of times that the allocator emptied its cache and tried again.
    pub retries: Option<u64>,
    /// Number of out-of-memory errors.
    pub ooms: Option<u64>,
}

/// Reads the counters that a line contains; returns true if it has any.
///
/// A counter that comes for the second time begins the counters of another moment or device.
pub(super) fn line(line: &str, all: &mut Vec<Counters>, seen: &mut Vec<&'static str>) -> bool {
    let mut has_any = false;
    // `"reserved_bytes.all.peak": 12`, `'reserved_bytes.all.peak': 12` and `('reserved_bytes.all.peak', 12)`.
    let mut rest = line;
    while let Some(start) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[start] as char;
        let Some((key, after)) = rest[start + 1..].split_once(quote) else { break };
        rest = after;
        let Some(name) = KEYS.iter().find(|name| **name == key) else { continue };
        let value = after.trim_start_matches([':', ',', ' ']);
        let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
        let Ok(value) = value[..end].parse::<u64>() else { continue };
        if all.is_empty() || seen.contains(name) {
            all.push(Counters::default());
            seen.clear();
        }
        seen.push(name);
        if let Some(counters) = all.last_mut() {
            set(counters, name, value);
            has_any = true;
        }
    }
    has_any
}

/// Keys of counters that are read, in no order.
const KEYS: [&str; 12] = [
    "allocated_bytes.all.current",
    "allocated_bytes.all.peak",
    "active_bytes.all.current",
    "active_bytes.all.peak",
    "requested_bytes.all.current",
    "requested_bytes.all.peak",
    "reserved_bytes.all.current",
    "reserved_bytes.all.peak",
    "inactive_split_bytes.all.current",
    "inactive_split_bytes.all.peak",
    "num_alloc_retries",
    "num_ooms",
];

fn set(counters: &mut Counters, key: &str, value: u64) {
    match key {
        "num_alloc_retries" => counters.retries = Some(value),
        "num_ooms" => counters.ooms = Some(value),
        _ => {
            let (name, which) = key.split_once(".all.").unwrap_or((key, ""));
            let usage = match name {
                "allocated_bytes" => &mut counters.allocated,
                "active_bytes" => &mut counters.active,
                "requested_bytes" => &mut counters.requested,
                "reserved_bytes" => &mut counters.reserved,
                _ => &mut counters.non_releasable,
            };
            *(if which == "peak" { &mut usage.peak_bytes } else { &mut usage.now_bytes }) = Some(value);
        }
    }
}
