//! Reads the table of operators that `prof.key_averages().table()` of torch.profiler prints, if it has memory.
//!
//! ```text
//! -----------------  ------------  …  ------------  ------------  ------------  ------------
//!              Name    Self CPU %  …  Self CPU Mem      CUDA Mem  Self CUDA Mem    # of Calls
//! -----------------  ------------  …  ------------  ------------  ------------  ------------
//!      aten::conv2d         0.15%  …           0 b     256.00 Kb           0 b             1
//! ```
//!
//! Cells have two blanks or more between them. A size is what an operator has allocated in all its calls, less what it has
//! freed; without *Self*, with all that it calls.

use shared::base::size;

/// Memory of one operator over all its calls, in bytes; `None` where the table has no such column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperatorUse {
    pub name: String,
    pub calls: Option<u64>,
    pub device_bytes: Option<i64>,
    pub own_device_bytes: Option<i64>,
    pub own_host_bytes: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Name,
    Calls,
    Device,
    OwnDevice,
    OwnHost,
    Other,
}

/// Reader of tables, whose rows mean nothing without their head.
#[derive(Debug, Default)]
pub(super) struct OperatorTables {
    columns: Vec<Column>,
}

impl OperatorTables {
    /// Reads a line of a table; heads and frames have no operator.
    pub(super) fn line(&mut self, line: &str) -> Option<Option<OperatorUse>> {
        if line.contains("# of Calls") && line.contains(" Mem") {
            self.columns = cells(line).map(Column::of).collect();
            return Some(None);
        }
        if self.columns.is_empty() {
            return None;
        }
        if line.trim_start().starts_with("-----") {
            return Some(None);
        }
        let row = self.row(line);
        if row.is_none() {
            self.columns.clear();
        }
        row.map(Some)
    }

    /// Reads a row, of which the end may be cut.
    fn row(&self, line: &str) -> Option<OperatorUse> {
        let mut row = OperatorUse::default();
        let mut are_of_table = true;
        for (column, cell) in self.columns.iter().zip(cells(line)) {
            match column {
                Column::Name => row.name = cell.to_owned(),
                Column::Calls => row.calls = cell.parse().ok(),
                Column::Device => row.device_bytes = size::leading(cell),
                Column::OwnDevice => row.own_device_bytes = size::leading(cell),
                Column::OwnHost => row.own_host_bytes = size::leading(cell),
                Column::Other => are_of_table &= cell.starts_with(|c: char| c.is_ascii_digit() || "-[.".contains(c)),
            }
        }
        let has_memory = row.device_bytes.or(row.own_device_bytes).or(row.own_host_bytes).is_some();
        (are_of_table && has_memory).then_some(row)
    }
}

impl Column {
    fn of(name: &str) -> Self {
        match name {
            "Name" => Self::Name,
            "# of Calls" => Self::Calls,
            "Self CPU Mem" => Self::OwnHost,
            "CPU Mem" => Self::Other,
            // Named after the device: CUDA, XPU, NPU.
            _ if name.ends_with(" Mem") && name.starts_with("Self ") => Self::OwnDevice,
            _ if name.ends_with(" Mem") => Self::Device,
            _ => Self::Other,
        }
    }
}

fn cells(line: &str) -> impl Iterator<Item = &str> {
    line.split("  ").map(str::trim).filter(|cell| !cell.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "Name    Self CPU %      Self CPU   CPU Mem  Self CPU Mem      CUDA Mem  Self CUDA Mem    # of Calls";

    #[test]
    fn rows_stand_below_their_head() {
        let row = "Memcpy HtoD (Pageable -> Device)         0.15%       8.500us           0 b          64 b     256.00 Kb          -1.50 Gb             3";
        let expected = OperatorUse {
            name: "Memcpy HtoD (Pageable -> Device)".to_owned(),
            calls: Some(3),
            device_bytes: Some(256 << 10),
            own_device_bytes: Some(-(3 << 29)),
            own_host_bytes: Some(64),
        };
        let mut tables = OperatorTables::default();
        assert_eq!(tables.line(row), None, "without a head");
        assert_eq!(tables.line(HEAD), Some(None));
        assert_eq!(tables.line("-------  -----  -----"), Some(None));
        assert_eq!(tables.line(row), Some(Some(expected.clone())));
        let cut = OperatorUse { calls: None, own_device_bytes: None, ..expected };
        assert_eq!(tables.line(row.rsplit_once("  -1.50").unwrap().0), Some(Some(cut)));
        assert_eq!(tables.line("Self CPU time total: 1.234s"), None);
        assert_eq!(tables.line(row), None, "the table has ended");
    }
}
