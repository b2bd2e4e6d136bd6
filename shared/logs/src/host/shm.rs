//! Reads what `snapscope host` says about `/dev/shm`.
//!
//! ```text
//! # /dev/shm: 8392704 of 67108864 bytes in use; 4194304 bytes in 1 new files, 12 so far
//! # shared memory of the machine: 104857600 bytes
//! # left in /dev/shm: 4194304 bytes in 1 files, such as psm_3f2a91bc
//! ```

use super::log::{LeftFiles, SharedFolder};

/// What a line says, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SharedLine {
    Now(Now),
    /// Shared memory of the whole machine.
    Machine(u64),
    Left(LeftFiles),
}

/// Shared memory at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Now {
    used_bytes: u64,
    size_bytes: u64,
    new_bytes: u64,
    new_files: u32,
    files_so_far: u64,
}

/// Reads a line; `None` for all others.
pub(super) fn line(line: &str) -> Option<SharedLine> {
    now(line)
        .map(SharedLine::Now)
        .or_else(|| machine(line).map(SharedLine::Machine))
        .or_else(|| left(line).map(SharedLine::Left))
}

fn machine(line: &str) -> Option<u64> {
    number(line.strip_prefix("# shared memory of the machine: ")?.trim_end().strip_suffix(" bytes")?)
}

fn now(line: &str) -> Option<Now> {
    let (used, rest) = line.strip_prefix("# /dev/shm: ")?.split_once(" of ")?;
    let (size, rest) = rest.split_once(" bytes in use; ")?;
    let (new_bytes, rest) = rest.split_once(" bytes in ")?;
    let (new_files, rest) = rest.split_once(" new files, ")?;
    Some(Now {
        used_bytes: number(used)?,
        size_bytes: number(size)?,
        new_bytes: number(new_bytes)?,
        new_files: new_files.parse().ok()?,
        files_so_far: number(rest.trim_end().strip_suffix(" so far")?)?,
    })
}

fn left(line: &str) -> Option<LeftFiles> {
    let (bytes, rest) = line.strip_prefix("# left in /dev/shm: ")?.split_once(" bytes in ")?;
    let (files, example) = rest.split_once(" files, such as ")?;
    Some(LeftFiles { bytes: number(bytes)?, files: files.parse().ok()?, example: example.trim_end().to_owned() })
}

/// Returns a number that sums of it cannot overflow.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number| *number < 1 << 53)
}

impl SharedFolder {
    /// Adds what is there at a sample; of two values for one sample, the later one counts.
    pub(super) fn push(&mut self, sample: u32, now: Now) {
        if self.samples.last() == Some(&sample) {
            self.samples.pop();
            self.used_bytes.pop();
            self.new_bytes.pop();
            self.new_files.pop();
        }
        self.samples.push(sample);
        self.used_bytes.push(now.used_bytes);
        self.new_bytes.push(now.new_bytes);
        self.new_files.push(now.new_files);
        self.files_so_far = self.files_so_far.max(now.files_so_far);
        self.size_bytes = Some(now.size_bytes).filter(|size| *size > 0).or(self.size_bytes);
    }

    /// Adds the shared memory of the machine at a sample.
    pub(super) fn push_machine(&mut self, sample: u32, bytes: u64) {
        if self.machine.last().is_some_and(|(last, _)| *last == sample) {
            self.machine.pop();
        }
        self.machine.push((sample, bytes));
    }

    /// Returns the shared memory of the machine at each sample of a log; `None` if the log does not have it.
    pub(super) fn machine_at_each(&self, samples: usize) -> Option<Vec<u64>> {
        let (positions, values): (Vec<u32>, Vec<u64>) = self.machine.iter().copied().unzip();
        values.first().map(|&first| at_each(&positions, &values, first, samples))
    }

    /// Returns one of its quantities at each sample of a log, 0 before its first one.
    pub(super) fn at_each(&self, values: &[u64], samples: usize) -> Vec<u64> {
        at_each(&self.samples, values, 0, samples)
    }
}

/// Returns values that last until the next one, at each sample of a log.
fn at_each(positions: &[u32], values: &[u64], before: u64, samples: usize) -> Vec<u64> {
    let mut each = vec![before; samples];
    for (at, (&from, &value)) in positions.iter().zip(values).enumerate() {
        let from = (from as usize).min(samples);
        let to = positions.get(at + 1).map_or(samples, |&next| next as usize).min(samples);
        each[from..to.max(from)].fill(value);
    }
    each
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "# /dev/shm: 8392704 of 67108864 bytes in use; 4194304 bytes in 1 new files, 12 so far";

    #[test]
    fn lines_are_read() {
        let Some(SharedLine::Now(now)) = line(NOW) else { panic!("it is not read") };
        assert_eq!((now.used_bytes, now.size_bytes, now.new_bytes), (8_392_704, 67_108_864, 4_194_304));
        assert_eq!((now.new_files, now.files_so_far), (1, 12));
        let Some(SharedLine::Left(left)) = line("# left in /dev/shm: 42 bytes in 3 files, such as psm_1 2\n") else {
            panic!("it is not read")
        };
        assert_eq!((left.bytes, left.files, left.example.as_str()), (42, 3, "psm_1 2"));
        assert_eq!(line("# shared memory of the machine: 42 bytes"), Some(SharedLine::Machine(42)));
        for other in ["", "# /dev/shm: ", "# /dev/shm: -1 of 2 bytes in use; 1 bytes in 1 new files, 1 so far"] {
            assert_eq!(line(other), None, "{other}");
        }
    }

    #[test]
    fn a_value_lasts_until_the_next_one() {
        let mut shared = SharedFolder::default();
        let Some(SharedLine::Now(now)) = line(NOW) else { panic!("it is not read") };
        shared.push(1, Now { new_bytes: 5, ..now });
        shared.push(3, Now { new_bytes: 6, ..now });
        shared.push(3, Now { new_bytes: 7, ..now });
        assert_eq!(shared.at_each(&shared.new_bytes, 5), [0, 5, 5, 7, 7]);
        assert_eq!(shared.at_each(&shared.new_bytes, 2), [0, 5]);
        assert_eq!(shared.machine_at_each(2), None);
        shared.push_machine(1, 8);
        shared.push_machine(3, 9);
        assert_eq!(shared.machine_at_each(4), Some(vec![8, 8, 8, 9]));
    }
}
