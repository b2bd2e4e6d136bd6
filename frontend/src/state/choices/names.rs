//! Names of choices in addresses; they never change, because addresses outlive versions of the page.

use crate::ask::differences::{Column as DiffColumn, Sort as DiffSort};
use crate::ask::site_table::{SiteColumn, SiteOrder};
use crate::ask::{Column, Columns, Instant, Part, Sort};
use crate::state::When;

/// Returns the value that has a name.
fn of_name<T: Copy>(all: &[T], name: fn(T) -> &'static str, text: &str) -> Option<T> {
    all.iter().copied().find(|&one| name(one) == text)
}

pub(super) fn when_name(when: When) -> &'static str {
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

pub(super) fn when_of(text: &str) -> Option<When> {
    of_name(&When::ALL, when_name, text)
}

/// Names a sort order by its column and direction: `bytes-` falls, `allocated+` rises.
fn sorted(column: &str, is_rising: bool) -> String {
    format!("{column}{}", if is_rising { '+' } else { '-' })
}

fn sorted_of(text: &str) -> Option<(&str, bool)> {
    let falling = || text.strip_suffix('-').map(|column| (column, false));
    text.strip_suffix('+').map(|column| (column, true)).or_else(falling)
}

fn column_name(column: Column) -> &'static str {
    match column {
        Column::Bytes => "bytes",
        Column::Count => "count",
        Column::Born => "allocated",
        Column::Lifetime => "lifetime",
        Column::Category => "category",
        Column::Title => "title",
        Column::Died => "freed",
        Column::Phase => "phase",
        Column::Step => "step",
        Column::Rounded => "rounded",
        Column::Address => "address",
        Column::Stream => "stream",
        Column::Pool => "pool",
    }
}

/// Names a set of columns; without any it is empty.
pub(super) fn columns_name(columns: Columns) -> String {
    columns.iter().map(column_name).collect::<Vec<_>>().join(",")
}

/// Returns the set of columns that a text names; unknown names are left out.
pub(super) fn columns_of(text: &str) -> Columns {
    Columns::of(text.split(',').filter_map(|name| of_name(&Columns::ALL, column_name, name)))
}

pub(super) fn sort_name(sort: Sort) -> String {
    sorted(column_name(sort.column), sort.is_rising)
}

pub(super) fn sort_of(text: &str) -> Option<Sort> {
    const ALWAYS: [Column; 3] = [Column::Bytes, Column::Count, Column::Title];
    let (column, is_rising) = sorted_of(text)?;
    let column = of_name(&ALWAYS, column_name, column).or_else(|| of_name(&Columns::ALL, column_name, column))?;
    Some(Sort { column, is_rising })
}

fn site_column_name(column: SiteColumn) -> &'static str {
    match column {
        SiteColumn::Name => "name",
        SiteColumn::Total => "total",
        SiteColumn::Own => "itself",
        SiteColumn::Count => "count",
    }
}

pub(super) fn site_order_name(order: SiteOrder) -> String {
    sorted(site_column_name(order.column), !order.is_descending)
}

pub(super) fn site_order_of(text: &str) -> Option<SiteOrder> {
    let (column, is_rising) = sorted_of(text)?;
    Some(SiteOrder { column: of_name(&SiteColumn::ALL, site_column_name, column)?, is_descending: !is_rising })
}

fn diff_column_name(column: DiffColumn) -> &'static str {
    match column {
        DiffColumn::Delta => "change",
        DiffColumn::Other => "other",
        DiffColumn::This => "this",
        DiffColumn::Count => "count",
        DiffColumn::Title => "title",
    }
}

pub(super) fn diff_sort_name(sort: DiffSort) -> String {
    sorted(diff_column_name(sort.by), !sort.is_falling)
}

pub(super) fn diff_sort_of(text: &str) -> Option<DiffSort> {
    const ALL: [DiffColumn; 5] =
        [DiffColumn::Delta, DiffColumn::Other, DiffColumn::This, DiffColumn::Count, DiffColumn::Title];
    let (column, is_rising) = sorted_of(text)?;
    Some(DiffSort { by: of_name(&ALL, diff_column_name, column)?, is_falling: !is_rising })
}

pub(super) fn instant_name(instant: Instant) -> String {
    match instant {
        Instant::ReservedPeak => "reserved".to_owned(),
        Instant::LivePeak => "peak".to_owned(),
        Instant::End => "end".to_owned(),
        Instant::At(moment) => format!("m{moment}"),
    }
}

pub(super) fn instant_of(text: &str) -> Option<Instant> {
    match text {
        "reserved" => Some(Instant::ReservedPeak),
        "peak" => Some(Instant::LivePeak),
        "end" => Some(Instant::End),
        _ => text.strip_prefix('m')?.parse().ok().map(Instant::At),
    }
}
