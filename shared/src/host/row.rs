//! Reads rows about processes: by the names in a table's head, or without a head by their form.

use super::log::HostForm;
use super::size;
use crate::base::stamp::{self, Stamp};

/// What a row says about one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row<'a> {
    /// Time of the row, if it has one.
    pub(super) stamp: Option<Stamp>,
    pub(super) pid: u32,
    pub(super) parent: Option<u32>,
    pub(super) user: &'a str,
    pub(super) command: &'a str,
    pub(super) rss_bytes: Option<u64>,
    pub(super) pss_bytes: Option<u64>,
    /// Processor time in seconds, which never decreases in one process.
    pub(super) cpu_s: Option<u64>,
    /// Share of the machine's memory in tenths of a percent, rounded by the tool.
    pub(super) memory_permille: Option<u32>,
}

/// Quantity in a column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Stamp,
    Pid,
    Parent,
    User,
    Command,
    Rss,
    Pss,
    Cpu,
    MemoryShare,
    Other,
}

impl Column {
    /// Returns the column of a name; in tables with commas, a time is that of the sample.
    fn of(name: &str, has_commas: bool) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "time" | "timestamp" | "datetime" | "date" | "created" if has_commas => Self::Stamp,
            "pid" => Self::Pid,
            "ppid" => Self::Parent,
            "user" | "uid" | "uname" | "username" => Self::User,
            "command" | "cmd" | "args" | "comm" | "ucmd" => Self::Command,
            "rss" | "res" | "rssize" | "rsz" | "mem(gb)" => Self::Rss,
            "pss" => Self::Pss,
            "time" | "time+" | "cputime" => Self::Cpu,
            "%mem" | "pmem" => Self::MemoryShare,
            _ => Self::Other,
        }
    }
}

/// Head of a table of processes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Head {
    pub(super) form: HostForm,
    columns: Vec<Column>,
    /// Bytes of a size that has no suffix.
    unit_bytes: u64,
    has_commas: bool,
}

impl Head {
    /// Returns the head that a line is; `None` for other lines.
    pub(super) fn of(line: &str) -> Option<Self> {
        let line = line.trim().trim_start_matches(['#', ' ']);
        let has_commas = line.matches(',').count() >= 2;
        let names: Vec<&str> = match has_commas {
            true => line.split(',').map(|name| name.trim().trim_matches('"')).collect(),
            false => line.split_ascii_whitespace().collect(),
        };
        let columns: Vec<Column> = names.iter().map(|name| Column::of(name, has_commas)).collect();
        let has = |column: Column| columns.contains(&column);
        let named = |name: &str| names.iter().any(|one| one.eq_ignore_ascii_case(name));
        if !has(Column::Pid) || !(has(Column::Rss) || has(Column::Pss)) {
            return None;
        }
        let form = match () {
            () if has_commas => HostForm::Csv,
            () if named("mem(gb)") => HostForm::Ray,
            () if named("res") => HostForm::Top,
            () if named("majflt/s") => HostForm::Pidstat,
            () if named("uss") => HostForm::Smem,
            () => HostForm::Ps,
        };
        // psutil counts bytes, Ray GiB under the name of GB; the other tools count KiB.
        let unit_bytes = match form {
            HostForm::Csv => 1,
            HostForm::Ray => 1 << 30,
            _ => 1 << 10,
        };
        Some(Self { form, columns, unit_bytes, has_commas })
    }

    /// Reads a row below the head; `None` if it has too few cells or no process id.
    pub(super) fn row<'a>(&self, line: &'a str) -> Option<Row<'a>> {
        let line = line.trim();
        let cells: Vec<&str> = match self.has_commas {
            true => line.split(',').map(|cell| cell.trim().trim_matches('"')).collect(),
            false => line.split_ascii_whitespace().collect(),
        };
        // A command has spaces or commas, wherever it stands.
        let surplus = cells.len().checked_sub(self.columns.len())?;
        let command = self.columns.iter().position(|column| *column == Column::Command);
        if surplus > 0 && command.is_none() {
            return None;
        }
        let mut row = Row::default();
        let mut has_pid = false;
        for (position, column) in self.columns.iter().enumerate() {
            let shift = if command.is_some_and(|command| position > command) { surplus } else { 0 };
            let cell = cells[position + shift];
            match column {
                Column::Stamp => row.stamp = stamp::stamp(cell),
                Column::Pid => {
                    row.pid = cell.parse().ok()?;
                    has_pid = true;
                }
                Column::Parent => row.parent = cell.parse().ok(),
                Column::User => row.user = cell,
                Column::Command => row.command = between(line, cell, cells[position + surplus]),
                Column::Rss | Column::Pss if cell.is_empty() => {}
                Column::Rss => row.rss_bytes = Some(size::bytes(cell, self.unit_bytes)?),
                Column::Pss => row.pss_bytes = Some(size::bytes(cell, self.unit_bytes)?),
                Column::Cpu => row.cpu_s = cpu_seconds(cell),
                Column::MemoryShare => row.memory_permille = permille(cell),
                Column::Other => {}
            }
        }
        has_pid.then_some(row)
    }
}

/// Reads a row that has no head above it, as when `grep` removed it: one of `ps aux` or of `top`.
pub(super) fn headless(line: &str) -> Option<(HostForm, Row<'_>)> {
    aux(line).map(|row| (HostForm::Ps, row)).or_else(|| top(line).map(|row| (HostForm::Top, row)))
}

/// `user pid %cpu %mem vsz rss tty stat start time command`
fn aux(line: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = line.split_ascii_whitespace().take(11).collect();
    let [user, pid, cpu, memory, vsz, rss, _, state, _, time, command] = cells.as_slice() else { return None };
    permille(cpu)?;
    vsz.parse::<u64>().ok()?;
    if !state.starts_with(|c: char| "DIRSTtWXZ".contains(c)) {
        return None;
    }
    Some(Row {
        pid: pid.parse().ok()?,
        user,
        command: from(line, command),
        rss_bytes: Some(rss.parse::<u64>().ok()?.checked_mul(1 << 10)?),
        cpu_s: Some(cpu_seconds(time)?),
        memory_permille: Some(permille(memory)?),
        ..Row::default()
    })
}

/// `pid user pr ni virt res shr s %cpu %mem time+ command`
fn top(line: &str) -> Option<Row<'_>> {
    let cells: Vec<&str> = line.split_ascii_whitespace().take(12).collect();
    let [pid, user, _, nice, virt, res, shr, state, cpu, memory, time, command] = cells.as_slice() else {
        return None;
    };
    nice.parse::<i32>().ok()?;
    permille(cpu)?;
    size::bytes(virt, 1 << 10).and(size::bytes(shr, 1 << 10))?;
    if state.len() != 1 || !state.starts_with(|c: char| "DIRSTtWXZ".contains(c)) {
        return None;
    }
    Some(Row {
        pid: pid.parse().ok()?,
        user,
        command: from(line, command),
        rss_bytes: Some(size::bytes(res, 1 << 10)?),
        cpu_s: Some(cpu_seconds(time)?),
        memory_permille: Some(permille(memory)?),
        ..Row::default()
    })
}

/// Returns the end of a line from a cell on.
fn from<'a>(line: &'a str, cell: &str) -> &'a str {
    let start = cell.as_ptr() as usize - line.as_ptr() as usize;
    line[start..].trim_end()
}

/// Returns the part of a line from one cell to another, both included.
fn between<'a>(line: &'a str, first: &str, last: &str) -> &'a str {
    let at = |cell: &str| cell.as_ptr() as usize - line.as_ptr() as usize;
    &line[at(first)..at(last) + last.len()]
}

/// Reads a percentage with at most one decimal, as tenths of a percent.
fn permille(cell: &str) -> Option<u32> {
    let value: f64 = cell.replace(',', ".").parse().ok()?;
    (0.0..1e6).contains(&value).then(|| (value * 10.0).round() as u32)
}

/// Reads processor time: `12:34`, `12:34.56`, `1:02:03` or `2-01:02:03`, in seconds.
fn cpu_seconds(cell: &str) -> Option<u64> {
    let (days, rest) = cell.split_once('-').map_or((Some(0), cell), |(days, rest)| (days.parse().ok(), rest));
    let mut seconds: u64 = 0;
    let mut parts = 0;
    for part in rest.split(':') {
        let whole = part.split(['.', ',']).next()?;
        seconds = seconds.checked_mul(60)?.checked_add(whole.parse().ok()?)?;
        parts += 1;
    }
    let of_days = u64::checked_mul(days?, 86_400)?;
    (2..=3).contains(&parts).then(|| seconds.checked_add(of_days)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AUX: &str = "ml  4711 99.5 12.3 9876543 8123456 pts/0 Rl+ 10:12 1:02:03 python train.py --lr 1e-4";

    #[test]
    fn rows_of_ps_need_no_head() {
        let (form, row) = headless(AUX).unwrap();
        assert_eq!((form, row.pid, row.user, row.command), (HostForm::Ps, 4711, "ml", "python train.py --lr 1e-4"));
        assert_eq!((row.rss_bytes, row.cpu_s), (Some(8_123_456 << 10), Some(3723)));
        assert_eq!(row.memory_permille, Some(123));
        let head = Head::of("USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND").unwrap();
        assert_eq!(head.row(AUX), Some(row));
    }

    #[test]
    fn rows_of_top_have_suffixes() {
        let line = "  4711 ml        20   0   45.3g  12.5g 501232 S 101.3  4.9  12:34.56 python train.py";
        let (form, row) = headless(line).unwrap();
        assert_eq!((form, row.rss_bytes, row.cpu_s), (HostForm::Top, Some(25 << 29), Some(754)));
        let head = Head::of("    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND").unwrap();
        assert_eq!((head.form, head.row(line)), (HostForm::Top, Some(row)));
    }

    #[test]
    fn a_command_may_stand_in_the_middle() {
        let head = Head::of("  PID User     Command                         Swap      USS      PSS      RSS").unwrap();
        let row = head.row(" 4711 ml       python train.py --lr 1e-4          0   100000   150000   400000").unwrap();
        assert_eq!((head.form, row.command), (HostForm::Smem, "python train.py --lr 1e-4"));
        assert_eq!((row.pss_bytes, row.rss_bytes), (Some(150_000 << 10), Some(400_000 << 10)));
    }

    #[test]
    fn psutil_counts_bytes() {
        let head = Head::of("time,pid,ppid,rss,pss,cmd").unwrap();
        let row = head.row("1795448812.5,17,1,1048576,524288,python train.py").unwrap();
        assert_eq!((row.parent, row.rss_bytes, row.pss_bytes), (Some(1), Some(1 << 20), Some(1 << 19)));
        assert_eq!(row.stamp.and_then(|stamp| stamp.epoch_ms()), Some(1_795_448_812_500));
        assert_eq!(head.row("1795448812,17,1,5,5,python -c print(1, 2)").unwrap().command, "python -c print(1, 2)");
    }

    #[test]
    fn ray_counts_gigabytes() {
        let head = Head::of("PID\tMEM(GB)\tCOMMAND").unwrap();
        let row = head.row("410728\t8.50\tpython tune.py").unwrap();
        assert_eq!((head.form, row.rss_bytes, row.command), (HostForm::Ray, Some(17 << 29), "python tune.py"));
    }

    #[test]
    fn other_lines_are_no_rows() {
        let head = Head::of("PID RSS CMD").unwrap();
        for line in ["", "17", "x 12 python", "17 many python", "total 12 14"] {
            assert_eq!((headless(line), head.row(line)), (None, None), "{line}");
        }
        assert_eq!(Head::of("PID USER COMMAND"), None);
        assert_eq!(headless("ml 4711 99.5 12.3 9876543 -8 pts/0 Rl+ 10:12 1:02 python"), None);
    }
}
