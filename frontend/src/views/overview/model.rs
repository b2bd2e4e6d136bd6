//! Rows of the overview: devices under each other on one axis of time.

use crate::ask::StripData;
use crate::draw::chart::{Axis, Chart, Curve, Labels, Room, steps};
use crate::draw::{Font, Sketch, Span, Theme};

/// Place of a strip on the common axis, which goes from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    pub start: f64,
    pub end: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Common {
    /// Times of one clock.
    Clock,
    /// Times since the first event of each.
    Start,
    /// Each strip is as wide as the axis.
    Events,
}

impl Common {
    pub fn words(self) -> &'static str {
        match self {
            Self::Clock => "one clock",
            Self::Start => "time since each first event",
            Self::Events => "events of each, without times",
        }
    }
}

/// Returns the places of strips.
///
/// Times are of one clock if the strips cover at most twice the longest one; otherwise they come from machines that were
/// started at different times, or from runs after each other.
pub fn places(strips: &[&StripData]) -> (Common, Vec<Place>) {
    let whole = |_: &&StripData| Place { start: 0.0, end: 1.0 };
    let Some(clocks) = strips.iter().map(|strip| strip.clock_us).collect::<Option<Vec<_>>>() else {
        return (Common::Events, strips.iter().map(whole).collect());
    };
    let length = |&(first, last): &(i64, i64)| last.saturating_sub(first).max(1);
    let longest = clocks.iter().map(length).max().unwrap_or(1);
    let first = clocks.iter().map(|clock| clock.0).min().unwrap_or(0);
    let covered = clocks.iter().map(|clock| clock.1).max().unwrap_or(0).saturating_sub(first).max(1);
    let (common, unit) =
        if covered <= longest.saturating_mul(2) { (Common::Clock, covered) } else { (Common::Start, longest) };
    let place = |clock: &(i64, i64)| {
        let start = if common == Common::Clock { clock.0.saturating_sub(first) } else { 0 };
        Place { start: start as f64 / unit as f64, end: start.saturating_add(length(clock)) as f64 / unit as f64 }
    };
    (common, clocks.iter().map(place).collect())
}

/// Draws a strip at its place; `top_bytes` is at the top, and errors are upright lines.
pub fn drawing(strip: &StripData, place: Place, top_bytes: u64, size: (f64, f64), theme: &Theme) -> Sketch {
    let count = strip.bytes.len().max(1) as f64;
    let x = |share: f64| place.start + (place.end - place.start) * share;
    let values = strip.bytes.iter().enumerate().map(|(column, &bytes)| (x(column as f64 / count), bytes as f64));
    let chart = Chart {
        x: Axis::bare(),
        y: Axis { range: Span::new(0.0, top_bytes.max(1) as f64 * 1.05), labels: Labels::None },
        room: Room::default(),
        font: Font::LABEL,
        curves: vec![Curve::area(steps(values, x(1.0)), theme.live, 1.0, 0.3)],
    };
    let mut plotted = chart.plotted(size, theme);
    strip.ooms.iter().for_each(|&oom| plotted.upright(x(oom), theme.oom));
    Sketch { ops: plotted.ops, width: size.0, height: size.1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(clocks: &[Option<(i64, i64)>], common: Common, starts: &[f64], ends: &[f64]) {
        let strips: Vec<_> = clocks.iter().map(|&clock_us| StripData { clock_us, ..StripData::default() }).collect();
        let (found, places) = places(&strips.iter().collect::<Vec<_>>());
        assert_eq!(found, common);
        assert_eq!(places.iter().map(|place| place.start).collect::<Vec<_>>(), starts);
        assert_eq!(places.iter().map(|place| place.end).collect::<Vec<_>>(), ends);
    }

    #[test]
    fn strips_share_an_axis() {
        check(&[Some((100, 200)), Some((150, 200))], Common::Clock, &[0.0, 0.5], &[1.0, 1.0]);
        check(&[Some((0, 100)), Some((9000, 9050))], Common::Start, &[0.0, 0.0], &[1.0, 0.5]);
        check(&[Some((0, 100)), None], Common::Events, &[0.0, 0.0], &[1.0, 1.0]);
        check(&[], Common::Clock, &[], &[]);
    }

    #[test]
    fn errors_are_drawn() {
        let strip = StripData { bytes: vec![1, 4], ooms: vec![1.0], ..StripData::default() };
        let place = Place { start: 0.0, end: 0.5 };
        let plain = StripData { ooms: Vec::new(), ..strip.clone() };
        let ops = |strip: &StripData| drawing(strip, place, 4, (200.0, 20.0), &Theme::light()).ops.len();
        assert_eq!(ops(&strip), ops(&plain) + 1);
    }
}
