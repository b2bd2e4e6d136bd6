//! Words of choices in addresses; they never change, because addresses outlive versions of the page.

use super::{BlockColors, Controls, Rootward, Zoom};
use crate::ask::differences::{Column as DiffColumn, Sort as DiffSort};
use crate::ask::site_table::{SiteColumn, SiteOrder};
use crate::ask::{
    Column, Columns, CompareSide, DiffBy, GroupBy, GroupMark, Instant, NameMark, Part, Sort, Weight, side_of_value,
    side_value,
};
use crate::state::When;
use shared::analysis::Category;
use shared::trace::PoolId;

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
    Sort: |sort| sorted(sort.column.name(), sort.is_rising),
        |word| sorted_of(word, Column::of_name).map(|(column, is_rising)| Self { column, is_rising });
    SiteOrder: |order| sorted(order.column.name(), !order.is_descending),
        |word| sorted_of(word, SiteColumn::of_name).map(|(column, rises)| Self { column, is_descending: !rises });
    DiffSort: |sort| sorted(sort.by.name(), !sort.is_falling),
        |word| sorted_of(word, DiffColumn::of_name).map(|(by, rises)| Self { by, is_falling: !rises });
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

/// Returns the column of a sort order, and true if it rises.
fn sorted_of<C>(word: &str, column: fn(&str) -> Option<C>) -> Option<(C, bool)> {
    let (name, is_rising) =
        word.strip_suffix('+').map(|name| (name, true)).or(word.strip_suffix('-').map(|name| (name, false)))?;
    Some((column(name)?, is_rising))
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

/// Words for the controls of stacks.
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
