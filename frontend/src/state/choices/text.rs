//! Converts the open view's choices to fields of an address and back; defaults are omitted.
//!
//! ```text
//! when=kept;find=relu;min=1048576;rows=stack;sort=count-
//! stacks=inverted,runtime;zoom=0..4096@2      at=m402;blocks=state;scale=3      this=s4;other=s1;filter=adam
//! conf=expandable_segments:True;card=85899345920
//! ```
//!
//! Whatever view is open, `own` says what counts as the user's own code.
//! Fields and values that this version does not know are ignored, and words never change, because addresses outlive
//! versions of the page.

use super::{Against, BlockColors, Choices, Controls, Rootward, SegmentsChoice, Zoom};
use crate::ask::differences::{Column as DiffColumn, Sort as DiffSort};
use crate::ask::site_table::{SiteColumn, SiteOrder};
use crate::ask::{
    Column, Columns, CompareSide, DiffBy, GroupBy, GroupMark, Instant, NameMark, Part, Sort, SortBy, Weight,
    WhatIfSetup, side_of_value, side_value,
};
use crate::state::fields::{Fields, MOST_TEXT_BYTES, escaped, unescaped};
use crate::state::view_state::DockTab;
use crate::state::{Selecting, When};
use shared::analysis::Category;
use shared::trace::PoolId;
use std::rc::Rc;

/// Largest scale of the map of segments.
const MOST_SCALE: u32 = 12;

/// Walk through the fields of the open view, in either direction, so that each is named once.
enum Walk<'a> {
    /// Appends the values that differ from the default.
    Write(&'a mut String),
    /// Replaces the defaults by the values that there are.
    Read(&'a Fields),
}

impl Walk<'_> {
    fn field_by<T: PartialEq>(
        &mut self,
        name: &str,
        value: &mut T,
        first: T,
        word: impl Fn(&T) -> String,
        of_word: impl Fn(&str) -> Option<T>,
    ) {
        match self {
            Self::Write(text) if *value != first => **text += &format!(";{name}={}", word(value)),
            Self::Write(_) => (),
            Self::Read(fields) => *value = fields.get(name).and_then(of_word).unwrap_or(first),
        }
    }

    fn field_from<T: Word + PartialEq>(&mut self, name: &str, value: &mut T, first: T) {
        self.field_by(name, value, first, T::word, T::of_word);
    }

    fn field<T: Word + PartialEq + Default>(&mut self, name: &str, value: &mut T) {
        self.field_from(name, value, T::default());
    }

    /// Passes a text that the user has typed; an address has no room for a long one.
    fn typed(&mut self, name: &str, text: &mut String) {
        let is_short = |text: &str| text.len() <= MOST_TEXT_BYTES;
        if matches!(self, Self::Read(_)) || is_short(text) {
            let of_word = |word: &str| Some(unescaped(word)).filter(|text| is_short(text));
            self.field_by(name, text, String::new(), |text| escaped(text), of_word);
        }
    }

    fn choices(&mut self, choices: &mut Choices, dock: Option<DockTab>) {
        let mut own = choices.own.to_string();
        self.typed("own", &mut own);
        choices.own = own.into();
        match dock {
            None | Some(DockTab::Logs) => (),
            Some(DockTab::Flame) => {
                self.selecting(&mut choices.selecting, true);
                self.stacks(choices);
            }
            Some(DockTab::Allocations) => {
                self.selecting(&mut choices.selecting, false);
                self.field("rows", &mut choices.rows.by);
                self.field("sort", &mut choices.rows.sort);
                self.field("columns", &mut choices.rows.columns);
            }
            Some(DockTab::Events) => {
                self.field("event", &mut choices.events.event);
                self.field_from("follow", &mut choices.events.follows, true);
            }
            Some(DockTab::Source) => self.selecting(&mut choices.selecting, false),
            Some(DockTab::Segments) => self.segments(&mut choices.segments),
            Some(DockTab::WhatIf) => self.what_if(choices),
            Some(DockTab::Compare) => self.compare(choices),
        }
    }

    fn selecting(&mut self, selecting: &mut Selecting, has_weight: bool) {
        self.field("when", &mut selecting.when);
        if has_weight {
            self.field("weight", &mut selecting.weight);
        }
        let filter = &mut selecting.filter;
        self.typed("find", &mut filter.text);
        self.field("expression", &mut filter.is_expression);
        self.field("min", &mut filter.min_bytes);
        self.field("life", &mut filter.min_lifetime);
        self.field("stream", &mut filter.stream);
        self.field("pool", &mut filter.pool);
        self.field("category", &mut filter.category);
        self.field("group", &mut selecting.group_mark);
    }

    fn stacks(&mut self, choices: &mut Choices) {
        let stacks = &mut choices.stacks;
        self.field("stacks", &mut stacks.controls);
        self.typed("highlight", &mut stacks.search);
        if stacks.controls.is_table {
            self.field("sort", &mut stacks.order);
            self.field("function", &mut stacks.site);
        } else {
            self.field("zoom", &mut stacks.zoom);
        }
    }

    fn segments(&mut self, segments: &mut SegmentsChoice) {
        self.field("at", &mut segments.instant);
        self.field("blocks", &mut segments.color_by);
        let of_word = |word: &str| word.parse().ok().filter(|&scale| scale <= MOST_SCALE);
        self.field_by("scale", &mut segments.scale, 0, u32::to_string, of_word);
        let of_word = |word: &str| {
            let (block, moment) = word.split_once('@')?;
            Some(Some((moment.parse().ok()?, block.parse().ok()?)))
        };
        let word =
            |focus: &Option<(u32, u32)>| focus.map(|(moment, block)| format!("{block}@{moment}")).unwrap_or_default();
        self.field_by("block", &mut segments.focus, None, word, of_word);
    }

    fn compare(&mut self, choices: &mut Choices) {
        let are_ranks = |word: &str| Some(word == "ranks");
        self.field_by("compare", &mut choices.are_ranks, false, |_| "ranks".to_owned(), are_ranks);
        if choices.are_ranks {
            return;
        }
        let compare = &mut choices.compare;
        self.field("this", &mut compare.this);
        self.field("other", &mut compare.other);
        // Which other files are open is not part of a view.
        let mut device = match compare.against {
            Some(Against::Device(device)) => Some(device),
            Some(Against::OfFile(..)) | None => None,
        };
        self.field("against", &mut device);
        compare.against = device.map(Against::Device);
        let differences = &mut choices.differences;
        self.field("rows", &mut differences.by);
        self.field("sort", &mut differences.sort);
        self.typed("filter", &mut differences.filter);
    }

    fn what_if(&mut self, choices: &mut Choices) {
        let setup = choices.what_if.as_deref().cloned();
        let mut conf = setup.as_ref().map(|setup| setup.conf.clone());
        let mut setup = setup.unwrap_or_default();
        // Empty settings are written too, because they differ from no settings.
        let word = |conf: &Option<String>| escaped(conf.as_deref().unwrap_or_default());
        self.field_by("conf", &mut conf, None, word, |word| Some(Some(unescaped(word))));
        let Some(conf) = conf else { return };
        self.field("card", &mut setup.capacity_bytes);
        self.field("elsewhere", &mut setup.elsewhere_bytes);
        choices.what_if = Some(Rc::new(WhatIfSetup { conf, ..setup }));
    }
}

/// Appends the choices of the open view.
pub(in crate::state) fn write(choices: &Choices, dock: Option<DockTab>, text: &mut String) {
    Walk::Write(text).choices(&mut choices.clone(), dock);
}

/// Reads the choices of the open view from the fields of an address.
pub(in crate::state) fn read(fields: &Fields, dock: Option<DockTab>) -> Choices {
    let mut choices = Choices::default();
    Walk::Read(fields).choices(&mut choices, dock);
    choices
}

/// Returns true if the fields of the open view include the card.
pub(in crate::state) fn has_card(choices: &Choices, dock: Option<DockTab>) -> bool {
    dock == Some(DockTab::WhatIf) && choices.what_if.is_some()
}

/// Value with a word in addresses.
pub(super) trait Word: Sized {
    fn word(&self) -> String;

    /// Returns the value of a word; `None` if this version does not know it.
    fn of_word(word: &str) -> Option<Self>;
}

/// An absent value is not written.
impl<T: Word> Word for Option<T> {
    fn word(&self) -> String {
        self.as_ref().map(T::word).unwrap_or_default()
    }

    fn of_word(word: &str) -> Option<Self> {
        T::of_word(word).map(Some)
    }
}

/// Gives types a word by a function in each direction.
macro_rules! words {
    ($($type:ty: $word:expr, $of_word:expr;)*) => {$(
        impl Word for $type {
            fn word(&self) -> String {
                let word: fn(&Self) -> _ = $word;
                word(self).into()
            }

            fn of_word(word: &str) -> Option<Self> {
                let of_word: fn(&str) -> Option<Self> = $of_word;
                of_word(word)
            }
        }
    )*};
}

words! {
    u32: Self::to_string, |word| word.parse().ok();
    u64: Self::to_string, |word| word.parse().ok();
    bool: |&is_on| if is_on { "1" } else { "0" }, |word| Some(word == "1").filter(|&is_on| is_on || word == "0");
    GroupBy: |by| by.name(), Self::of_name;
    DiffBy: |by| by.name(), Self::of_name;
    Weight: |weight| weight.name(), Self::of_name;
    Category: |category| category.name(), Self::of_name;
    NameMark: Self::to_string, Self::of_text;
    CompareSide: |&side| side_value(side), side_of_value;
    When: |&when| when_word(when), |word| Self::ALL.into_iter().find(|&when| when_word(when) == word);
    BlockColors: |color| color.name(), Self::of_name;
    Columns: |columns| columns.iter().map(Column::name).collect::<Vec<_>>().join(","),
        |word| Some(Self::of(word.split(',').filter_map(Column::of_name)));
    Sort: |sort| sorted(sort.column.name(), sort.is_rising), |word| sorted_of(word, Column::of_name);
    SiteOrder: |order| sorted(order.column.name(), order.is_rising), |word| sorted_of(word, SiteColumn::of_name);
    DiffSort: |sort| sorted(sort.column.name(), sort.is_rising), |word| sorted_of(word, DiffColumn::of_name);
    Instant: instant_word, instant_of;
    PoolId: |PoolId(capture, handle)| format!("{capture}:{handle}"), |word| {
        let (capture, handle) = word.split_once(':')?;
        Some(Self(capture.parse().ok()?, handle.parse().ok()?))
    };
    GroupMark: |GroupMark { by, mark }| format!("{}:{mark}", by.name()), |word| {
        let (by, mark) = word.split_once(':')?;
        Some(Self { by: GroupBy::of_name(by)?, mark: NameMark::of_text(mark)? })
    };
    Controls: controls_word, |word| {
        let mut controls = Self::default();
        for on in word.split(',') {
            SWITCHES.iter().filter(|(word, _)| *word == on).for_each(|(_, set)| set(&mut controls));
        }
        Some(controls)
    };
    Zoom: |Zoom { start, end, row }| format!("{start}..{end}@{row}"), zoom_of;
}

fn when_word(when: When) -> &'static str {
    match when {
        When::Peak => "peak",
        When::Pin => "pin",
        When::View(Part::Any) => "view",
        When::View(Part::Born) => "allocated",
        When::View(Part::Died) => "freed",
        When::View(Part::Survived) => "throughout",
        When::View(Part::BornAndDied) => "temporary",
        When::View(Part::BornAndKept) => "kept",
    }
}

/// Returns the word of a sort order, by its column and direction: `bytes-` falls, `allocated+` rises.
fn sorted(column: &str, is_rising: bool) -> String {
    format!("{column}{}", if is_rising { '+' } else { '-' })
}

/// Returns the sort order of a word.
fn sorted_of<C>(word: &str, column: fn(&str) -> Option<C>) -> Option<SortBy<C>> {
    let (name, is_rising) =
        word.strip_suffix('+').map(|name| (name, true)).or(word.strip_suffix('-').map(|name| (name, false)))?;
    Some(SortBy { column: column(name)?, is_rising })
}

fn instant_word(instant: &Instant) -> String {
    match instant {
        Instant::ReservedPeak => "reserved".to_owned(),
        Instant::LivePeak => "peak".to_owned(),
        Instant::End => "end".to_owned(),
        Instant::At(moment) => format!("m{moment}"),
    }
}

fn instant_of(word: &str) -> Option<Instant> {
    match word {
        "reserved" => Some(Instant::ReservedPeak),
        "peak" => Some(Instant::LivePeak),
        "end" => Some(Instant::End),
        _ => word.strip_prefix('m')?.parse().ok().map(Instant::At),
    }
}

/// Word in the address, and the control that it switches on.
type Switch = (&'static str, fn(&mut Controls));

const SWITCHES: [Switch; 6] = [
    ("table", |controls| controls.is_table = true),
    ("inverted", |controls| controls.is_inverted = true),
    ("flames", |controls| controls.rootward = Rootward::Down),
    ("appearance", |controls| controls.by_appearance = true),
    ("functions", |controls| controls.by_line = false),
    ("runtime", |controls| controls.with_runtime = true),
];

fn controls_word(controls: &Controls) -> String {
    // A control is on if switching it on changes nothing.
    let is_on = |set: &fn(&mut Controls)| {
        let mut switched = *controls;
        set(&mut switched);
        switched == *controls
    };
    SWITCHES.iter().filter(|(_, set)| is_on(set)).map(|(word, _)| *word).collect::<Vec<_>>().join(",")
}

fn zoom_of(word: &str) -> Option<Zoom> {
    let (span, row) = word.split_once('@')?;
    let (start, end) = span.split_once("..")?;
    let zoom = Zoom { start: start.parse().ok()?, end: end.parse().ok()?, row: row.parse().ok()? };
    let is_sound = [zoom.start, zoom.end, zoom.row].into_iter().all(f64::is_finite) && zoom.start < zoom.end;
    is_sound.then_some(zoom)
}
