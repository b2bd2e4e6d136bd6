//! Tables of allocations, as they come.

use super::use_answer::use_answer;
use crate::platform::{AskError, WorkerClient};
use crate::worker::{
    AllocationsAnswer, AllocationsQuestion, Found, SelectionFacts, TablePage, TableRequest, WalkRequest,
};
use std::rc::Rc;
use yew::prelude::*;

/// A page of a table, and what it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// What was asked for.
    pub request: TableRequest,
    /// The rows, or what is wrong with the text that is looked for.
    pub rows: Result<Rc<TablePage>, String>,
}

/// Rows of a table; those of the last question stay until the new ones are there.
#[hook]
pub fn use_rows(client: &WorkerClient, device: u32, request: TableRequest) -> Option<Rc<Page>> {
    use_answer((client.clone(), device, request), |(client, device, request)| async move {
        let rows = match client.allocations(device, AllocationsQuestion::Rows(request.clone())).await? {
            AllocationsAnswer::Rows(page) => Ok(Rc::new(page)),
            AllocationsAnswer::Mistyped(message) => Err(message),
            other => return Err(unexpected(&other)),
        };
        Ok(Page { request, rows })
    })
}

/// What the allocations of a device can be filtered by.
#[hook]
pub fn use_selection_facts(client: &WorkerClient, device: u32) -> Option<Rc<SelectionFacts>> {
    use_answer((client.clone(), device), |(client, device)| async move {
        match client.allocations(device, AllocationsQuestion::Facts).await? {
            AllocationsAnswer::Facts(facts) => Ok(facts),
            other => Err(unexpected(&other)),
        }
    })
}

/// The next or previous allocation of a selection.
///
/// # Errors
/// As [`AskError`] says.
pub async fn walk(client: &WorkerClient, device: u32, request: WalkRequest) -> Result<Option<Found>, AskError> {
    match client.allocations(device, AllocationsQuestion::Walk(request)).await? {
        AllocationsAnswer::Walk(found) => Ok(found),
        // A text that can't be read finds nothing, and the table says why.
        AllocationsAnswer::Mistyped(_) => Ok(None),
        other => Err(unexpected(&other)),
    }
}

fn unexpected(answer: &AllocationsAnswer) -> AskError {
    AskError::Refused(format!("{answer:?} answers another question"))
}
