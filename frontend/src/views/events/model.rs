//! Texts of the list of events.

use shared::base::format;
use shared::report::{EventLine, EventReport};

/// Columns of the list: names in the document, labels and explanations.
pub const HEADS: [(&str, &str, &str); 7] = [
    ("event", "Event", "Position among the events of the device"),
    ("action", "Action", "Action of the allocator, in PyTorch's words"),
    ("size", "Size", "Requested bytes, bytes of a segment, or the request that failed"),
    ("address", "Address", "Device address; free bytes for an out-of-memory error"),
    ("stream", "Stream", "Stream of the request; 0 is the default stream"),
    ("time", "Time", "Time since the first event"),
    ("stack", "Stack", "Code that caused the event"),
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub event: u32,
    /// Name of the action in snapshot files.
    pub action: &'static str,
    /// Cells in the order of [`HEADS`], without the last.
    pub cells: [String; 6],
    pub title: String,
    pub callers: String,
}

pub fn row(line: &EventLine) -> Row {
    let address = match (line.address, line.free_bytes) {
        (Some(address), _) => format::address(address),
        (None, free_bytes) => format!("{} free", format::bytes(free_bytes.unwrap_or_default())),
    };
    let stream = if line.stream == 0 { "0".to_owned() } else { format::address(line.stream) };
    Row {
        event: line.event,
        action: line.action.name(),
        cells: [
            format::count(line.event.into()),
            line.action.name().to_owned(),
            format::bytes(line.size_bytes),
            address,
            stream,
            line.time_us.map(format::duration).unwrap_or_default(),
        ],
        title: if line.title.is_empty() { "no stack recorded".to_owned() } else { line.title.clone() },
        callers: line.callers.clone(),
    }
}

/// Returns the facts about an event that the list has no room for, as names and values.
pub fn facts(report: &EventReport) -> Vec<(&'static str, String)> {
    let pool = report.pool.map(|(capture, handle)| match (capture, handle) {
        (0, 0) => "default".to_owned(),
        (capture, handle) => format!("{capture}, {handle}"),
    });
    let text = |text: &String| (!text.is_empty()).then(|| text.clone());
    let all = [
        ("Exact size", Some(format!("{} B", format::count(report.line.size_bytes)))),
        ("Pool", pool),
        ("User metadata", text(&report.user_metadata)),
        ("Compiled region", text(&report.compile_context)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// Returns the event that a typed number names, among `events`; separators of thousands are ignored.
pub fn event_of_text(text: &str, events: u32) -> Option<u32> {
    let digits: String = text.chars().filter(|letter| !matches!(letter, ',' | ' ' | '\u{202f}')).collect();
    digits.parse().ok().filter(|&event| event < events)
}

pub fn event_of_moment(moment: u32, events: u32) -> Option<u32> {
    Some(moment.checked_sub(1)?.min(events.checked_sub(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::trace::Action;

    fn line(action: Action) -> EventLine {
        EventLine {
            event: 1234,
            action,
            size_bytes: 2048,
            address: Some(0x7f00),
            free_bytes: None,
            time_us: Some(1500),
            stream: 0,
            title: String::new(),
            callers: String::new(),
        }
    }

    #[test]
    fn a_row_has_a_text_for_each_column() {
        let row = row(&line(Action::Alloc));
        assert_eq!(row.cells[..4], ["1,234", "alloc", "2.00 KiB", "0x7f00"]);
        assert_eq!((row.cells[4].as_str(), row.title.as_str()), ("0", "no stack recorded"));
        assert_eq!(row.cells.len() + 1, HEADS.len());
    }

    #[test]
    fn an_error_has_the_free_bytes_in_place_of_an_address() {
        let error = EventLine { address: None, free_bytes: Some(1 << 20), ..line(Action::Oom) };
        assert_eq!(row(&error).cells[3], "1.00 MiB free");
    }

    #[test]
    fn an_event_is_found_by_its_number() {
        assert_eq!(event_of_text("1,234", 2000), Some(1234));
        assert_eq!((event_of_text("2000", 2000), event_of_text("x", 2000)), (None, None));
        assert_eq!((event_of_moment(0, 9), event_of_moment(5, 9), event_of_moment(99, 9)), (None, Some(4), Some(8)));
        assert_eq!(event_of_moment(5, 0), None);
    }
}
