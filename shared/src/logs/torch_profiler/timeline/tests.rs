//! Tests timelines that PyTorch 2.11 wrote on the virtual GPU, all of the same four training steps.

use super::*;
use crate::logs::source::read_file;
use std::io::Write as _;

const LEVELS: &[u8] = include_bytes!("../../../../../tests/data/logs/torch2.11-memory-timeline.json.gz");
const EVENTS: &[u8] = include_bytes!("../../../../../tests/data/logs/torch2.11-memory-timeline.raw.json.gz");
const PAGE: &[u8] = include_bytes!("../../../../../tests/data/logs/torch2.11-memory-timeline.html");

fn read(bytes: &[u8], size: usize) -> Timeline {
    read_file::<TimelineReader>(bytes, size)
}

/// The oracle is the sum of the columns in the file's own row with the largest sum.
const PEAK: [u64; 8] = [971_728, 1_943_456, 8192, 0, 3_752_960, 0, 2_048_000, 1_048_576];

#[test]
fn levels_and_events_have_the_same_peak() {
    let (levels, events) = (read(LEVELS, LEVELS.len()), read(EVENTS, EVENTS.len()));
    assert_eq!((levels.form, levels.points.len()), (TimelineForm::Levels, 527));
    assert_eq!(events.form, TimelineForm::Events);
    for timeline in [levels, events] {
        let peak = timeline.peak().expect("levels");
        assert_eq!((peak.bytes, peak.total()), (PEAK, 9_772_912));
        assert_eq!((timeline.is_cut, timeline.unread, timeline.left_out), (false, 0, 0));
        assert_eq!(
            timeline.points[0].time_us,
            1_795_475_944_304_020 + i64::from(timeline.form == TimelineForm::Levels)
        );
    }
}

#[test]
fn chunks_of_any_size_give_the_same_timeline() {
    for bytes in [LEVELS, EVENTS] {
        let whole = read(bytes, bytes.len());
        assert_eq!(read(bytes, 1), whole);
        assert_eq!(read(bytes, 100), whole);
    }
}

#[test]
fn a_page_has_no_figures() {
    let timeline = read(PAGE, 1000);
    assert_eq!(timeline, Timeline { form: TimelineForm::Picture, ..Timeline::default() });
}

/// PyTorch writes it if the profiler has forgotten its events.
#[test]
fn an_empty_timeline_is_one() {
    assert_eq!(read(b"[[], []]", 3), Timeline::default());
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"[[], []]").unwrap();
    assert_eq!(read(&encoder.finish().unwrap(), 3), Timeline::default());
}

#[test]
fn what_is_not_understood_is_counted() {
    let row = |sizes: &str| {
        read(format!("[[1795475944304021, 1795475944304022], [[0, 1, 2, 3, 4, 5, 6, 7, 8], {sizes}]]").as_bytes(), 9)
    };
    assert_eq!(row("[0, 9, 0, 0, 0, 0, 0, 0, 0]").unread, 0);
    for sizes in ["[0, 9]", "[0, 9, 0, 0, 0, -1, 0, 0, 0]", "[0, 9, 0, 0, 0, 0.5, 0, 0, 0]"] {
        let timeline = row(sizes);
        assert_eq!((timeline.unread, timeline.points.len(), timeline.points[0].total()), (1, 1, 36), "{sizes}");
    }
    let events = read(b"[[-1, 1, 512, 0], [1795475944304020971, 4, -1024, 0], [1, 9, 1, 1]]", 5);
    assert_eq!((events.unread, events.points.len(), events.points[1].total()), (2, 2, 0));
}

#[test]
fn a_cut_timeline_keeps_what_it_has() {
    let text = "[[1795475944304021, 1795475944304022], [[0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 9, 0";
    let timeline = read(text.as_bytes(), 7);
    assert_eq!((timeline.is_cut, timeline.unread, timeline.points.len()), (true, 0, 1));
    for end in 0..text.len() {
        assert!(end < 20 || timeline_form(&text.as_bytes()[..end]).is_some(), "{}", &text[..end]);
    }
}

#[test]
fn other_lists_are_no_timelines() {
    let all = [
        "",
        "[",
        "[[",
        "[]",
        "[[]]",
        "[[1, 2], [3, 4]]",
        "[[1, 2, 3, 4], [5, 6, 7, 8]]",
        "[[1795475944304021, 5], [6, 7]]",
        "[[\"a\"], []]",
        "[[], [1]]",
        "[{\"a\": [[1]]}]",
        "<html><title>Memory</title>",
    ];
    for text in all {
        assert_eq!(timeline_form(text.as_bytes()), None, "{text}");
    }
}
