//! Texts and numbers above the timeline: figures of the device, names of open files, and notices about a readable file.

use crate::ask::{DeviceFigures, Notice};
use shared::base::{Moment, format};
use shared::trace::Action;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    pub label: &'static str,
    pub value: String,
    /// Second, smaller figure; may be empty.
    pub note: String,
    pub explanation: &'static str,
    pub emphasis: Emphasis,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emphasis {
    /// Colour of the outline of live bytes.
    Live,
    /// Colour of the line of reserved bytes.
    Reserved,
    Plain,
    Error,
}

impl Figure {
    /// Creates a figure without emphasis; the note and the explanation may be empty.
    pub fn plain(label: &'static str, value: String, note: impl Into<String>, explanation: &'static str) -> Self {
        Self { label, value, note: note.into(), explanation, emphasis: Emphasis::Plain }
    }

    fn with(self, emphasis: Emphasis) -> Self {
        Self { emphasis, ..self }
    }
}

pub fn figures(device: &DeviceFigures) -> Vec<Figure> {
    let summary = &device.summary;
    let of_events = |note: String| if summary.events == 0 { String::new() } else { note };
    let peak_note = match device.peak_moment {
        0 => of_events(Moment(0).to_string()),
        moment => Moment(moment).to_string(),
    };
    let used = match summary.peak_reserved_bytes {
        0 => String::new(),
        reserved => format!("peak live is {} of it", format::percent(summary.peak_live_bytes, reserved)),
    };
    let freed = match summary.unmatched_frees {
        0 => String::new(),
        frees => format!("{} freed in the trace", format::count(frees)),
    };
    let ooms = action_count(device, Action::Oom).filter(|&count| count > 0).map(|count| {
        let explanation = "How often an allocation failed because no memory was left.";
        Figure::plain("Out of memory", format!("{}×", format::count(count)), "", explanation).with(Emphasis::Error)
    });
    let allocs = action_count(device, Action::Alloc).unwrap_or(0);
    let duration = device.duration_us.map(|duration_us| {
        let explanation = "The time from the first to the last event.";
        Figure::plain("Duration", format::duration(duration_us), "", explanation)
    });
    let mut figures = vec![
        Figure::plain(
            "Peak live",
            format::bytes(summary.peak_live_bytes),
            peak_note,
            "The highest total of requested sizes of live allocations at any moment.",
        )
        .with(Emphasis::Live),
        Figure::plain(
            "Peak reserved",
            format::bytes(summary.peak_reserved_bytes),
            used,
            "The highest total size of segments that PyTorch held from CUDA, in use or cached.",
        )
        .with(Emphasis::Reserved),
        Figure::plain(
            "Live at the end",
            format::bytes(summary.end_live_bytes),
            format!("{} reserved", format::bytes(summary.reserved_bytes)),
            "Live memory when the snapshot was taken.",
        ),
        Figure::plain(
            "Before the trace",
            format::bytes(summary.initial_bytes),
            freed,
            "Memory that was live before the first event, derived from the final state and all events.",
        ),
    ];
    figures.extend(ooms);
    figures.push(Figure::plain(
        "Events",
        format::count(summary.events),
        of_events(format::counted(allocs, "allocation")),
        "Recorded allocator events, such as allocations, frees and segment operations.",
    ));
    figures.extend(duration);
    figures.push(Figure::plain(
        "Segments",
        format::count(summary.segments),
        format::counted(summary.blocks, "block"),
        "Memory segments that PyTorch held from CUDA at the end, and the blocks in them.",
    ));
    figures
}

fn action_count(device: &DeviceFigures, of: Action) -> Option<u64> {
    device.summary.actions.iter().find(|(action, _)| *action == of).map(|&(_, count)| count)
}

/// Returns the name of a device, given its CUDA index.
pub fn device_name(index: i64) -> String {
    if index < 0 { "Pinned host memory".to_owned() } else { format!("GPU {index}") }
}

/// With more tabs, each has little room, so that names are cut however short the common parts are.
const FEW_TABS: usize = 4;

/// Shorter common beginnings are not worth a cut.
const LEAST_CUT: usize = 12;

/// Returns the texts of the tabs: with several files, without the beginning that all names share.
///
/// The cut is at a separator, so that no word or number is torn apart.
pub fn tab_texts(names: &[&str]) -> Vec<String> {
    let cut = common_cut(names);
    let end = if names.len() > FEW_TABS { common_ending(names) } else { 0 };
    let text = |name: &&str| {
        let name = name.get(..name.len() - end).filter(|name| name.len() > cut).unwrap_or(name);
        if cut == 0 { name.to_owned() } else { format!("…{}", &name[cut..]) }
    };
    names.iter().map(text).collect()
}

/// Returns the length of the ending that all names have, such as `.pickle.gz`.
fn common_ending(names: &[&str]) -> usize {
    let Some((stem, _)) = names.first().and_then(|first| first.split_once('.')) else { return 0 };
    let endings = names[0][stem.len()..].match_indices('.').map(|(at, _)| &names[0][stem.len() + at..]);
    let is_common = |ending: &&str| names.iter().all(|name| name.ends_with(ending));
    endings.filter(|ending| *ending != names[0]).find(is_common).map_or(0, str::len)
}

fn common_cut(names: &[&str]) -> usize {
    let (Some(first), 2..) = (names.first(), names.len()) else { return 0 };
    let common = |name: &&str| first.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
    let shared = names.iter().map(common).min().unwrap_or(0);
    let is_separator = |byte: u8| matches!(byte, b'-' | b'_' | b'.' | b' ' | b'=' | b'/');
    let cut = first.bytes().take(shared).rposition(is_separator).map_or(0, |position| position + 1);
    // Separators are ASCII, so that the cut is between characters; nothing must be left of no name.
    let is_short = cut < LEAST_CUT && names.len() <= FEW_TABS || names.iter().any(|name| name.len() <= cut);
    if is_short { 0 } else { cut }
}

/// Maximum number of notices that are shown without a summary that folds them.
const SHOWN_AT_MOST: usize = 1;

/// Code of the notice about a request that failed.
const OUT_OF_MEMORY: &str = "out-of-memory";

pub fn is_folded(notices: &[Notice]) -> bool {
    notices.len() > SHOWN_AT_MOST
}

/// Returns the notices about a device and those about the whole file.
///
/// That memory ran out is not among them: the headline, the figures and the timeline of the device say so.
pub fn notices_of(notices: &[Notice], device: i64) -> Vec<Notice> {
    let is_here = |notice: &&Notice| notice.device.is_none_or(|index| index == device);
    notices.iter().filter(|notice| is_here(notice) && notice.code != OUT_OF_MEMORY).cloned().collect()
}

/// Summarizes the notices in one line: `1 error, 2 warnings, 3 notes`.
pub fn summary(notices: &[Notice]) -> String {
    let counted = |severity: &str, noun: &str| {
        let count = notices.iter().filter(|notice| notice.severity == severity).count() as u64;
        (count > 0).then(|| format::counted(count, noun))
    };
    let parts = [counted("error", "error"), counted("warning", "warning"), counted("info", "note")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::report::Summary;

    fn device() -> DeviceFigures {
        DeviceFigures {
            summary: Summary {
                events: 12_000,
                actions: vec![(Action::Alloc, 5000), (Action::Oom, 1)],
                peak_live_bytes: 3 << 30,
                peak_reserved_bytes: 4 << 30,
                ..Summary::default()
            },
            peak_moment: 101,
            duration_us: Some(2_500_000),
            ..DeviceFigures::default()
        }
    }

    #[track_caller]
    fn check(device: &DeviceFigures, label: &str, value: &str, note: &str) {
        let all = figures(device);
        let figure = all.iter().find(|figure| figure.label == label).expect("the figure is there");
        assert_eq!((figure.value.as_str(), figure.note.as_str()), (value, note));
    }

    #[test]
    fn figures_have_words_and_leave_out_what_is_missing() {
        check(&device(), "Peak live", "3.00 GiB", "after event 100");
        check(&device(), "Peak reserved", "4.00 GiB", "peak live is 75 % of it");
        check(&device(), "Out of memory", "1×", "");
        check(&device(), "Events", "12,000", "5,000 allocations");
        check(&device(), "Duration", "2.50 s", "");
        check(&DeviceFigures { peak_moment: 0, ..device() }, "Peak live", "3.00 GiB", "before the first event");
        let empty = DeviceFigures::default();
        assert!(figures(&empty).iter().all(|figure| figure.label != "Duration" && figure.label != "Out of memory"));
        check(&empty, "Events", "0", "");
    }

    #[test]
    fn host_memory_is_no_gpu() {
        assert_eq!(device_name(3), "GPU 3");
        assert_eq!(device_name(-1), "Pinned host memory");
    }

    #[track_caller]
    fn check_names_model(names: &[&str], texts: &[&str]) {
        assert_eq!(tab_texts(names), texts);
    }

    #[test]
    fn names_show_where_they_differ() {
        check_names_model(
            &["cornell-runs_rank0.pickle", "cornell-runs_rank12.pickle"],
            &["…rank0.pickle", "…rank12.pickle"],
        );
        let ranks = ["ddp.rank0.p.gz", "ddp.rank1.p.gz", "ddp.rank2.p.gz", "ddp.rank3.p.gz", "ddp.rank4.p.gz"];
        check_names_model(&ranks, &["…rank0", "…rank1", "…rank2", "…rank3", "…rank4"]);
        check_names_model(&["snapshot-before.pickle"], &["snapshot-before.pickle"]);
        check_names_model(&["a_1.pickle", "a_2.pickle"], &["a_1.pickle", "a_2.pickle"]);
        check_names_model(&["training-run-é.json", "training-run-è.json"], &["…é.json", "…è.json"]);
        check_names_model(&["same-name-of-two.json", "same-name-of-two.json"], &["…json", "…json"]);
        check_names_model(&[], &[]);
    }

    fn notice(severity: &str) -> Notice {
        Notice { severity: severity.into(), ..Notice::default() }
    }

    #[test]
    fn notices_have_one_line_and_are_of_their_device() {
        let notices = [notice("warning"), notice("info"), notice("warning")];
        assert_eq!(summary(&notices), "2 warnings, 1 note");
        assert!(is_folded(&notices) && !is_folded(&notices[..1]));
        let about = |device| Notice { device, ..notice("info") };
        let notices = [about(None), about(Some(0)), about(Some(1))];
        assert_eq!(notices_of(&notices, 1), [about(None), about(Some(1))]);
        assert_eq!(notices_of(&notices, -1), [about(None)]);
        let failed = Notice { code: OUT_OF_MEMORY.into(), ..about(Some(1)) };
        assert_eq!(notices_of(&[failed], 1), [], "the headline says it");
    }
}
