//! A single choice, and its effect on the others.

use super::{Choices, CompareChoice, Controls, DifferencesChoice, EventsChoice, RowsChoice, SegmentsChoice, Zoom};
use crate::ask::site_table::SiteOrder;
use crate::ask::{NameMark, WhatIfSetup};
use crate::state::Selecting;
use std::rc::Rc;

/// Choice in a view below the timeline.
///
/// Controls that may be used at the same time have variants of their own, so that none resets another.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Selects the allocations that are examined.
    Selecting(Selecting),
    /// Changes the table of allocations.
    Rows(RowsChoice),
    /// Changes the list of events.
    Events(EventsChoice),
    /// Changes how stacks are shown.
    Stacks(Controls),
    /// Changes the search text for stacks.
    StackSearch(String),
    /// Changes the part of the flame graph in view.
    Zoom(Option<Zoom>),
    /// Shows a function between its callers and callees.
    Site(NameMark),
    /// Sorts the functions.
    SiteOrder(SiteOrder),
    /// Changes the map of segments.
    Segments(SegmentsChoice),
    /// Changes what is compared.
    Compare(CompareChoice),
    /// Changes the table of differences.
    Differences(DifferencesChoice),
    /// Changes the settings or the card of a replay.
    WhatIf(WhatIfSetup),
    /// Changes what counts as the user's own code.
    Own(Rc<str>),
}

impl Choices {
    /// Applies a choice.
    pub fn take(&mut self, choice: Choice) {
        match choice {
            Choice::Selecting(selecting) => {
                // A part of one graph means nothing in another.
                self.stacks.zoom = None;
                self.selecting = selecting;
            }
            Choice::Rows(rows) => self.rows = rows,
            Choice::Events(events) => self.events = events,
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
            Choice::Own(own) => self.own = own,
        }
    }

    /// Resets choices that depend on the device, since another one has other streams, groups, moments and requests.
    pub fn leave_device(&mut self) {
        self.selecting = self.selecting.for_other_device();
        self.stacks.zoom = None;
        self.segments.focus = None;
        self.events.event = None;
        self.what_if = None;
    }
}
