//! Reports on files of memray: memory of the host over time, and the lines that allocated what was live at the peak.

mod stats;

use crate::analysis::FindingCode;
use crate::base::format;
use crate::logs::memray::{
    Amount, Capture, Ending, FORMATS, Header, Memray, OriginMemory, Origins, Place, Python, Table,
};
use crate::logs::source::{LogPart, Source};
use crate::report::{Finding, HOST, LogCell, LogCurves, LogNotice, LogSeries, LogTable, MOST_TIMES, extremes};
use stats::{line, short_command};

/// Largest number of lines that a sentence names.
const MOST_NAMED: usize = 3;

/// Resident memory without a line from which a sentence says what it may be.
const MUCH_BYTES: u64 = 256 << 20;

/// What to do about a peak.
const ADVICE: &str = "Look for what is no longer needed at the peak, for files that are read whole rather than in parts, and \
                      for copies.\n\
                      See the whole stacks: ``memray flamegraph FILE``.\n\
                      [record] For the memory of GPUs, which memray does not see, record a snapshot: \
                      ``torch.cuda.memory._record_memory_history(max_entries=1_000_000)``.";

impl Source for Memray {
    fn part(&self) -> LogPart {
        match self {
            Memray::Capture(capture) => of_capture(capture),
            Memray::Stats(stats) => stats::part(stats),
            Memray::Table(table) => of_table(table),
        }
    }
}

fn of_capture(capture: &Capture) -> LogPart {
    LogPart {
        title: title(capture),
        facts: facts(&capture.header),
        curves: curves(capture).into_iter().collect(),
        findings: vec![diagnosis(capture)],
        tables: tables(capture),
        notices: notices(capture),
        ..LogPart::default()
    }
}

/// Returns what the capture is and how much it has.
fn title(capture: &Capture) -> String {
    let Header { format, is_aggregated, start_ms, .. } = capture.header;
    if capture.ending == Ending::UnknownFormat {
        return format!("Capture of memray in format {format}");
    }
    let count = capture.origins.rows.iter().map(|row| row.all.count).sum();
    let end_ms = capture.samples.last().map_or(start_ms, |last| last.time_ms).max(capture.header.end_ms);
    let time = format::duration(u64::try_from(end_ms.saturating_sub(start_ms)).unwrap_or(0).saturating_mul(1000));
    match is_aggregated {
        true => format!("Aggregated capture of memray: {time}"),
        false => format!("Capture of memray: {} in {time}", format::counted(count, "allocation")),
    }
}

fn facts(Header { command, python, .. }: &Header) -> Vec<String> {
    let python = python.map(|Python { major, minor }| format!("Python {major}.{minor}"));
    let command = (!command.is_empty()).then(|| format!("`{}`", short_command(command)));
    command.into_iter().chain(python).collect()
}

/// Returns the resident and the allocated memory over time; `None` with fewer than two samples.
fn curves(Capture { samples, .. }: &Capture) -> Option<LogCurves> {
    if samples.len() < 2 {
        return None;
    }
    let shown = extremes(samples.len(), MOST_TIMES, |at| samples[at].resident_bytes.max(samples[at].heap_bytes));
    let resident = shown.iter().map(|&at| samples[at].resident_bytes).collect();
    let heap = shown.iter().map(|&at| samples[at].heap_bytes).collect();
    Some(LogCurves {
        quantity: "Memory of the process".to_owned(),
        has_dates: true,
        has_times: true,
        times_us: shown.iter().map(|&at| samples[at].time_ms.saturating_mul(1000)).collect(),
        series: vec![
            LogSeries { name: "Resident (RSS)".to_owned(), bytes: resident },
            LogSeries { name: "Allocated".to_owned(), bytes: heap },
        ],
        ..LogCurves::default()
    })
}

/// Reports the peak, or why there is none.
fn diagnosis(capture: &Capture) -> Finding {
    let format = capture.header.format;
    match capture.ending {
        Ending::UnknownFormat => Finding::stated(
            FindingCode::TooLittleRecorded,
            HOST,
            0,
            format!("Captures of memray in format {format} are not read"),
            format!("Those in formats {} to {} are, which memray 1.2 to 1.20 write.", FORMATS.start(), FORMATS.end()),
            "Use the version of memray that wrote the capture: `memray stats --json FILE` and `memray transform csv FILE` \
             write files that are read."
                .to_owned(),
        ),
        _ if capture.origins.rows.is_empty() => Finding::stated(
            FindingCode::TooLittleRecorded,
            HOST,
            0,
            "The capture has no allocations".to_owned(),
            "It ends before the first one.".to_owned(),
            "[record] Record the whole program: ``memray run train.py``.".to_owned(),
        ),
        _ => {
            let bytes = capture.peak_bytes;
            let title = format!("The peak is {} allocated on the host", format::bytes(bytes));
            let shows = format!("{} {}", composition(&capture.origins), resident(capture));
            Finding::stated(FindingCode::Peak, HOST, bytes, title, shows.trim_end().to_owned(), ADVICE.to_owned())
        }
    }
}

/// Names the lines with the most memory.
fn composition(origins: &Origins) -> String {
    let named = origins.rows.iter().filter(|row| row.peak.bytes > 0).take(MOST_NAMED).map(|row| {
        let line = match (row.origin.innermost, row.origin.own) {
            (None, _) => "outside of Python".to_owned(),
            (Some(line), Some(own)) if line != own => {
                format!("by {}, called from {}", text(origins, line), text(origins, own))
            }
            (Some(line), _) => format!("by {}", text(origins, line)),
        };
        format!("{} {line}", format::bytes(row.peak.bytes))
    });
    format!("The most was allocated by these lines: {}.", named.collect::<Vec<_>>().join("; "))
}

/// Says how much memory the process had at most, and why that may be more than what it allocated.
fn resident(Capture { samples, peak_bytes, .. }: &Capture) -> String {
    let Some(most) = samples.iter().map(|sample| sample.resident_bytes).max() else { return String::new() };
    let other = most.saturating_sub(*peak_bytes);
    let why = match other >= MUCH_BYTES {
        true => {
            ", which includes what was allocated before the recording, libraries, files that are mapped, and freed memory \
             that was not returned to the system"
        }
        false => "",
    };
    format!("The process had at most {} resident (RSS){why}.", format::bytes(most))
}

/// Returns what was allocated at the peak by line, and what was allocated in all.
fn tables(Capture { origins, header, .. }: &Capture) -> Vec<LogTable> {
    let peak = |row: &&OriginMemory| row.peak.count > 0;
    let with_end = |row: &OriginMemory| [cells(row.peak).as_slice(), &[LogCell::Bytes(row.end.bytes)]].concat();
    let at_peak =
        table("Allocated at the peak", &["Not freed at the end"], origins, origins.rows.iter().filter(peak), with_end);
    let mut all: Vec<&OriginMemory> = origins.rows.iter().filter(|row| row.all.count > 0).collect();
    all.sort_by_key(|row| std::cmp::Reverse(row.all.bytes));
    let in_all =
        table("Allocated in the whole run, freed or not", &[], origins, all.into_iter(), |row| cells(row.all).to_vec());
    let tables = if header.is_aggregated { vec![at_peak] } else { vec![at_peak, in_all] };
    tables.into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn cells(Amount { bytes, count }: Amount) -> [LogCell; 2] {
    [LogCell::Bytes(bytes), LogCell::Count(count)]
}

/// Lists lines with figures, the first two of which are memory and allocations.
fn table<'a>(
    title: &str,
    more: &[&str],
    origins: &Origins,
    rows: impl Iterator<Item = &'a OriginMemory>,
    figures: impl Fn(&OriginMemory) -> Vec<LogCell>,
) -> LogTable {
    let line = |place: Option<Place>| place.map_or(LogCell::Nothing, |place| LogCell::Text(text(origins, place)));
    let row = |row: &OriginMemory| {
        let OriginMemory { origin, .. } = row;
        let lines = [line(origin.own), line(origin.innermost.filter(|_| origin.innermost != origin.own))];
        lines.into_iter().chain(figures(row)).collect()
    };
    LogTable::new(
        title,
        ["Line of your code", "Called from it", "Memory", "Allocations"].iter().chain(more).copied(),
        rows.map(row),
    )
}

/// Returns a line such as `load (data.py:12)`.
fn text(origins: &Origins, place: Place) -> String {
    let (function, file) = origins.names(&place);
    line(function, file, &place.line.to_string())
}

/// Says what is missing in the capture, and how to read its lines.
fn notices(capture: &Capture) -> Vec<LogNotice> {
    let end = match capture.ending {
        Ending::Whole | Ending::UnknownFormat => None,
        Ending::Cut => Some(
            "The capture has no end, as when the process was killed or still runs: what it did last may be missing.",
        ),
        Ending::Damaged => Some("The capture is damaged: what follows the damage is missing."),
    };
    let end = end.map(LogNotice::warning);
    let has_arenas = !capture.header.has_objects && !capture.origins.rows.is_empty();
    let arenas = has_arenas.then(|| {
        LogNotice::info(
            "Python takes memory for objects of up to 512 bytes in arenas of up to 1 MiB, which count for the line \
             that happened to need a new one. `memray run --trace-python-allocators` records each object.",
        )
    });
    end.into_iter().chain(arenas).collect()
}

fn of_table(table_: &Table) -> LogPart {
    let Table { stacks, amount, origins, unread } = table_;
    let bytes = format::bytes(amount.bytes);
    let shows = format!(
        "{} Unless the table was made with `--leaks` or `--temporary-allocations`, it is what was allocated at the peak.",
        composition(origins)
    );
    let title = format!("The table lists {bytes} allocated on the host");
    let unread = (*unread > 0)
        .then(|| LogNotice::warning(format!("{} of the table could not be read.", format::counted(*unread, "line"))));
    LogPart {
        title: format!("Table of memray: {} with {bytes}", format::counted(*stacks, "stack")),
        findings: vec![Finding::stated(FindingCode::Peak, HOST, amount.bytes, title, shows, ADVICE.to_owned())],
        tables: vec![table("Allocated memory", &[], origins, origins.rows.iter(), |row| cells(row.peak).to_vec())],
        notices: unread.into_iter().collect(),
        ..LogPart::default()
    }
}
