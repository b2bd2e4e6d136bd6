//! Dialog that saves the shown file in other formats, and buttons that save the drawing or the table of a view.

pub mod model;

use self::model::{file_name, moment_text, table_label};
use super::share::RemainingTexts;
use crate::ask::{CopyOptions, ExportForm, ExportOrder, GetCopyPreview, SheetOf, SheetOrder};
use crate::components::{Dialog, ExportButton, Making, by_position, is_checked, options, setting};
use crate::draw::Sketch;
use crate::draw::svg::svg;
use crate::hooks::{use_file, use_shown};
use crate::platform::{AskError, Blob, WorkerClient, png_of, text_blob};
use crate::state::{DockTab, ReadyFile, Scheme, ViewState};
use shared::export::{SanitizeReport, Table, TableFormat};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct ExportDialogProps {
    pub client: WorkerClient,
    pub file: ReadyFile,
    pub name: AttrValue,
    pub view: ViewState,
    pub scheme: Scheme,
    pub on_close: Callback<()>,
}

#[component]
pub fn ExportDialog(props: &ExportDialogProps) -> Html {
    let is_clean = use_state_eq(|| false);
    let preview = use_clean_preview(&props.client, *is_clean);
    let table = use_state_eq(|| Table::Stacks);
    let on_clean = setting(&is_clean).reform(|event: Event| is_checked(&event));
    let on_table = by_position(Table::ALL.len(), &setting(&table).reform(|position: usize| Table::ALL[position]));
    let pinned = props.view.pin.map(|pin| pin.moment);
    let tables: Vec<AttrValue> = Table::ALL.iter().map(|table| table_label(table.name(), pinned).into()).collect();
    let chosen = Table::ALL.iter().position(|one| *one == *table).unwrap_or(0);
    let moment = moment_text(pinned);
    let button = |form: ExportForm, is_pixels: bool, label: &'static str, title: AttrValue, ending: &str| {
        let (client, order) = (props.client.clone(), order(props, form, *is_clean));
        let make = Callback::from(move |()| -> Making {
            let (client, order) = (client.clone(), order.clone());
            Box::pin(async move {
                // The Web Worker draws an SVG, which the page turns into pixels because it has canvases.
                let file = client.file(order, |_| ()).await.map_err(reason)?;
                if is_pixels { pixels_of(&file).await } else { Ok(file) }
            })
        });
        let name = file_name(&props.name, *is_clean, ending);
        html! { <ExportButton key={ending.to_owned()} {label} {title} {name} {make} /> }
    };
    let as_format = |format: TableFormat| {
        let title = format!("Save the table as {}", format.label());
        let ending = format!("-{}.{}", table.name(), format.ending());
        button(ExportForm::Table(*table, format), false, format.label(), title.into(), &ending)
    };
    html! {
        <Dialog id="export-title" title="Export" class="export" on_close={props.on_close.clone()}>
            <ul class="export-list">
                { row("Report", "One page with findings, pictures and stacks, for example for a bug report", html! {
                    { button(ExportForm::Report, false, "HTML", "Save a report as HTML".into(), "-report.html") }
                }) }
                { row("Timeline", "A picture of the visible part", html! {
                    <>
                        { button(ExportForm::Picture, false, "SVG", "Save the timeline as SVG".into(), "-timeline.svg") }
                        { button(ExportForm::Picture, true, "PNG", "Save the timeline as PNG".into(), "-timeline.png") }
                    </>
                }) }
                { row("Table", "One row per entry, with sizes in bytes", html! {
                    <>
                        <select aria-label="Table" onchange={on_table}>{ options(&tables, chosen) }</select>
                        { for TableFormat::ALL.map(as_format) }
                    </>
                }) }
                { row("speedscope", &format!("Stacks of the live memory {moment}, for speedscope.app"), html! {
                    { button(ExportForm::Speedscope, false, "JSON", "Save a profile for speedscope".into(), ".speedscope.json") }
                }) }
                { row("Perfetto", "Counters and spans of all devices, for ui.perfetto.dev", html! {
                    { button(ExportForm::Perfetto, false, "JSON", "Save a trace for Perfetto".into(), ".perfetto.json") }
                }) }
                { row("Snapshot", "For Snapscope and for PyTorch’s memory_viz page", html! {
                    { button(ExportForm::Pickle, false, "pickle.gz", "Save the snapshot".into(), ".pickle.gz") }
                }) }
            </ul>
            <label class="check">
                <input type="checkbox" checked={*is_clean} onchange={on_clean} />
                <span class="check-label">{ "Remove names" }</span>
                <span class="check-note">{ "Also removes hosts, keys, metadata and path prefixes" }</span>
            </label>
            if let Some(preview) = preview { <RemainingTexts {preview} /> }
            <p class="hint">{ "Files are created in this tab. Nothing is uploaded." }</p>
        </Dialog>
    }
}

#[hook]
fn use_clean_preview(client: &WorkerClient, is_clean: bool) -> Option<Rc<SanitizeReport>> {
    let preview = use_state_eq(|| None::<Rc<SanitizeReport>>);
    let (found, client) = (preview.clone(), client.clone());
    use_effect_with(is_clean, move |is_clean| {
        if *is_clean && found.is_none() {
            spawn_local(async move {
                // An error means that the file was closed, and the dialog with it.
                if let Ok(known) = client.ask(GetCopyPreview { options: CopyOptions::default() }).await {
                    found.set(Some(Rc::new(known)));
                }
            });
        }
    });
    (*preview).clone().filter(|_| is_clean)
}

fn row(name: &str, note: &str, buttons: Html) -> Html {
    html! {
        <li class="export-row">
            <div class="export-text"><strong>{ name }</strong><span class="hint">{ note }</span></div>
            <div class="export-buttons">{ buttons }</div>
        </li>
    }
}

fn order(props: &ExportDialogProps, form: ExportForm, is_clean: bool) -> ExportOrder {
    let ExportDialogProps { file, name, view, scheme, .. } = props;
    ExportOrder {
        form,
        file: name.to_string(),
        device: file.device,
        moment: view.pin.map(|pin| pin.moment),
        axis: view.axis,
        range: view.range.map(|range| (range.x.start, range.x.end)),
        is_dark: *scheme == Scheme::Dark,
        is_clean,
    }
}

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
