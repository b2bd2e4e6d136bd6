//! Hooks for the card on which a file's findings are based, and for replaying the settings of a finding in What if.

use crate::ask::{GetFindings, GetRecordedSetup, Report, WhatIfSetup};
use crate::hooks::{FileHandle, ShownFile};
use crate::platform::now_ms;
use crate::state::{Choice, DockTab, FileAction, ThisCard};
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

/// Settings to replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Position of the device.
    pub device: u32,
    /// Settings in the syntax of `PYTORCH_CUDA_ALLOC_CONF`; empty keeps those of What if.
    pub conf: String,
}

/// Returns a callback that opens What if with settings, on the GPU that it has.
#[hook]
pub fn use_try(file: &FileHandle, shown: &ShownFile) -> Callback<Tried> {
    let deps = (file.clone(), shown.device.device, shown.ready.choices.what_if.clone());
    use_callback(deps, |Tried { device, conf }: Tried, (file, shown_device, what_if)| {
        let (file, what_if) = (file.clone(), what_if.clone());
        let is_shown = device == *shown_device;
        if !is_shown {
            file.act(FileAction::ChooseDevice(device));
        }
        spawn_local(async move {
            if !conf.is_empty() {
                let known = what_if.filter(|_| is_shown).map(|setup| WhatIfSetup::clone(&setup));
                let setup = match known {
                    Some(setup) => setup,
                    // A refusal is shown by What if itself.
                    None => match file.client.ask(GetRecordedSetup { device }).await {
                        Ok(recorded) => {
                            WhatIfSetup { capacity_bytes: recorded.capacity_bytes, ..WhatIfSetup::default() }
                        }
                        Err(_) => WhatIfSetup::default(),
                    },
                };
                file.choose(Choice::WhatIf(WhatIfSetup { conf, ..setup }));
            }
            file.act(FileAction::ChooseDock(Some(DockTab::WhatIf)));
        });
    })
}
