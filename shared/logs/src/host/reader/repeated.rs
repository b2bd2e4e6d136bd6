//! Keeps the rows of the sample before, since most processes sleep and print the same line again.
//!
//! ```text
//! root 17 0.0 0.1 168 13 ? Ss 10:12 0:04 /sbin/init     read
//! Mon Nov 23 15:46:53 UTC 2026
//! root 17 0.0 0.1 168 13 ? Ss 10:12 0:04 /sbin/init     the same text: the same process and the same sizes
//! ```
//!
//! Rows come in the order of the sample before, so that one comparison finds the text. Cost: a copy of each text that differs.

use super::super::log::HostForm;

/// Most rows that are kept; machines have some hundred processes.
const MOST_ROWS: usize = 4096;

const LONGEST_BYTES: usize = 1024;

/// Rows that are looked through for the process of a row, to go on behind it.
const NEAR: usize = 8;

/// What a row added to the log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Added {
    pub(super) process: usize,
    pub(super) form: HostForm,
    pub(super) rss_kib: u32,
    pub(super) pss_kib: Option<u32>,
    pub(super) file_kib: Option<u32>,
    pub(super) shmem_kib: Option<u32>,
}

/// Latest row of each process, in the order in which a sample has them.
#[derive(Debug, Default)]
pub(super) struct RepeatedRows {
    rows: Vec<Row>,
    sample: u32,
    next: usize,
}

#[derive(Debug)]
struct Row {
    /// Last sample that had the row.
    sample: u32,
    text: Vec<u8>,
    added: Added,
}

impl RepeatedRows {
    /// Returns what a row added in the sample before if the same text comes again.
    pub(super) fn find(&mut self, sample: u32, text: &[u8]) -> Option<Added> {
        self.turn(sample);
        let row = self.rows.get_mut(self.next)?;
        if row.sample + 1 != sample || row.text != text {
            return None;
        }
        row.sample = sample;
        self.next += 1;
        Some(row.added)
    }

    /// Keeps a row of the current sample that was not found.
    pub(super) fn keep(&mut self, sample: u32, text: &[u8], added: Added) {
        self.turn(sample);
        let known = self.rows.iter().skip(self.next).take(NEAR).position(|row| row.added.process == added.process);
        if text.len() > LONGEST_BYTES || (known.is_none() && self.rows.len() >= MOST_ROWS) {
            return;
        }
        match known {
            // The processes in between have ended.
            Some(ended) => drop(self.rows.drain(self.next..self.next + ended)),
            None => self.rows.insert(self.next, Row { sample, text: Vec::new(), added }),
        }
        let row = &mut self.rows[self.next];
        (row.sample, row.added) = (sample, added);
        row.text.clear();
        row.text.extend_from_slice(text);
        self.next += 1;
    }

    /// Forgets all rows, because the same text may mean something else from now on.
    pub(super) fn forget(&mut self) {
        self.rows.clear();
        self.next = 0;
    }

    fn turn(&mut self, sample: u32) {
        if sample != self.sample {
            // Those behind the last row of a sample have ended.
            self.rows.truncate(self.next);
            (self.sample, self.next) = (sample, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::host::HostLog;
    use crate::reader::read_text;

    /// Returns a loop whose processes come, go, print the same again, share process ids and change their tables.
    fn random_loop(mut seed: u64, ending: impl Fn(u64) -> &'static str) -> String {
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        let is_csv = random(2) == 0;
        let mut text = if is_csv { "time,pid,rss,pss,cmd\n".to_owned() } else { String::new() };
        for sample in 0..40 {
            let time = 1_795_448_800 + sample - 3 * random(2) * (sample / 20);
            if !is_csv {
                text += &format!("{time}\n");
            }
            if !is_csv && random(3) == 0 {
                let more = if random(8) == 0 { " X" } else { "" };
                text += &format!("USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND{more}\n");
            }
            for process in 0..6 {
                let (size, pid) = (1000 + random(3), 10 + process - random(12) / 11);
                let (name, end) = (if random(20) == 0 { "bash" } else { "python" }, ending(sample));
                match random(8) {
                    0 => {}
                    _ if is_csv => text += &format!("{time},{pid},{size}000,{size}000,{name}{end}\n"),
                    again => {
                        let cpu = sample / 30 * random(2) + again / 7;
                        text += &format!("ml {pid} 1.5 2.5 9000 {size}00 ? S 10:12 0:0{cpu} {name}{end}\n");
                    }
                }
            }
        }
        text
    }

    fn read(text: &str) -> HostLog {
        read_text(text).host
    }

    /// A space at the end means nothing to the reader, but no row is the same text as the one before.
    #[test]
    fn rows_that_repeat_are_read_like_those_that_do_not() {
        for seed in 0..300 {
            let text = random_loop(seed, |_| "");
            let differing = random_loop(seed, |sample| if sample % 2 == 0 { " " } else { "" });
            assert_eq!(read(&text), read(&differing), "{text}");
        }
    }
}
