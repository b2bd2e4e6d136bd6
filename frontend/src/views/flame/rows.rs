//! Boxes of a flame graph by row, for lookup by place and steps between neighbours.

use crate::draw::Span;
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameKind {
    All,
    /// A site, with the number of its colour.
    Site(u32),
    NoStack,
    /// Siblings too small to be told apart.
    Merged,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlameLabel {
    pub name: String,
    /// Text behind the name if there is room; may be empty.
    pub place: String,
    pub kind: FlameKind,
    pub is_match: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlameBox {
    /// Position of the parent box; the root is its own parent.
    pub parent: u32,
    pub depth: u32,
    /// Range from the left to the right edge, in units of weight.
    pub span: Span,
    pub label: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toward {
    /// The box that contains this one.
    Parent,
    /// The largest of the contained boxes.
    Child,
    Left,
    Right,
}

/// All boxes of a flame graph that are large enough to be seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlameRows {
    boxes: Vec<FlameBox>,
    labels: Vec<FlameLabel>,
    /// Positions of the boxes, row by row and from left to right.
    order: Vec<u32>,
    /// Start of each row in `order`, followed by the end of the last row.
    starts: Vec<usize>,
}

impl FlameRows {
    pub fn new(boxes: Vec<FlameBox>, labels: Vec<FlameLabel>) -> Self {
        let mut order: Vec<u32> = (0..boxes.len() as u32).collect();
        let at = |index: &u32| &boxes[*index as usize];
        order.sort_by(|a, b| at(a).depth.cmp(&at(b).depth).then(at(a).span.start.total_cmp(&at(b).span.start)));
        let rows = order.last().map_or(0, |last| at(last).depth + 1);
        let starts = (0..=rows).map(|row| order.partition_point(|index| at(index).depth < row)).collect();
        Self { boxes, labels, order, starts }
    }

    pub fn get(&self, index: u32) -> Option<&FlameBox> {
        self.boxes.get(index as usize)
    }

    pub fn label(&self, index: u32) -> Option<&FlameLabel> {
        self.labels.get(self.get(index)?.label as usize)
    }

    pub fn box_count(&self) -> usize {
        self.boxes.len()
    }

    pub fn row_count(&self) -> u32 {
        self.starts.len().saturating_sub(1) as u32
    }

    /// Returns the positions of a row's boxes within a range of weights, from left to right.
    pub fn in_row(&self, row: u32, shown: Span) -> &[u32] {
        let all = &self.order[self.range(row)];
        let first = all.partition_point(|&index| self.boxes[index as usize].span.end <= shown.start);
        let end = all.partition_point(|&index| self.boxes[index as usize].span.start < shown.end);
        &all[first..end.max(first)]
    }

    pub fn hit(&self, row: u32, weight: f64) -> Option<u32> {
        let all = &self.order[self.range(row)];
        let after = all.partition_point(|&index| self.boxes[index as usize].span.start <= weight);
        all[..after].last().copied().filter(|&index| weight < self.boxes[index as usize].span.end)
    }

    pub fn step(&self, index: u32, toward: Toward) -> Option<u32> {
        let from = self.get(index)?;
        let row = &self.order[self.range(from.depth)];
        let place = row.iter().position(|&other| other == index)?;
        match toward {
            Toward::Parent => (from.depth > 0).then_some(from.parent),
            Toward::Left => place.checked_sub(1).map(|place| row[place]),
            Toward::Right => row.get(place + 1).copied(),
            Toward::Child => {
                let below = self.in_row(from.depth + 1, from.span).iter().copied();
                let len = |index: u32| self.boxes[index as usize].span.len();
                let children = below.filter(|&child| self.boxes[child as usize].parent == index);
                children.reduce(|best, child| if len(child) > len(best) { child } else { best })
            }
        }
    }

    pub fn path(&self, index: u32) -> Vec<u32> {
        let up = |&index: &u32| self.step(index, Toward::Parent);
        let mut path: Vec<u32> = std::iter::successors(self.get(index).map(|_| index), up).collect();
        path.reverse();
        path
    }

    fn range(&self, row: u32) -> Range<usize> {
        let at = |row: usize| self.starts.get(row).copied().unwrap_or(self.order.len());
        at(row as usize)..at(row as usize + 1)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Creates boxes from `(parent, depth, start, end)`, each with a label of its own.
    pub(in crate::views::flame) fn rows(boxes: &[(u32, u32, f64, f64)]) -> FlameRows {
        let label = |index: usize| FlameLabel {
            name: format!("function_{index}"),
            place: "train.py:10".to_owned(),
            kind: if index == 0 { FlameKind::All } else { FlameKind::Site(index as u32) },
            is_match: index == 1,
        };
        let labels = (0..boxes.len()).map(label).collect();
        let boxes = boxes.iter().enumerate().map(|(index, &(parent, depth, start, end))| FlameBox {
            parent,
            depth,
            span: Span::new(start, end),
            label: index as u32,
        });
        FlameRows::new(boxes.collect(), labels)
    }

    fn example() -> FlameRows {
        rows(&[(0, 0, 0.0, 100.0), (0, 1, 0.0, 30.0), (1, 2, 0.0, 10.0), (1, 2, 10.0, 25.0), (0, 1, 30.0, 90.0)])
    }

    #[test]
    fn a_hit_is_the_box_that_covers_the_point() {
        let rows = example();
        assert_eq!((rows.hit(0, 99.0), rows.hit(1, 30.0), rows.hit(1, 29.9)), (Some(0), Some(4), Some(1)));
        assert_eq!(
            (rows.hit(1, 95.0), rows.hit(2, 27.0), rows.hit(7, 1.0), rows.hit(0, -1.0)),
            (None, None, None, None)
        );
    }

    #[test]
    fn keys_walk_from_box_to_box() {
        let rows = example();
        assert_eq!(rows.step(0, Toward::Child), Some(4), "the largest");
        assert_eq!(rows.step(1, Toward::Child), Some(3));
        assert_eq!(rows.step(2, Toward::Child), None);
        assert_eq!((rows.step(3, Toward::Parent), rows.step(0, Toward::Parent)), (Some(1), None));
        assert_eq!((rows.step(1, Toward::Right), rows.step(1, Toward::Left)), (Some(4), None));
        assert_eq!(rows.path(3), [0, 1, 3]);
    }

    #[test]
    fn only_what_is_shown_is_looked_at() {
        let rows = example();
        assert_eq!(rows.in_row(1, Span::new(0.0, 30.0)), [1]);
        assert_eq!(rows.in_row(2, Span::new(5.0, 11.0)), [2, 3]);
        assert_eq!(rows.in_row(9, Span::new(0.0, 1.0)), [0; 0]);
        assert_eq!((rows.row_count(), FlameRows::default().row_count()), (3, 0));
    }
}
