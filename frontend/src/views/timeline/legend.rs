//! Legend of the timeline's lines, patterns and colours, with categories and areas, and the choice of what colours
//! stand for.

use crate::ask::{
    AreaRow, BandName, CategoryBytes, ColorBy, GetAreas, GetBandNames, GetCategories, GroupKey, Kind, PhaseBasis,
    area_by,
};
use crate::components::{choice, color_key, segmented};
use crate::draw::shade;
use crate::draw::{Color, Theme};
use crate::hooks::{FileHandle, ShownFile, use_asked, use_file, use_shown};
use crate::state::FileAction;
use shared::analysis::Category;
use shared::base::{ShortSort, format};
use std::cmp::Reverse;
use yew::prelude::*;

const STACKS: u32 = 6;

/// Shows one line: the choice of colours, the keys of the curves, and what the colours stand for.
///
/// Colours are set as SVG attributes because the page's content security policy forbids inline styles.
#[component]
pub(super) fn Legend() -> Html {
    let (file, shown) = (use_file(), use_shown());
    let (color, device, moment) = (shown.ready.color(), shown.device.device, shown.moment().0);
    let theme = file.scheme.theme();
    let is_by_category = color == ColorBy::Category;
    let bytes = use_asked(is_by_category.then_some(GetCategories { device, moment }));
    let (by, selected) = (area_by(color).unwrap_or_default(), shown.ready.kind.as_deref().cloned());
    let areas = use_asked(color.is_area().then_some(GetAreas { device, by, moment, selected }));
    let is_by_stack = color == ColorBy::Stack;
    let bands = use_asked(is_by_stack.then_some(GetBandNames { device, moment, limit: STACKS }));
    let within = (&file, &*shown);
    let colors = |this: ColorBy, is_on: bool, label: &'static str, title: &'static str| {
        choice(label, title, is_on, Some(file.clicked(FileAction::ChooseColor(this))))
    };
    let area = if color.is_area() { color } else { ColorBy::AreaCategory };
    let about_areas = "At most ten areas, each with all memory of a category, module or function";
    let choices = [
        colors(ColorBy::Stack, is_by_stack, "Stack", "One color per stack"),
        colors(ColorBy::Category, is_by_category, "Category", "Colors show what the memory is used for"),
        colors(area, color.is_area(), "Area", about_areas),
    ];
    html! {
        <div class="timeline-legend">
            { segmented("Colors", choices) }
            <ul class="timeline-keys" aria-label="Legend">
                <li>{line(theme.live)}{"live"}</li>
                <li>{line(theme.reserved)}{"reserved"}</li>
            </ul>
            if color.is_area() { { area_legend(within, areas.iter().flat_map(|rows| rows.iter())) } }
            if is_by_category {
                <ul class="timeline-categories numbers" aria-label="Categories">{ for bytes.iter().map(|bytes| categories(bytes, within, theme)) }{ for_small(color, theme) }</ul>
            }
            if is_by_stack {
                <ul class="timeline-categories timeline-stacks numbers" aria-label="Largest stacks">{ for bands.iter().map(|bands| largest(bands, within, theme)) }
                    if shown.device.summary.initial_bytes > 0 {
                        <li title="Allocated before the recording began">{initial(theme)}{"allocated before recording"}</li>
                    }
                    { for_small(color, theme) }
                </ul>
            }
        </div>
    }
}

type Within<'a> = (&'a FileHandle, &'a ShownFile);

/// Returns the entry for allocations that are drawn together.
fn for_small(color: ColorBy, theme: &Theme) -> Html {
    html! {
        <li title="Neighbors that are too small to draw separately, in the color of their largest part">
            {merged(color, theme)}{"small allocations, merged"}
        </li>
    }
}

fn categories(bytes: &CategoryBytes, within: Within<'_>, theme: &Theme) -> Html {
    let when = when(within.1.moment().1);
    let entry = |(category, name, size): (Category, &'static str, String)| {
        let chosen = within.1.kind_facts().and_then(|facts| facts.key);
        let is_selected = chosen == Some(GroupKey::Category(category));
        let key = color_key(shade::fill(category as u32 + 1, ColorBy::Category, theme).css());
        let (kind, content) = (Kind::Category(category), html! { <>{ name }<strong>{ size }</strong></> });
        html! {
            <li data-category={name}>{ entry_button(within.0, (kind, is_selected), key, name.to_owned(), content) }</li>
        }
    };
    html! {
        <>
            <li>{ when }</li>
            { for lines(bytes).into_iter().map(entry) }
            if bytes.initial_bytes > 0 {
                <li>{initial(theme)}{"allocated before recording"}<strong>{ format::bytes(bytes.initial_bytes) }</strong></li>
            }
            if let Some(doubt) = doubt(bytes) { <li>{ doubt }</li> }
        </>
    }
}

fn largest(bands: &[BandName], (file, shown): Within<'_>, theme: &Theme) -> Html {
    let entry = |band: &BandName| {
        let is_selected = shown.kind_facts().and_then(|facts| facts.stack) == Some(band.stack);
        let key = match band.color {
            Some(color) => color_key(shade::fill(color, ColorBy::Stack, theme).css()),
            None => initial(theme),
        };
        let content = html! {
            <>
                <span class="timeline-band">{ &band.lead }<small>{ &band.rest }</small></span>
                <strong>{ format::bytes(band.bytes) }</strong>
            </>
        };
        let name = format!("{} {} {}", band.lead, band.rest, band.callers);
        html! { <li>{ entry_button(file, (Kind::Stack(band.stack), is_selected), key, name, content) }</li> }
    };
    html! {
        <>
            <li>{ when(shown.moment().1) }</li>
            if bands.is_empty() { <li>{ "no stacks recorded" }</li> }
            { for bands.iter().map(entry) }
        </>
    }
}

/// Shows an entry that selects a kind, or none if the kind is selected already.
fn entry_button(file: &FileHandle, (kind, is_selected): (Kind, bool), key: Html, name: String, content: Html) -> Html {
    let onclick = file.clicked(FileAction::SelectKind((!is_selected).then_some(kind)));
    let title = format!("Select {}", name.trim_end());
    html! {
        <button type="button" class="timeline-entry" aria-pressed={is_selected.to_string()} {title} {onclick}>
            { key }{ content }
        </button>
    }
}

fn line(color: Color) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
            <rect x="0" y="4" width="18" height="2" fill={color.css()} />
        </svg>
    }
}

fn merged(by: ColorBy, theme: &Theme) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
            { for [1u32, 2, 3].map(|number| {
                let (y, fill) = (((number - 1) * 10) as f64 / 3.0, shade::merged_fill(number, by, theme).css());
                html! { <rect y={y.to_string()} width="18" height="3.4" fill={fill} /> }
            }) }
        </svg>
    }
}

fn initial(theme: &Theme) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
            <rect width="18" height="10" fill={theme.initial.css()} />
            { for [-6, 2, 10].map(|x| html! {
                <path d={format!("M{x} 10 L{} 0", x + 10)} stroke={theme.initial_hatch.css()} stroke-width="2" fill="none" />
            }) }
        </svg>
    }
}

const CHOICES: [(ColorBy, &str); 3] =
    [(ColorBy::AreaCategory, "category"), (ColorBy::AreaModule, "module"), (ColorBy::AreaFunction, "own function")];

fn area_legend<'a>((file, shown): Within<'_>, rows: impl Iterator<Item = &'a AreaRow>) -> Html {
    let shown_color = shown.ready.color();
    let choices = CHOICES.map(|(color, label)| {
        let onclick = file.clicked(FileAction::ChooseColor(color));
        choice(label, "", color == shown_color, Some(onclick))
    });
    html! {
        <div class="timeline-categories">
            { segmented("Areas by", choices) }
            <ul class="numbers" aria-label="Areas">
                <li>{ when(shown.moment().1) }</li>
                { for rows.map(|row| key(row, file, shown_color)) }
            </ul>
        </div>
    }
}

/// Shows an area with its bytes; those of a group are a button that selects it.
fn key(row: &AreaRow, file: &FileHandle, color: ColorBy) -> Html {
    let key = color_key(shade::fill(row.color, color, file.scheme.theme()).css());
    let content = html! {
        <><span class="timeline-area">{ &row.label }</span><strong>{ format::bytes(row.bytes) }</strong></>
    };
    let entry = match row.kind.clone() {
        None => html! { <>{ key }{ content }</> },
        Some(kind) => entry_button(file, (kind, row.is_selected), key, row.label.clone(), content),
    };
    html! { <li data-area={row.label.clone()} title={row.label.clone()}>{ entry }</li> }
}

/// Returns the categories that have bytes, most bytes first, with names and sizes.
fn lines(bytes: &CategoryBytes) -> Vec<(Category, &'static str, String)> {
    let mut rows: Vec<_> = bytes.rows.iter().filter(|(_, size_bytes)| *size_bytes > 0).collect();
    rows.short_sort_by_key(|(_, size_bytes)| Reverse(*size_bytes));
    let line = |&(category, size_bytes): &(Category, u64)| {
        let name = match category {
            Category::Collective => "communication buffers",
            Category::Unknown => "unknown purpose",
            category => category.plural(),
        };
        (category, name, format::bytes(size_bytes))
    };
    rows.into_iter().map(line).collect()
}

fn when(is_pin: bool) -> &'static str {
    if is_pin { "At the pin:" } else { "At the peak:" }
}

/// A remark, if the categories are a guess.
fn doubt(bytes: &CategoryBytes) -> Option<&'static str> {
    (bytes.basis == PhaseBasis::Curve).then_some("a guess: no stack identifies forward or backward")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_legend_names_what_has_memory() {
        let rows = vec![(Category::Parameter, 1 << 30), (Category::Activation, 3 << 30), (Category::Unknown, 0)];
        let bytes = CategoryBytes { rows, basis: PhaseBasis::Operations, ..CategoryBytes::default() };
        let lines = lines(&bytes);
        let expected =
            [(Category::Activation, "activations", "3.00 GiB"), (Category::Parameter, "parameters", "1.00 GiB")];
        assert_eq!(lines, expected.map(|(category, name, size)| (category, name, size.to_owned())));
        assert_eq!(doubt(&bytes), None);
        assert!(doubt(&CategoryBytes::default()).is_some(), "the curve alone is a guess");
    }
}
