//! Reads the tables of memory_profiler, which say how much host memory each line of a function adds.
//!
//! ```text
//! Filename: train.py
//!
//! Line #    Mem usage    Increment  Occurrences   Line Contents
//! =============================================================
//!      3   38.816 MiB   38.816 MiB           1   @profile
//!      4                                         def load():
//!      5   46.492 MiB    7.676 MiB           1       a = [1] * (10 ** 6)
//! ```

/// Memory of a line of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineUse {
    pub file: String,
    /// Line number from 1.
    pub line: u64,
    /// Host memory of the process after the line, in bytes.
    pub bytes: u64,
    /// Bytes that the line added in all its runs, negative if it freed more.
    pub added_bytes: i64,
    /// Number of times that the line ran, if the table has it.
    pub times: Option<u64>,
    pub code: String,
}

/// Reader of tables.
#[derive(Debug, Default)]
pub(super) struct LineTables {
    file: String,
    /// Whether rows have the number of times; `None` outside of tables.
    has_times: Option<bool>,
}

impl LineTables {
    /// Reads a line; returns true if it belongs to a table, with what it says about memory.
    pub(super) fn line(&mut self, line: &str) -> Option<Option<LineUse>> {
        if let Some(file) = line.strip_prefix("Filename: ") {
            file.trim().clone_into(&mut self.file);
            return Some(None);
        }
        if line.contains("Line #") && line.contains("Mem usage") && line.contains("Increment") {
            self.has_times = Some(line.contains("Occurrences") || line.contains("Occurences"));
            return Some(None);
        }
        let has_times = self.has_times?;
        if line.len() > 8 && line.bytes().all(|byte| byte == b'=') {
            return Some(None);
        }
        let number = line.trim_start().split(char::is_whitespace).next().and_then(|word| word.parse::<u64>().ok());
        let Some(number) = number.filter(|_| line.starts_with(' ')) else {
            self.has_times = None;
            return None;
        };
        Some(self.row(line, number, has_times))
    }

    fn row(&self, line: &str, number: u64, has_times: bool) -> Option<LineUse> {
        let mut cells = line.split_ascii_whitespace().skip(1);
        let (memory, unit, added, unit_of_added) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        if unit != "MiB" || unit_of_added != "MiB" {
            return None;
        }
        let mebibytes = |text: &str| text.parse::<f64>().ok().filter(|mib| mib.abs() < 1e9);
        let bytes = |mib: f64| (mib * f64::from(1 << 20)) as i64;
        let times = if has_times { cells.next().and_then(|cell| cell.parse().ok()) } else { None };
        Some(LineUse {
            file: self.file.clone(),
            line: number,
            bytes: u64::try_from(bytes(mebibytes(memory)?)).unwrap_or(0),
            added_bytes: bytes(mebibytes(added)?),
            times,
            code: cells.collect::<Vec<_>>().join(" ").chars().take(120).collect(),
        })
    }
}
