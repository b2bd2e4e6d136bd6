//! Reads the lines of nvidia-smi.

use super::others::OtherTools;
use super::query_text::{
    Card, CardLog, CardProcess, CardSlice, MOST_CARDS, MOST_PROCESSES, QueryText, Record, RecordGpu,
};
use super::table::{CardMetric, Head, Row, mebibytes, wandb_head};
use crate::sampled::Sample;
use crate::source::LineReader;
use hashbrown::HashMap;
use shared::base::stamp::{self, Stamp};
use shared::base::{Metric, MetricHead, MetricTime, ShortSort};
use std::cmp::Reverse;

/// Most samples of all GPUs that are kept, 16 bytes each: those of eight GPUs every second for a week.
const MOST_SAMPLES: usize = 5_000_000;

#[derive(Debug, Default)]
pub struct CardReader {
    log: CardLog,
    head: Option<Head>,
    wandb: Option<MetricHead<CardMetric>>,
    query_text: QueryText,
    others: OtherTools,
    samples: usize,
    /// Time of the line above, for tables that have none.
    stamp: Option<Stamp>,
    /// Numbers of GPUs by their UUIDs or addresses, where rows have both.
    numbers: HashMap<String, u32>,
    /// Processes of GPUs that have no number yet.
    unplaced: Vec<(String, Vec<CardProcess>)>,
    /// GPU and name of the last row of a table that names one.
    named: Option<(u32, String)>,
    /// True after the first row of a table.
    has_table: bool,
    /// True if nvitop prints it, in boxes.
    is_of_nvitop: bool,
    /// True within the slices of a table.
    lists_slices: bool,
    /// True within the processes of a table.
    lists_processes: bool,
    /// True below the head of a list of processes that people have taken out of a table.
    lists_pids: bool,
    /// True in the head of the list of processes.
    is_at_list: bool,
    /// True below that head, until a row or the end of the list.
    awaits_process: bool,
}

impl LineReader for CardReader {
    type Log = CardLog;

    fn line(&mut self, line: &str) -> bool {
        if let Some(stamp) = stamp::stamp(line) {
            self.stamp = Some(stamp);
            // It says nothing else, so that no other reader has to look at it.
            return true;
        }
        if self.query(line) || self.wandb(line) {
            return true;
        }
        if let Some(head) = Head::of(line) {
            self.head = Some(head);
            return true;
        }
        if let Some(said) = self.others.line(line) {
            self.log.tool = said.tool;
            self.log.lists_none |= said.lists_none;
            match (said.row.gpu, said.share) {
                (Some(gpu), Some(share)) if self.log.shares.len() < MOST_CARDS => self.log.shares.push((gpu, share)),
                _ => self.row(&said.row),
            }
            return true;
        }
        // Of nvitop's boxes, the lines without cells have lost their sides: its title and its processes.
        let is_title = line.contains("NVITOP ");
        self.is_of_nvitop |= is_title;
        let is_process = || process_of(&line.split_ascii_whitespace().collect::<Vec<_>>()).is_some();
        if line.trim_start().starts_with(['|', '+']) || is_title || self.is_of_nvitop && is_process() {
            return self.table(line.trim_start());
        }
        self.lists_pids &= !line.is_empty() && !line.contains(':');
        if let Some((pid, bytes)) = pid_row(line).filter(|_| self.lists_pids) {
            self.row(&Row::of_process(pid, String::new(), bytes));
            return true;
        }
        if line.starts_with("PID ") && line.contains("GPU Memory") {
            self.lists_pids = true;
            return true;
        }
        let row = self.head.as_ref().and_then(|head| head.row(line));
        row.map(|row| self.row(&row)).is_some()
    }

    fn finish(mut self) -> CardLog {
        std::mem::take(&mut self.query_text).finish().into_iter().for_each(|record| self.record(record));
        self.place();
        self.log.is_list_cut = self.is_at_list || self.awaits_process;
        self.log
    }
}

impl CardReader {
    /// Reads a line of `nvidia-smi -q`.
    fn query(&mut self, line: &str) -> bool {
        let mut done = Vec::new();
        let is_of_query = self.query_text.line(line, &mut done);
        done.into_iter().for_each(|record| self.record(record));
        is_of_query
    }

    /// Adds what an output of `nvidia-smi -q` says about all GPUs.
    fn record(&mut self, record: Record) {
        let Record { stamp, attached, gpus } = record;
        let listed = gpus.len();
        self.log.chosen = attached.filter(|attached| *attached > listed).map(|attached| (listed, attached));
        let stamp = stamp.or(self.stamp);
        if gpus.iter().any(|gpu| !gpu.processes.is_empty()) {
            self.log.cards.iter_mut().for_each(|card| card.processes.clear());
        }
        for (index, gpu) in gpus.into_iter().enumerate() {
            let RecordGpu { address, name, total_bytes, reserved_bytes, used_bytes, processes } = gpu;
            let name = if name.is_empty() { address } else { name };
            let Some(used_bytes) = used_bytes else { continue };
            self.sample(index as u32, stamp.map(MetricTime::Date), used_bytes, total_bytes, &name);
            self.card(index as u32).into_iter().for_each(|card| card.reserved_bytes = reserved_bytes);
            let known = processes.iter().filter(|process| process.bytes > 0);
            known.for_each(|process| self.process(index as u32, process.pid, &process.name, process.bytes));
        }
    }

    /// Reads a line of a table of Weights & Biases: its head or a row.
    fn wandb(&mut self, line: &str) -> bool {
        if let Some(head) = wandb_head(line) {
            self.wandb = Some(head);
            return true;
        }
        let Some(head) = self.wandb.take() else { return false };
        let row = head.row(line);
        let is_row = row.map(|(time, values)| self.metrics(time, &values)).is_some();
        self.wandb = Some(head);
        is_row
    }

    fn metrics(&mut self, time: MetricTime, values: &[(&Metric<CardMetric>, f64)]) {
        self.log.is_of_wandb = true;
        let percents: HashMap<u32, f64> = { values.iter() }
            .filter_map(|(metric, value)| match metric.kind {
                CardMetric::Percent(gpu) => Some((gpu, *value)),
                CardMetric::Bytes(_) => None,
            })
            .collect();
        for (metric, value) in values {
            let CardMetric::Bytes(gpu) = metric.kind else { continue };
            let percent = percents.get(&gpu).filter(|percent| **percent > 1.0);
            let total_bytes = percent.map(|percent| (value * 100.0 / percent) as u64);
            self.sample(gpu, Some(time), *value as u64, total_bytes, &metric.run);
        }
    }

    fn row(&mut self, row: &Row<'_>) {
        let known = self.numbers.get(row.key).copied();
        if let Some(bytes) = row.used_bytes {
            // Rows without numbers come in their order.
            let next = if row.key.is_empty() { 0 } else { self.numbers.len() as u32 };
            let gpu = row.gpu.or(known).unwrap_or(next);
            if !row.key.is_empty() && known.is_none() && self.numbers.len() < MOST_CARDS {
                self.numbers.insert(row.key.to_owned(), gpu);
            }
            let time = row.elapsed_ms.map(MetricTime::Elapsed).or(row.stamp.map(MetricTime::Date));
            self.sample(gpu, time, bytes, row.total_bytes, &row.name);
        }
        let (Some(pid), Some(bytes)) = (row.pid, row.process_bytes) else { return };
        match row.gpu.or(known) {
            Some(gpu) => self.process(gpu, pid, &row.process_name, bytes),
            None => {
                let position = self.unplaced.iter().position(|(key, _)| key == row.key).unwrap_or(self.unplaced.len());
                if position == self.unplaced.len() && position < MOST_CARDS {
                    self.unplaced.push((row.key.to_owned(), Vec::new()));
                }
                let processes = self.unplaced.get_mut(position).map(|(_, processes)| processes);
                processes.into_iter().for_each(|all| add(all, pid, &row.process_name, bytes));
            }
        }
    }

    /// Places processes of GPUs without a number where so much memory is in use: a GPU has what its processes have, and a
    /// little more.
    fn place(&mut self) {
        let mut unplaced = std::mem::take(&mut self.unplaced);
        let sum = |processes: &[CardProcess]| processes.iter().map(|one| one.bytes).fold(0, u64::saturating_add);
        unplaced.short_sort_by_key(|(_, processes)| Reverse(sum(processes)));
        for (key, processes) in unplaced {
            let least = sum(&processes);
            let used = |card: &Card| card.samples.last().map_or(0, |sample| sample.bytes);
            let has_room = |card: &&mut Card| card.processes.is_empty() && used(card) >= least;
            let of_number = self.numbers.get(&key).copied();
            let free = self.log.cards.iter_mut().filter(has_room).min_by_key(|card| used(card)).map(|card| card.index);
            let next = self.log.cards.iter().map(|card| card.index + 1).max().unwrap_or(0);
            let Some(card) = self.card(of_number.or(free).unwrap_or(next)) else { continue };
            if card.name.is_empty() {
                card.name = key;
            }
            card.processes = processes;
        }
    }

    /// Reads a row of the table that nvidia-smi prints without options.
    fn table(&mut self, line: &str) -> bool {
        let cells: Vec<&str> = line.trim_matches('|').split_ascii_whitespace().collect();
        if ["NVIDIA-SMI", "XPU-SMI", "NVITOP"].iter().any(|tool| line.contains(tool)) {
            self.has_table = true;
            self.lists_processes = false;
            return true;
        }
        self.lists_slices |= line.contains("MIG devices:");
        if let Some((used, total)) = used_of_total(line).filter(|_| self.lists_slices) {
            let numbers: Vec<u32> = cells.iter().map_while(|cell| cell.parse().ok()).collect();
            // The memory of the bus stands below, without numbers.
            if let [gpu, slice, ..] = numbers[..] {
                self.slice(format!("Slice {slice} of GPU {gpu}"), used, total);
            }
            return true;
        }
        if let Some((used, total)) = used_of_total(line) {
            // The head may be cut off.
            self.has_table = true;
            let (gpu, name) = self.named.take().unwrap_or_default();
            self.sample(gpu, self.stamp.map(MetricTime::Date), used, Some(total), &name);
            return true;
        }
        if let Some((gpu, pid, name, bytes)) = process_of(&cells) {
            if !self.lists_processes {
                self.log.cards.iter_mut().for_each(|card| card.processes.clear());
            }
            self.lists_processes = true;
            self.awaits_process = false;
            self.process(gpu, pid, &name, bytes);
            return true;
        }
        if !self.has_table {
            return false;
        }
        if let Some(gpu) = cells.first().and_then(|cell| cell.parse().ok()) {
            let name = cells[1..].iter().take_while(|cell| !matches!(**cell, "On" | "Off" | "|"));
            self.named = Some((gpu, name.copied().collect::<Vec<_>>().join(" ")));
            return true;
        }
        // A list without rows is closed at once by older drivers; later ones say that it is empty.
        self.is_at_list |= line.contains("Processes:");
        self.lists_slices &= !self.is_at_list;
        let closes_list = std::mem::take(&mut self.awaits_process) && line.starts_with('+');
        self.awaits_process = line.starts_with("|=") && std::mem::take(&mut self.is_at_list);
        self.log.lists_none |= closes_list || line.contains("No running processes");
        is_frame(line)
    }

    fn sample(&mut self, gpu: u32, time: Option<MetricTime>, used_bytes: u64, total_bytes: Option<u64>, name: &str) {
        let ms = match time {
            Some(MetricTime::Elapsed(ms)) => Some(ms),
            Some(MetricTime::Date(stamp)) => stamp.epoch_ms(),
            None => None,
        };
        if !matches!(time, Some(MetricTime::Elapsed(_))) {
            self.log.has_dates = ms.is_some();
        }
        if self.samples >= MOST_SAMPLES {
            self.log.left_out += 1;
            return;
        }
        let Some(card) = self.card(gpu) else { return };
        card.total_bytes = total_bytes.or(card.total_bytes);
        if !name.is_empty() {
            name.clone_into(&mut card.name);
        }
        let last_ms = card.samples.last().map(|sample| sample.time_ms);
        // Without times, or where the clock was set back, a sample is a second after the one before.
        let next_ms = last_ms.map_or(0, |last| last + 1000);
        let time_ms = ms.filter(|time| last_ms.is_none_or(|last| *time >= last)).unwrap_or(next_ms);
        card.samples.push(Sample { time_ms, bytes: used_bytes });
        self.samples += 1;
        self.log.has_times = ms.is_some();
    }

    fn slice(&mut self, name: String, used_bytes: u64, total_bytes: u64) {
        let slices = &mut self.log.slices;
        let new = CardSlice { name, used_bytes, total_bytes };
        match slices.iter().position(|known| known.name == new.name) {
            Some(known) => slices[known] = new,
            None if slices.len() < MOST_CARDS => slices.push(new),
            None => {}
        }
    }

    fn process(&mut self, gpu: u32, pid: u32, name: &str, bytes: u64) {
        self.card(gpu).into_iter().for_each(|card| add(&mut card.processes, pid, name, bytes));
    }

    fn card(&mut self, index: u32) -> Option<&mut Card> {
        let cards = &mut self.log.cards;
        let known = cards.iter().position(|card| card.index == index);
        if known.is_none() && cards.len() < MOST_CARDS {
            cards.push(Card { index, ..Card::default() });
        }
        cards.iter_mut().find(|card| card.index == index)
    }
}

/// Adds a process, or what it has now.
fn add(processes: &mut Vec<CardProcess>, pid: u32, name: &str, bytes: u64) {
    match processes.iter().position(|process| process.pid == pid) {
        Some(known) => processes[known].bytes = bytes,
        None if processes.len() < MOST_PROCESSES => {
            processes.push(CardProcess { pid, name: name.to_owned(), bytes });
        }
        None => {}
    }
}

/// Reads a process with its memory: `2811364 5210MiB`.
fn pid_row(line: &str) -> Option<(u32, u64)> {
    let (pid, memory) = line.trim().split_once(' ')?;
    Some((pid.parse().ok()?, binary(&memory.replace(' ', ""))?))
}

/// Returns true for rules, heads and rows without memory.
fn is_frame(line: &str) -> bool {
    const HEADS: [&str; 7] = ["Persistence-M", "Memory-Usage", "MIG M.", "Processes:", "GPU Memory", "Usage", "N/A"];
    let is_rule = line.chars().all(|c| matches!(c, '+' | '-' | '=' | '|' | ' '));
    is_rule || HEADS.iter().any(|words| line.contains(words)) || line.contains("No running processes")
}

/// Reads `20000MiB / 24576MiB` out of a row, or nvitop's `19.53GiB / 24.00GiB`.
fn used_of_total(line: &str) -> Option<(u64, u64)> {
    let (before, after) = line.split_once("iB / ")?;
    let used = before.rsplit([' ', '|']).next()?;
    let total = after.trim_start().split([' ', '|']).next()?;
    Some((binary(&format!("{used}iB"))?, binary(total)?))
}

/// Reads a size in MiB or GiB.
fn binary(text: &str) -> Option<u64> {
    text.strip_suffix("MiB").and_then(mebibytes).or_else(|| Some(mebibytes(text.strip_suffix("GiB")?)? << 10))
}

/// Reads a row of the processes: GPU, GI and CI in newer versions, PID, type, name and memory; of nvitop GPU, PID, type,
/// user, memory, four shares, time and command.
fn process_of(cells: &[&str]) -> Option<(u32, u32, String, u64)> {
    let kind = cells.iter().position(|cell| matches!(*cell, "C" | "G" | "C+G" | "M+C"))?;
    let (gpu, pid) = (cells.first()?.parse().ok()?, cells.get(kind.checked_sub(1)?)?.parse().ok()?);
    if let Some(bytes) = cells.get(kind + 2).filter(|_| cells.len() > kind + 8).and_then(|cell| binary(cell)) {
        return Some((gpu, pid, cells[kind + 8..].join(" "), bytes));
    }
    let (memory, named) = cells[kind + 1..].split_last()?;
    Some((gpu, pid, named.join(" "), binary(memory)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{Source as _, read_lines};

    fn read(text: &str) -> CardLog {
        read_lines::<CardReader>(text)
    }

    /// Printed by nvidia-smi 545, as in vllm-project/vllm#2140, with processes of the form of its manual.
    const TABLE: &str = "\
Sun Dec 17 15:31:00 2023
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 545.23.08              Driver Version: 545.23.08    CUDA Version: 12.3     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | GPU-Util  Compute M. |
|=========================================+======================+======================|
|   0  NVIDIA GeForce RTX 3090        Off | 00000000:01:00.0 Off |                  N/A |
| 30%   29C    P8              24W / 350W |  20001MiB / 24576MiB |      0%      Default |
|                                         |                      |                  N/A |
+-----------------------------------------+----------------------+----------------------+
|   1  NVIDIA GeForce RTX 3090        Off | 00000000:02:00.0 Off |                  N/A |
| 30%   29C    P8              24W / 350W |      7MiB / 24576MiB |      0%      Default |
+-----------------------------------------+----------------------+----------------------+
| Processes:                                                                            |
|  GPU   GI   CI        PID   Type   Process name                            GPU Memory |
|        ID   ID                                                             Usage      |
|=======================================================================================|
|    0   N/A  N/A      4711      C   /usr/bin/python3                          15000MiB |
|    0   N/A  N/A      1000      G   /usr/lib/xorg/Xorg                          480MiB |
+---------------------------------------------------------------------------------------+
";

    #[test]
    fn the_table_has_cards_and_processes() {
        let log = read(TABLE);
        assert_eq!(log.cards.len(), 2);
        let card = &log.cards[0];
        assert_eq!((card.name.as_str(), card.total_bytes), ("NVIDIA GeForce RTX 3090", Some(24_576 << 20)));
        assert_eq!(card.samples, [Sample { time_ms: 1_702_827_060_000, bytes: 20_001 << 20 }]);
        let names: Vec<&str> = card.processes.iter().map(|process| process.name.as_str()).collect();
        assert_eq!(names, ["/usr/bin/python3", "/usr/lib/xorg/Xorg"]);
        assert_eq!(card.processes[0], CardProcess { pid: 4711, name: names[0].to_owned(), bytes: 15_000 << 20 });
        assert!(log.cards[1].processes.is_empty() && log.has_dates);
    }

    #[test]
    fn a_list_that_is_closed_at_once_is_empty() {
        assert!(!read(TABLE).lists_none);
        let empty: String =
            TABLE.lines().filter(|line| !line.contains("/usr/")).fold(String::new(), |text, line| text + line + "\n");
        assert!(read(&empty).lists_none);
        let cut = empty.trim_end().rsplit_once('\n').expect("lines").0;
        assert!(!read(cut).lists_none, "it may go on");
    }

    #[test]
    fn a_loop_of_tables_is_a_course() {
        let later = TABLE.replace("15:31:00", "15:31:05").replace("15000MiB", "16000MiB").replace("20001", "21001");
        let log = read(&(TABLE.to_owned() + &later));
        let used: Vec<u64> = log.cards[0].samples.iter().map(|sample| sample.bytes >> 20).collect();
        assert_eq!(used, [20_001, 21_001]);
        assert_eq!(log.cards[0].samples[1].time_ms - log.cards[0].samples[0].time_ms, 5000);
        assert_eq!((log.cards[0].processes.len(), log.cards[0].processes[0].bytes), (2, 16_000 << 20));
    }

    #[test]
    fn queries_are_rows_with_names() {
        let text = "timestamp, name, index, memory.total [MiB], memory.used [MiB], utilization.gpu [%]\n\
                    2026/11/23 15:46:52.123, NVIDIA A100-SXM4-40GB, 1, 40960 MiB, 1234 MiB, 5 %\n\
                    2026/11/23 15:46:53.123, NVIDIA A100-SXM4-40GB, 1, 40960 MiB, 2234 MiB, 5 %\n";
        let log = read(text);
        assert_eq!((log.cards[0].index, log.cards[0].samples.len(), log.has_dates), (1, 2, true));
        assert_eq!(log.cards[0].samples[1], Sample { time_ms: 1_795_448_813_123, bytes: 2234 << 20 });
        assert_eq!(read(&text.replace(" MiB", "")), log, "without units");
        let apps = read("pid, process_name, used_gpu_memory [MiB]\n4711, python3, 15000 MiB\n");
        assert_eq!(apps.cards[0].processes[0].bytes, 15_000 << 20);
    }

    #[test]
    fn programs_write_tables_of_their_own() {
        let log = read("elapsed_sec,gpu_util_pct,mem_used_mb,mem_total_mb\n0.08,0,472,49140\n0.34,2,1502.5,49140\n");
        let samples = [(80, 472 << 20), (340, 3005 << 19)];
        assert_eq!(log.cards[0].samples, samples.map(|(time_ms, bytes)| Sample { time_ms, bytes }));
        assert_eq!(log.cards[0].total_bytes, Some(49_140 << 20));
        assert_eq!(read("elapsed_sec,mem_used_mb,mem_total_mb\n0.08,472,49140\n").cards, [], "of the host, perhaps");
    }

    /// A query of GPUs by number and one of processes by the UUID of the GPU.
    #[test]
    fn nvitop_draws_boxes() {
        let log = crate::reader::read_text(
            "> │ NVITOP 1.5.2   Driver Version: 575.51.02    CUDA Driver Version: 12.9 │\n\
             > ├───────────────────────────────┬──────────────────────┬───────────────┤\n\
             > │   0  GeForce RTX 3090     Off │ 00000000:41:00.0 Off │           N/A │ MEM: ████▎ 96%  │\n\
             > │ 79%   83C    P2   176W / 350W │  23.13GiB / 24.00GiB │  18%  Default │ UTL: ████▉ 18%  │\n\
             > │   1  GeForce RTX 3090     Off │ 00000000:42:00.0 Off │           N/A │ MEM: ███ 81.7%  │\n\
             > │ 32%   61C    P2   145W / 350W │  20074MiB / 24.00GiB │  18%  Default │ UTL: ████▉ 18%  │\n\
             > │ GPU     PID      USER  GPU-MEM %SM %GMBW  %CPU  %MEM   TIME  COMMAND                     │\n\
             > │   0  280302 C    root 23.12GiB  20    10  5872  88.3  13:45  /opt/bin/llama-server --m.. │\n",
        );
        let cards: Vec<_> =
            log.cards.cards.iter().map(|card| (card.index, card.name.as_str(), card.peak_bytes() >> 20)).collect();
        assert_eq!(cards, [(0, "GeForce RTX 3090", 23685), (1, "GeForce RTX 3090", 20074)]);
        assert_eq!(log.cards.cards[0].processes[0].pid, 280302);
        assert!(log.cards.cards[0].processes[0].name.starts_with("/opt/bin/llama-server"));
    }

    #[test]
    fn processes_are_on_the_gpu_that_has_their_memory() {
        let gpus =
            "index, utilization.gpu [%], memory.used [MiB]\n0, 75 %, 77537 MiB\n1, 0 %, 5 MiB\n2, 100 %, 74289 MiB\n";
        let apps = "gpu_uuid, pid, used_gpu_memory [MiB]\nGPU-b, 2003, 74278 MiB\nGPU-a, 2001, 77002 MiB\nGPU-a, 2002, 518 MiB\n";
        let pids = |text: &str| -> Vec<(u32, Vec<u32>)> {
            let of = |card: &Card| (card.index, card.processes.iter().map(|process| process.pid).collect());
            read(text).cards.iter().map(of).collect()
        };
        assert_eq!(pids(&format!("{gpus}{apps}")), [(0, vec![2001, 2002]), (1, vec![]), (2, vec![2003])]);
        assert_eq!(pids(&format!("{apps}{gpus}")), [(0, vec![2001, 2002]), (1, vec![]), (2, vec![2003])]);
        let keyed = "uuid, memory.used [MiB]\nGPU-b, 75000 MiB\nGPU-a, 77600 MiB\n";
        assert_eq!(pids(&format!("{keyed}{apps}")), [(0, vec![2003]), (1, vec![2001, 2002])]);
        assert_eq!(pids(apps), [(0, vec![2001, 2002]), (1, vec![2003])]);
    }

    #[test]
    fn weights_and_biases_exports_bytes_and_shares() {
        let log = read(
            "_runtime,system.gpu.1.memoryAllocated,system.gpu.1.memoryAllocatedBytes\n\
             15.5,25.0,10737418240\n30.5,,12884901888\n",
        );
        let samples = [(15_500, 10_u64 << 30), (30_500, 12 << 30)];
        let expected = samples.map(|(time_ms, used_bytes)| Sample { time_ms, bytes: used_bytes });
        assert_eq!((log.cards[0].index, log.cards[0].total_bytes), (1, Some(40 << 30)));
        assert_eq!(log.cards[0].samples, expected);
        assert_eq!((log.has_times, log.has_dates), (true, false));
    }

    #[test]
    fn other_lines_are_not_of_nvidia_smi() {
        let mut reader = CardReader::default();
        for line in
            ["", "| Allocated memory      |    1062 MB |    4877 MB |", "step 1, loss 2", "+1", "a, b, c", "# a b"]
        {
            assert!(!reader.line(line), "{line}");
        }
        assert!(reader.finish().is_empty());
    }
}
