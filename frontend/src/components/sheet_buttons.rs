//! Buttons that save a table as it is on the screen.

use super::export_button::{ExportButton, Making};
use crate::platform::{AskError, WorkerClient};
use crate::view::export::file_name;
use crate::worker::{SheetOf, SheetOrder};
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct SheetButtonsProps {
    pub(super) client: WorkerClient,
    /// Position of the device.
    pub(super) device: u32,
    /// Name of the snapshot file.
    pub(super) file: AttrValue,
    /// Part of the saved file's name that names the table, such as `allocations`.
    pub(super) table: AttrValue,
    /// Returns the table to save; called when a button is pressed.
    pub(super) of: Callback<(), SheetOf>,
}

/// Shows a button for CSV (spreadsheets) and one for JSON (programs).
///
/// Both save all rows that pass the filter, in the order of the table.
#[component]
pub(super) fn SheetButtons(props: &SheetButtonsProps) -> Html {
    let button = |label: &'static str, title: &'static str, is_json: bool| {
        let SheetButtonsProps { client, device, file, table, of } = props.clone();
        let ending = if is_json { "json" } else { "csv" };
        let name = file_name(&file, false, &format!("-{table}.{ending}"));
        let make = Callback::from(move |()| -> Making {
            let order = SheetOrder { device, file: file.to_string(), is_json, of: of.emit(()) };
            let client = client.clone();
            Box::pin(async move { client.sheet(order).await.map_err(reason) })
        });
        html! { <ExportButton {label} {title} {name} {make} /> }
    };
    html! {
        <span class="sheet-buttons">
            { button("CSV", "Save the table as CSV", false) }
            { button("JSON", "Save the table as JSON", true) }
        </span>
    }
}

fn reason(error: AskError) -> String {
    match error {
        AskError::Refused(reason) => reason,
        AskError::Superseded | AskError::Closed => "the file was closed".to_owned(),
    }
}
