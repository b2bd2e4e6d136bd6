//! Content of the rows of spans above the plot.

use crate::ask::{Axis, PartSpan, Parts, Phase, PhaseBasis, Span as Annotated, StepSource};
use crate::draw::{Color, Span, Theme};
use shared::base::{ShortSort, format};

/// Spans of one kind that do not overlap, sorted by start.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) spans: Vec<Span>,
    pub(super) kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Annotations of one depth, with their names.
    Annotated(usize, Vec<String>),
    /// Steps that no annotation names.
    Steps(StepSource),
    /// Phases, with the phase of each span.
    Phases(PhaseBasis, Vec<Phase>),
}

impl Row {
    /// Arranges annotated spans in rows by depth; spans deeper than `rows` are left out.
    pub(super) fn annotated(spans: &[Annotated], rows: usize, axis: Axis) -> Vec<Self> {
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
    pub(super) fn found(parts: &Parts, count: usize, axis: Axis) -> Vec<Self> {
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

    /// Returns the text on a span.
    pub(super) fn name(&self, index: usize) -> String {
        match &self.kind {
            Kind::Annotated(_, names) => names[index].clone(),
            Kind::Steps(_) => format!("step {}", format::count(index as u64 + 1)),
            Kind::Phases(_, names) if names[index] == Phase::Unknown => "after the error".to_owned(),
            Kind::Phases(_, names) => names[index].name().to_owned(),
        }
    }

    /// Returns the name of a span and, unless it is annotated, how it was found.
    pub(super) fn description(&self, index: usize) -> String {
        let name = self.name(index);
        match self.kind.origin() {
            Some(origin) => format!("{name}, {origin}"),
            None => name,
        }
    }

    /// Returns the text on several spans that are drawn as one.
    pub(super) fn crowd_name(&self, count: usize) -> String {
        let noun = match self.kind {
            Kind::Annotated(..) => "span",
            Kind::Steps(_) => "step",
            Kind::Phases(..) => "phase",
        };
        format::counted(count as u64, noun)
    }

    pub(super) fn color(&self, index: usize, theme: &Theme) -> Color {
        match &self.kind {
            Kind::Annotated(depth, _) => theme.spans[depth % theme.spans.len()],
            Kind::Steps(_) => theme.step_edge,
            Kind::Phases(_, names) if names[index] == Phase::Unknown => theme.mixed,
            Kind::Phases(_, names) => theme.phases[names[index] as usize],
        }
    }

    /// Returns the colour of several spans that are drawn as one.
    pub(super) fn crowd_color(&self, theme: &Theme) -> Color {
        match self.kind {
            Kind::Phases(..) => theme.mixed,
            Kind::Annotated(..) | Kind::Steps(_) => self.color(0, theme),
        }
    }
}

impl Kind {
    /// Returns the text left of the row; rows of annotations have none, because each span has a name.
    pub(super) fn margin_name(&self) -> Option<&'static str> {
        match self {
            Self::Annotated(..) => None,
            Self::Steps(_) => Some("steps"),
            Self::Phases(..) => Some("phases"),
        }
    }

    /// Returns the text in a row of steps or phases in which none were found.
    pub(super) fn remark(&self) -> Option<&'static str> {
        match self {
            Self::Annotated(..) => None,
            Self::Steps(_) => Some("no repeating steps found"),
            Self::Phases(..) => Some("no phases identified"),
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

/// Returns the range of a step or a phase on the axis, by the same rule.
pub(super) fn place_of_part(part: &PartSpan, axis: Axis) -> Span {
    match axis {
        Axis::Events => of_moments(part.start_moment, part.end_moment),
        Axis::Time => Span::new(part.start_us as f64, part.end_us as f64),
    }
}

fn of_moments(start: u32, end: u32) -> Span {
    Span::new(f64::from(start) + 1.0, f64::from(end.max(start)) + 1.0)
}
