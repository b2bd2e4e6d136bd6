//! Hook for the card on which a file's findings are based.

use crate::ask::{GetFindings, Report};
use crate::platform::{WorkerClient, now_ms};
use crate::state::{FileAction, FileId, ThisCard};
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Requests the findings for the chosen card, and dispatches them like a report of the worker.
#[hook]
pub fn use_card(client: &WorkerClient, id: FileId, card: Option<ThisCard>, on_action: &Callback<FileAction>) {
    let asked = use_mut_ref(|| None::<ThisCard>);
    let on_action = on_action.clone();
    use_effect_with((client.clone(), id, card), move |(client, id, card)| {
        let is_current = Rc::new(Cell::new(true));
        // The findings without a known card have arrived with the file.
        if asked.replace(*card).is_some() || card.is_some() {
            let (client, id, capacity_bytes) = (client.clone(), *id, card.map(|card| card.capacity_bytes));
            let waiting = is_current.clone();
            spawn_local(async move {
                // An error means that the file was closed, or another card was chosen.
                if let Ok(findings) = client.ask(GetFindings { capacity_bytes }).await
                    && waiting.get()
                {
                    let report = Box::new(Report::Findings(findings));
                    on_action.emit(FileAction::Hear { id, report, now_ms: now_ms() });
                }
            });
        }
        move || is_current.set(false)
    });
}
