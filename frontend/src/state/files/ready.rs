//! A file whose model is there, and what is looked at in it.

use super::Start;
use crate::draw::camera::View;
use crate::state::card::ThisCard;
use crate::state::choices::{Choice, Choices};
use crate::state::view_state::{DockTab, PanelTab, PinKey, ViewState};
use crate::worker::{AxisKind, ColorBy, DeviceFigures, FileSummary, Findings, Hit, Parts, WhatIfSetup};
use std::rc::Rc;

/// A file that can be looked at, and what is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadyFile {
    /// What is in it.
    pub summary: Rc<FileSummary>,
    /// The figures of each device, as far as they have come.
    pub figures: Vec<Option<Rc<DeviceFigures>>>,
    /// The steps and phases of each device, as far as they have come.
    pub parts: Vec<Option<Rc<Parts>>>,
    /// What was found, once it has come.
    pub findings: Option<Rc<Findings>>,
    /// The shown device, by position.
    pub device: u32,
    /// What runs along x.
    pub axis: AxisKind,
    /// What was clicked on the shown device.
    pub pinned: Option<Rc<Hit>>,
    /// What is to be pinned, once it is found.
    pub start_pin: Option<PinKey>,
    /// The part of the shown device and axis to begin with.
    pub start_range: Option<View>,
    /// The chosen part of the panel.
    pub tab: PanelTab,
    /// What is open below the timeline.
    pub dock: Option<DockTab>,
    /// What the colours of the timeline tell apart.
    pub color: ColorBy,
    /// What is chosen in the views below the timeline.
    pub choices: Rc<Choices>,
    /// The card, where it was chosen.
    pub card: Option<ThisCard>,
    /// Whether the worker has told what is odd about the recording.
    pub are_notices_known: bool,
    /// What is to be said about the view.
    pub notice: Option<Rc<str>>,
    /// Counts the views that were asked for while the page is open: each begins anew.
    pub arrivals: u32,
}

impl ReadyFile {
    pub(super) fn new(summary: FileSummary, start: &Start) -> Self {
        let (figures, parts) = (vec![None; summary.devices.len()], vec![None; summary.devices.len()]);
        let of_index = |view: &ViewState| summary.devices.iter().position(|device| device.index == view.device);
        // A view of a device that this file does not have is of another file.
        let view = start.view.as_ref().and_then(|view| Some((of_index(view)? as u32, view.clone())));
        let (device, view) = view.unwrap_or_else(|| (summary.first_device(), ViewState::default()));
        let ViewState { axis, range, pin, tab, dock, color, choices, card, .. } = view;
        Self {
            summary: Rc::new(summary),
            figures,
            parts,
            findings: None,
            device,
            axis,
            pinned: None,
            start_pin: pin,
            start_range: range,
            tab,
            dock,
            color,
            card: choices.what_if.as_deref().map_or(card.or(start.card), ThisCard::of),
            choices,
            are_notices_known: false,
            notice: start.notice.clone(),
            arrivals: 0,
        }
    }

    /// What is on the screen, where `range` is the part in view.
    pub fn view_state(&self, range: Option<View>) -> ViewState {
        let device = self.summary.devices.get(self.device as usize).map_or(0, |device| device.index);
        let Self { axis, tab, dock, color, .. } = *self;
        let choices = self.choices.clone();
        ViewState { device, axis, range, pin: self.pin_key(), tab, dock, color, choices, card: self.card }
    }

    /// What is pinned or to be pinned.
    fn pin_key(&self) -> Option<PinKey> {
        let pinned = self.pinned.as_ref().and_then(|hit| {
            let allocation = hit.allocation.as_ref()?.key();
            Some(PinKey { allocation, moment: hit.moment })
        });
        pinned.or(self.start_pin)
    }

    /// The steps and phases of the shown device, once they have come.
    pub fn shown_parts(&self) -> Option<&Rc<Parts>> {
        self.parts.get(self.device as usize)?.as_ref()
    }

    /// The figures of the shown device, once they have come.
    pub fn shown_figures(&self) -> Option<&Rc<DeviceFigures>> {
        self.figures.get(self.device as usize)?.as_ref()
    }

    pub(super) fn hear(&mut self, figures: DeviceFigures) {
        if let Some(place) = self.figures.get_mut(figures.device as usize) {
            *place = Some(Rc::new(figures));
        }
        // Whether the device has times was not known before.
        if self.shown_figures().is_some_and(|figures| !figures.has_times) {
            self.choose_axis(AxisKind::Events);
        }
    }

    /// A click explains what was clicked.
    pub(super) fn pin(&mut self, hit: Option<Hit>) {
        if hit.is_some() {
            self.tab = PanelTab::Allocation;
        }
        self.pinned = hit.map(Rc::new);
        self.start_pin = None;
    }

    pub(super) fn pin_found(&mut self, device: u32, hit: Option<Hit>) {
        self.choose_device(device);
        self.pinned = hit.map(Rc::new);
        self.start_pin = None;
    }

    /// Whatever was clicked in the meantime stays, and so does the tab.
    pub(super) fn pin_start(&mut self, hit: Option<Hit>) {
        if self.start_pin.take().is_some() && self.pinned.is_none() {
            self.pinned = hit.map(Rc::new);
        }
    }

    /// Shows another view of the file; one of a device that it does not have is of another file.
    ///
    /// The timeline begins anew, unless it shows the part of that view already.
    pub(super) fn go_to(&mut self, start: Start, is_same_part: bool) {
        let Start { view, notice, .. } = start;
        let Some(view) = view else {
            self.notice = notice;
            return;
        };
        let Some(device) = self.summary.devices.iter().position(|device| device.index == view.device) else {
            self.notice = Some("The view in this address is of a device that this file does not have.".into());
            return;
        };
        let ViewState { axis, range, pin, tab, dock, color, choices, card, .. } = view;
        self.device = device as u32;
        self.choose_axis(axis);
        self.start_range = range.filter(|_| self.axis == axis);
        if !(is_same_part && pin == self.pin_key()) {
            (self.pinned, self.start_pin) = (None, pin);
        }
        self.card = choices.what_if.as_deref().and_then(ThisCard::of).or(card).or(self.card);
        (self.tab, self.dock, self.color, self.choices, self.notice) = (tab, dock, color, choices, notice);
        self.arrivals += u32::from(!is_same_part);
    }

    /// Takes what was chosen below the timeline; the card of a replay is that of the file.
    pub(super) fn choose(&mut self, choice: Choice) {
        let choice = match choice {
            Choice::WhatIf(setup) => Choice::WhatIf(self.on_card(setup)),
            choice => choice,
        };
        Rc::make_mut(&mut self.choices).take(choice);
    }

    /// The replays of a device begin on the card of the file, where one is chosen; later choices choose the card, too.
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
            self.pinned = None;
            self.start_pin = None;
            self.start_range = None;
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

    pub(super) fn choose_axis(&mut self, axis: AxisKind) {
        let has_times = self.shown_figures().is_none_or(|figures| figures.has_times);
        let axis = if has_times { axis } else { AxisKind::Events };
        if axis != self.axis {
            self.axis = axis;
            self.start_range = None;
        }
    }
}
