//! Reads rows with named columns (`--query-gpu`, `--query-compute-apps`), and Weights & Biases' metrics of GPU memory.
//!
//! ```text
//! timestamp, index, name, memory.used [MiB], memory.total [MiB]
//! 2026/11/23 15:46:52.123, 0, NVIDIA A100-SXM4-40GB, 1234 MiB, 40960 MiB
//! ```

use shared::base::MetricHead;
use shared::base::stamp::{self, Stamp};
use std::borrow::Cow;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Stamp,
    /// Seconds since the start.
    Elapsed,
    Gpu,
    /// Name of a GPU that is no number: its UUID or its address on the bus.
    Key,
    Name,
    Total,
    Used,
    /// Total and used memory in bytes.
    TotalBytes,
    UsedBytes,
    Pid,
    ProcessName,
    ProcessUsed,
    Other,
}

/// Head of rows, by the quantities in its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head(Vec<Column>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Row<'a> {
    pub(super) stamp: Option<Stamp>,
    pub(super) elapsed_ms: Option<i64>,
    pub(super) gpu: Option<u32>,
    pub(super) key: &'a str,
    pub(super) name: Cow<'a, str>,
    pub(super) total_bytes: Option<u64>,
    pub(super) used_bytes: Option<u64>,
    pub(super) pid: Option<u32>,
    pub(super) process_name: Cow<'a, str>,
    pub(super) process_bytes: Option<u64>,
}

impl Row<'_> {
    pub(super) fn of_process(pid: u32, name: String, bytes: u64) -> Self {
        Self { pid: Some(pid), process_name: name.into(), process_bytes: Some(bytes), ..Self::default() }
    }
}

impl Head {
    /// Returns the head that a line is; `None` for other lines.
    pub(super) fn of(line: &str) -> Option<Self> {
        if !line.contains(',') {
            return None;
        }
        let names: Vec<&str> = line.split(',').map(str::trim).collect();
        let columns: Vec<Column> = names.iter().map(|name| column(name)).collect();
        let has = |column: Column| columns.contains(&column);
        // Programs that write their own tables mean the memory of the host, too.
        let is_of_gpu = line.contains(", ") || names.iter().any(|name| name.contains("gpu"));
        let is_head = has(Column::UsedBytes) || is_of_gpu && (has(Column::Used) || has(Column::ProcessUsed));
        is_head.then_some(Self(columns))
    }

    /// Reads a row below the head; `None` for other lines.
    pub(super) fn row<'a>(&self, line: &'a str) -> Option<Row<'a>> {
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() < self.0.len() {
            return None;
        }
        let mut row = Row::default();
        for (column, cell) in self.0.iter().zip(cells) {
            match column {
                Column::Stamp => row.stamp = Some(stamp::stamp(cell)?),
                Column::Elapsed => row.elapsed_ms = Some((cell.parse::<f64>().ok()? * 1000.0) as i64),
                Column::Gpu => row.gpu = Some(cell.trim_start_matches("card").parse().ok()?),
                Column::Key => row.key = cell,
                Column::Name => row.name = cell.into(),
                Column::Total => row.total_bytes = Some(mebibytes(cell)?),
                Column::Used => row.used_bytes = Some(mebibytes(cell)?),
                Column::TotalBytes => row.total_bytes = Some(cell.parse().ok()?),
                Column::UsedBytes => row.used_bytes = Some(cell.parse().ok()?),
                // A GPU without processes has a row of dashes.
                Column::Pid => row.pid = cell.parse().ok(),
                Column::ProcessName => row.process_name = cell.into(),
                Column::ProcessUsed => row.process_bytes = mebibytes(cell),
                Column::Other => {}
            }
        }
        Some(row)
    }
}

fn column(name: &str) -> Column {
    // The heads of rocm-smi and xpu-smi.
    match name {
        "VRAM Total Memory (B)" => return Column::TotalBytes,
        "VRAM Total Used Memory (B)" => return Column::UsedBytes,
        "GPU Memory Used (MiB)" => return Column::Used,
        "GPU Memory Total (MiB)" => return Column::Total,
        "Card Series" | "Card series" => return Column::Name,
        _ => {}
    }
    match name.split(' ').next().unwrap_or_default() {
        "timestamp" | "Timestamp" => Column::Stamp,
        "index" | "gpu" | "device" | "DeviceId" => Column::Gpu,
        "gpu_uuid" | "uuid" | "gpu_bus_id" | "pci.bus_id" => Column::Key,
        "name" | "gpu_name" => Column::Name,
        "elapsed_sec" | "elapsed_s" | "elapsed" | "time_s" => Column::Elapsed,
        "memory.total" | "memory_total_mb" | "mem_total_mb" | "gpu_mem_total_mb" => Column::Total,
        "memory.used" | "memory_used_mb" | "mem_used_mb" | "gpu_mem_used_mb" => Column::Used,
        "pid" => Column::Pid,
        "process_name" => Column::ProcessName,
        "used_memory" | "used_gpu_memory" => Column::ProcessUsed,
        _ => Column::Other,
    }
}

/// Reads `1234 MiB`, `1234MiB` or, with `nounits`, `1234`.
pub(super) fn mebibytes(cell: &str) -> Option<u64> {
    let number: f64 = cell.trim_end_matches("MiB").trim_end().parse().ok()?;
    (0.0..(1_u64 << 32) as f64).contains(&number).then_some((number * (1 << 20) as f64) as u64)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CardMetric {
    /// Bytes in use on the GPU with this index.
    Bytes(u32),
    /// The same in percent of its memory.
    Percent(u32),
}

/// Returns the head that a line is; `None` for other lines.
pub(super) fn wandb_head(line: &str) -> Option<MetricHead<CardMetric>> {
    MetricHead::of(line, |name| {
        let (index, name) = name.strip_prefix("gpu.")?.split_once('.')?;
        let index = index.parse().ok()?;
        match name {
            "memoryAllocatedBytes" => Some(CardMetric::Bytes(index)),
            "memoryAllocated" => Some(CardMetric::Percent(index)),
            _ => None,
        }
    })
}
