//! Rows of spans above the plot: annotations, steps and phases.
//!
//! At most a few operations per pixel are drawn, however many spans there are.

use crate::ask::{Axis, PartSpan, Parts, Phase, PhaseBasis, Span as Annotated, StepSource};
use crate::draw::{Align, Camera, Color, Font, LANE_ROW, LANE_ROWS, Layout, Op, Rect, Span, Theme};
use shared::base::{ShortSort, format};

/// Width below which spans are drawn together, in CSS pixels.
const DENSE: f64 = 2.0;

/// Minimum width of a span with a label, in CSS pixels.
const LABELLED: f64 = 28.0;

/// Minimum width of a span with round corners, in CSS pixels; there may be hundreds of narrower ones.
const ROUNDED: f64 = 12.0;

/// Distance between a row's name and the row, in CSS pixels.
const NAME_GAP: f64 = 8.0;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    rows: Vec<Row>,
    /// Number of rows that are still to come; room is already reserved for them.
    awaited: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pointed {
    /// Name of the span, and how it was found.
    pub text: String,
    pub span: Span,
}

/// Neighbouring spans that are drawn as one.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Crowd {
    /// Index of the first span in its row.
    first: usize,
    count: usize,
    start: f64,
    end: f64,
}

impl Lane {
    /// Arranges the annotated spans by depth, as far as there is room, above the rows of steps and phases.
    ///
    /// While `parts` is `None`, `awaited` rows are left free for them.
    pub fn new(spans: &[Annotated], parts: Option<&Parts>, awaited: usize, axis: Axis) -> Self {
        let found = parts.map_or_else(Vec::new, |parts| Row::found(parts, awaited, axis));
        let awaited = if parts.is_some() { 0 } else { awaited };
        let mut rows = Row::annotated(spans, LANE_ROWS - found.len().max(awaited), axis);
        rows.extend(found);
        Self { rows, awaited }
    }

    pub fn row_count(&self) -> usize {
        self.rows.len() + self.awaited
    }

    pub fn ops(&self, camera: &Camera, layout: &Layout, theme: &Theme) -> Vec<Op> {
        let mut ops = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            let y = layout.lane.y + number as f64 * LANE_ROW;
            ops.extend(words(row, y, layout, theme));
            for crowd in crowds(&row.spans, camera, layout) {
                push_box(row, &crowd, (y, camera, layout), theme, &mut ops);
            }
        }
        ops
    }

    pub fn span_at(&self, (x, y): (f64, f64), camera: &Camera, layout: &Layout) -> Option<Pointed> {
        if !layout.lane.contains(x, y) {
            return None;
        }
        let row = self.rows.get(((y - layout.lane.y) / LANE_ROW) as usize)?;
        let position = camera.position_from_x(x - layout.plot.x);
        let index = row.spans.partition_point(|span| span.start <= position).checked_sub(1)?;
        let span = row.spans[index];
        (position < span.end).then(|| Pointed { text: row.description(index), span })
    }
}

/// Groups the spans in view; neighbours too narrow to be told apart form one crowd.
fn crowds(row: &[Span], camera: &Camera, layout: &Layout) -> Vec<Crowd> {
    let view = camera.view().x;
    let pixel = view.len() / layout.lane.width;
    let mut crowds: Vec<Crowd> = Vec::new();
    let mut next = row.partition_point(|span| span.start < view.start).saturating_sub(1);
    while let Some(first) = row.get(next).filter(|span| span.start < view.end) {
        let mut crowd = Crowd { first: next, count: 1, start: first.start, end: first.end };
        if first.len() < DENSE * pixel {
            // Skipping by binary search instead of one by one bounds the cost by the width of the plot.
            let until = first.start + DENSE * pixel;
            crowd.count += row[next + 1..].partition_point(|span| span.end < until);
            crowd.end = row[next + crowd.count - 1].end;
        }
        next += crowd.count;
        if crowd.end <= view.start && crowd.start < view.start {
            continue;
        }
        match crowds.last_mut().filter(|last| is_one_crowd(last, &crowd, pixel)) {
            Some(last) => {
                last.count += crowd.count;
                last.end = crowd.end;
            }
            None => crowds.push(crowd),
        }
    }
    crowds
}

/// Returns true if two neighbours are both of narrow spans and no visible gap separates them.
fn is_one_crowd(last: &Crowd, next: &Crowd, pixel: f64) -> bool {
    let is_narrow = |crowd: &Crowd| (crowd.end - crowd.start) / (crowd.count as f64) < DENSE * pixel;
    is_narrow(last) && is_narrow(next) && next.start - last.end < DENSE * pixel
}

fn push_box(row: &Row, crowd: &Crowd, (y, camera, layout): (f64, &Camera, &Layout), theme: &Theme, ops: &mut Vec<Op>) {
    let (view, lane) = (camera.view().x, layout.lane);
    let x_of = |position: f64| lane.x + camera.x_from_position(position.clamp(view.start, view.end));
    let x = x_of(crowd.start);
    let rect = Rect { x, y, width: (x_of(crowd.end) - x - 1.0).max(1.0), height: LANE_ROW - 2.0 };
    let radius = if rect.width < ROUNDED { 0.0 } else { 3.0 };
    let is_single = crowd.count == 1;
    match row.kind {
        Kind::Steps(_) if rect.width > 3.0 => {
            ops.push(Op::Fill { rect, radius, color: theme.step_edge });
            let inner = Rect { x: x + 1.0, y: y + 1.0, width: rect.width - 2.0, height: rect.height - 2.0 };
            ops.push(Op::Fill { rect: inner, radius: (radius - 1.0).max(0.0), color: theme.step });
        }
        _ if is_single => ops.push(Op::Fill { rect, radius, color: row.color(crowd.first, theme) }),
        _ => ops.push(Op::Fill { rect, radius, color: row.crowd_color(theme) }),
    }
    let name = if is_single { row.name(crowd.first) } else { row.crowd_name(crowd.count) };
    ops.extend(label(rect, &name, theme));
}

fn label(rect: Rect, name: &str, theme: &Theme) -> Option<Op> {
    let text = if rect.width < LABELLED { String::new() } else { Font::LABEL.fitted(name, rect.width - 10.0) };
    let at = (rect.x + 5.0, rect.y + rect.height / 2.0 + 0.5);
    (!text.is_empty()).then(|| Op::text(at, text, Align::Left, Font::LABEL, theme.span_text))
}

/// Returns the name of a row of steps or phases, which is left of the row, and a text in it if none were found.
fn words(row: &Row, y: f64, layout: &Layout, theme: &Theme) -> Vec<Op> {
    let Some((name, remark)) = row.kind.words() else { return Vec::new() };
    let y = y + LANE_ROW / 2.0 - 0.5;
    let text = |x: f64, text: String, align: Align| Op::text((x, y), text, align, Font::LABEL, theme.text_muted);
    let mut ops = vec![text(layout.lane.x - NAME_GAP, name.to_owned(), Align::Right)];
    if row.spans.is_empty() {
        ops.push(text(layout.lane.x + 5.0, Font::LABEL.fitted(remark, layout.lane.width - 10.0), Align::Left));
    }
    ops
}

/// Spans of one kind that do not overlap, sorted by start.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    spans: Vec<Span>,
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// Annotations of one depth, with their names.
    Annotated(usize, Vec<String>),
    /// Steps that no annotation names.
    Steps(StepSource),
    /// Phases, with the phase of each span.
    Phases(PhaseBasis, Vec<Phase>),
}

impl Row {
    /// Arranges annotated spans in rows by depth; spans deeper than `rows` are left out.
    fn annotated(spans: &[Annotated], rows: usize, axis: Axis) -> Vec<Self> {
        let mut by_depth: Vec<Vec<(Span, &str)>> = Vec::new();
        for span in spans.iter().filter(|span| (span.depth as usize) < rows) {
            let depth = span.depth as usize;
            by_depth.resize_with(by_depth.len().max(depth + 1), Vec::new);
            by_depth[depth].push((place(span, axis), &span.name));
        }
        let row = |(depth, mut row): (usize, Vec<(Span, &str)>)| {
            row.short_sort_by(|a, b| a.0.start.total_cmp(&b.0.start));
            let (spans, names) = row.into_iter().map(|(span, name)| (span, name.to_owned())).unzip();
            Self { spans, kind: Kind::Annotated(depth, names) }
        };
        by_depth.into_iter().enumerate().map(row).collect()
    }

    /// Returns `count` rows for those of the steps and the phases that no annotation names.
    ///
    /// A single row shows the phases if annotations name the steps, and the steps otherwise.
    fn found(parts: &Parts, count: usize, axis: Axis) -> Vec<Self> {
        let steps = Self {
            spans: parts.steps.iter().map(|step| place_of_part(step, axis)).collect(),
            kind: Kind::Steps(parts.steps_basis),
        };
        let phases = Self {
            spans: parts.phases.iter().map(|(_, part)| place_of_part(part, axis)).collect(),
            kind: Kind::Phases(parts.phases_basis, parts.phases.iter().map(|phase| phase.0).collect()),
        };
        let are_annotated = !parts.steps.is_empty() && parts.steps_basis == StepSource::Annotations;
        match count {
            0 => Vec::new(),
            1 if are_annotated => vec![phases],
            1 => vec![steps],
            _ => vec![steps, phases],
        }
    }

    fn name(&self, index: usize) -> String {
        match &self.kind {
            Kind::Annotated(_, names) => names[index].clone(),
            Kind::Steps(_) => format!("step {}", format::count(index as u64 + 1)),
            Kind::Phases(_, names) if names[index] == Phase::Unknown => "after the error".to_owned(),
            Kind::Phases(_, names) => names[index].name().to_owned(),
        }
    }

    fn description(&self, index: usize) -> String {
        let name = self.name(index);
        match self.kind.origin() {
            Some(origin) => format!("{name}, {origin}"),
            None => name,
        }
    }

    fn crowd_name(&self, count: usize) -> String {
        let noun = match self.kind {
            Kind::Annotated(..) => "span",
            Kind::Steps(_) => "step",
            Kind::Phases(..) => "phase",
        };
        format::counted(count as u64, noun)
    }

    fn color(&self, index: usize, theme: &Theme) -> Color {
        match &self.kind {
            Kind::Annotated(depth, _) => theme.spans[depth % theme.spans.len()],
            Kind::Steps(_) => theme.step_edge,
            Kind::Phases(_, names) if names[index] == Phase::Unknown => theme.mixed,
            Kind::Phases(_, names) => theme.phases[names[index] as usize],
        }
    }

    fn crowd_color(&self, theme: &Theme) -> Color {
        match self.kind {
            Kind::Phases(..) => theme.mixed,
            Kind::Annotated(..) | Kind::Steps(_) => self.color(0, theme),
        }
    }
}

impl Kind {
    /// Returns the name of a row of steps or phases, and the text in it if none were found.
    fn words(&self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Annotated(..) => None,
            Self::Steps(_) => Some(("steps", "no repeating steps found")),
            Self::Phases(..) => Some(("phases", "no phases identified")),
        }
    }

    fn origin(&self) -> Option<&'static str> {
        match self {
            Self::Annotated(..) => None,
            Self::Steps(basis) => basis.origin(),
            Self::Phases(basis, _) => Some(basis.origin()),
        }
    }
}

/// Returns the range of an annotated span on the axis.
///
/// On the event axis, the event that leads to a moment is drawn from that moment on. The first event inside the span is
/// therefore drawn one position after `start_moment`.
fn place(span: &Annotated, axis: Axis) -> Span {
    match axis {
        Axis::Events => of_moments(span.start_moment, span.end_moment),
        Axis::Time => Span::new(span.start_us as f64, (span.end_us as f64).max(span.start_us as f64)),
    }
}

pub(super) fn place_of_part(part: &PartSpan, axis: Axis) -> Span {
    match axis {
        Axis::Events => of_moments(part.start_moment, part.end_moment),
        Axis::Time => Span::new(part.start_us as f64, part.end_us as f64),
    }
}

fn of_moments(start: u32, end: u32) -> Span {
    Span::new(f64::from(start) + 1.0, f64::from(end.max(start)) + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{PartSpan, Phase, PhaseBasis, StepSource};
    use crate::draw::Content;

    fn span(name: &str, start: u32, end: u32, depth: u32) -> Annotated {
        Annotated { name: name.to_owned(), start_moment: start, end_moment: end, depth, ..Annotated::default() }
    }

    fn stage(rows: usize) -> (Camera, Layout) {
        let layout = Layout::new(1086.0, 500.0, 1.0, rows);
        let content = Content { x_end: 1_000_000.0, min_len: 4.0, max_bytes: 1e6 };
        (Camera::new(content, layout.plot_size()), layout)
    }

    fn annotated(spans: &[Annotated]) -> Lane {
        Lane::new(spans, None, 0, Axis::Events)
    }

    fn part(start_moment: u32, end_moment: u32) -> PartSpan {
        PartSpan { start_moment, end_moment, ..PartSpan::default() }
    }

    /// Creates a number of equally long steps, each with a forward and a backward half.
    fn parts(steps: u32, len: u32) -> Parts {
        let steps = (0..steps).map(|index| part(index * len, (index + 1) * len));
        let halves = |step: PartSpan| {
            let middle = u32::midpoint(step.start_moment, step.end_moment);
            [(Phase::Forward, part(step.start_moment, middle)), (Phase::Backward, part(middle, step.end_moment))]
        };
        Parts {
            steps_basis: StepSource::Period,
            phases_basis: PhaseBasis::Functions,
            phases: steps.clone().flat_map(halves).collect(),
            steps: steps.collect(),
            ..Parts::default()
        }
    }

    fn drawn(lane: &Lane) -> Vec<Op> {
        let (camera, layout) = stage(lane.row_count());
        lane.ops(&camera, &layout, &Theme::light())
    }

    fn texts(ops: &[Op]) -> Vec<&str> {
        ops.iter().filter_map(|op| if let Op::Text { text, .. } = op { Some(text.as_str()) } else { None }).collect()
    }

    fn pointed(lane: &Lane, x: f64, row: usize) -> Option<Pointed> {
        let (camera, layout) = stage(lane.row_count());
        lane.span_at((layout.plot.x + x, layout.lane.y + row as f64 * LANE_ROW + 2.0), &camera, &layout)
    }

    #[test]
    fn spans_are_labelled_in_their_row_and_in_view() {
        let lane = annotated(&[span("step 1", 0, 500_000, 0), span("forward", 0, 200_000, 1)]);
        assert_eq!(texts(&drawn(&lane)), ["step 1", "forward"]);
        assert_eq!(pointed(&lane, 10.0, 1).map(|pointed| pointed.text).as_deref(), Some("forward"));
        assert_eq!(pointed(&lane, 900.0, 0), None);
        let lane = annotated(&[span("whole run", 0, 1_000_000, 0)]);
        let (mut camera, layout) = stage(1);
        camera.zoom_x(500.0, 0.01);
        let ops = lane.ops(&camera, &layout, &Theme::light());
        assert_eq!(texts(&ops), ["whole run"]);
        assert!(matches!(ops[0], Op::Fill { rect, .. } if rect.x == layout.plot.x && rect.width <= layout.plot.width));
    }

    #[test]
    fn a_crowd_is_counted_and_ends_where_a_gap_is_seen() {
        let crowd: Vec<Annotated> = (0..400_000).map(|i| span("op", i * 2, i * 2 + 1, 0)).collect();
        let ops = drawn(&annotated(&crowd));
        assert_eq!(texts(&ops), ["400,000 spans"]);
        assert_eq!(ops.len(), 2);
        let of = |first: u32| (first..first + 40).map(|i| span("op", i * 100, i * 100 + 50, 0));
        let crowds: Vec<Annotated> = of(0).chain(of(5000)).chain([span("long", 600_000, 900_000, 0)]).collect();
        let ops = drawn(&annotated(&crowds));
        assert_eq!(ops.iter().filter(|op| matches!(op, Op::Fill { .. })).count(), 3);
        assert_eq!(texts(&ops), ["long"]);
    }

    #[test]
    fn what_is_drawn_is_bounded_by_the_pixels() {
        // Every other span is just wide enough to be drawn alone.
        let spans: Vec<Annotated> = (0..100_000).map(|i| span("op", i * 10, i * 10 + 9 * (i % 2), 0)).collect();
        let ops = drawn(&annotated(&spans));
        assert!(!ops.is_empty() && ops.len() as f64 <= stage(1).1.plot.width, "{}", ops.len());
    }

    #[test]
    fn what_was_found_says_how_and_is_counted() {
        let lane = Lane::new(&[], Some(&parts(4, 250_000)), 2, Axis::Events);
        let ops = drawn(&lane);
        assert_eq!(texts(&ops)[..5], ["steps", "step 1", "step 2", "step 3", "step 4"]);
        assert_eq!(texts(&ops)[5..8], ["phases", "forward", "backward"]);
        let step = pointed(&lane, 300.0, 0).expect("a step");
        assert_eq!(
            (step.text.as_str(), step.span),
            ("step 2, inferred from repetition", Span::new(250_001.0, 500_001.0))
        );
        let phase = pointed(&lane, 200.0, 1).expect("a phase");
        assert_eq!(phase.text, "backward, inferred from stacks");
        let lane = Lane::new(&[], Some(&parts(5000, 200)), 2, Axis::Events);
        assert_eq!(texts(&drawn(&lane)), ["steps", "5,000 steps", "phases", "10,000 phases"]);
        assert_eq!(pointed(&lane, 500.0, 0).expect("the step there").span.len(), 200.0);
    }

    #[test]
    fn rows_have_their_room_before_they_come_and_none_beyond_the_last() {
        let count = |parts| Lane::new(&[], parts, 2, Axis::Events).row_count();
        assert_eq!((count(None), count(Some(&parts(4, 9))), count(Some(&Parts::default()))), (2, 2, 2));
        assert_eq!(annotated(&[span("a", 0, 10, 0), span("deep", 0, 5, 7)]).row_count(), 1);
        let deep: Vec<Annotated> = (0..9).map(|depth| span("a", 0, 10, depth)).collect();
        assert_eq!(Lane::new(&deep, Some(&parts(4, 250_000)), 2, Axis::Events).row_count(), LANE_ROWS);
        let nothing = Lane::new(&[], Some(&Parts::default()), 2, Axis::Events);
        assert_eq!(texts(&drawn(&nothing)), ["steps", "no repeating steps found", "phases", "no phases identified"]);
    }
}
