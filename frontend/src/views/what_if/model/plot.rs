//! Texts and numbers of the plot of live bytes, and of reserved bytes as recorded and as replayed.
//!
//! The paths have units of their own, 1000 across and 100 up; the element stretches them to its size.

use crate::ask::{ReplayData, WhatIfColumn, WhatIfSetup};
use crate::draw::color::Color;
use crate::draw::curves::{Curve, Mark, MarkAt, curves};
use crate::draw::span::Span;
use crate::draw::svg::Sketch;
use crate::draw::theme::Theme;
use crate::draw::ticks::byte_ticks;
use shared::base::format;
use std::fmt::Write as _;

/// Width of a plot in units of its paths.
pub const WIDTH: f64 = 1000.0;
/// Height of a plot in units of its paths.
pub const HEIGHT: f64 = 100.0;

/// Maximum number of byte labels.
const TICKS: f64 = 5.0;

/// A plot as SVG paths, ready to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Area of the live bytes.
    pub live: String,
    /// Reserved bytes of the recording.
    pub recorded: String,
    /// Reserved bytes of the replay.
    pub replayed: String,
    /// Byte labels with their heights, in units of the paths from the top.
    pub ticks: Vec<(f64, String)>,
    /// Height of the card's memory, in units of the paths from the top; `None` if it is not shown.
    pub capacity: Option<f64>,
    /// Label of the card's memory; empty if there is no limit.
    pub capacity_label: String,
    /// Place where the replay first runs out of memory, in units of the paths from the left.
    pub oom: Option<f64>,
}

/// Draws the plot of a replay.
///
/// The card's memory is shown if a curve reaches at least 1/4 of it; otherwise it would flatten the curves.
pub fn plot(data: &ReplayData, setup: &WhatIfSetup) -> Plot {
    let highest = |column: &WhatIfColumn| column.live_bytes.max(column.recorded_bytes).max(column.replayed_bytes);
    let highest = data.columns.iter().map(highest).max().unwrap_or(0);
    let capacity = setup.capacity_bytes.filter(|capacity| highest >= capacity / 4);
    let top = (highest.max(capacity.unwrap_or(0)) as f64 * 1.06).max(1.0);
    let y = |bytes: f64| HEIGHT * (1.0 - bytes / top);
    let line = |bytes: fn(&WhatIfColumn) -> u64| stepped(data.columns.iter().map(|column| y(bytes(column) as f64)));
    let live = line(|column| column.live_bytes);
    let card = |bytes: u64| match capacity {
        Some(_) => format!("GPU memory {}", format::bytes(bytes)),
        None => format!("GPU memory of {} is above the plot", format::bytes(bytes)),
    };
    let place = |event: u64| event as f64 / data.events.max(1) as f64 * WIDTH;
    Plot {
        live: if live.is_empty() { live } else { format!("{live}V{HEIGHT}H0Z") },
        recorded: line(|column| column.recorded_bytes),
        replayed: line(|column| column.replayed_bytes),
        ticks: ticks(top, TICKS, y),
        capacity: capacity.map(|capacity| y(capacity as f64)),
        capacity_label: setup.capacity_bytes.map_or_else(String::new, card),
        oom: data.replayed.first_oom_event.map(place),
    }
}

/// Returns at most `count` labels, which are drawn above their lines.
///
/// Labels at the bottom of the plot are left out, and so are those that would be cut off at the top.
pub(super) fn ticks(top: f64, count: f64, y: impl Fn(f64) -> f64) -> Vec<(f64, String)> {
    let all = byte_ticks(Span::new(0.0, top), top / count).into_iter().map(|tick| (y(tick.value), tick.label));
    all.filter(|(height, _)| (HEIGHT * 0.09..HEIGHT * 0.97).contains(height)).collect()
}

/// Returns a path with a step for each column; equal neighbours share a step.
pub(super) fn stepped(heights: impl ExactSizeIterator<Item = f64>) -> String {
    let step = WIDTH / heights.len().max(1) as f64;
    let mut path = String::new();
    let mut last = f64::NAN;
    for (index, height) in heights.enumerate() {
        let x = index as f64 * step;
        if index == 0 {
            let _ = write!(path, "M0 {height:.2}");
        } else if height != last {
            let _ = write!(path, "H{x:.1}V{height:.2}");
        }
        last = height;
    }
    if !path.is_empty() {
        let _ = write!(path, "H{WIDTH}");
    }
    path
}

/// Draws the plot of a replay as a picture to save, with its axis and a legend.
pub fn sketch(data: &ReplayData, setup: &WhatIfSetup, theme: &Theme) -> Sketch {
    let curve = |name: &str, color: Color, is_area: bool, bytes: fn(&WhatIfColumn) -> u64| Curve {
        name: name.to_owned(),
        color,
        is_area,
        bytes: data.columns.iter().map(bytes).collect(),
    };
    let lines = [
        curve("Live", theme.live.with_alpha(0.35), true, |column| column.live_bytes),
        curve("Reserved, recorded", theme.reserved, false, |column| column.recorded_bytes),
        curve("Reserved, replayed", theme.accent, false, |column| column.replayed_bytes),
    ];
    let Plot { capacity, oom, capacity_label, .. } = plot(data, setup);
    let card = setup.capacity_bytes.filter(|_| capacity.is_some()).map(|bytes| Mark {
        name: capacity_label,
        color: theme.text_muted,
        at: MarkAt::Bytes(bytes),
    });
    let oom = oom.map(|x| Mark { name: "Out of memory".to_owned(), color: theme.oom, at: MarkAt::Share(x / WIDTH) });
    let marks: Vec<Mark> = card.into_iter().chain(oom).collect();
    curves(&lines, &marks, theme)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::RunFigures;

    fn data() -> ReplayData {
        let column = |live: u64, recorded: u64, replayed: u64| WhatIfColumn {
            live_bytes: live << 20,
            recorded_bytes: recorded << 20,
            replayed_bytes: replayed << 20,
            ..WhatIfColumn::default()
        };
        let replayed = RunFigures { first_oom_event: Some(5), ..RunFigures::default() };
        let columns = vec![column(10, 20, 20), column(10, 20, 20), column(40, 50, 50), column(0, 100, 50)];
        ReplayData { columns, events: 20, replayed, ..ReplayData::default() }
    }

    fn setup(capacity_mib: Option<u64>) -> WhatIfSetup {
        WhatIfSetup { capacity_bytes: capacity_mib.map(|mib| mib << 20), ..WhatIfSetup::default() }
    }

    #[test]
    fn curves_are_steps() {
        let plot = plot(&data(), &setup(None));
        assert_eq!(plot.recorded, "M0 81.13H500.0V52.83H750.0V5.66H1000");
        assert_eq!(plot.replayed, "M0 81.13H500.0V52.83H1000");
        assert!(plot.live.ends_with("V100H0Z"), "{}", plot.live);
        assert_eq!(plot.oom, Some(250.0));
        assert!(plot.ticks.len() >= 2 && plot.ticks[0].1 == "32 MiB", "{:?}", plot.ticks);
        assert_eq!((plot.capacity, plot.capacity_label.as_str()), (None, ""));
    }

    #[test]
    fn a_card_is_drawn_where_it_is_in_sight() {
        let near = plot(&data(), &setup(Some(200)));
        assert_eq!(near.capacity_label, "GPU memory 200 MiB");
        assert!(near.capacity.is_some_and(|y| y > 0.0 && y < 10.0));
        let far = plot(&data(), &setup(Some(80 << 10)));
        assert_eq!((far.capacity, far.capacity_label.as_str()), (None, "GPU memory of 80.0 GiB is above the plot"));
    }

    #[test]
    fn nothing_has_no_curve() {
        let empty = plot(&ReplayData::default(), &setup(None));
        assert_eq!((empty.live.as_str(), empty.replayed.as_str()), ("", ""));
    }
}
