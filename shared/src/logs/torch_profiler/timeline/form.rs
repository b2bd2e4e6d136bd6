//! Recognizes the forms of a timeline by the beginning of a file.

use crate::base::unpacked_head;

/// Form of a timeline, which the user chose by the file's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimelineForm {
    /// `.json` and `.json.gz`: `[times, sizes]`, with a row of nine sizes for each time.
    #[default]
    Levels,
    /// `.raw.json.gz`: `[time, action, bytes, category]` for each event.
    Events,
    /// `.html`: a picture and no figures.
    Picture,
}

/// Title of the page with the picture.
const PAGE: &[u8] = b"<title>GPU Memory Timeline HTML</title>";

/// Times that are microseconds since the Unix epoch, of the years 2001 to 2286.
const EPOCH_US: std::ops::Range<i64> = 1_000_000_000_000_000..10_000_000_000_000_000;

/// Returns the form of a timeline, plain or compressed; `None` for any other file.
pub fn timeline_form(head: &[u8]) -> Option<TimelineForm> {
    if head.trim_ascii_start().starts_with(b"<") {
        return head.windows(PAGE.len()).any(|window| window == PAGE).then_some(TimelineForm::Picture);
    }
    let head = unpacked_head(head);
    let lists = open_list(open_list(&head)?)?;
    let (first, rest) = integers(lists)?;
    let Some(rest) = rest else { return are_times(&first).then_some(TimelineForm::Levels) };
    if is_event(&first) {
        return Some(TimelineForm::Events);
    }
    is_levels(&first, rest).then_some(TimelineForm::Levels)
}

fn are_times(numbers: &[i64]) -> bool {
    !numbers.is_empty() && numbers.is_sorted() && numbers.iter().all(|time| EPOCH_US.contains(time))
}

/// Returns true for an event: tensors from before the profile have no time, and others count nanoseconds.
fn is_event(numbers: &[i64]) -> bool {
    let [time_ns, action, _, category] = *numbers else { return false };
    let has_time = time_ns == -1 || EPOCH_US.contains(&(time_ns / 1000));
    has_time && (1..=4).contains(&action) && (0..8).contains(&category)
}

/// Returns true if a list of times is followed by rows of nine sizes, or if both are empty.
fn is_levels(times: &[i64], rest: &[u8]) -> bool {
    let Some(sizes) = rest.trim_ascii_start().strip_prefix(b",").and_then(open_list) else {
        // The bytes may end in between.
        return rest.len() < b", \n[".len() && are_times(times);
    };
    if times.is_empty() {
        return sizes.iter().filter(|byte| !byte.is_ascii_whitespace()).eq(b"]]");
    }
    match open_list(sizes) {
        None => sizes.trim_ascii().is_empty() && are_times(times),
        Some(row) => integers(row).is_some_and(|(row, rest)| rest.is_none() || row.len() == 9),
    }
}

/// Returns what is behind a bracket.
fn open_list(bytes: &[u8]) -> Option<&[u8]> {
    bytes.trim_ascii_start().strip_prefix(b"[")
}

/// Returns the integers of a list and what follows it, `None` if the bytes end within it; `None` for any other list.
fn integers(list: &[u8]) -> Option<(Vec<i64>, Option<&[u8]>)> {
    let end = list.iter().position(|byte| *byte == b']');
    let text = &list[..end.unwrap_or(list.len())];
    let mut parts: Vec<&[u8]> = text.split(|byte| *byte == b',').collect();
    if end.is_none() || text.trim_ascii().is_empty() {
        // The last number may be cut.
        parts.pop();
    }
    let number = |part: &&[u8]| std::str::from_utf8(part.trim_ascii()).ok()?.parse().ok();
    let numbers: Option<Vec<i64>> = parts.iter().map(number).collect();
    Some((numbers?, end.map(|end| &list[end + 1..])))
}
