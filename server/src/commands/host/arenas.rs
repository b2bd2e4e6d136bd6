//! Measures the arenas of glibc's malloc, in which each thread keeps what it has freed.
//!
//! An arena reserves 64 MiB at a multiple of 64 MiB, of which a part can be written:
//!
//! ```text
//! 7f2a14000000-7f2a15b20000 rw-p 00000000 00:00 0
//! 7f2a15b20000-7f2a18000000 ---p 00000000 00:00 0
//! ```
//!
//! Source: `HEAP_MAX_SIZE` and `new_heap` in glibc's malloc/arena.c.

use std::collections::HashMap;
use std::fs;

use super::proc::Sampled;

/// Bytes that an arena reserves on 64-bit machines.
const RESERVED: u64 = 64 << 20;

/// Least memory of a process's own that is looked into.
const LEAST_BYTES: u64 = 64 << 20;

/// Watcher of the arenas of all processes.
#[derive(Debug, Default)]
pub(super) struct Arenas {
    /// Memory of each process when its mappings were read.
    read_bytes: HashMap<u32, u64>,
}

impl Arenas {
    /// Returns a line for each process whose memory has risen by an eighth since its mappings were read, which takes long.
    pub(super) fn lines(&mut self, rows: &[Sampled]) -> String {
        self.read_bytes.retain(|pid, _| rows.iter().any(|row| row.pid == *pid));
        rows.iter().filter_map(|row| self.line(row)).collect()
    }

    fn line(&mut self, row: &Sampled) -> Option<String> {
        let (pid, own_bytes) = (row.pid, row.own_bytes()?);
        let before = self.read_bytes.get(&pid).copied().unwrap_or(0);
        if own_bytes < LEAST_BYTES.max(before.saturating_add(before / 8)) {
            return None;
        }
        self.read_bytes.insert(pid, own_bytes);
        let (count, bytes) = arenas(&fs::read_to_string(format!("/proc/{pid}/smaps")).ok()?);
        (count > 0).then(|| format!("# malloc arenas of {pid}: {bytes} bytes in {count}\n"))
    }
}

/// Returns the number of arenas in a file `smaps`, and their resident bytes.
///
/// Adjacent arenas, of which all but the last are used up, are one mapping.
fn arenas(smaps: &str) -> (u64, u64) {
    let (mut count, mut bytes) = (0_u64, 0_u64);
    let mut last = None;
    for line in smaps.lines() {
        if let Some(kib) = line.strip_prefix("Rss:") {
            if let Some((_, _, rss)) = &mut last {
                *rss = kib.trim().trim_end_matches("kB").trim_end().parse().unwrap_or(0_u64).saturating_mul(1 << 10);
            }
        } else if let Some(Mapping { start, end, mode, is_named }) = mapping(line) {
            if let Some((first, middle, rss)) = last.take() {
                let is_rest = mode == "---p" && !is_named && start == middle && end % RESERVED == 0;
                if is_rest && end - start < RESERVED {
                    count += (end - first) / RESERVED;
                    bytes = bytes.saturating_add(rss);
                }
            }
            let is_arena = mode == "rw-p" && !is_named && start % RESERVED == 0;
            last = is_arena.then_some((start, end, 0));
        }
    }
    (count, bytes)
}

struct Mapping<'a> {
    start: u64,
    end: u64,
    mode: &'a str,
    is_named: bool,
}

/// Reads the first line of a mapping: `7f2a14000000-7f2a15b20000 rw-p 00000000 00:00 0 `.
fn mapping(line: &str) -> Option<Mapping<'_>> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end, mode) = (hex(start)?, hex(end)?, words.next()?);
    (start < end && mode.len() == 4).then_some(Mapping { start, end, mode, is_named: words.nth(3).is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arenas_are_told_from_other_mappings() {
        let of = |head: &str, kib: u64| format!("{head}\nSize:  9 kB\nRss:  {kib} kB\nVmFlags: rd wr mr\n");
        let smaps = [
            of("55d0c1a00000-55d0c1b00000 rw-p 00000000 00:00 0                          [heap]", 1000),
            of("7f2a14000000-7f2a15b20000 rw-p 00000000 00:00 0 ", 20),
            of("7f2a15b20000-7f2a18000000 ---p 00000000 00:00 0 ", 0),
            // Two arenas, the first of which is used up.
            of("7f2a18000000-7f2a1d000000 rw-p 00000000 00:00 0 ", 300),
            of("7f2a1d000000-7f2a20000000 ---p 00000000 00:00 0 ", 0),
            // A large block at such an address, a file, and a stack with its guard.
            of("7f2a24000000-7f2a2c000000 rw-p 00000000 00:00 0 ", 4000),
            of("7f2a30000000-7f2a31000000 rw-p 00000000 08:01 17 /lib/x.so", 4000),
            of("7f2a31000000-7f2a34000000 ---p 00000000 00:00 0 ", 0),
            of("7f2a40000000-7f2a40001000 ---p 00000000 00:00 0 ", 0),
            of("7f2a40001000-7f2a40801000 rw-p 00000000 00:00 0 ", 4000),
        ]
        .concat();
        assert_eq!(arenas(&smaps), (3, 320 << 10));
        assert_eq!(arenas(""), (0, 0));
    }
}
