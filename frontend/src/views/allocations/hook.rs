//! Hooks for tables of allocations.

use crate::ask::{Found, GetRows, TablePage, TableRequest, WalkRequest, WalkTo};
use crate::hooks::{use_answer, use_subject};
use crate::platform::{AskError, WorkerClient};
use std::rc::Rc;
use yew::prelude::*;

/// Page of a table with the request that it answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pub request: TableRequest,
    /// The rows, or an error message if the search text is invalid.
    pub rows: Result<Rc<TablePage>, String>,
}

/// Returns rows of a table; the previous ones stay until the new ones arrive.
#[hook]
pub fn use_rows(request: TableRequest) -> Option<Rc<Page>> {
    let (client, device) = use_subject();
    use_answer((client, device, request), |(client, device, request)| async move {
        let rows = client.ask(GetRows { device, request: request.clone() }).await?;
        Ok(Page { request, rows: rows.map(Rc::new) })
    })
}

/// Returns the next or previous allocation of a selection.
///
/// # Errors
/// Returns an error if the worker gives no answer; see [`AskError`].
pub async fn walk(client: &WorkerClient, device: u32, request: WalkRequest) -> Result<Option<Found>, AskError> {
    // An invalid search text matches nothing; the table shows the error.
    Ok(client.ask(WalkTo { device, request }).await?.unwrap_or(None))
}
