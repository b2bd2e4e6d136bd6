//! Buttons that save a table as it is on the screen.

use super::model::file_name;
use crate::ask::{SheetOf, SheetOrder};
use crate::components::buttons::{ExportButton, Making};
use crate::hooks::{use_file, use_shown};
use crate::platform::AskError;
use shared::export::TableFormat;
use yew::prelude::*;

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

fn reason(error: AskError) -> String {
    match error {
        AskError::Refused(reason) => reason,
        AskError::Superseded | AskError::Closed => "the file was closed".to_owned(),
    }
}
