//! One choice, and what it means for the others.

use super::{Choices, CompareChoice, Controls, DifferencesChoice, RowsChoice, SegmentsChoice, Zoom};
use crate::state::Selecting;
use crate::view::flame::SiteOrder;
use crate::worker::{NameMark, WhatIfSetup};
use std::rc::Rc;

/// Something was chosen in a view below the timeline.
///
/// What different hands choose at the same time are choices of their own: none takes back another.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Which allocations are meant.
    Selecting(Selecting),
    /// Another table of allocations.
    Rows(RowsChoice),
    /// Stacks in another way.
    Stacks(Controls),
    /// Another text to look for in stacks.
    StackSearch(String),
    /// Another part of the flame graph.
    Zoom(Option<Zoom>),
    /// A function between its callers and callees.
    Site(NameMark),
    /// Functions in another order.
    SiteOrder(SiteOrder),
    /// Another map of segments.
    Segments(SegmentsChoice),
    /// Something else to compare.
    Compare(CompareChoice),
    /// Differences in another way.
    Differences(DifferencesChoice),
    /// Other settings or another card.
    WhatIf(WhatIfSetup),
}

impl Choices {
    /// Takes a choice.
    pub fn take(&mut self, choice: Choice) {
        match choice {
            Choice::Selecting(selecting) => {
                // A part of one graph means nothing in another.
                self.stacks.zoom = None;
                self.selecting = selecting;
            }
            Choice::Rows(rows) => self.rows = rows,
            Choice::Stacks(controls) => {
                let of_graph = |controls: Controls| {
                    let Controls { is_inverted, by_appearance, by_line, with_runtime, .. } = controls;
                    (is_inverted, by_appearance, by_line, with_runtime)
                };
                if of_graph(controls) != of_graph(self.stacks.controls) {
                    self.stacks.zoom = None;
                }
                self.stacks.controls = controls;
            }
            Choice::StackSearch(text) => self.stacks.search = text,
            Choice::Zoom(zoom) => self.stacks.zoom = zoom,
            Choice::Site(site) => self.stacks.site = Some(site),
            Choice::SiteOrder(order) => self.stacks.order = order,
            Choice::Segments(segments) => self.segments = segments,
            Choice::Compare(compare) => self.compare = compare,
            Choice::Differences(differences) => self.differences = differences,
            Choice::WhatIf(setup) => self.what_if = Some(Rc::new(setup)),
        }
    }

    /// Leaves what is of another device: its streams, groups, moments and requests are others.
    pub fn leave_device(&mut self) {
        self.selecting = self.selecting.for_other_device();
        self.stacks.zoom = None;
        self.segments.focus = None;
        self.what_if = None;
    }
}
