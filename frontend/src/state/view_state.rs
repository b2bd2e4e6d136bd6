//! The view on the screen as a short text, used in the page's address and in links to shared copies.
//!
//! ```text
//! v1;device=0;axis=events;x=120.5..480;y=0..1073741824;pin=e310@402;kind=of:e310;tab=allocation;color=category;dock=flame;…
//! ```
//!
//! The choices of the view below the timeline follow its name, and then the card if it is known.
//! Kinds have these words:
//!
//! ```text
//! of:e310          the stack of the allocation of event 310; of:i2 from before the trace
//! stack:9f3e       category:activation       line:12ab       function:77c0
//! module:0f0e      frame:1122                find:adam       expression:adam%7Csgd
//! ```
//!
//! The text has a version, because addresses and links outlive the page that wrote them. An older version is upgraded
//! step by step, and a newer one is refused. The text contains neither data of the file nor its name, but it contains
//! search texts.
//!
//! A position is an index among the events, or among the blocks from before the trace, and functions and groups are
//! given by hashes of their names: numbers of both differ in a sanitized copy.

use super::card::ThisCard;
use super::choices;
use super::choices::Choices;
use super::fields::{Fields, MOST_TEXT_BYTES, ViewStateError, escaped, unescaped};
use super::points::Points;
use crate::ask::{AllocationKey, Axis, ColorBy, GroupBy, GroupMark, Kind, NameMark};
use crate::draw::camera::View;
use crate::draw::span::Span;
use shared::analysis::Category;
use shared::names;
use std::rc::Rc;

/// Version of the format that [`ViewState::to_text`] writes.
const VERSION: u32 = 1;

/// Upgrades; entry `i` converts fields of version `i + 1` to version `i + 2`.
const UPGRADES: &[fn(&mut Fields)] = &[];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PanelTab {
    #[default]
    Findings,
    Stacks,
    Allocation,
    File,
}

names!(PanelTab { Findings => "findings", Stacks => "stacks", Allocation => "allocation", File => "file" });

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DockTab {
    /// Stacks as a flame graph.
    Flame,
    Allocations,
    Events,
    Source,
    Segments,
    /// Replay of the trace with other allocator settings.
    WhatIf,
    /// Comparison with another file, moment or step.
    Compare,
    Logs,
}

names!(DockTab {
    Flame => "flame",
    Allocations => "allocations",
    Events => "events",
    Source => "source",
    Segments => "segments",
    WhatIf => "what-if",
    Compare => "compare",
    Logs => "logs",
});

/// Pinned allocation and the moment at which it was clicked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinKey {
    pub allocation: AllocationKey,
    pub moment: u32,
}

/// View on the screen, apart from the file itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ViewState {
    /// CUDA index of the shown device; -1 for pinned host memory.
    pub device: i64,
    pub axis: Axis,
    /// Part in view; `None` for all of it.
    pub range: Option<View>,
    pub pin: Option<PinKey>,
    pub kind: Option<Rc<Kind>>,
    pub tab: PanelTab,
    pub dock: Option<DockTab>,
    /// True if the open view takes the whole window but the minimap.
    pub is_maximized: bool,
    /// Property that the colours show; `None` for the one that suits the trace.
    pub color: Option<ColorBy>,
    pub choices: Rc<Choices>,
    /// Card, if it is known and no replay has its own.
    pub card: Option<ThisCard>,
    pub points: Rc<Points>,
}

impl ViewState {
    /// Writes the text that [`from_text`](Self::from_text) reads.
    pub fn to_text(&self) -> String {
        let Self { device, axis, range, pin, kind, tab, dock, is_maximized, color, choices, card, points } = self;
        let mut text = format!("v{VERSION};device={device};axis={}", axis.name());
        if let Some(View { x, y }) = range {
            text += &format!(";x={}..{};y={}..{}", x.start, x.end, y.start, y.end);
        }
        if let Some(PinKey { allocation, moment }) = pin {
            text += &format!(";pin={}@{moment}", key_text(*allocation));
        }
        if let Some(kind) = kind.as_deref().and_then(text_of) {
            text += &format!(";kind={kind}");
        }
        text += &format!(";tab={}", tab.name());
        if let Some(color) = color {
            text += &format!(";color={}", color.name());
        }
        if let Some(dock) = dock {
            text += &format!(";dock={}", dock.name());
            if *is_maximized {
                text += ";dock-size=full";
            }
        }
        choices::write(choices, *dock, &mut text);
        if let Some(ThisCard { capacity_bytes, elsewhere_bytes }) = card.filter(|_| !choices::has_card(choices, *dock))
        {
            text += &format!(";card={capacity_bytes};elsewhere={elsewhere_bytes}");
        }
        points.write(&mut text);
        text
    }

    /// Parses a view, whatever version of this page wrote it, unless it was a later one.
    pub fn from_text(text: &str) -> Result<Self, ViewStateError> {
        Self::from_fields(&Fields::read(text, VERSION, UPGRADES)?).ok_or(ViewStateError::Garbled)
    }

    fn from_fields(fields: &Fields) -> Option<Self> {
        let device = fields.get("device").map_or(Some(0), |device| device.parse().ok())?;
        let axis = fields.get("axis").map_or(Some(Axis::Events), Axis::of_name)?;
        let range = match (fields.get("x"), fields.get("y")) {
            (Some(x), Some(y)) => Some(View { x: span_of(x)?, y: span_of(y)? }),
            _ => None,
        };
        let pin = fields.get("pin").map_or(Some(None), |pin| pin_of(pin).map(Some))?;
        let kind = fields.get("kind").and_then(kind_of).map(Rc::new);
        let tab = fields.get("tab").map_or(Some(PanelTab::default()), PanelTab::of_name)?;
        // An unknown view below the timeline is ignored.
        let dock = fields.get("dock").and_then(DockTab::of_name);
        let is_maximized = dock.is_some() && fields.get("dock-size") == Some("full");
        let color = fields.get("color").and_then(ColorBy::of_name);
        let choices = Rc::new(choices::read(fields, dock));
        let card = if choices::has_card(&choices, dock) { None } else { card_of(fields) };
        let points = Rc::new(Points::read(fields.get("bookmarks"), fields.get("measure")));
        Some(Self { device, axis, range, pin, kind, tab, dock, is_maximized, color, choices, card, points })
    }

    /// Returns the texts that the user has typed in the open view and in bookmarks; they are part of the view's text.
    pub fn typed(&self) -> Vec<&str> {
        let Choices { selecting, stacks, differences, own, .. } = &*self.choices;
        let typed = match self.dock {
            Some(DockTab::Flame) => vec![&selecting.filter.text, &stacks.search],
            Some(DockTab::Allocations | DockTab::Source) => vec![&selecting.filter.text],
            Some(DockTab::Compare) => vec![&differences.filter],
            Some(DockTab::Events | DockTab::Segments | DockTab::WhatIf | DockTab::Logs) | None => Vec::new(),
        };
        let searched = match self.kind.as_deref() {
            Some(Kind::Text { text, .. }) => Some(text).filter(|text| !typed.contains(text)),
            _ => None,
        };
        let notes = self.points.bookmarks.iter().map(|bookmark| &bookmark.note);
        let typed = typed.into_iter().chain(searched).chain(notes).map(String::as_str);
        typed.chain([&**own]).filter(|text| !text.is_empty()).collect()
    }
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
    Some(PinKey { allocation: key_of(key)?, moment: moment.parse().ok()? })
}

/// Returns the words for a kind, `None` for a text that is too long for an address.
pub(super) fn text_of(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::StackOf(key) => format!("of:{}", key_text(*key)),
        Kind::Stack(mark) => format!("stack:{mark}"),
        Kind::Category(category) => format!("category:{}", category.name()),
        Kind::Group(GroupMark { by, mark }) => format!("group-{}:{mark}", by.name()),
        Kind::Site { mark, is_line: true } => format!("line:{mark}"),
        Kind::Site { mark, is_line: false } => format!("function:{mark}"),
        Kind::Text { text, is_expression } if text.len() <= MOST_TEXT_BYTES => {
            format!("{}:{}", if *is_expression { "expression" } else { "find" }, escaped(text))
        }
        Kind::Text { .. } => return None,
    })
}

/// Parses the words for a kind; words that this version does not know are no kind.
pub(super) fn kind_of(text: &str) -> Option<Kind> {
    let (word, value) = text.split_once(':')?;
    let mark = || NameMark::of_text(value);
    let typed = |is_expression| {
        let text = unescaped(value);
        (!text.is_empty() && text.len() <= MOST_TEXT_BYTES).then_some(Kind::Text { text, is_expression })
    };
    match word {
        "of" => key_of(value).map(Kind::StackOf),
        "stack" => mark().map(Kind::Stack),
        "category" => Category::of_name(value).map(Kind::Category),
        "line" => mark().map(|mark| Kind::Site { mark, is_line: true }),
        "function" => mark().map(|mark| Kind::Site { mark, is_line: false }),
        "find" => typed(false),
        "expression" => typed(true),
        _ => {
            let by = word.strip_prefix("group-").and_then(GroupBy::of_name)?;
            mark().map(|mark| Kind::Group(GroupMark { by, mark }))
        }
    }
}

/// Returns the text of an allocation's key: `e310`, or `i2` for one from before the trace.
fn key_text(key: AllocationKey) -> String {
    match key {
        AllocationKey::Initial(number) => format!("i{number}"),
        AllocationKey::Event(number) => format!("e{number}"),
    }
}

/// Parses the text of an allocation's key.
pub(super) fn key_of(text: &str) -> Option<AllocationKey> {
    match text.split_at_checked(1)? {
        ("i", number) => number.parse().ok().map(AllocationKey::Initial),
        ("e", number) => number.parse().ok().map(AllocationKey::Event),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// Text of version 1, which has to stay readable when there are later versions.
    const V1: &str = "v1;device=-1;axis=time;x=0.5..1e6;y=0..1073741824;pin=i3@402;tab=allocation";

    fn view() -> ViewState {
        ViewState {
            device: -1,
            axis: Axis::Time,
            range: Some(View { x: Span::new(0.5, 1e6), y: Span::new(0.0, (1_u64 << 30) as f64) }),
            pin: Some(PinKey { allocation: AllocationKey::Initial(3), moment: 402 }),
            tab: PanelTab::Allocation,
            ..ViewState::default()
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
            ViewState { kind: Some(Rc::new(Kind::StackOf(AllocationKey::Event(7)))), ..view() },
            ViewState { dock: Some(DockTab::WhatIf), ..view() },
            ViewState { dock: Some(DockTab::Segments), is_maximized: true, ..view() },
            ViewState { color: Some(ColorBy::Category), tab: PanelTab::Findings, ..view() },
            ViewState { color: Some(ColorBy::AreaModule), ..view() },
            ViewState { card: Some(ThisCard::whole(48 << 30)), ..view() },
            ViewState { points: Rc::new(Points::read(Some("0@4!leak+1@9"), Some("0@4..9"))), ..view() },
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

    #[test]
    fn kinds_come_back_and_other_words_are_none() {
        let mark = NameMark::of(["relu"]);
        let text = |text: &str, is_expression| Kind::Text { text: text.to_owned(), is_expression };
        let groups = GroupBy::ALL.iter().map(|&by| Kind::Group(GroupMark { by, mark }));
        let all = [
            Kind::StackOf(AllocationKey::Event(310)),
            Kind::StackOf(AllocationKey::Initial(0)),
            Kind::Stack(mark),
            Kind::Site { mark, is_line: true },
            Kind::Site { mark, is_line: false },
            text("a;b=c", false),
            text("^adam|sgd$", true),
        ];
        let categories = Category::ALL.map(Kind::Category);
        for kind in all.into_iter().chain(groups).chain(categories) {
            let text = text_of(&kind).unwrap();
            assert!(!text.contains([';', '=']), "{text}");
            assert_eq!(kind_of(&text), Some(kind));
        }
        assert_eq!(text_of(&text(&"x".repeat(2000), false)), None);
        for text in ["", "of", "of:x1", "of:e-1", "stack:relu", "category:smell", "group-smell:1", "find:", "é:1"] {
            assert_eq!(kind_of(text), None, "{text}");
        }
    }
}
