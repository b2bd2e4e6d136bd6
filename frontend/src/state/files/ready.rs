//! A file whose model is loaded, with the current view of it.

use super::Start;
use crate::ask::{Axis, ColorBy, DeviceFigures, FileSummary, FilterData, Hit, HitAllocation, Kind, Parts, WhatIfSetup};
use crate::draw::camera::View;
use crate::state::card::ThisCard;
use crate::state::choices::{Choice, Choices};
use crate::state::points::{PointAction, Points};
use crate::state::view_state::{DockTab, PanelTab, PinKey, ViewState};
use shared::analysis::PhaseBasis;
use shared::report::Diagnosis;
use std::rc::Rc;

/// File whose model is loaded, with the current view of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadyFile {
    pub summary: Rc<FileSummary>,
    /// Figures of each device, as far as they have arrived.
    pub figures: Vec<Option<Rc<DeviceFigures>>>,
    /// Steps and phases of each device, as far as they have arrived.
    pub parts: Vec<Option<Rc<Parts>>>,
    /// Findings, once they have arrived.
    pub findings: Option<Rc<Diagnosis>>,
    /// Position of the shown device.
    pub device: u32,
    pub axis: Axis,
    /// Pinned allocation of the shown device.
    pub pinned: Option<Rc<Hit>>,
    /// Allocation to pin once it is found.
    pub start_pin: Option<PinKey>,
    pub kind: Option<Rc<Kind>>,
    /// Initial part of the timeline, for the shown device and axis.
    pub start_range: Option<View>,
    pub tab: PanelTab,
    pub dock: Option<DockTab>,
    /// True if the open view takes the whole window but the minimap.
    pub is_maximized: bool,
    /// Chosen property that the colours of the timeline show; see [`color`](Self::color).
    pub color: Option<ColorBy>,
    pub choices: Rc<Choices>,
    /// Card, if it was chosen or is known.
    pub card: Option<ThisCard>,
    pub points: Rc<Points>,
    pub notice: Option<Rc<str>>,
    /// Number of views requested while the page was open; the timeline starts anew with each.
    pub arrivals: u32,
}

impl ReadyFile {
    pub(super) fn new(summary: FileSummary, start: &Start) -> Self {
        let (figures, parts) = (vec![None; summary.devices.len()], vec![None; summary.devices.len()]);
        let of_index = |view: &ViewState| summary.devices.iter().position(|device| device.index == view.device);
        // A view of a device that this file does not have belongs to another file.
        let view = start.view.as_ref().and_then(|view| Some((of_index(view)? as u32, view.clone())));
        let (device, view) = view.unwrap_or_else(|| (summary.first_device(), ViewState::default()));
        let ViewState { axis, range, pin, kind, tab, dock, is_maximized, color, choices, card, points, .. } = view;
        Self {
            summary: Rc::new(summary),
            figures,
            parts,
            findings: None,
            device,
            axis,
            pinned: None,
            start_pin: pin,
            kind,
            start_range: range,
            tab,
            dock,
            is_maximized,
            color,
            card: choices.what_if.as_deref().map_or(card.or(start.card), ThisCard::of),
            choices,
            points,
            notice: start.notice.clone(),
            arrivals: 0,
        }
    }

    /// Returns the current view, where `range` is the part of the timeline in view.
    pub fn view_state(&self, range: Option<View>) -> ViewState {
        let device = self.device_index();
        let Self { axis, tab, dock, color, card, .. } = *self;
        let (is_maximized, pin) = (self.is_dock_maximized(), self.pin_key());
        let (choices, points, kind) = (self.choices.clone(), self.points.clone(), self.kind.clone());
        ViewState { device, axis, range, pin, kind, tab, dock, is_maximized, color, choices, card, points }
    }

    /// Returns the allocation that is pinned or to be pinned.
    fn pin_key(&self) -> Option<PinKey> {
        let pinned = self.pinned.as_ref().and_then(|hit| {
            let allocation = hit.allocation.as_ref()?.key();
            Some(PinKey { allocation, moment: hit.moment })
        });
        pinned.or(self.start_pin)
    }

    /// Returns the pinned allocation; what was clicked may have none.
    pub fn pinned_allocation(&self) -> Option<&HitAllocation> {
        self.pinned.as_ref()?.allocation.as_ref()
    }

    /// Returns the steps and phases of the shown device, once they have arrived.
    pub fn shown_parts(&self) -> Option<&Rc<Parts>> {
        self.parts.get(self.device as usize)?.as_ref()
    }

    /// Returns the property that the colours of the timeline show: the chosen one, or categories where stacks or
    /// operations tell them.
    pub fn color(&self) -> ColorBy {
        let are_categories_told =
            |parts: &Rc<Parts>| !parts.phases.is_empty() && parts.phases_basis != PhaseBasis::Curve;
        let first =
            if self.shown_parts().is_some_and(are_categories_told) { ColorBy::Category } else { ColorBy::Stack };
        self.color.unwrap_or(first)
    }

    /// Returns the figures of the shown device, once they have arrived.
    pub fn shown_figures(&self) -> Option<&Rc<DeviceFigures>> {
        self.figures.get(self.device as usize)?.as_ref()
    }

    pub(super) fn hear(&mut self, figures: DeviceFigures) {
        if let Some(place) = self.figures.get_mut(figures.device as usize) {
            *place = Some(Rc::new(figures));
        }
        // Only the figures tell whether the device has times.
        if self.shown_figures().is_some_and(|figures| !figures.has_times) {
            self.choose_axis(Axis::Events);
        }
    }

    /// Pins what was clicked, and shows its details in the panel.
    pub(super) fn pin(&mut self, hit: Option<Hit>) {
        if hit.is_some() {
            self.tab = PanelTab::Allocation;
        }
        (self.pinned, self.start_pin) = (hit.map(Rc::new), None);
    }

    /// Selects all allocations with the stack of the pinned one, or none if they are selected already.
    pub(super) fn select_pinned(&mut self) {
        let Some(kind) = self.pinned_kind() else { return };
        self.kind = Some(kind).filter(|kind| self.kind.as_deref() != Some(kind)).map(Rc::new);
    }

    /// Leaves the selected kind, or else unpins the pinned allocation.
    pub(super) fn leave(&mut self) {
        if self.kind.take().is_none() {
            self.pin(None);
        }
    }

    pub fn pinned_kind(&self) -> Option<Kind> {
        Some(Kind::StackOf(self.pinned_allocation()?.key()))
    }

    pub(super) fn pin_found(&mut self, device: u32, hit: Option<Hit>) {
        self.choose_device(device);
        (self.pinned, self.start_pin) = (hit.map(Rc::new), None);
    }

    /// Pins the allocation of the initial view, unless the user has pinned another; the selected tab stays.
    pub(super) fn pin_start(&mut self, hit: Option<Hit>) {
        if self.start_pin.take().is_some() && self.pinned.is_none() {
            self.pinned = hit.map(Rc::new);
        }
    }

    /// Shows another view of the file, or a notice if the view's device is not in this file.
    ///
    /// The timeline starts anew, unless it shows that view's part already.
    pub(super) fn go_to(&mut self, start: Start, is_same_part: bool) {
        let Start { view, notice, .. } = start;
        let Some(view) = view else {
            self.notice = notice;
            return;
        };
        let Some(device) = self.summary.devices.iter().position(|device| device.index == view.device) else {
            self.notice = Some("The view in this address shows a device that this file does not have.".into());
            return;
        };
        let ViewState { axis, range, pin, kind, tab, dock, is_maximized, color, choices, card, points, .. } = view;
        self.device = device as u32;
        self.choose_axis(axis);
        self.start_range = range.filter(|_| self.axis == axis);
        if !(is_same_part && pin == self.pin_key()) {
            (self.pinned, self.start_pin) = (None, pin);
        }
        self.card = choices.what_if.as_deref().and_then(ThisCard::of).or(card).or(self.card);
        (self.tab, self.dock, self.is_maximized) = (tab, dock, is_maximized);
        (self.color, self.choices, self.points, self.notice) = (color, choices, points, notice);
        self.kind = kind;
        self.arrivals += u32::from(!is_same_part);
    }

    /// Returns the CUDA index of the shown device.
    pub fn device_index(&self) -> i64 {
        self.summary.devices.get(self.device as usize).map_or(0, |device| device.index)
    }

    pub(super) fn take_point(&mut self, action: PointAction) {
        let device = self.device_index();
        Rc::make_mut(&mut self.points).take(device, action);
    }

    /// Returns true if a view is open below the timeline and takes the whole window.
    pub fn is_dock_maximized(&self) -> bool {
        self.is_maximized && self.dock.is_some()
    }

    /// Opens or closes a view below the timeline; a view that is opened later starts at its usual height.
    pub(super) fn choose_dock(&mut self, dock: Option<DockTab>) {
        self.is_maximized &= dock.is_some();
        self.dock = dock;
    }

    /// Maximises the open view, or the first one if none is open, or returns to the usual height.
    pub(super) fn toggle_maximized(&mut self) {
        self.is_maximized = !self.is_dock_maximized();
        self.dock.get_or_insert(DockTab::ALL[0]);
    }

    /// Applies a choice made below the timeline; the card of a replay is also the file's card.
    pub(super) fn choose(&mut self, choice: Choice) {
        let choice = match choice {
            Choice::WhatIf(setup) => Choice::WhatIf(self.on_card(setup)),
            choice => choice,
        };
        if let Choice::Selecting(selecting) = &choice {
            self.follow_search(&selecting.filter);
        }
        Rc::make_mut(&mut self.choices).take(choice);
    }

    /// Selects what a changed search text finds, so that the timeline shows it too.
    fn follow_search(&mut self, filter: &FilterData) {
        let before = &self.choices.selecting.filter;
        let FilterData { text, is_expression, .. } = filter;
        if (text, is_expression) == (&before.text, &before.is_expression) {
            return;
        }
        if !text.is_empty() {
            self.kind = Some(Rc::new(Kind::Text { text: text.clone(), is_expression: *is_expression }));
        } else if self.kind.as_deref().is_some_and(Kind::is_typed) {
            self.kind = None;
        }
    }

    /// Starts the first replay on the file's card, if there is one; the cards of later replays become the file's card.
    fn on_card(&mut self, setup: WhatIfSetup) -> WhatIfSetup {
        if self.choices.what_if.is_none() && self.card.is_some() {
            return ThisCard::put(self.card, setup);
        }
        self.card = ThisCard::of(&setup);
        setup
    }

    pub(super) fn choose_card(&mut self, card: Option<ThisCard>) {
        self.card = card;
        if let Some(setup) = self.choices.what_if.as_deref() {
            let setup = ThisCard::put(card, setup.clone());
            Rc::make_mut(&mut self.choices).take(Choice::WhatIf(setup));
        }
    }

    pub(super) fn choose_device(&mut self, device: u32) {
        if (device as usize) < self.summary.devices.len() && device != self.device {
            self.device = device;
            (self.pinned, self.start_pin, self.start_range) = (None, None, None);
            // An event of one device means nothing on another.
            self.kind = self.kind.take().filter(|kind| !matches!(**kind, Kind::StackOf(_)));
            Rc::make_mut(&mut self.choices).leave_device();
            self.choose_axis(self.axis);
        }
    }

    pub(super) fn step_device(&mut self, step: i32) {
        let listed = self.used_devices();
        let position = listed.iter().position(|&device| device == self.device).unwrap_or(0) as i64;
        let next = (position + i64::from(step)).rem_euclid(listed.len().max(1) as i64);
        if let Some(&device) = listed.get(next as usize) {
            self.choose_device(device);
        }
    }

    pub(super) fn choose_axis(&mut self, axis: Axis) {
        let has_times = self.shown_figures().is_none_or(|figures| figures.has_times);
        let axis = if has_times { axis } else { Axis::Events };
        if axis != self.axis {
            self.axis = axis;
            self.start_range = None;
        }
    }
}
