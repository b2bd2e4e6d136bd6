//! Dialog that saves the shown file in other formats.

pub mod model;
pub mod picture;

use self::model::{file_name, moment_text, table_label};
use super::share::form::RemainingTexts;
use crate::ask::{CopyOptions, ExportForm, ExportOrder, GetCopyPreview};
use crate::components::buttons::{ExportButton, Making};
use crate::components::dialog::Dialog;
use crate::platform::{AskError, WorkerClient, png_of};
use crate::state::{ReadyFile, Scheme, ViewState};
use shared::export::{SanitizeReport, Table, TableFormat};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

/// Pixels of a PNG per CSS pixel of the picture, in each direction.
const PNG_SCALE: f64 = 2.0;

#[derive(Clone, PartialEq, Properties)]
pub struct ExportDialogProps {
    pub client: WorkerClient,
    pub file: ReadyFile,
    pub name: AttrValue,
    /// The view on the screen.
    pub view: ViewState,
    pub scheme: Scheme,
    pub on_close: Callback<()>,
}

/// Lists the formats in which the file can be saved, each with its purpose.
#[component]
pub fn ExportDialog(props: &ExportDialogProps) -> Html {
    let is_clean = use_state_eq(|| false);
    let preview = use_clean_preview(&props.client, *is_clean);
    let table = use_state_eq(|| Table::Stacks);
    let on_clean = {
        let is_clean = is_clean.setter();
        move |event: Event| is_clean.set(event.target_unchecked_into::<HtmlInputElement>().checked())
    };
    let on_table = {
        let table = table.setter();
        move |event: Event| {
            let select: HtmlSelectElement = event.target_unchecked_into();
            table.set(Table::ALL.get(select.selected_index().max(0) as usize).copied().unwrap_or(Table::Stacks));
        }
    };
    let orders = Orders { props, is_clean: *is_clean };
    let moment = moment_text(props.view.pin.map(|pin| pin.moment));
    let as_format = |format: TableFormat| {
        let title = format!("Save the table as {}", format.label());
        orders.button(
            ExportForm::Table(*table, format),
            format.label(),
            title.into(),
            &format!("-{}.{}", table.name(), format.ending()),
        )
    };
    html! {
        <Dialog id="export-title" title="Export" class="export" on_close={props.on_close.clone()}>
            <ul class="export-list">
                { row("Report", "One page with findings, pictures and stacks, for example for a bug report", html! {
                    { orders.button(ExportForm::Report, "HTML", "Save a report as HTML".into(), "-report.html") }
                }) }
                { row("Timeline", "A picture of the visible part", html! {
                    <>
                        { orders.button(ExportForm::Picture, "SVG", "Save the timeline as SVG".into(), "-timeline.svg") }
                        { orders.png() }
                    </>
                }) }
                { row("Table", "One row per entry, with sizes in bytes", html! {
                    <>
                        <select aria-label="Table" onchange={on_table}>{ for tables(props, *table) }</select>
                        { for TableFormat::ALL.map(as_format) }
                    </>
                }) }
                { row("speedscope", &format!("Stacks of the live memory {moment}, for speedscope.app"), html! {
                    { orders.button(ExportForm::Speedscope, "JSON", "Save a profile for speedscope".into(), ".speedscope.json") }
                }) }
                { row("Perfetto", "Counters and spans of all devices, for ui.perfetto.dev", html! {
                    { orders.button(ExportForm::Perfetto, "JSON", "Save a trace for Perfetto".into(), ".perfetto.json") }
                }) }
                { row("Snapshot", "For Snapscope and for PyTorch’s memory_viz page", html! {
                    { orders.button(ExportForm::Pickle, "pickle.gz", "Save the snapshot".into(), ".pickle.gz") }
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

fn tables(props: &ExportDialogProps, chosen: Table) -> Vec<Html> {
    let pinned = props.view.pin.map(|pin| pin.moment);
    let option = |table: Table| {
        html! { <option selected={table == chosen}>{ table_label(table.name(), pinned) }</option> }
    };
    Table::ALL.into_iter().map(option).collect()
}

/// Builds the buttons, with the state that all their orders share.
struct Orders<'a> {
    props: &'a ExportDialogProps,
    is_clean: bool,
}

impl Orders<'_> {
    fn button(&self, form: ExportForm, label: &'static str, title: AttrValue, ending: &str) -> Html {
        let (client, order) = (self.props.client.clone(), self.order(form));
        let make = Callback::from(move |()| -> Making {
            let (client, order) = (client.clone(), order.clone());
            Box::pin(async move { client.file(order, |_| ()).await.map_err(reason) })
        });
        self.saving(label, title, ending, make)
    }

    /// Returns the PNG button.
    ///
    /// The Web Worker draws an SVG, which the page turns into pixels because it has canvases.
    fn png(&self) -> Html {
        let (client, order) = (self.props.client.clone(), self.order(ExportForm::Picture));
        let make = Callback::from(move |()| -> Making {
            let (client, order) = (client.clone(), order.clone());
            Box::pin(async move {
                let svg = client.file(order, |_| ()).await.map_err(reason)?;
                png_of(&svg, PNG_SCALE).await.map_err(|_| "the browser can’t draw the picture".to_owned())
            })
        });
        self.saving("PNG", "Save the timeline as PNG".into(), "-timeline.png", make)
    }

    fn saving(&self, label: &'static str, title: AttrValue, ending: &str, make: Callback<(), Making>) -> Html {
        let name = file_name(&self.props.name, self.is_clean, ending);
        html! { <ExportButton key={ending.to_owned()} {label} {title} {name} {make} /> }
    }

    fn order(&self, form: ExportForm) -> ExportOrder {
        let ExportDialogProps { file, name, view, scheme, .. } = self.props;
        ExportOrder {
            form,
            file: name.to_string(),
            device: file.device,
            moment: view.pin.map(|pin| pin.moment),
            axis: view.axis,
            range: view.range.map(|range| (range.x.start, range.x.end)),
            is_dark: *scheme == Scheme::Dark,
            is_clean: self.is_clean,
        }
    }
}

fn reason(error: AskError) -> String {
    match error {
        AskError::Refused(reason) => reason,
        AskError::Superseded | AskError::Closed => "the file was closed".to_owned(),
    }
}
