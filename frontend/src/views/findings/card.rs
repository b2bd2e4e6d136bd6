//! Hook for the card on which a file's findings are based.

use crate::ask::{GetFindings, Report};
use crate::hooks::FileHandle;
use crate::platform::now_ms;
use crate::state::{FileAction, ThisCard};
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Requests the findings for the chosen card, and dispatches them like a report of the worker.
#[hook]
pub fn use_card(file: &FileHandle, card: Option<ThisCard>) {
    let asked = use_mut_ref(|| None::<ThisCard>);
    let file = file.clone();
    use_effect_with((file.client.clone(), card), move |(_, card)| {
        let is_current = Rc::new(Cell::new(true));
        // The findings without a known card have arrived with the file.
        if asked.replace(*card).is_some() || card.is_some() {
            let (file, capacity_bytes) = (file.clone(), card.map(|card| card.capacity_bytes));
            let waiting = is_current.clone();
            spawn_local(async move {
                // An error means that the file was closed, or another card was chosen.
                if let Ok(findings) = file.client.ask(GetFindings { capacity_bytes }).await
                    && waiting.get()
                {
                    let report = Box::new(Report::Findings(findings));
                    file.act(FileAction::Hear { id: file.id, report, now_ms: now_ms() });
                }
            });
        }
        move || is_current.set(false)
    });
}
