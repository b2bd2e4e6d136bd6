//! Buttons that save a table as it is on the screen.

use super::model::file_name;
use crate::ask::{SheetOf, SheetOrder};
use crate::components::export_button::{ExportButton, Making};
use crate::platform::{AskError, WorkerClient};
use shared::export::TableFormat;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct SheetButtonsProps {
    pub client: WorkerClient,
    /// Position of the device.
    pub device: u32,
    /// Name of the snapshot file.
    pub file: AttrValue,
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
    let button = |format: TableFormat| {
        let SheetButtonsProps { client, device, file, table, of } = props.clone();
        let name = file_name(&file, false, &format!("-{table}.{}", format.ending()));
        let make = Callback::from(move |()| -> Making {
            let order = SheetOrder { device, file: file.to_string(), format, of: of.emit(()) };
            let client = client.clone();
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

fn reason(error: AskError) -> String {
    match error {
        AskError::Refused(reason) => reason,
        AskError::Superseded | AskError::Closed => "the file was closed".to_owned(),
    }
}
