//! Reads tables of processes by the names in their heads, whatever their order, units and separators.

use super::log::HostForm;
use super::row::{Cells, Row, cpu_seconds, permille, unquoted};
use shared::base::size;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    /// Time of the sample, or seconds since some start.
    Time,
    Pid,
    Parent,
    User,
    Command,
    Rss,
    Pss,
    Uss,
    Shmem,
    File,
    Pinned,
    Cpu,
    MemoryShare,
    Other,
}

impl Column {
    /// Returns the column of a name in lower case without its unit; in tables of programs, a time is that of the sample.
    fn of(name: &str, is_of_program: bool) -> Self {
        match name {
            "time" | "timestamp" | "datetime" | "date" | "created" | "wall_time" | "wall time" if is_of_program => {
                Self::Time
            }
            "elapsed" | "elapsed_time" | "elapsed_s" | "time_s" | "seconds" | "runtime" if is_of_program => Self::Time,
            "pid" => Self::Pid,
            "ppid" => Self::Parent,
            "user" | "uid" | "uname" | "username" => Self::User,
            "command" | "cmd" | "args" | "comm" | "ucmd" | "cmdline" => Self::Command,
            "name" | "process" if is_of_program => Self::Command,
            "rss" | "res" | "rssize" | "rsz" | "memory_rss" | "mem_rss" | "rss_memory" | "process_rss" => Self::Rss,
            "pss" => Self::Pss,
            "uss" => Self::Uss,
            "shmem" => Self::Shmem,
            // Only the table of snapscope host has columns by these names.
            "file" if is_of_program => Self::File,
            "pinned" if is_of_program => Self::Pinned,
            "time" | "time+" | "cputime" => Self::Cpu,
            "%mem" | "pmem" => Self::MemoryShare,
            _ => Self::Other,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Head {
    pub(super) form: HostForm,
    /// Name of a column whose unit is a power of 10 by its name, such as `rss_mb`, and is read as a power of 2.
    pub(super) decimal: Option<String>,
    /// Columns, each with the bytes of a size that has no suffix.
    columns: Vec<(Column, u64)>,
    /// Position of the command, which can have separators in it.
    command: Option<usize>,
    /// Character between cells; `None` for any number of spaces.
    separator: Option<char>,
}

impl Head {
    /// Returns the head that a line is; `None` for other lines.
    pub(super) fn of(line: &str) -> Option<Self> {
        let line = line.trim().trim_start_matches(['#', ' ', '\u{feff}']);
        let separator = [',', ';'].into_iter().find(|separator| line.contains(*separator));
        let names = names(line, separator).filter(|names| !names.is_empty())?;
        let has_name = |name: &str| names.iter().any(|one| one == name);
        // The table of MemoryMonitor, which prints psutil's figures by tabulate, begins with the time of the sample.
        let is_tabulated = has_name("shared_file") && names.first().is_some_and(|name| name == "time");
        let is_of_program = separator.is_some() || is_tabulated;
        let split: Vec<(&str, Option<u64>)> = names.iter().map(|name| without_unit(name)).collect();
        let kinds: Vec<Column> = split.iter().map(|(name, _)| Column::of(name, is_of_program)).collect();
        let has = |column: Column| kinds.contains(&column);
        // pidstat and smem have other columns of these names.
        if separator.is_none() && !is_tabulated && (has_name("majflt/s") || has_name("uss")) {
            return None;
        }
        // A program that measures itself needs no process id, but then only a table with separators is one.
        if !(has(Column::Rss) || has(Column::Pss)) || !(has(Column::Pid) || separator.is_some()) {
            return None;
        }
        let form = match () {
            () if separator.is_some() => HostForm::Csv,
            () if is_tabulated => HostForm::Psutil,
            () if has_name("res") => HostForm::Top,
            () => HostForm::Ps,
        };
        // psutil counts bytes, the other tools KiB.
        let unit_bytes = match form {
            HostForm::Csv | HostForm::Psutil => 1,
            _ => 1 << 10,
        };
        let is_size = |column: Column| matches!(column, Column::Rss | Column::Pss);
        let decimal = kinds.iter().zip(&names).find(|(column, name)| is_size(**column) && is_decimal(name));
        Some(Self {
            form,
            decimal: decimal.filter(|_| form == HostForm::Csv).map(|(_, name)| name.clone()),
            command: kinds.iter().position(|column| *column == Column::Command),
            columns: kinds
                .into_iter()
                .zip(&split)
                .map(|(kind, (_, unit))| (kind, unit.unwrap_or(unit_bytes)))
                .collect(),
            separator,
        })
    }

    /// Returns the head that a command prints, as a shell shows it: `$ ps -o pid,rss,vsz,cmd -p 30412 | tail -1`.
    pub(super) fn of_command(line: &str) -> Option<Self> {
        let (_, command) = line.split_once("ps ")?;
        let mut words = command.split_ascii_whitespace();
        words.find(|word| word.starts_with('-') && word.ends_with('o'))?;
        Self::of(&words.next()?.replace([',', '='], " ").to_uppercase())
    }

    /// Splits a line into a head and the rows behind it, as a loop prints them that joins the lines of `ps`.
    pub(super) fn before_rows(line: &str) -> Option<(Self, &str)> {
        let command = Self::of(line).filter(|head| head.separator.is_none())?.command?;
        let mut cells = Cells::new(line, None);
        (0..=command).try_for_each(|_| cells.first().map(drop))?;
        let rows = cells.rest().map(str::trim_start).filter(|rows| !rows.is_empty())?;
        let head = Self::of(&line[..line.len() - rows.len()])?;
        head.row(rows).is_some().then_some((head, rows))
    }

    /// Reads a row below the head; `None` if it has too few or too many cells, or no process id where there has to be one.
    pub(super) fn row<'a>(&self, line: &'a str) -> Option<Row<'a>> {
        let mut cells = Cells::new(line.trim(), self.separator);
        let mut row = Row::default();
        let (before, after) = match self.command {
            Some(command) => (&self.columns[..command], &self.columns[command + 1..]),
            None => (&self.columns[..], &[][..]),
        };
        for &column in before {
            set(&mut row, column, cells.first()?)?;
        }
        for &column in after.iter().rev() {
            set(&mut row, column, cells.last()?)?;
        }
        match self.command {
            // A command has spaces or commas, wherever it stands.
            Some(_) => {
                row.command = cells.rest().map(unquoted).filter(|it| self.separator.is_some() || !it.is_empty())?
            }
            None if cells.first().is_some() => return None,
            None => {}
        }
        (row.rss_bytes.or(row.pss_bytes).is_some() || self.has_pid()).then_some(row)
    }

    /// Returns true if a row has all that the head names, as arguments of a command that look like one seldom have.
    pub(super) fn is_whole(&self, row: &Row<'_>) -> bool {
        let is_known = |column: Column| match column {
            Column::Parent => row.parent.is_some(),
            Column::MemoryShare => row.memory_permille.is_some(),
            Column::Cpu => row.cpu_s.is_some(),
            Column::User => !row.user.starts_with('-'),
            // No program is called by a number.
            Column::Command => !row.command.starts_with(|c: char| c.is_ascii_digit()),
            _ => true,
        };
        self.columns.iter().all(|(column, _)| is_known(*column))
    }

    /// Returns the separator behind the time if each row begins with one.
    pub(super) fn time_separator(&self) -> Option<char> {
        self.separator.filter(|_| matches!(self.columns.first(), Some((Column::Time, _))) && self.command != Some(0))
    }

    fn has_pid(&self) -> bool {
        self.columns.iter().any(|(column, _)| *column == Column::Pid)
    }
}

/// Sets what a cell says; returns `None` if the line is no row of the table.
fn set<'a>(row: &mut Row<'a>, (column, unit_bytes): (Column, u64), cell: &'a str) -> Option<()> {
    let bytes = || if is_missing(cell) { Some(None) } else { size::cell(cell, unit_bytes).map(Some) };
    match column {
        Column::Time => row.time = cell,
        Column::Pid => row.pid = cell.parse().ok()?,
        Column::Parent => row.parent = cell.parse().ok(),
        Column::User => row.user = cell,
        Column::Rss => row.rss_bytes = bytes()?,
        Column::Pss => row.pss_bytes = bytes()?,
        Column::Uss => row.parts.uss_bytes = bytes().flatten(),
        Column::File => row.parts.file_bytes = bytes().flatten(),
        Column::Pinned => row.parts.pinned_bytes = bytes().flatten(),
        Column::Shmem => row.parts.shmem_bytes = bytes().flatten(),
        Column::Cpu => row.cpu_s = cpu_seconds(cell),
        Column::MemoryShare if is_missing(cell) => {}
        Column::MemoryShare => row.memory_permille = Some(permille(cell)?),
        Column::Command | Column::Other => {}
    }
    Some(())
}

fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "nan" | "NaN" | "None" | "NA")
}

/// Returns the names of a line that can be a head, in lower case.
fn names(line: &str, separator: Option<char>) -> Option<Vec<String>> {
    // Rows begin with numbers more often than with names, and no name of memory has fewer letters.
    let has_size = ["rss", "RSS", "Rss", "res", "RES", "RSZ", "rsz", "pss", "PSS", "Pss"];
    if !has_size.iter().any(|name| line.contains(name)) {
        return None;
    }
    let mut cells = Cells::new(line, separator);
    Some(std::iter::from_fn(|| cells.first()).map(str::to_ascii_lowercase).collect())
}

/// Splits a unit off a name, such as `rss_mb`, `rss (MiB)` or `rss[kB]`; returns the bytes of the unit.
///
/// Scripts divide by 1024 and write MB, so that all units are powers of 2.
fn without_unit(name: &str) -> (&str, Option<u64>) {
    const UNITS: [&str; 8] = ["bytes", "kib", "mib", "gib", "kb", "mb", "gb", "b"];
    let bare = name.trim_end_matches([')', ']']);
    let split = |unit: &&str| {
        let rest = bare.strip_suffix(*unit)?;
        let base = rest.trim_end_matches(['_', '(', '[', ' ', '.', '-']);
        (base.len() < rest.len() && !base.is_empty()).then(|| (base, size::unit_bytes(unit)))
    };
    UNITS.iter().find_map(split).unwrap_or((name, None))
}

fn is_decimal(name: &str) -> bool {
    let bare = name.trim_end_matches([')', ']']);
    ["kb", "mb", "gb"].iter().any(|unit| bare.ends_with(unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::row::headless;

    const AUX: &str = "ml  4711 99.5 12.3 9876543 8123456 pts/0 Rl+ 10:12 1:02:03 python train.py --lr 1e-4";

    #[test]
    fn rows_of_ps_and_top_need_no_head() {
        let (form, row) = headless(AUX).unwrap();
        assert_eq!((form, row.pid, row.user, row.command), (HostForm::Ps, 4711, "ml", "python train.py --lr 1e-4"));
        assert_eq!((row.rss_bytes, row.cpu_s), (Some(8_123_456 << 10), Some(3723)));
        assert_eq!(row.memory_permille, Some(123));
        let head = Head::of("USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND").unwrap();
        assert_eq!(head.row(AUX), Some(row));
        let line = "  4711 ml        20   0   45.3g  12.5g 501232 S 101.3  4.9  12:34.56 python train.py";
        let (form, row) = headless(line).unwrap();
        assert_eq!((form, row.rss_bytes, row.cpu_s), (HostForm::Top, Some(25 << 29), Some(754)));
        let head = Head::of("    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND").unwrap();
        assert_eq!((head.form, head.row(line)), (HostForm::Top, Some(row)));
    }

    #[test]
    fn tables_of_programs_count_bytes_and_have_commas_in_commands() {
        let head = Head::of("pid,name,rss,pss").unwrap();
        let row = head.row("4711,python -c print(1, 2),409600000,153600000").unwrap();
        assert_eq!((head.form, row.command), (HostForm::Csv, "python -c print(1, 2)"));
        assert_eq!((row.pss_bytes, row.rss_bytes), (Some(150_000 << 10), Some(400_000 << 10)));
        let head = Head::of("time,pid,ppid,rss,pss,cmd").unwrap();
        let row = head.row("1795448812.5,17,1,1048576,524288,python train.py").unwrap();
        assert_eq!((row.parent, row.rss_bytes, row.pss_bytes), (Some(1), Some(1 << 20), Some(1 << 19)));
        assert_eq!(row.time, "1795448812.5");
        assert_eq!(head.row("1795448812,17,1,5,5,python -c print(1, 2)").unwrap().command, "python -c print(1, 2)");
    }

    #[test]
    fn other_lines_are_no_rows() {
        let head = Head::of("PID RSS CMD").unwrap();
        for line in ["", "17", "x 12 python", "17 many python", "total 12 14"] {
            assert_eq!((headless(line), head.row(line)), (None, None), "{line}");
        }
        for head in
            ["PID USER COMMAND", "PID\tMEM(GB)\tCOMMAND", "PID User Command Swap USS PSS RSS", "UID PID majflt/s RSS"]
        {
            assert_eq!(Head::of(head), None, "{head}");
        }
        assert_eq!(headless("ml 4711 99.5 12.3 9876543 -8 pts/0 Rl+ 10:12 1:02 python"), None);
    }
}
