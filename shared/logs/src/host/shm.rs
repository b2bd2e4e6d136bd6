//! Reads what `snapscope host` says about `/dev/shm`.
//!
//! ```text
//! # /dev/shm: 8392704 of 67108864 bytes in use; 4194304 bytes in 1 new files, 12 so far
//! # shared memory of the machine: 104857600 bytes
//! # left in /dev/shm: 4194304 bytes in 1 files, such as psm_3f2a91bc
//! tmpfs                 16G  702M   16G   5% /dev/shm             as df has it
//! ```

use super::log::{LeftFiles, SharedFolder, SharedSample};
use shared::base::size;

/// What a line says, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SharedLine {
    /// What is there, the size of the folder, and the number of files so far.
    Now(SharedSample, u64, u64),
    Machine(u64),
}

/// Reads a line; `None` for all others.
pub(super) fn line(line: &str) -> Option<SharedLine> {
    let (begin, rest) = line.split_once(": ")?;
    match begin {
        "# /dev/shm" => now(rest),
        "# shared memory of the machine" => number(rest.trim_end().strip_suffix(" bytes")?).map(SharedLine::Machine),
        _ => None,
    }
}

/// Reads a row of `df`, whose sizes are KiB unless they have a unit.
pub(super) fn row_of_df(line: &str) -> Option<SharedLine> {
    let cells: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, size, used, _, share, "/dev/shm"] = cells[..] else { return None };
    share.strip_suffix('%')?;
    let bytes = |cell: &str| size::cell(cell, 1 << 10);
    let now = SharedSample { used_bytes: bytes(used)?, ..SharedSample::default() };
    Some(SharedLine::Now(now, bytes(size)?, 0))
}

fn now(rest: &str) -> Option<SharedLine> {
    let (used, rest) = rest.split_once(" of ")?;
    let (size, rest) = rest.split_once(" bytes in use; ")?;
    let (new_bytes, rest) = rest.split_once(" bytes in ")?;
    let (new_files, rest) = rest.split_once(" new files, ")?;
    let (new_files, new_bytes, used_bytes) = (new_files.parse().ok()?, number(new_bytes)?, number(used)?);
    let files_so_far = number(rest.trim_end().strip_suffix(" so far")?)?;
    let now = SharedSample { sample: 0, new_files, new_bytes, used_bytes };
    Some(SharedLine::Now(now, number(size)?, files_so_far))
}

/// Reads a line about what stays after the end of the program.
pub(super) fn left(line: &str) -> Option<LeftFiles> {
    let (bytes, rest) = line.strip_prefix("# left in /dev/shm: ")?.split_once(" bytes in ")?;
    let (files, example) = rest.split_once(" files, such as ")?;
    Some(LeftFiles { bytes: number(bytes)?, files: files.parse().ok()?, example: example.trim_end().to_owned() })
}

/// Returns a number that sums of it cannot overflow.
pub(super) fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number < 1 << 53)
}

impl SharedFolder {
    /// Adds what a line says at a sample; of two values for one sample, the later one counts.
    pub(super) fn add(&mut self, sample: u32, said: SharedLine) {
        match said {
            SharedLine::Now(now, size_bytes, files_so_far) => {
                self.samples.pop_if(|last| last.sample == sample);
                self.samples.push(SharedSample { sample, ..now });
                self.files_so_far = self.files_so_far.max(files_so_far);
                self.size_bytes = Some(size_bytes).filter(|size| *size > 0).or(self.size_bytes);
            }
            SharedLine::Machine(bytes) => {
                self.machine.pop_if(|(last, _)| *last == sample);
                self.machine.push((sample, bytes));
            }
        }
    }

    /// Returns the shared memory of the machine at each sample of a log; `None` if the log does not have it.
    pub(super) fn machine_at_each(&self, samples: usize) -> Option<Vec<u64>> {
        let first = self.machine.first()?.1;
        Some(at_each(self.machine.iter().copied(), first, samples))
    }

    /// Returns one of its quantities at each sample of a log, 0 before its first one.
    pub(super) fn at_each(&self, bytes: fn(&SharedSample) -> u64, samples: usize) -> Vec<u64> {
        at_each(self.samples.iter().map(|one| (one.sample, bytes(one))), 0, samples)
    }
}

/// Returns values that last until the next one, at each sample of a log.
fn at_each(values: impl Iterator<Item = (u32, u64)>, before: u64, samples: usize) -> Vec<u64> {
    let (mut values, mut value) = (values.peekable(), before);
    let at = |sample: usize| {
        while let Some((_, next)) = values.next_if(|(from, _)| *from as usize <= sample) {
            value = next;
        }
        value
    };
    (0..samples).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "# /dev/shm: 8392704 of 67108864 bytes in use; 4194304 bytes in 1 new files, 12 so far";

    #[test]
    fn lines_are_read() {
        let now = SharedSample { sample: 0, new_files: 1, new_bytes: 4_194_304, used_bytes: 8_392_704 };
        assert_eq!(line(NOW), Some(SharedLine::Now(now, 67_108_864, 12)));
        let expected = LeftFiles { bytes: 42, files: 3, example: "psm_1 2".to_owned() };
        assert_eq!(left("# left in /dev/shm: 42 bytes in 3 files, such as psm_1 2\n"), Some(expected));
        assert_eq!(line("# shared memory of the machine: 42 bytes"), Some(SharedLine::Machine(42)));
        for other in ["", "# /dev/shm: ", "# /dev/shm: -1 of 2 bytes in use; 1 bytes in 1 new files, 1 so far"] {
            assert_eq!(line(other), None, "{other}");
        }
    }

    #[test]
    fn a_value_lasts_until_the_next_one() {
        let mut shared = SharedFolder::default();
        for (sample, new_bytes) in [(1, 5), (3, 6), (3, 7)] {
            shared.add(sample, SharedLine::Now(SharedSample { new_bytes, ..SharedSample::default() }, 0, 0));
        }
        assert_eq!(shared.at_each(|one| one.new_bytes, 5), [0, 5, 5, 7, 7]);
        assert_eq!(shared.at_each(|one| one.new_bytes, 2), [0, 5]);
        assert_eq!(shared.machine_at_each(2), None);
        shared.add(1, SharedLine::Machine(8));
        shared.add(3, SharedLine::Machine(9));
        assert_eq!(shared.machine_at_each(4), Some(vec![8, 8, 8, 9]));
    }
}
