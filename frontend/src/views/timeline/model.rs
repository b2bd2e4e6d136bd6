//! Texts of the timeline, and the numbers that it is drawn from.

use super::draw::axes::position_label;
use super::draw::markers::{Marker, MarkerKind};
use crate::ask::{AreaRow, Axis, Details, DeviceFigures, Hit, HitAllocation, MarkKind, Marks};
use crate::draw::{Content, Span};
use shared::base::{Moment, StackLabel, format};

/// Returns the shortest range of x that can be zoomed to: two moments, or ten microseconds.
fn min_len(axis: Axis) -> f64 {
    match axis {
        Axis::Events => 2.0,
        Axis::Time => 10.0,
    }
}

pub fn content(figures: &DeviceFigures, axis: Axis) -> Content {
    let x_end = match axis {
        Axis::Events => figures.end_events,
        Axis::Time => figures.end_us,
    };
    let max_bytes = figures.summary.peak_live_bytes.max(figures.summary.peak_reserved_bytes) as f64;
    let x_end = x_end.max(1.0);
    Content { x_end, min_len: min_len(axis).min(x_end), max_bytes }
}

/// Extends the content to a card's memory, unless that is more than 4 times as high and would flatten the curves.
pub fn content_with_card(content: Content, capacity_bytes: Option<u64>) -> Content {
    let is_near = |capacity: &f64| content.max_bytes >= capacity / 4.0;
    let capacity = capacity_bytes.map(|bytes| bytes as f64).filter(is_near);
    Content { max_bytes: content.max_bytes.max(capacity.unwrap_or(0.0)), ..content }
}

/// Returns the position of the peak on an axis.
///
/// On the event axis it is the middle of the moment, so that a zoom ends inside that moment.
pub fn peak_position(figures: &DeviceFigures, axis: Axis) -> Option<f64> {
    match axis {
        Axis::Events => Some(f64::from(figures.peak_moment) + 0.5),
        Axis::Time => figures.peak_us.map(|time_us| time_us as f64),
    }
}

/// Returns markers for the out-of-memory errors and the peak; the peak comes last, so that it is drawn on top.
pub fn markers(figures: &DeviceFigures, marks: &Marks, axis: Axis) -> Vec<Marker> {
    let ooms = marks.marks.iter().filter(|mark| mark.kind == MarkKind::Oom).filter_map(|mark| {
        let position = match axis {
            Axis::Events => f64::from(mark.moment),
            Axis::Time => mark.time_us? as f64,
        };
        let label = format!("out of memory: tried to allocate {}", format::bytes(mark.size_bytes));
        Some(Marker { position, bytes: 0.0, label, kind: MarkerKind::Oom })
    });
    let peak = peak_position(figures, axis).filter(|_| figures.summary.events > 0).map(|position| Marker {
        position,
        bytes: figures.summary.peak_live_bytes as f64,
        label: format!("peak live {}", format::bytes(figures.summary.peak_live_bytes)),
        kind: MarkerKind::Peak,
    });
    ooms.chain(peak).collect()
}

pub fn initial_label(figures: &DeviceFigures) -> String {
    let size = format::bytes(figures.summary.initial_bytes);
    if figures.summary.events == 0 {
        format!("{size} at the snapshot, no events recorded")
    } else {
        format!("{size} allocated before recording")
    }
}

pub fn lifespan(details: &Details, axis: Axis, x_end: f64) -> Span {
    let (born, died) = match axis {
        Axis::Events => (Some(f64::from(details.born)), details.died.map(f64::from)),
        Axis::Time => (details.born_us.map(|us| us as f64), details.died_us.map(|us| us as f64)),
    };
    Span::new(born.unwrap_or(0.0), died.unwrap_or(x_end))
}

/// Describes the timeline in one sentence, for screen readers.
pub fn description(figures: &DeviceFigures) -> String {
    format!(
        "Memory timeline of {}: {} over {}, peak {} live and {} reserved",
        device_name(figures.summary.device),
        format::counted(figures.allocations, "allocation"),
        format::counted(figures.summary.events, "event"),
        format::bytes(figures.summary.peak_live_bytes),
        format::bytes(figures.summary.peak_reserved_bytes),
    )
}

fn device_name(index: i64) -> String {
    if index < 0 { "pinned host memory".to_owned() } else { format!("GPU {index}") }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tooltip {
    pub title: String,
    /// Allocating function, with its file and line if known; may be empty.
    pub name: String,
    /// Lifetime of the allocation; above the outline, the reserved bytes.
    pub detail: String,
    /// The moment and, over an allocation, its live bytes.
    pub moment: String,
}

pub fn tooltip(hit: &Hit, axis: Axis) -> Tooltip {
    let place = match (axis, hit.time_us) {
        (Axis::Time, Some(time_us)) => format!("at {}", position_label(axis, time_us as f64)),
        _ => Moment(hit.moment).to_string(),
    };
    let live = format::bytes(hit.live_bytes);
    if let Some(AreaRow { label, bytes, .. }) = &hit.area {
        return Tooltip {
            title: format::bytes(*bytes),
            name: label.clone(),
            detail: format!("{} of the live bytes", format::percent(*bytes, hit.live_bytes)),
            moment: format!("{live} live at {place}"),
        };
    }
    match &hit.allocation {
        Some(allocation) => Tooltip {
            title: format::bytes(allocation.size_bytes),
            name: allocation.label.as_ref().map_or_else(String::new, StackLabel::text),
            detail: lifetime(allocation),
            moment: format!("{live} live {place}"),
        },
        None => Tooltip {
            title: format!("{live} live"),
            detail: format!("{} reserved", format::bytes(hit.reserved_bytes)),
            moment: place,
            ..Tooltip::default()
        },
    }
}

fn lifetime(allocation: &HitAllocation) -> String {
    let since = if allocation.is_initial { "allocated before recording, " } else { "" };
    let time = allocation.lifetime_us.map_or(String::new(), |time_us| format!(", {}", format::duration(time_us)));
    match allocation.died {
        Some(died) if allocation.is_initial => {
            format!("{since}freed at event {}", format::count(u64::from(died).max(1) - 1))
        }
        Some(died) => {
            format!("live for {}{time}", format::counted(died.saturating_sub(allocation.born).into(), "event"))
        }
        None if allocation.is_initial => format!("{since}not freed in it"),
        None => "not freed in the trace".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Mark;
    use shared::report::Summary;

    fn figures() -> DeviceFigures {
        let (peak_live_bytes, peak_reserved_bytes) = (3 << 30, 4 << 30);
        DeviceFigures {
            summary: Summary { events: 1000, peak_live_bytes, peak_reserved_bytes, ..Summary::default() },
            end_events: 1001.0,
            end_us: 5e6,
            peak_moment: 400,
            peak_us: Some(2_000_000),
            allocations: 500,
            ..DeviceFigures::default()
        }
    }

    fn hit(allocation: HitAllocation) -> Hit {
        Hit { moment: 12, live_bytes: 1 << 30, allocation: Some(allocation), ..Hit::default() }
    }

    #[test]
    fn the_content_has_the_reserved_line_and_a_near_card() {
        let plain = Content { x_end: 1.0, min_len: 1.0, max_bytes: 100.0 };
        let highest = |capacity: Option<u64>| content_with_card(plain, capacity).max_bytes;
        assert_eq!([None, Some(50), Some(150), Some(400), Some(401)].map(highest), [100.0, 100.0, 150.0, 400.0, 100.0]);
        let events = Content { x_end: 1001.0, min_len: 2.0, max_bytes: (4u64 << 30) as f64 };
        assert_eq!(content(&figures(), Axis::Events), events);
        assert_eq!(content(&figures(), Axis::Time).x_end, 5e6);
        assert_eq!(content(&DeviceFigures::default(), Axis::Events).x_end, 1.0);
    }

    #[test]
    fn the_peak_lies_on_top_of_errors() {
        let oom = Mark { kind: MarkKind::Oom, moment: 7, time_us: None, size_bytes: 1 << 20, free_bytes: None };
        let marks = Marks { marks: vec![oom], ..Marks::default() };
        let labels = |axis| Vec::from_iter(markers(&figures(), &marks, axis).into_iter().map(|marker| marker.label));
        assert_eq!(labels(Axis::Events), ["out of memory: tried to allocate 1.00 MiB", "peak live 3.00 GiB"]);
        assert_eq!(labels(Axis::Time), ["peak live 3.00 GiB"]);
    }

    #[test]
    fn a_tooltip_names_size_place_and_lifetime() {
        let (title, place, leaf) = ("forward".into(), "model.py:7".into(), "linear".into());
        let label = StackLabel { title, place, leaf, ..StackLabel::default() };
        let allocation = HitAllocation {
            size_bytes: 1536,
            born: 10,
            died: Some(30),
            lifetime_us: Some(1500),
            label: Some(label),
            ..HitAllocation::default()
        };
        let expected = Tooltip {
            title: "1.50 KiB".into(),
            name: "forward (model.py:7) → linear".into(),
            detail: "live for 20 events, 1.50 ms".into(),
            moment: "1.00 GiB live after event 11".into(),
        };
        assert_eq!(tooltip(&hit(allocation), Axis::Events), expected);
    }

    #[test]
    fn a_lifetime_says_what_the_trace_does_not_show() {
        let initial = HitAllocation { is_initial: true, ..HitAllocation::default() };
        assert_eq!(lifetime(&initial), "allocated before recording, not freed in it");
        let freed = HitAllocation { died: Some(30), ..initial };
        assert_eq!(lifetime(&freed), "allocated before recording, freed at event 29");
        assert_eq!(lifetime(&HitAllocation::default()), "not freed in the trace");
        let details = Details { born: 10, died: None, born_us: Some(70), died_us: Some(90), ..Details::default() };
        assert_eq!(lifespan(&details, Axis::Events, 500.0), Span::new(10.0, 500.0));
        assert_eq!(lifespan(&details, Axis::Time, 500.0), Span::new(70.0, 90.0));
    }

    #[test]
    fn a_tooltip_has_the_totals_or_an_area() {
        let hit = Hit { moment: 3, live_bytes: 512, reserved_bytes: 2 << 20, ..Hit::default() };
        let text = tooltip(&hit, Axis::Events);
        assert_eq!((text.title.as_str(), text.detail.as_str()), ("512 B live", "2.00 MiB reserved"));
        let area = Some(AreaRow { label: "activations".to_owned(), color: 4, bytes: 256, ..AreaRow::default() });
        let text = tooltip(&Hit { moment: 3, live_bytes: 512, area, ..Hit::default() }, Axis::Events);
        let parts = [text.title.as_str(), &text.name, &text.detail];
        assert_eq!(parts, ["256 B", "activations", "50 % of the live bytes"]);
    }

    #[test]
    fn the_description_is_a_sentence() {
        let text =
            "Memory timeline of GPU 0: 500 allocations over 1,000 events, peak 3.00 GiB live and 4.00 GiB reserved";
        assert_eq!(description(&figures()), text);
    }
}
