//! Writes the report on a log, with its charts, as one HTML page, which people can attach to a ticket.

use crate::base::format;
use crate::base::markup::escaped;
use crate::draw::chart::{Axis, Chart, Curve, Labels, Plotted, Room, steps};
use crate::draw::svg::svg_for_both;
use crate::draw::ticks::time_ticks;
use crate::draw::{Align, Color, Font, Op, Rect, Sketch, Span, Theme};
use crate::export::report::{Html, framed};
use crate::report::{Finding, LogCell, LogCurves, LogLane, LogOwners, LogReport, LogTable};

/// Writes the page; `name` is that of the file.
pub(super) fn log_page(name: &str, report: &LogReport) -> String {
    framed(name, "Memory report", |page| {
        let facts: String = report.facts.iter().map(|fact| format!("; {fact}")).collect();
        page.paragraph("lead", &format!("{}{facts}", report.title));
        report.curves.iter().for_each(|curves| chart(curves, page));
        report.owners.iter().for_each(|owners| bars(owners, page));
        page.section("Findings", |page| {
            let found = &report.diagnosis.findings;
            if found.is_empty() {
                page.paragraph("muted", "No problem found.");
            }
            found.iter().for_each(|found| finding(found, page));
        });
        report.tables.iter().for_each(|table| rows(table, page));
        page.section("About this log", |page| {
            for notice in &report.notices {
                page.paragraph(&format!("notice {}", notice.severity.name()), &notice.message);
            }
        });
    })
}

fn chart(curves: &LogCurves, page: &mut Html) {
    let title = curves.span_text(curves.whole());
    page.section(&curves.quantity, |page| {
        let [light, dark] = [Theme::light(), Theme::dark()].map(|theme| whole_chart(curves, &theme));
        page.push(&format!("<figure>{}</figure>\n", svg_for_both(&title, &light, &dark)));
        page.paragraph("muted", &title);
        let key = |(name, series): (String, Option<usize>)| {
            let theme = Theme::light();
            let color = series.map_or(theme.oom, |position| series_color(position, &theme)).css();
            let rect = format!("<rect width=\"18\" height=\"10\" fill=\"{color}\"/>");
            format!("<li><svg width=\"18\" height=\"10\" aria-hidden=\"true\">{rect}</svg> {}</li>", escaped(&name))
        };
        let keys: String = legend(curves).into_iter().map(key).collect();
        page.push(&format!("<ul class=\"key\">{keys}</ul>\n"));
    });
}

fn bars(owners: &LogOwners, page: &mut Html) {
    let capacity = owners.capacity_bytes.max(1);
    page.section(&format!("{}, {}", owners.title, format::bytes(owners.capacity_bytes)), |page| {
        page.push("<div class=\"bars\">");
        for owner in &owners.parts {
            page.push(&format!("<div><span>{}</span>", escaped(&owner.name)));
            page.bar(owner.bytes as f64 / capacity as f64);
            let share = escaped(&format::percent(owner.bytes.min(capacity), capacity));
            page.push(&format!("<b>{}</b><i>{share}</i></div>", format::bytes(owner.bytes)));
        }
        page.push("</div>\n");
    });
}

fn finding(found: &Finding, page: &mut Html) {
    let Finding { severity, confidence, title, evidence, steps, why, .. } = found;
    let severity = severity.name();
    page.push(&format!(
        "<article class=\"finding {severity}\">\n<p class=\"tag\">{severity} · {} confidence</p>\n<h3>{}</h3>\n",
        confidence.name(),
        escaped(title)
    ));
    if !steps.is_empty() {
        let steps: Vec<&str> = steps.iter().map(|step| step.text.as_str()).collect();
        page.items("ol", "advice", &steps);
    }
    page.paragraph("", why);
    page.paragraph("", &evidence.shows);
    page.push("</article>\n");
}

fn rows(table: &LogTable, page: &mut Html) {
    page.section(&table.title, |page| {
        let columns: Vec<&str> = table.columns.iter().map(String::as_str).collect();
        let is_number = |column: &usize| {
            let cells = || table.rows.iter().filter_map(|row| row.get(*column));
            !cells().any(|cell| matches!(cell, LogCell::Text(_))) && cells().count() > 0
        };
        let numbers: Vec<usize> = (0..columns.len()).filter(is_number).collect();
        let rows: Vec<Vec<String>> = table.rows.iter().map(|row| row.iter().map(LogCell::text).collect()).collect();
        page.table(&columns, &numbers, &rows);
        if table.left_out > 0 {
            page.paragraph("muted", &format!("{} are not listed", format::counted(table.left_out, "more row")));
        }
    });
}

/// Room around the plot; left and right of it, as much as the timeline of a snapshot has.
pub const LOG_ROOM: Room = Room { left: 74.0, top: 8.0, right: 12.0, bottom: 24.0 };

/// Smallest distance of two labels of times in CSS pixels.
const BETWEEN_TIMES: f64 = 90.0;

/// Height of a row of spans above the plot, with the gap below it, in CSS pixels.
const LANE: f64 = 14.0;
const LANE_GAP: f64 = 4.0;

/// Narrowest span whose name is drawn into it, in CSS pixels.
const NAMED: f64 = 40.0;

/// Draws the times from `from` to `to` in microseconds; labels of times count from `start_us`, and so do positions on the
/// horizontal axis of the result.
pub fn log_chart(
    curves: &LogCurves,
    (from, to): (i64, i64),
    start_us: i64,
    size: (f64, f64),
    theme: &Theme,
) -> Plotted {
    let part = curves.part(from..to, (size.0 * 2.0).max(2.0) as usize);
    let since = |us: i64| (us - start_us) as f64;
    let x = Span::new(since(from), since(to));
    let mut top: Vec<u64> = vec![0; part.times_us.len()];
    let mut highest = 0;
    // Nothing is known after the last time.
    let end = part.times_us.last().map_or(x.start, |us| since(*us).clamp(x.start, x.end));
    let mut layers = Vec::new();
    for (position, series) in part.series.iter().enumerate().rev() {
        if !part.is_stacked {
            top.fill(0);
        }
        top.iter_mut().zip(&series.bytes).for_each(|(sum, bytes)| *sum = sum.saturating_add(*bytes));
        highest = top.iter().copied().fold(highest, u64::max);
        // The neighbours of the range stand for its ends.
        let at = part.times_us.iter().map(|us| since(*us).clamp(x.start, x.end));
        let points = at.zip(top.iter().map(|bytes| *bytes as f64));
        let points: Vec<_> = if part.has_steps { steps(points, end) } else { points.collect() };
        let color = series_color(position, theme);
        layers.push(match part.is_stacked {
            true => Curve::area(points, color, 0.0, 1.0),
            false => Curve::line(points, color, 2.0),
        });
    }
    // Of stacked areas, the highest one is drawn first, and lower ones cover it.
    layers.reverse();
    // Memory that is far above the curves would flatten them.
    let limit = part.limit.as_ref().map(|limit| limit.bytes).filter(|limit| *limit <= highest.saturating_mul(4));
    let step = x.len() * BETWEEN_TIMES / (size.0 - LOG_ROOM.left - LOG_ROOM.right).max(1.0);
    let chart = Chart {
        x: Axis { range: x, labels: Labels::Given(time_ticks(x, step)) },
        y: Axis::bytes(highest.max(limit.unwrap_or(0))),
        room: Room { top: LOG_ROOM.top + part.lanes.len() as f64 * (LANE + LANE_GAP), ..LOG_ROOM },
        font: Font::LABEL,
        curves: layers,
    };
    let mut plotted = chart.plotted(size, theme);
    if let Some(limit) = limit {
        plotted.level(limit as f64, theme.oom);
    }
    for kill in part.kills_us.iter().filter(|kill| (from..=to).contains(*kill)) {
        plotted.upright(since(*kill), theme.oom);
    }
    for (row, lane) in part.lanes.iter().enumerate() {
        let top = LOG_ROOM.top + row as f64 * (LANE + LANE_GAP);
        let ops = lane_ops(lane, (from, to), Rect { y: top, height: LANE, ..plotted.plot }, theme);
        plotted.ops.extend(ops);
    }
    plotted
}

/// Draws the spans of a lane between two times; spans closer than a pixel are drawn as one.
fn lane_ops(lane: &LogLane, (from, to): (i64, i64), rect: Rect, theme: &Theme) -> Vec<Op> {
    let at = |us: i64| {
        let share = (us.clamp(from, to) - from) as f64 / (to - from).max(1) as f64;
        rect.x + share * rect.width
    };
    let label = (rect.x - 8.0, rect.y + rect.height / 2.0);
    let mut ops = vec![Op::text(label, lane.name.clone(), Align::Right, Font::LABEL, theme.text_muted)];
    let mut bars: Vec<(f64, f64, &str)> = Vec::new();
    for span in lane.spans.iter().filter(|span| span.to_us >= from && span.from_us <= to) {
        let (left, right) = (at(span.from_us), at(span.to_us));
        match bars.last_mut() {
            Some((start, end, _)) if left - *end < 1.0 && right - *start < NAMED => *end = right.max(*end),
            _ => bars.push((left, right, &span.name)),
        }
    }
    for (left, right, name) in bars {
        let bar = Rect { x: left, width: (right - left - 1.0).max(1.0), ..rect };
        ops.push(Op::Fill { rect: bar, radius: 2.0, color: theme.accent.with_alpha(0.22) });
        if bar.width >= NAMED {
            let text = Font::LABEL.fitted(name, bar.width - 8.0);
            ops.push(Op::text((left + 4.0, label.1), text, Align::Left, Font::LABEL, theme.text));
        }
    }
    ops
}

pub fn series_color(position: usize, theme: &Theme) -> Color {
    theme.hues[position % theme.hues.len()]
}

/// Size of a chart in files, in CSS pixels.
const CHART: (f64, f64) = (960.0, 260.0);

/// Draws all charts of a log below each other, each with what it shows as its heading.
pub fn log_picture(name: &str, report: &LogReport, theme: &Theme) -> Sketch {
    let charts: Vec<Sketch> = report.curves.iter().map(|curves| headed(curves, theme)).collect();
    Sketch::stacked(name, charts.iter(), theme)
}

fn headed(curves: &LogCurves, theme: &Theme) -> Sketch {
    let (names, chart) = (legend(curves), whole_chart(curves, theme));
    let heading = curves.span_text(curves.whole());
    let rows = names.iter().enumerate().map(|(row, (name, color))| key(row, name, *color, theme));
    let keys = Sketch { ops: rows.flatten().collect(), width: CHART.0, height: 8.0 + names.len() as f64 * KEY };
    Sketch::stacked(&heading, [&chart, &keys].into_iter(), theme)
}

/// Draws all times of the curves at the size of files.
fn whole_chart(curves: &LogCurves, theme: &Theme) -> Sketch {
    let whole = curves.whole();
    Sketch { ops: log_chart(curves, whole, whole.0, CHART, theme).ops, width: CHART.0, height: CHART.1 }
}

/// Height of a row of the key in CSS pixels.
const KEY: f64 = 18.0;

/// Draws a row of the key: the colour of a series and its name.
fn key(row: usize, name: &str, series: Option<usize>, theme: &Theme) -> Vec<Op> {
    let top = row as f64 * KEY;
    let color = series.map_or(theme.oom, |position| series_color(position, theme));
    let name = Font::LABEL.fitted(name, CHART.0 - LOG_ROOM.left - 40.0);
    vec![
        Op::Fill { rect: Rect::new(LOG_ROOM.left, top + 3.0, 18.0, 10.0), radius: 0.0, color },
        Op::text((LOG_ROOM.left + 26.0, top + 8.0), name, Align::Left, Font::LABEL, theme.text),
    ]
}

/// Returns the names of the series with their positions, and that of the limit.
pub fn legend(curves: &LogCurves) -> Vec<(String, Option<usize>)> {
    let series = curves.series.iter().enumerate().map(|(position, series)| (series.name.clone(), Some(position)));
    let limit = curves.limit.iter().map(|limit| {
        let bytes = format::bytes(limit.bytes);
        (format!("{}, {bytes}", limit.name), None)
    });
    series.chain(limit).collect()
}
