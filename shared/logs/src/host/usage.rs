//! Reads the memory of the whole machine: `free`, `/proc/meminfo` and the head of `top`, each once or in a loop.
//!
//! ```text
//!                total        used        free      shared  buff/cache   available
//! Mem:        62880028     5909424    55600892       95508     1369712    56381080
//! Swap:              0           0           0
//! ```

use super::log::HostForm;
use shared::base::size;

/// Memory of the machine at one moment, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) form: HostForm,
    pub(super) total_bytes: Option<u64>,
    pub(super) available_bytes: u64,
    pub(super) swap_bytes: u64,
}

/// Unit of the figures of `free`, which does not print it, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) bytes: u64,
    pub(super) is_assumed: bool,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It belongs to a tool's output and has no figure that is needed, or the figures go on.
    Nothing,
    Usage(Usage),
    /// Swap in use, in bytes, of the usage above.
    Swap(u64),
}

#[derive(Debug, Default)]
pub(super) struct UsageReader {
    /// True if the head of `free` names buffers and cached apart, as before its version 3.3.10.
    has_old_head: bool,
    meminfo: Meminfo,
    unit: Option<Unit>,
}

/// Lines of `/proc/meminfo` so far, in KiB.
type Meminfo = [Option<u64>; MEMINFO.len()];

const MEMINFO: [&str; 8] =
    ["MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "Shmem", "SwapTotal", "SwapFree"];

/// Smallest memory of a machine that trains: with less, a figure without a unit is one in a larger unit.
const LEAST_BYTES: u64 = 4 << 30;

/// The same of figures that are MiB or GiB: servers have up to 2 TiB.
const LEAST_MIB: u64 = 2 << 10;

impl UsageReader {
    /// Reads a line; `None` if it is not about the memory of the machine.
    pub(super) fn line(&mut self, line: &str) -> Option<Said> {
        let line = line.trim();
        if let Some(bytes) = unit_of_command(line) {
            self.unit = Some(Unit { bytes, is_assumed: false });
            return Some(Said::Nothing);
        }
        let said = self.free(line).or_else(|| self.top(line)).or_else(|| earlyoom(line));
        said.or_else(|| self.meminfo(line)).or_else(|| self.head(line))
    }

    /// Ends the current `/proc/meminfo`, as at a time or at the end of the log.
    pub(super) fn end(&mut self) -> Option<Usage> {
        usage_of(std::mem::take(&mut self.meminfo))
    }

    /// Returns the unit of figures without one, if there were any.
    pub(super) fn unit(&self) -> Option<Unit> {
        self.unit
    }

    fn head(&mut self, line: &str) -> Option<Said> {
        let words = || line.split_ascii_whitespace().map(|word| word.trim_matches('*'));
        if line.starts_with("total") && words().any(|word| word == "shared") && words().any(|word| word == "free") {
            self.has_old_head = line.contains("cached");
        } else if !line.starts_with("-/+ buffers") {
            return None;
        }
        Some(Said::Nothing)
    }

    /// Reads the row `Mem:` of `free`, and the row `Swap:` below it.
    fn free(&mut self, line: &str) -> Option<Said> {
        if let Some(rest) = line.strip_prefix("Swap:") {
            let used = rest.split_ascii_whitespace().nth(1)?;
            return size::cell(used, self.unit.map_or(1 << 10, |unit| unit.bytes)).map(Said::Swap);
        }
        let starts = ["Mem:", "Mem :", "Speicher:"];
        let rest = starts.iter().find_map(|start| line.strip_prefix(start))?;
        // A cell that people print in bold letters.
        let cells: Vec<&str> = rest.split_ascii_whitespace().map(|cell| cell.trim_matches('*')).collect();
        // `free -h` gives each figure a unit: one without was cut.
        let has_unit = |cell: &str| cell.ends_with(|c: char| c.is_ascii_alphabetic());
        if cells.iter().any(|cell| has_unit(cell)) && cells.last().is_some_and(|last| !has_unit(last) && *last != "0") {
            return None;
        }
        let sizes = self.sizes(&cells)?;
        let available_bytes = match (sizes.as_slice(), self.has_old_head) {
            // Shared memory is part of what is cached, and stays.
            ([_, _, free, shared, buffers, cached], true) => {
                free.saturating_add(*buffers).saturating_add(*cached).saturating_sub(*shared)
            }
            ([_, _, _, _, _, available] | [_, _, _, _, _, _, available], _) => *available,
            ([_, _, free] | [_, _, free, _, _], _) => *free,
            _ => return None,
        };
        // `free -h` rounds a large total to more than its parts, which are all of it.
        let parts = match sizes.as_slice() {
            [_, used, free, _, cached, _] if cells[0].ends_with("Ti") => {
                used.saturating_add(*free).saturating_add(*cached)
            }
            [total, ..] => *total,
            [] => return None,
        };
        let total_bytes = Some(parts).filter(|total| *total >= available_bytes);
        Some(Said::Usage(Usage { form: HostForm::Free, total_bytes, available_bytes, swap_bytes: 0 }))
    }

    /// Reads the second row of memory in the head of `top`, of which the first one has the total:
    /// `MiB Swap:   2048.0 total,   2000.0 free,     48.0 used.  22680.9 avail Mem`.
    fn top(&self, line: &str) -> Option<Said> {
        let (unit, rest) = line.split_once("iB Swap:")?;
        let unit_bytes = size::unit_bytes(unit)?;
        let (swap, rest) = rest.split_once(" used.")?;
        let available = rest.trim_start().strip_suffix("avail Mem")?.trim_end();
        let swap = swap.trim_end().rsplit(' ').next()?;
        Some(Said::Usage(Usage {
            form: HostForm::Top,
            total_bytes: None,
            available_bytes: size::cell(available, unit_bytes)?,
            swap_bytes: size::cell(swap, unit_bytes)?,
        }))
    }

    /// Returns the bytes of figures of one row, the first of which is the largest.
    fn sizes(&mut self, cells: &[&str]) -> Option<Vec<u64>> {
        let numbers: Option<Vec<u64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
        if let (Some(numbers), None) = (numbers, self.unit) {
            self.unit = Some(unit(&numbers));
        }
        let unit_bytes = self.unit.map_or(1 << 10, |unit| unit.bytes);
        cells.iter().map(|cell| size::cell(cell, unit_bytes)).collect()
    }

    /// Reads a line of `/proc/meminfo`; the first line of the next one ends it.
    fn meminfo(&mut self, line: &str) -> Option<Said> {
        let (key, value) = line.split_once(':')?;
        let kib = value.trim().trim_end_matches("kB").trim_end().parse::<u64>().ok()?;
        let Some(position) = MEMINFO.iter().position(|one| *one == key) else {
            return (self.meminfo != Meminfo::default() && is_meminfo(key)).then_some(Said::Nothing);
        };
        let ended = if self.meminfo[position].is_some() { self.end() } else { None };
        self.meminfo[position] = Some(kib);
        Some(ended.map_or(Said::Nothing, Said::Usage))
    }
}

/// Returns the usage; `None` if the lines do not say how much is available.
fn usage_of([total, free, available, buffers, cached, shmem, swap_total, swap_free]: Meminfo) -> Option<Usage> {
    // Kernels before 3.14 do not say what is available; shared memory is part of what is cached, and stays.
    let estimate = || {
        let caches = buffers?.saturating_add(cached?).saturating_sub(shmem.unwrap_or(0));
        Some(free?.saturating_add(caches))
    };
    let bytes = |kib: u64| kib.saturating_mul(1 << 10);
    Some(Usage {
        form: HostForm::Meminfo,
        available_bytes: available.or_else(estimate).map(bytes)?,
        total_bytes: total.map(bytes),
        swap_bytes: bytes(swap_total.unwrap_or(0).saturating_sub(swap_free.unwrap_or(0))),
    })
}

/// Reads what earlyoom prints: `mem avail:   380 of 13923 MiB ( 2.73%), swap free:  758 of 16383 MiB ( 4.63%)`.
fn earlyoom(line: &str) -> Option<Said> {
    let (_, rest) = line.split_once("mem avail:")?;
    let pair = |text: &str| {
        let (left, whole) = text.split_once(" of ")?;
        let mib = |text: &str| text.split_ascii_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1 << 20);
        Some((mib(left)?, mib(whole)?))
    };
    let (available_bytes, total) = pair(rest)?;
    let (free, swap) = rest.split_once("swap free:").and_then(|(_, swap)| pair(swap)).unwrap_or_default();
    let swap_bytes = swap.saturating_sub(free);
    Some(Said::Usage(Usage { form: HostForm::Earlyoom, total_bytes: Some(total), available_bytes, swap_bytes }))
}

/// Finds the unit of figures of which the first is (nearly) all memory of the machine.
///
/// The kernel counts pages of 4 KiB, so that all figures in KiB can be divided by 4, and all in bytes by 4096; in larger
/// units, that would be chance. A unit in which the machine has less than 4 GiB is taken only with that sign, or, if
/// the other one would be GiB, above 2,048.
fn unit(figures: &[u64]) -> Unit {
    let whole = figures.first().copied().unwrap_or(0);
    let are_multiples = |of: u64| figures.iter().all(|figure| figure % of == 0);
    let least = |unit: u64| whole >= LEAST_BYTES / unit;
    match () {
        () if whole >= 1 << 28 && are_multiples(4096) => Unit { bytes: 1, is_assumed: false },
        () if least(1 << 10) || (whole >= 1 << 16 && are_multiples(4)) => Unit { bytes: 1 << 10, is_assumed: false },
        () if whole >= LEAST_MIB => Unit { bytes: 1 << 20, is_assumed: true },
        () => Unit { bytes: 1 << 30, is_assumed: true },
    }
}

/// Returns the unit of the figures that a command such as `$ free -m -s 5` prints; `None` for other lines.
fn unit_of_command(line: &str) -> Option<u64> {
    line.contains("free").then(|| line.split([';', '|', '&', '`']).find_map(unit_of_call)).flatten()
}

fn unit_of_call(call: &str) -> Option<u64> {
    let words: Vec<&str> = call.split_ascii_whitespace().collect();
    let at = words.iter().position(|word| *word == "free")?;
    let (before, options) = (&words[..at], &words[at + 1..]);
    // Without an option, only a prompt tells the command from the word.
    if options.is_empty() && !before.last()?.ends_with(['$', '#', '%', '>']) {
        return None;
    }
    options.iter().try_fold(1 << 10, |unit, option| match *option {
        "--bytes" => Some(1),
        "--mebi" | "--mega" => Some(1 << 20),
        "--gibi" | "--giga" => Some(1 << 30),
        letters if letters.starts_with('-') => letters[1..].chars().try_fold(unit, |unit, letter| match letter {
            'b' => Some(1),
            'm' => Some(1 << 20),
            'g' => Some(1 << 30),
            'k' | 'h' | 't' | 'w' | 'l' | 's' | 'c' => Some(unit),
            _ => None,
        }),
        number => number.parse::<f64>().ok().map(|_| unit),
    })
}

/// Returns true for the names of lines of `/proc/meminfo`, such as `Active(anon)` and `DirectMap4k`.
fn is_meminfo(key: &str) -> bool {
    key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'(' | b')'))
}
