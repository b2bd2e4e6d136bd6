//! Reads the text of `nvidia-smi -q`, whose indents nest, and defines the [`CardLog`] that all outputs are read into.
//!
//! ```text
//! ==============NVSMI LOG==============
//!
//! Timestamp                                 : Sat Mar  4 04:55:25 2023
//! Attached GPUs                             : 8
//! GPU 00000000:07:00.0
//!     Product Name                          : NVIDIA A100-SXM4-80GB
//!     FB Memory Usage
//!         Total                             : 81920 MiB
//!         Used                              : 22377 MiB
//!     Processes
//!         Process ID                        : 280058
//!             Name                          : /usr/bin/python
//!             Used GPU Memory               : 22374 MiB
//! ```

use super::table::mebibytes;
use crate::printed::OomApi;
use crate::sampled::Sample;
use shared::base::stamp::{self, Stamp};

/// Reader of the lines of any number of outputs.
#[derive(Debug, Default)]
pub(super) struct QueryText {
    /// Output that is being read.
    record: Option<Record>,
    section: Section,
    /// True if other lines came after the last line that certainly is of the output.
    is_interrupted: bool,
}

/// Part of a GPU's lines that says something about memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Section {
    #[default]
    Other,
    Memory,
    Processes,
}

impl QueryText {
    /// Reads a line and adds outputs that have ended; returns true if the line is one of nvidia-smi.
    pub(super) fn line(&mut self, line: &str, done: &mut Vec<Record>) -> bool {
        if line.contains("==NVSMI LOG==") {
            done.extend(self.record.replace(Record::default()));
            self.section = Section::Other;
            self.is_interrupted = false;
            return true;
        }
        let Some(record) = &mut self.record else { return false };
        let text = line.trim_start_matches(' ');
        let indent = line.len() - text.len();
        let (key, value) = text.split_once(" : ").map_or((text, ""), |(key, value)| (key, value));
        let (key, value) = (key.trim_end(), value.trim());
        if indent == 0 {
            let is_head = record.set_head(key, value);
            if is_head {
                self.section = Section::Other;
            }
            self.is_interrupted = !is_head;
            return is_head;
        }
        if indent == 4 {
            self.section = match key {
                "FB Memory Usage" | "Memory Usage" => Section::Memory,
                "Processes" | "Compute Processes" => Section::Processes,
                _ => Section::Other,
            };
        }
        if let Some(gpu) = record.gpus.last_mut() {
            gpu.set((self.section, indent, key), value);
        }
        // Values are aligned. Another program that writes to the same file may indent its lines as well.
        let is_value = text.contains("  : ");
        self.is_interrupted &= !is_value;
        is_value || !self.is_interrupted
    }

    /// Returns the output that the last line belongs to.
    pub(super) fn finish(self) -> Option<Record> {
        self.record
    }
}

/// Returns true for an address on the bus, such as `00000000:07:00.0` or `0000:07:00.0`.
fn is_address(text: &str) -> bool {
    text.split(':').count() == 3 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'))
}

/// Most GPUs, and most processes on one of them, that are kept.
pub(super) const MOST_CARDS: usize = 1024;
pub(super) const MOST_PROCESSES: usize = 1024;

/// Memory of the GPUs of a machine over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CardLog {
    /// GPUs in the order of their first samples.
    pub cards: Vec<Card>,
    /// True if times are milliseconds since the Unix epoch.
    pub has_dates: bool,
    /// False if each sample counts as a second.
    pub has_times: bool,
    /// True if the figures are those that Weights & Biases exports.
    pub is_of_wandb: bool,
    /// Name of the tool, and the interface of its devices.
    pub tool: (&'static str, OomApi),
    /// GPUs with the percentage of their memory that was in use, from a tool that prints no bytes.
    pub shares: Vec<(u32, f64)>,
    /// Slices of GPUs by MIG.
    pub slices: Vec<CardSlice>,
    /// True if a table says that no process runs.
    pub lists_none: bool,
    /// True if the text ends at the head of the list of processes.
    pub is_list_cut: bool,
    /// Numbers of GPUs that an output of `nvidia-smi -q` lists and that the machine has, if those differ.
    ///
    /// The output has no numbers of GPUs, which are then counted from 0.
    pub chosen: Option<(usize, usize)>,
    /// Number of samples beyond those that are kept.
    pub left_out: u64,
}

impl CardLog {
    /// Returns the number of a GPU of which less than 1/20 is in use at the end of the log.
    pub fn idle(&self) -> Option<u32> {
        let is_idle = |card: &&Card| {
            let used = card.samples.last().zip(card.total_bytes);
            used.is_some_and(|(last, total)| last.bytes < total / 20)
        };
        self.cards.iter().find(is_idle).map(|card| card.index)
    }
}

impl CardLog {
    /// Returns the process that has the most memory, and more than half of a GPU's.
    pub fn holder(&self) -> Option<&CardProcess> {
        let large = self.cards.iter().flat_map(|card| {
            let half = card.total_bytes.unwrap_or(u64::MAX) / 2;
            card.processes.iter().filter(move |one| one.bytes > half)
        });
        large.max_by_key(|one| one.bytes)
    }
}

/// Memory of a part of a GPU that no other part can use, at the end of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardSlice {
    /// Its instance and the GPU: `Slice 3 of GPU 0`.
    pub name: String,
    pub used_bytes: u64,
    pub total_bytes: u64,
}

/// Memory of one GPU over time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Card {
    pub index: u32,
    /// Product name, if the log has it.
    pub name: String,
    pub total_bytes: Option<u64>,
    /// Memory that the driver keeps for itself, which is neither in use nor free.
    pub reserved_bytes: Option<u64>,
    /// Memory in use, in the order of the log.
    pub samples: Vec<Sample>,
    /// Processes of the last sample that lists any.
    pub processes: Vec<CardProcess>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardProcess {
    pub pid: u32,
    pub name: String,
    pub bytes: u64,
}

impl Card {
    pub fn peak_bytes(&self) -> u64 {
        let of_processes = self.processes.iter().map(|process| process.bytes).fold(0, u64::saturating_add);
        self.samples.iter().map(|sample| sample.bytes).max().unwrap_or(of_processes)
    }
}

/// What nvidia-smi says about all GPUs at one moment.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) stamp: Option<Stamp>,
    /// Number of GPUs of the machine, of which `-i` chooses some.
    pub(super) attached: Option<usize>,
    /// GPUs in the order of their addresses, which is also that of their numbers.
    pub(super) gpus: Vec<RecordGpu>,
}

#[derive(Debug, Default)]
pub(super) struct RecordGpu {
    /// Address on the bus, such as `00000000:07:00.0`.
    pub(super) address: String,
    pub(super) name: String,
    pub(super) total_bytes: Option<u64>,
    pub(super) reserved_bytes: Option<u64>,
    pub(super) used_bytes: Option<u64>,
    pub(super) processes: Vec<CardProcess>,
}

impl Record {
    /// Reads a line without an indent, which may begin a GPU; returns false if it is none of the output.
    fn set_head(&mut self, key: &str, value: &str) -> bool {
        match key {
            "Timestamp" => self.stamp = stamp::stamp(value),
            "Attached GPUs" => self.attached = value.parse().ok(),
            "Driver Version" | "CUDA Version" => {}
            _ => match key.strip_prefix("GPU ").filter(|address| is_address(address)) {
                Some(address) if self.gpus.len() < MOST_CARDS => {
                    self.gpus.push(RecordGpu { address: address.to_owned(), ..RecordGpu::default() });
                }
                Some(_) => {}
                None => return false,
            },
        }
        true
    }
}

impl RecordGpu {
    /// Sets a value, which may be missing, as in `N/A` and `Not available in WDDM driver model`.
    fn set(&mut self, place: (Section, usize, &str), text: &str) {
        // Drivers before 2014 wrote MB and meant MiB.
        let bytes = || mebibytes(text.trim_end_matches("MB").trim_end());
        let has_room = self.processes.len() < MOST_PROCESSES;
        match (place, self.processes.last_mut()) {
            ((Section::Other, 4, "Product Name"), _) => text.clone_into(&mut self.name),
            ((Section::Memory, 8, "Total"), _) => self.total_bytes = bytes(),
            ((Section::Memory, 8, "Reserved"), _) => self.reserved_bytes = bytes(),
            ((Section::Memory, 8, "Used"), _) => self.used_bytes = bytes(),
            ((Section::Processes, 8, "Process ID"), _) if has_room => {
                self.processes.extend(text.parse().map(|pid| CardProcess { pid, ..CardProcess::default() }));
            }
            ((Section::Processes, 12, "Name"), Some(process)) => text.clone_into(&mut process.name),
            ((Section::Processes, 12, "Used GPU Memory"), Some(process)) => process.bytes = bytes().unwrap_or(0),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published in huggingface/m4-logs: `nvidia-smi -q -i 0` on a machine with eight GPUs, without parts that say nothing
    /// about memory.
    const QUERY: &str = include_str!("../../../../tests/data/logs/nvidia-smi525-query.txt");

    fn read(text: &str) -> Vec<Record> {
        let (mut reader, mut done) = (QueryText::default(), Vec::new());
        text.lines().for_each(|line| _ = reader.line(line, &mut done));
        done.extend(reader.finish());
        done
    }

    #[test]
    fn a_gpu_has_memory_and_processes() {
        let records = read(QUERY);
        let [Record { stamp: Some(stamp), attached: Some(8), gpus }] = records.as_slice() else {
            panic!("{records:?}")
        };
        assert_eq!(stamp.epoch_ms(), Some(1_677_905_725_000));
        let [gpu] = gpus.as_slice() else { panic!("{gpus:?}") };
        assert_eq!((gpu.address.as_str(), gpu.name.as_str()), ("00000000:07:00.0", "NVIDIA A100-SXM4-80GB"));
        let sizes = [gpu.total_bytes, gpu.reserved_bytes, gpu.used_bytes].map(|bytes| bytes.map(|bytes| bytes >> 20));
        assert_eq!(sizes, [Some(81_920), Some(834), Some(22_377)], "and not those of BAR1");
        let [process] = gpu.processes.as_slice() else { panic!("{gpu:?}") };
        assert_eq!((process.pid, process.bytes >> 20), (280_058, 22_374));
        assert!(process.name.ends_with("/bin/python"), "{process:?}");
    }

    #[test]
    fn each_banner_begins_an_output() {
        let text = format!("starting\n{QUERY}\nstep 1, loss 2\n{QUERY}");
        assert_eq!(read(&text).iter().map(|record| record.gpus.len()).collect::<Vec<_>>(), [1, 1]);
        let mut reader = QueryText::default();
        let mut is_of = |line: &str| reader.line(line, &mut Vec::new());
        assert_eq!([is_of("GPU 0000:07:00.0"), is_of("==NVSMI LOG=="), is_of("GPU 0000:07:00.0")], [false, true, true]);
        assert!(is_of("    Processes"));
        assert_eq!([is_of("RuntimeError: a : b"), is_of("    'active.all.peak': 7,")], [false, false]);
        assert_eq!([is_of("        Process ID            : 7"), is_of("            Code")], [true, true]);
        assert!(!is_of("GPU 0: out of memory"));
    }

    #[test]
    fn another_program_may_write_between_the_lines() {
        let text = QUERY.replace("        Used ", "step 1 of 2\n        Used ");
        assert_eq!(read(&text)[0].gpus[0].used_bytes, Some(22_377 << 20));
    }

    #[test]
    fn windows_does_not_tell_the_memory_of_processes() {
        let text = QUERY.replace("22374 MiB", "Not available in WDDM driver model");
        assert_eq!(read(&text)[0].gpus[0].processes[0].bytes, 0);
        let text = QUERY.replace("22377 MiB", "N/A");
        assert_eq!(read(&text)[0].gpus[0].used_bytes, None);
    }
}
