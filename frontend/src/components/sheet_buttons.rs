//! Buttons that save a table as it is on the screen.

use super::export_button::{ExportButton, Making};
use crate::platform::{AskError, WorkerClient};
use crate::view::export::file_name;
use crate::worker::{SheetOf, SheetOrder};
use yew::prelude::*;

/// What the [`SheetButtons`] save.
#[derive(Clone, PartialEq, Properties)]
pub(super) struct SheetButtonsProps {
    /// The worker of the file.
    pub(super) client: WorkerClient,
    /// The device, by position.
    pub(super) device: u32,
    /// What the file is called.
    pub(super) file: AttrValue,
    /// What the table is called in the name of the file, such as `allocations`.
    pub(super) table: AttrValue,
    /// The table, asked for when a button is pressed.
    pub(super) of: Callback<(), SheetOf>,
}

/// CSV for spreadsheets and JSON for programs: all rows that the filter leaves, in the order of the table.
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
