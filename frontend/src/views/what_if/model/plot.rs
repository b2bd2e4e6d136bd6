//! Chart of the live bytes, and of the reserved bytes as recorded and as replayed.

use crate::ask::{ReplayData, WhatIfColumn, WhatIfSetup};
use crate::draw::chart::{Axis, Chart, Curve, columns};
use crate::draw::curves::{Curves, Mark, MarkAt, ROOM};
use crate::draw::{Font, Point, Theme};
use shared::base::format;

#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub curves: Curves,
    /// Text about the card's memory; empty if there is no limit.
    pub capacity_label: String,
    pub has_capacity: bool,
    pub has_oom: bool,
}

/// Makes the chart of a replay.
///
/// The card's memory is shown if a curve reaches at least 1/4 of it; otherwise it would flatten the curves.
pub fn plot(data: &ReplayData, setup: &WhatIfSetup, theme: &Theme) -> Plot {
    let highest = |column: &WhatIfColumn| {
        column.recorded.live_bytes.max(column.recorded.reserved_bytes).max(column.replayed.reserved_bytes)
    };
    let highest = data.columns.iter().map(highest).max().unwrap_or(0);
    let capacity = setup.capacity_bytes.filter(|capacity| highest >= capacity / 4);
    let capacity_label = setup.capacity_bytes.map_or_else(String::new, |bytes| match capacity {
        Some(_) => format!("GPU memory {}", format::bytes(bytes)),
        None => format!("GPU memory of {} is above the plot", format::bytes(bytes)),
    });
    let oom = data.replayed.first_oom_event.map(|event| event as f64 / data.events.max(1) as f64);
    let card = capacity.map(|bytes| Mark { at: MarkAt::Bytes(bytes), color: theme.oom });
    let named =
        [("Live", theme.live), ("Reserved, recorded", theme.text_muted), ("Reserved, replayed", theme.reserved)];
    let named = named.into_iter().map(|(name, color)| (name.to_owned(), color));
    let card_named = card.map(|card| (capacity_label.clone(), card.color));
    let oom_named = oom.map(|_| ("Out of memory".to_owned(), theme.oom));
    Plot {
        curves: Curves {
            chart: Chart {
                x: Axis::bare(),
                y: Axis::bytes(highest.max(capacity.unwrap_or(0))),
                room: ROOM,
                font: Font::LABEL,
                curves: vec![
                    Curve::area(line(data, |column| column.recorded.live_bytes), theme.live, 0.0, 0.22),
                    Curve::line(line(data, |column| column.recorded.reserved_bytes), theme.text_muted, 1.5).dashed(),
                    Curve::line(line(data, |column| column.replayed.reserved_bytes), theme.reserved, 2.0),
                ],
            },
            marks: card.into_iter().chain(oom.map(|x| Mark { at: MarkAt::X(x), color: theme.oom })).collect(),
            legend: named.chain(card_named).chain(oom_named).collect(),
        },
        capacity_label,
        has_capacity: capacity.is_some(),
        has_oom: oom.is_some(),
    }
}

pub(super) fn line(data: &ReplayData, bytes: fn(&WhatIfColumn) -> u64) -> Vec<Point> {
    columns(data.columns.iter().map(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::{RecordedColumn, ReplayColumn};
    use shared::report::RunFigures;

    fn data() -> ReplayData {
        let column = |live: u64, recorded: u64, replayed: u64| WhatIfColumn {
            recorded: RecordedColumn {
                live_bytes: live << 20,
                reserved_bytes: recorded << 20,
                ..RecordedColumn::default()
            },
            replayed: ReplayColumn { reserved_bytes: replayed << 20, ..ReplayColumn::default() },
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
        let plot = plot(&data(), &setup(None), &Theme::light());
        let mib = |mib: f64| mib * f64::from(1 << 20);
        let [live, recorded, replayed] = plot.curves.chart.curves.as_slice() else { panic!("three curves") };
        let levels = |levels: &[(f64, f64)]| levels.iter().map(|&(x, bytes)| (x, mib(bytes))).collect::<Vec<_>>();
        assert_eq!(replayed.points, levels(&[(0.0, 20.0), (0.5, 20.0), (0.5, 50.0), (1.0, 50.0)]));
        assert_eq!(recorded.points.last(), Some(&(1.0, mib(100.0))));
        assert!(live.area.is_some() && recorded.dashed);
        assert_eq!(plot.curves.marks, [Mark { at: MarkAt::X(0.25), color: Theme::light().oom }]);
        assert_eq!((plot.has_capacity, plot.has_oom, plot.capacity_label.as_str()), (false, true, ""));
    }

    #[test]
    fn a_card_is_drawn_where_it_is_in_sight() {
        let of = |mib| plot(&data(), &setup(Some(mib)), &Theme::light());
        let near = of(200);
        assert_eq!((near.has_capacity, near.capacity_label.as_str()), (true, "GPU memory 200 MiB"));
        assert_eq!(near.curves.marks[0].at, MarkAt::Bytes(200 << 20));
        assert!(near.curves.chart.y.range.end > f64::from(200 << 20), "the line is below the top");
        let far = of(80 << 10);
        assert_eq!(
            (far.has_capacity, far.capacity_label.as_str()),
            (false, "GPU memory of 80.0 GiB is above the plot")
        );
        assert_eq!(far.curves.marks.len(), 1, "the end of memory alone");
    }

    #[test]
    fn nothing_has_no_curve() {
        let empty = plot(&ReplayData::default(), &setup(None), &Theme::dark());
        assert!(empty.curves.chart.curves.iter().all(|curve| curve.points.is_empty()));
        empty.curves.sketch((400.0, 170.0), &Theme::dark());
    }
}
