//! Buttons that save a view's drawing as a picture, or a table as it is on the screen.

use super::model::file_name;
use crate::ask::{SheetOf, SheetOrder};
use crate::components::{ExportButton, Making};
use crate::draw::Sketch;
use crate::draw::svg::svg;
use crate::hooks::{use_file, use_shown};
use crate::platform::{AskError, Blob, png_of, text_blob};
use crate::state::DockTab;
use shared::export::TableFormat;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use yew::prelude::*;

/// Pixels of a PNG per CSS pixel of the drawing, in each direction.
const PNG_SCALE: f64 = 2.0;

/// Latest drawings of a view's elements, from top to bottom, so that a saved picture equals the screen.
#[derive(Clone, Debug, Default)]
pub struct Easel {
    sketches: Rc<RefCell<BTreeMap<u8, Sketch>>>,
}

impl PartialEq for Easel {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.sketches, &other.sketches)
    }
}

impl Easel {
    pub fn put(&self, place: u8, sketch: Sketch) {
        self.sketches.borrow_mut().insert(place, sketch);
    }

    pub fn clear(&self, place: u8) {
        self.sketches.borrow_mut().remove(&place);
    }
}

/// Returns the easel of the dock around a view.
///
/// # Panics
/// Panics outside of the dock, which provides the easel.
#[hook]
pub fn use_easel() -> Easel {
    use_context().expect("the dock provides an easel")
}

#[derive(Clone, PartialEq, Properties)]
pub struct PictureButtonsProps {
    pub tab: DockTab,
    pub easel: Easel,
}

/// Shows buttons that save a view's drawing as SVG and as PNG; a tab without a drawing gets none.
#[component]
pub fn PictureButtons(props: &PictureButtonsProps) -> Html {
    let PictureButtonsProps { tab, easel } = props;
    let (file, shown) = (use_file(), use_shown());
    let (what, ending) = match *tab {
        DockTab::Flame if shown.ready.choices.stacks.controls.is_table => ("Sandwich", "-sandwich"),
        DockTab::Flame => ("Flame graph", "-flame-graph"),
        DockTab::Segments => ("Segments", "-segments"),
        DockTab::WhatIf => ("What if", "-what-if"),
        DockTab::Compare if !shown.are_ranks => ("Comparison", "-comparison"),
        DockTab::Compare | DockTab::Allocations | DockTab::Events | DockTab::Source | DockTab::Logs => {
            return Html::default();
        }
    };
    let button = |label: &'static str, title: &'static str, is_pixels: bool| {
        let (easel, scheme, heading) = (easel.clone(), file.scheme, format!("{} · {what}", file.name));
        let make = Callback::from(move |()| -> Making {
            let document = {
                let sketches = easel.sketches.borrow();
                let whole = Sketch::stacked(&heading, sketches.values(), scheme.theme());
                (!sketches.is_empty()).then(|| svg(&heading, &whole))
            };
            Box::pin(async move {
                let document = document.ok_or_else(|| "there is no drawing".to_owned())?;
                file_of_text(document, "image/svg+xml", is_pixels).await
            })
        });
        let name = file_name(&file.name, false, &format!("{ending}.{}", if is_pixels { "png" } else { "svg" }));
        html! { <ExportButton key={format!("{ending}{label}")} {label} {title} {name} {make} /> }
    };
    html! {
        <>
            { button("SVG", "Save the drawing as SVG", false) }
            { button("PNG", "Save the drawing as PNG", true) }
        </>
    }
}

#[derive(Clone, PartialEq, Properties)]
pub struct SheetButtonsProps {
    /// Part of the saved file's name that names the table, such as `allocations`.
    pub table: AttrValue,
    /// Returns the table to save; called when a button is pressed.
    pub of: Callback<(), SheetOf>,
}

/// Shows a button for each format of tables.
///
/// All save all rows that pass the filter, in the order of the table.
#[component]
pub fn SheetButtons(props: &SheetButtonsProps) -> Html {
    let (file, device) = (use_file(), use_shown().device.device);
    let button = |format: TableFormat| {
        let (file, SheetButtonsProps { table, of }) = (file.clone(), props.clone());
        let name = file_name(&file.name, false, &format!("-{table}.{}", format.ending()));
        let make = Callback::from(move |()| -> Making {
            let order = SheetOrder { device, file: file.name.to_string(), format, of: of.emit(()) };
            let client = file.client.clone();
            Box::pin(async move { client.file(order, |_| ()).await.map_err(reason) })
        });
        let title = format!("Save the table as {}", format.label());
        html! { <ExportButton label={format.label()} {title} {name} {make} /> }
    };
    html! {
        <span class="sheet-buttons">
            { for TableFormat::ALL.map(button) }
        </span>
    }
}

pub fn reason(error: AskError) -> String {
    match error {
        AskError::Refused(reason) => reason,
        AskError::Superseded | AskError::Closed => "the file was closed".to_owned(),
    }
}

/// Makes a file of a text, or a PNG of one that is an SVG.
///
/// # Errors
/// Returns the reason why there is none.
pub async fn file_of_text(text: String, media_type: &str, is_pixels: bool) -> Result<Blob, String> {
    let file = text_blob(&text, media_type).map_err(|_| "the browser ran out of memory".to_owned())?;
    if is_pixels { pixels_of(&file).await } else { Ok(file) }
}

/// Turns an SVG into a PNG.
///
/// # Errors
/// Returns the reason why there is none.
pub async fn pixels_of(svg: &Blob) -> Result<Blob, String> {
    png_of(svg, PNG_SCALE).await.map_err(|_| "the browser can’t draw the picture".to_owned())
}
