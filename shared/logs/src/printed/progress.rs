//! Reads GPU memory that programs print while they run, a line at a time.
//!
//! ```text
//! PyTorch     torch.cuda.memory_allocated(0) 318986240          max_memory_reserved: 0.7 GB
//! DeepSpeed   MA 0.0 GB         Max_MA 55.83 GB         CA 55.83 GB         Max_CA 56 GB
//!             CPU Virtual Memory:  used = 143.69 GB, percent = 76.7%
//! Megatron    [Rank 0] (after 10 iterations) memory (MB) | allocated: 7024.1 | max allocated: 12345.6 | reserved: 14000.0
//! verl        After init model, memory allocated (GB): 3.21, memory reserved (GB): 5.67
//! torchtitan  step: 10  loss: 8.2  memory:  9.54GiB(12.04%)  tps: 6,205
//! torchtune   Step 1 | loss:1.6 lr:2e-05 tokens_per_second:1.2 peak_memory_active:9.1 peak_memory_reserved:10.2
//! Ultralytics       1/100      8.57G      1.321      2.417      1.297         54        640
//! MLX         Iter 10: Train loss 2.3, It/sec 0.5, Peak mem 61.846 GB
//! PEFT        GPU Total Peak Memory consumed during the train (max): 9404
//! detectron2  eta: 1:02:03  iter: 19  total_loss: 2.1  max_mem: 4521M
//! OpenMMLab   time: 0.428, data_time: 0.006, memory: 6817, loss: 5.7591
//! ```

use crate::source::number_after;
use shared::base::size;

/// One measure, as often as it was printed; sizes are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Series {
    pub count: u64,
    pub first_bytes: u64,
    pub last_bytes: u64,
    pub most_bytes: u64,
    /// Number of times that the value was above the one before it, and below it.
    pub rises: u64,
    pub falls: u64,
}

impl Series {
    fn push(&mut self, bytes: u64) {
        if self.count == 0 {
            self.first_bytes = bytes;
        }
        let before = if self.count == 0 { bytes } else { self.last_bytes };
        self.rises += u64::from(bytes > before);
        self.falls += u64::from(bytes < before);
        self.count += 1;
        self.last_bytes = bytes;
        self.most_bytes = self.most_bytes.max(bytes);
    }
}

/// Memory of a GPU that a program printed while it ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of the GPU or of the rank, if the lines name it.
    pub gpu: Option<u32>,
    pub is_rank: bool,
    pub allocated: Series,
    pub peak_allocated: Series,
    pub reserved: Series,
    pub peak_reserved: Series,
    /// Memory of the GPU in use, by whomever, as nvidia-smi counts it.
    pub in_use: Series,
    /// Memory of the host in use, and its highest share in thousandths.
    pub host: Series,
    pub host_permille: u64,
}

/// Reads the measures that a line contains into those of its GPU; returns true if it has any.
pub(super) fn line(line: &str, all: &mut Vec<Progress>) -> bool {
    const MOST_GPUS: usize = 1024;
    let (gpu, is_rank) = gpu(line);
    if let Some(known) = all.iter_mut().find(|known| known.gpu == gpu) {
        return known.line(line);
    }
    let mut new = Progress { gpu, is_rank, ..Progress::default() };
    let has_any = new.line(line);
    if has_any && all.len() < MOST_GPUS {
        all.push(new);
    }
    has_any
}

impl Progress {
    /// Reads the measures that a line contains; returns true if it has any.
    fn line(&mut self, line: &str) -> bool {
        if let Some(bytes) = ultralytics(line) {
            self.reserved.push(bytes);
            return true;
        }
        let has = |words: &&str| line.contains(*words);
        if ![
            "emory_",
            "emory alloc",
            "(MB)",
            "Max_MA",
            "memory: ",
            "max_mem: ",
            "Peak mem ",
            "llocated: ",
            "eserved: ",
            "ed memory:",
            "emory consumed",
            "CPU Virtual Memory:",
            "llocated ",
            " alloc ",
            " alloc=",
        ]
        .iter()
        .any(has)
        {
            return false;
        }
        let text = line
            .replace('_', " ")
            .replace("alloc= ", "alloc ")
            .replace("driver= ", "driver ")
            .replace("Memory:  used", "Memory: used");
        let mut text = text.to_ascii_lowercase();
        let is_gib = text.contains("(gb)") || text.contains("peak memory active");
        let is_of_openmmlab = text.contains(" data time: ");
        let is_mib = text.contains("(mb)") || text.contains("total peak memory consumed") || is_of_openmmlab;
        let unit = if is_mib { Some(1 << 20) } else { is_gib.then_some(1 << 30) };
        // `MA` and `CA` of DeepSpeed, and `memory` of torchtitan, are too short to stand for anything elsewhere.
        let short: &[(&str, Place)] = if text.contains("max ma ") {
            &[(" ma ", |progress| &mut progress.allocated), (" ca ", |progress| &mut progress.reserved)]
        } else if text.contains("nvidia-smi") {
            &[(" memory ", |progress| &mut progress.in_use)]
        } else if is_of_openmmlab {
            &[(" memory: ", |progress| &mut progress.peak_allocated)]
        } else if text.contains("gib(") {
            &[(" memory: ", |progress| &mut progress.peak_reserved)]
        } else {
            &[]
        };
        let mut is_any = false;
        for &(words, place) in KEYS.iter().chain(short) {
            // What is unallocated is something else.
            let Some(start) = text.find(words).filter(|start| !text[..*start].ends_with("un")) else { continue };
            let rest = &text[start + words.len()..];
            let unit = if words.ends_with(" mb ") { Some(1 << 20) } else { unit };
            let found = if BARE.contains(&words) { size::leading(rest) } else { value(rest, unit) };
            let Some(bytes) = found else { continue };
            // The shorter keys are parts of the longer ones.
            text.replace_range(start..start + words.len(), "");
            // DeepSpeed rounds `Max_CA` to GB.
            if bytes > 0 || words != "max ca " {
                place(self).push(bytes);
            }
            if words == OF_HOST
                && let Some((_, share)) = text.split_once("percent =")
                && let Ok(percent) = share.trim().trim_end_matches('%').parse::<f64>()
            {
                self.host_permille = self.host_permille.max((percent.clamp(0.0, 100.0) * 10.0) as u64);
            }
            is_any = true;
        }
        is_any
    }
}

/// Reads the reserved memory in a row of Ultralytics' table: `1/100  8.57G  1.321  2.417  1.297  54  640`.
fn ultralytics(line: &str) -> Option<u64> {
    let mut words = line.split_ascii_whitespace();
    let (epoch, epochs) = words.next()?.split_once('/')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let size = words.next().filter(|size| size.ends_with('G') && is_number(epoch) && is_number(epochs))?;
    size::leading(size)
}

/// Words of DeepSpeed before the memory of the host.
const OF_HOST: &str = "cpu virtual memory: used ";

type Place = fn(&mut Progress) -> &mut Series;

/// Words that stand in sentences, too, so that their values need a unit.
const BARE: [&str; 6] = ["allocated ", " alloc ", " driver ", " peak ", " max ", " reserved "];

/// Words before a value, in lower case and with blanks; the longer ones first.
const KEYS: [(&str, Place); 34] = [
    (OF_HOST, |progress| &mut progress.host),
    ("gpu total peak memory consumed during the train (max)", |progress| &mut progress.peak_allocated),
    ("gpu total peak memory consumed during the eval (max)", |progress| &mut progress.peak_allocated),
    ("max memory allocated", |progress| &mut progress.peak_allocated),
    ("memory allocated", |progress| &mut progress.allocated),
    ("max memory reserved", |progress| &mut progress.peak_reserved),
    ("memory reserved", |progress| &mut progress.reserved),
    ("max memory cached", |progress| &mut progress.peak_reserved),
    ("memory cached", |progress| &mut progress.reserved),
    ("| max allocated:", |progress| &mut progress.peak_allocated),
    ("| allocated:", |progress| &mut progress.allocated),
    ("| max reserved:", |progress| &mut progress.peak_reserved),
    ("| reserved:", |progress| &mut progress.reserved),
    ("max ma ", |progress| &mut progress.peak_allocated),
    ("max ca ", |progress| &mut progress.peak_reserved),
    ("max mem: ", |progress| &mut progress.peak_allocated),
    ("peak memory active:", |progress| &mut progress.peak_allocated),
    ("peak memory reserved:", |progress| &mut progress.peak_reserved),
    ("peak mem ", |progress| &mut progress.peak_allocated),
    ("max allocated: ", |progress| &mut progress.peak_allocated),
    ("peak allocated: ", |progress| &mut progress.peak_allocated),
    ("max reserved: ", |progress| &mut progress.peak_reserved),
    ("peak reserved: ", |progress| &mut progress.peak_reserved),
    ("occupied memory:", |progress| &mut progress.allocated),
    ("reserved memory:", |progress| &mut progress.reserved),
    ("allocated: ", |progress| &mut progress.allocated),
    ("reserved: ", |progress| &mut progress.reserved),
    ("allocated ", |progress| &mut progress.allocated),
    ("alloc mb ", |progress| &mut progress.allocated),
    (" alloc ", |progress| &mut progress.allocated),
    // Of Metal: PyTorch's heaps.
    (" driver ", |progress| &mut progress.reserved),
    (" peak ", |progress| &mut progress.peak_allocated),
    (" max ", |progress| &mut progress.peak_allocated),
    (" reserved ", |progress| &mut progress.reserved),
];

/// Columns of a table with commas that hold statistics of PyTorch's allocator, as Lightning's `DeviceStatsMonitor` logs them:
/// `step,DeviceStatsMonitor.on_train_batch_end/allocated_bytes.all.current,…`.
#[derive(Debug, Default)]
pub(super) struct Columns(Vec<(usize, Place)>);

const COLUMNS: [(&str, Place); 4] = [
    ("allocated_bytes.all.current", |progress| &mut progress.allocated),
    ("allocated_bytes.all.peak", |progress| &mut progress.peak_allocated),
    ("reserved_bytes.all.current", |progress| &mut progress.reserved),
    ("reserved_bytes.all.peak", |progress| &mut progress.peak_reserved),
];

impl Columns {
    /// Reads a head or a row; returns true if it is one.
    pub(super) fn line(&mut self, line: &str, all: &mut Vec<Progress>) -> bool {
        if line.contains("_bytes.all.") && line.contains(',') {
            let place = |cell: &str| COLUMNS.iter().find(|(name, _)| cell.ends_with(name)).map(|(_, place)| *place);
            let cells = line.trim().split(',').enumerate();
            self.0 = cells.filter_map(|(number, cell)| Some((number, place(cell.trim_matches('"'))?))).collect();
            return !self.0.is_empty();
        }
        if self.0.is_empty() {
            return false;
        }
        // A hook that was not called leaves its cells empty.
        let cells: Vec<&str> = line.trim().split(',').collect();
        let value = |number: usize| cells.get(number)?.parse::<f64>().ok().filter(|bytes| (0.0..1e15).contains(bytes));
        let values: Vec<_> = self.0.iter().filter_map(|(number, place)| Some((value(*number)?, place))).collect();
        if values.is_empty() {
            return false;
        }
        if !all.iter().any(|one| one.gpu.is_none()) {
            all.push(Progress::default());
        }
        for one in all.iter_mut().filter(|one| one.gpu.is_none()) {
            values.iter().for_each(|(bytes, place)| place(one).push(*bytes as u64));
        }
        true
    }
}

/// Returns the number of the GPU or rank that a line names, and true for a rank: `GPU-1`, `cuda:1`, `[Rank 1]`.
fn gpu(line: &str) -> (Option<u32>, bool) {
    const OF_GPU: [&str; 6] = ["allocated(", "reserved(", "cached(", "GPU-", "GPU ", "cuda:"];
    const OF_RANK: [&str; 2] = ["Rank ", "rank"];
    let number = |all: &[&str]| all.iter().find_map(|words| number_after(line, words));
    let of_gpu = number(&OF_GPU);
    let of_rank = if of_gpu.is_none() { number(&OF_RANK) } else { None };
    (of_gpu.or(of_rank), of_rank.is_some())
}

/// Reads the value behind a key: behind the arguments of a call and a colon; without a unit it is in bytes or in `unit_bytes`.
fn value(text: &str, unit_bytes: Option<u64>) -> Option<u64> {
    /// Smaller numbers without a unit are in a unit that is not known.
    const LEAST_BYTES: u64 = 1 << 16;
    let text = match text.trim_start().strip_prefix('(') {
        Some(arguments) => arguments.split_once(')')?.1,
        None => text,
    };
    let text = text.trim_start_matches([':', '=', '|', ' ', ',']);
    size::leading(text).or_else(|| {
        let (number, rest) = size::leading_number(text);
        if rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '%') {
            return None;
        }
        let value: f64 = number.parse().ok().filter(|value| (0.0..1e15).contains(value))?;
        let bytes = (value * unit_bytes.unwrap_or(1) as f64).round() as u64;
        (unit_bytes.is_some() || bytes == 0 || bytes >= LEAST_BYTES).then_some(bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Progress> {
        let mut all = Vec::new();
        text.lines().for_each(|one| {
            line(one, &mut all);
        });
        all
    }

    fn read(text: &str) -> Progress {
        let all = all(text);
        assert!(all.len() <= 1, "{text}");
        all.into_iter().next().unwrap_or_default()
    }

    fn last(text: &str) -> [u64; 4] {
        let Progress { allocated, peak_allocated, reserved, peak_reserved, .. } = read(text);
        [allocated, peak_allocated, reserved, peak_reserved].map(|series| series.last_bytes >> 20)
    }

    #[test]
    fn every_program_prints_in_its_own_way() {
        for (text, expected) in [
            ("torch.cuda.memory_allocated(0) 318986240\ntorch.cuda.max_memory_reserved(0) 759169024", [304, 0, 0, 724]),
            ("max_memory_allocated: 0.5 GB, memory_reserved = 2048 MiB", [0, 512, 2048, 0]),
            (
                "[utils.py:832:see_memory_usage] MA 1.5 GB  Max_MA 55.83 GB   CA 55.83 GB   Max_CA 56 GB",
                [1536, 57169, 57169, 57344],
            ),
            (
                "[Rank 0] (after 10 iterations) memory (MB) | allocated: 7024.1 | max allocated: 12345.6 | reserved: 14000.0 | \
                 max reserved: 14002.0",
                [7024, 12345, 14000, 14002],
            ),
            (
                "After init, memory allocated (GB): 3.25, memory reserved (GB): 5.5, device memory used/total (GB): 9/79",
                [3328, 0, 5632, 0],
            ),
            ("step: 10  loss:  8.2  memory:  9.50GiB(12.04%)  tps: 6,205", [0, 0, 0, 9728]),
            ("      1/100      8.57G      1.321      2.417      1.297         54        640", [0, 0, 8775, 0]),
            ("Iter 10: Train loss 2.3, It/sec 0.5, Peak mem 61.5 GB", [0, 62976, 0, 0]),
            ("Peak allocated: 1.5 GiB, allocated: 1 GiB", [1024, 1536, 0, 0]),
            ("[Start] Allocated: 36659.26 MB, Reserved: 37246.00 MB", [36659, 0, 37246, 0]),
            ("occupied memory:2.5 GB", [2560, 0, 0, 0]),
            (
                "see_memory_usage] MA 0.25 GB         Max_MA 0.5 GB         CA 0.25 GB         Max_CA 0 GB",
                [256, 512, 256, 0],
            ),
            (" eta: 1:02:03  iter: 19  total_loss: 2.1  lr: 0.1  max_mem: 4521M", [0, 4521, 0, 0]),
            ("GPU Total Peak Memory consumed during the train (max): 9404", [0, 9404, 0, 0]),
            ("time: 0.428, data_time: 0.006, memory: 6817, loss_cls: 0.0868", [0, 6817, 0, 0]),
            ("reserved: 16.5 GB", [0, 0, 16896, 0]),
            ("Epoch 1 Batch 5: MPS alloc= 0.5 GB | MPS driver= 5.25 GB | RAM= 14.4/17.2 GB", [512, 0, 5376, 0]),
        ] {
            assert_eq!(last(text), expected, "{text}");
        }
    }

    #[test]
    fn columns_of_lightning_are_read() {
        let (mut columns, mut found) = (Columns::default(), Vec::new());
        for line in [
            "1,2",
            "step,DeviceStatsMonitor.on_train_batch_end/allocated_bytes.all.current,a/reserved_bytes.all.peak",
            "1000,6442450944,8254390272",
            "1001,,8254390272",
        ] {
            columns.line(line, &mut found);
        }
        assert_eq!(
            found.iter().map(|one| (one.allocated.count, one.peak_reserved.count)).collect::<Vec<_>>(),
            [(1, 2)]
        );
    }

    #[test]
    fn other_numbers_are_no_memory() {
        for text in [
            "memory allocated 17 times",
            "GPU memory: 24 GB",
            "memory_allocated(device) - before",
            "max_memory_allocated: 3x",
        ] {
            assert_eq!(all(text), [], "{text}");
        }
    }

    #[test]
    fn each_gpu_has_its_own_values() {
        let text = "torch.cuda.memory_allocated(0) 318986240\nnvidia-smi GPU-0 memory (MB) 2796\n\
                    torch.cuda.memory_allocated(1) 10997248\nnvidia-smi GPU-1 memory (MB) 1494\nmemory_allocated(cuda:1): 1 GB\n";
        let found = all(text);
        let last =
            found.iter().map(|one| (one.gpu, one.allocated.count, one.in_use.last_bytes >> 20)).collect::<Vec<_>>();
        assert_eq!(last, [(Some(0), 1, 2796), (Some(1), 2, 1494)]);
    }

    #[test]
    fn a_series_counts_rises_and_falls() {
        let text: String = [5, 6, 6, 4, 9].iter().map(|mib| format!("memory_allocated: {mib} MiB\n")).collect();
        let mib = |mib: u64| mib << 20;
        let expected =
            Series { count: 5, first_bytes: mib(5), last_bytes: mib(9), most_bytes: mib(9), rises: 2, falls: 1 };
        assert_eq!(read(&text).allocated, expected);
    }
}
