//! What is on the screen as a short text: in the address of a page, and in links to shared copies.
//!
//! ```text
//! v1;device=0;axis=events;x=120.5..480;y=0..1073741824;pin=e310@402;tab=allocation;color=category;dock=flame;…
//! ```
//!
//! What is chosen in the view below the timeline follows its name, and then the card, where one is known.
//!
//! The text is versioned, since addresses and links outlive the page that wrote them: an older one is brought up to
//! date step by step, a newer one is not guessed at. It never has a part of the data or the name of the file; texts that somebody
//! looks for are in it.

use super::card::ThisCard;
use super::choices::{self, Choices};
use super::fields::{Fields, FieldsError};
use crate::draw::camera::View;
use crate::draw::span::Span;
use crate::worker::{AllocationKey, AxisKind, ColorBy};
use std::fmt;
use std::rc::Rc;

/// The version of what [`ViewState::to_text`] writes.
const VERSION: u32 = 1;

/// Brings fields of version `i + 1` to version `i + 2`.
const UPGRADES: &[fn(&mut Fields)] = &[];

/// A part of the panel beside the timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PanelTab {
    /// What was found.
    #[default]
    Findings,
    /// The stacks at a moment.
    Stacks,
    /// One allocation.
    Allocation,
    /// The file.
    File,
}

impl PanelTab {
    /// All of them in their order.
    pub const ALL: [Self; 4] = [Self::Findings, Self::Stacks, Self::Allocation, Self::File];

    fn name(self) -> &'static str {
        match self {
            Self::Findings => "findings",
            Self::Stacks => "stacks",
            Self::Allocation => "allocation",
            Self::File => "file",
        }
    }
}

/// A view below the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DockTab {
    /// Stacks as a flame graph.
    Flame,
    /// Allocations and groups of them as tables.
    Allocations,
    /// Segments and their blocks.
    Segments,
    /// The trace under other settings.
    WhatIf,
    /// Another file, moment or step beside this one.
    Compare,
}

impl DockTab {
    /// All of them in their order.
    pub const ALL: [Self; 5] = [Self::Flame, Self::Allocations, Self::Segments, Self::WhatIf, Self::Compare];

    fn name(self) -> &'static str {
        match self {
            Self::Flame => "flame",
            Self::Allocations => "allocations",
            Self::Segments => "segments",
            Self::WhatIf => "what-if",
            Self::Compare => "compare",
        }
    }
}

/// A pinned allocation and the moment at which it was clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinKey {
    /// The allocation.
    pub allocation: AllocationKey,
    /// The moment.
    pub moment: u32,
}

/// What is on the screen, apart from the file itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewState {
    /// The CUDA index of the shown device, -1 for pinned host memory.
    pub device: i64,
    /// What runs along x.
    pub axis: AxisKind,
    /// The part in view; `None` for all of it.
    pub range: Option<View>,
    /// The pinned allocation.
    pub pin: Option<PinKey>,
    /// The chosen part of the panel.
    pub tab: PanelTab,
    /// What is open below the timeline.
    pub dock: Option<DockTab>,
    /// What colours tell apart.
    pub color: ColorBy,
    /// What is chosen in the views below the timeline.
    pub choices: Rc<Choices>,
    /// The card, where it is known and no replay has one of its own.
    pub card: Option<ThisCard>,
}

/// Why a text is no view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewStateError {
    /// It is of a later version of this page.
    Newer,
    /// It is something else.
    Garbled,
}

impl fmt::Display for ViewStateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Newer => {
                "The view in this address was saved by a newer version of Snapscope, so the whole timeline is shown. \
                 Reload the page to get that version."
            }
            Self::Garbled => {
                "The view in this address can't be read, so the whole timeline is shown. Ask for the address again if \
                 it was cut short."
            }
        })
    }
}

impl ViewStateError {
    /// What is said where something else is on the screen already, and stays.
    pub fn of_open_page(self) -> &'static str {
        match self {
            Self::Newer => {
                "The view in this address was saved by a newer version of Snapscope, so the view stays as it is. \
                 Reload the page to get that version."
            }
            Self::Garbled => {
                "The view in this address can't be read, so the view stays as it is. Ask for the address again if it \
                 was cut short."
            }
        }
    }
}

impl ViewState {
    /// The text that [`from_text`](Self::from_text) reads.
    pub fn to_text(&self) -> String {
        let Self { device, axis, range, pin, tab, dock, color, choices, card } = self;
        let mut text = format!("v{VERSION};device={device};axis={}", axis_name(*axis));
        if let Some(View { x, y }) = range {
            text += &format!(";x={}..{};y={}..{}", x.start, x.end, y.start, y.end);
        }
        if let Some(PinKey { allocation, moment }) = pin {
            let (kind, number) = match allocation {
                AllocationKey::Initial(number) => ('i', number),
                AllocationKey::Event(number) => ('e', number),
            };
            text += &format!(";pin={kind}{number}@{moment}");
        }
        text += &format!(";tab={}", tab.name());
        if *color == ColorBy::Category {
            text += ";color=category";
        }
        if let Some(dock) = dock {
            text += &format!(";dock={}", dock.name());
        }
        choices::write(choices, *dock, &mut text);
        if let Some(ThisCard { capacity_bytes, elsewhere_bytes }) = card.filter(|_| !choices::has_card(choices, *dock))
        {
            text += &format!(";card={capacity_bytes};elsewhere={elsewhere_bytes}");
        }
        text
    }

    /// The view of a text, whatever version of this page wrote it.
    ///
    /// # Errors
    /// If the text is of a later version, or none.
    pub fn from_text(text: &str) -> Result<Self, ViewStateError> {
        let fields = Fields::read(text, VERSION, UPGRADES).map_err(|error| match error {
            FieldsError::Newer => ViewStateError::Newer,
            FieldsError::Garbled => ViewStateError::Garbled,
        })?;
        Self::from_fields(&fields).ok_or(ViewStateError::Garbled)
    }

    fn from_fields(fields: &Fields) -> Option<Self> {
        let device = fields.get("device").map_or(Some(0), |device| device.parse().ok())?;
        let axis = fields.get("axis").map_or(Some(AxisKind::Events), axis_of)?;
        let range = match (fields.get("x"), fields.get("y")) {
            (Some(x), Some(y)) => Some(View { x: span_of(x)?, y: span_of(y)? }),
            _ => None,
        };
        let pin = match fields.get("pin") {
            Some(pin) => Some(pin_of(pin)?),
            None => None,
        };
        let named = |name: &str| PanelTab::ALL.into_iter().find(|tab| tab.name() == name);
        let tab = fields.get("tab").map_or(Some(PanelTab::default()), named)?;
        // A view that this page does not have leaves the rest as it is.
        let dock = fields.get("dock").and_then(|name| DockTab::ALL.into_iter().find(|dock| dock.name() == name));
        let color = if fields.get("color") == Some("category") { ColorBy::Category } else { ColorBy::Stack };
        let choices = Rc::new(choices::read(fields, dock));
        let card = if choices::has_card(&choices, dock) { None } else { card_of(fields) };
        Some(Self { device, axis, range, pin, tab, dock, color, choices, card })
    }

    /// The texts that somebody typed in the open view: they are in the text of the view.
    pub fn typed(&self) -> Vec<&str> {
        let Choices { selecting, stacks, differences, .. } = &*self.choices;
        let typed = match self.dock {
            Some(DockTab::Flame) => vec![&selecting.filter.text, &stacks.search],
            Some(DockTab::Allocations) => vec![&selecting.filter.text],
            Some(DockTab::Compare) => vec![&differences.filter],
            Some(DockTab::Segments | DockTab::WhatIf) | None => Vec::new(),
        };
        typed.into_iter().map(String::as_str).filter(|text| !text.is_empty()).collect()
    }
}

fn axis_name(axis: AxisKind) -> &'static str {
    match axis {
        AxisKind::Events => "events",
        AxisKind::Time => "time",
    }
}

fn axis_of(name: &str) -> Option<AxisKind> {
    [AxisKind::Events, AxisKind::Time].into_iter().find(|axis| axis_name(*axis) == name)
}

fn span_of(text: &str) -> Option<Span> {
    let (start, end) = text.split_once("..")?;
    let span = Span::new(start.parse().ok()?, end.parse().ok()?);
    (span.start.is_finite() && span.end.is_finite() && !span.is_empty()).then_some(span)
}

fn card_of(fields: &Fields) -> Option<ThisCard> {
    let bytes = |name: &str| fields.get(name).and_then(|text| text.parse().ok());
    let capacity_bytes = bytes("card").filter(|&capacity_bytes| capacity_bytes > 0)?;
    Some(ThisCard { capacity_bytes, elsewhere_bytes: bytes("elsewhere").unwrap_or(0) })
}

fn pin_of(text: &str) -> Option<PinKey> {
    let (key, moment) = text.split_once('@')?;
    let allocation = match key.split_at_checked(1)? {
        ("i", number) => AllocationKey::Initial(number.parse().ok()?),
        ("e", number) => AllocationKey::Event(number.parse().ok()?),
        _ => return None,
    };
    Some(PinKey { allocation, moment: moment.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// As version 1 wrote it; it stays here when there are later ones.
    const V1: &str = "v1;device=-1;axis=time;x=0.5..1e6;y=0..1073741824;pin=i3@402;tab=allocation";

    fn view() -> ViewState {
        ViewState {
            device: -1,
            axis: AxisKind::Time,
            range: Some(View { x: Span::new(0.5, 1e6), y: Span::new(0.0, (1_u64 << 30) as f64) }),
            pin: Some(PinKey { allocation: AllocationKey::Initial(3), moment: 402 }),
            tab: PanelTab::Allocation,
            dock: None,
            color: ColorBy::Stack,
            choices: Rc::default(),
            card: None,
        }
    }

    #[test]
    fn the_first_version_is_read() {
        assert_eq!(ViewState::from_text(V1), Ok(view()));
    }

    #[test]
    fn a_view_comes_back() {
        let event = PinKey { allocation: AllocationKey::Event(u32::MAX), moment: 0 };
        let third = View { x: Span::new(1.0 / 3.0, 2.0 / 3.0), y: Span::new(-0.0, f64::MAX) };
        for view in [
            ViewState::default(),
            view(),
            ViewState { pin: Some(event), ..view() },
            ViewState { range: Some(third), ..view() },
            ViewState { dock: Some(DockTab::WhatIf), ..view() },
            ViewState { color: ColorBy::Category, tab: PanelTab::Findings, ..view() },
            ViewState { card: Some(ThisCard::whole(48 << 30)), ..view() },
            ViewState { card: Some(ThisCard::whole(48 << 30)), dock: Some(DockTab::WhatIf), ..view() },
        ] {
            assert_eq!(ViewState::from_text(&view.to_text()), Ok(view));
        }
    }

    #[track_caller]
    fn check(text: &str, error: ViewStateError) {
        assert_eq!(ViewState::from_text(text), Err(error), "{text}");
    }

    #[test]
    fn what_is_no_view_is_refused() {
        check("v2;device=0", ViewStateError::Newer);
        check("v99999999999999999999", ViewStateError::Garbled);
        for text in ["", "v", "v0", "x", "v1;device=x", "v1;axis=", "v1;x=1..;y=0..1", "v1;x=NaN..1;y=0..1", "v1;tab=é"]
        {
            check(text, ViewStateError::Garbled);
        }
        for text in ["v1;x=5..1;y=0..1", "v1;pin=e1", "v1;pin=é@1", "v1;pin=@1", "v1;pin=e-1@1", "v1;x=0..inf;y=0..1"]
        {
            check(text, ViewStateError::Garbled);
        }
    }

    #[test]
    fn fields_that_are_not_known_are_left_alone() {
        assert_eq!(
            ViewState::from_text("v1;colour=red;device=0;;search;dock=oracle;color=smell"),
            Ok(ViewState::default())
        );
    }

    #[test]
    fn views_that_the_fuzzer_met_come_back() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/views");
        let texts = fs::read_dir(folder).unwrap().map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
        let views: Vec<_> = texts.filter_map(|text| ViewState::from_text(&text).ok()).collect();
        assert!(views.len() >= 5);
        for view in views {
            assert_eq!(ViewState::from_text(&view.to_text()), Ok(view));
        }
    }
}
