//! Dialog that saves the shown file in other formats.

pub mod model;
pub mod picture;

use self::model::{file_name, moment_text, table_label};
use self::picture::{pixels_of, reason};
use super::share::form::RemainingTexts;
use crate::ask::{CopyOptions, ExportForm, ExportOrder, GetCopyPreview};
use crate::components::{Dialog, ExportButton, Making, by_position, is_checked, options, setting};
use crate::platform::WorkerClient;
use crate::state::{ReadyFile, Scheme, ViewState};
use shared::export::{SanitizeReport, Table, TableFormat};
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

/// Returns the preview of a cleaned copy, which is requested when it is first needed.
#[hook]
fn use_clean_preview(client: &WorkerClient, is_clean: bool) -> Option<Rc<SanitizeReport>> {
    let preview = use_state_eq(|| None::<Rc<SanitizeReport>>);
    use_effect_with(is_clean, {
        let (preview, client) = (preview.clone(), client.clone());
        move |is_clean| {
            if *is_clean && preview.is_none() {
                spawn_local(async move {
                    // An error means that the file was closed, and the dialog with it.
                    if let Ok(known) = client.ask(GetCopyPreview { options: CopyOptions::default() }).await {
                        preview.set(Some(Rc::new(known)));
                    }
                });
            }
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
