//! Hooks for the card on which a file's findings are based, and for replaying the settings of a finding in What if.

use crate::ask::{Ask, GetFindings, GetRecordedSetup, RecordedSetup, Report, WhatIfSetup};
use crate::hooks::{FileHandle, ShownFile};
use crate::platform::now_ms;
use crate::state::{Choice, DockTab, FileAction, ThisCard};
use shared::report::Diagnosis;
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
        // The findings without a known card have arrived with the file.
        let is_other = asked.replace(*card).is_some() || card.is_some();
        let question = GetFindings { capacity_bytes: card.map(|card| card.capacity_bytes) };
        hear_findings(&file, is_other.then_some(question), || ())
    });
}

/// Asks for other findings, and dispatches them like a report of the worker, after `then`.
///
/// Returns what drops the answer, once another question takes its place.
pub fn hear_findings<Q: Ask<Answer = Diagnosis> + 'static, F: FnOnce() + 'static>(
    file: &FileHandle,
    question: Option<Q>,
    then: F,
) -> impl FnOnce() + use<Q, F> {
    let is_current = Rc::new(Cell::new(true));
    if let Some(question) = question {
        let (file, waiting) = (file.clone(), is_current.clone());
        spawn_local(async move {
            // An error means that the file was closed, or another question was asked.
            if let Ok(findings) = file.client.ask(question).await
                && waiting.get()
            {
                then();
                let report = Box::new(Report::Findings(findings));
                file.act(FileAction::Hear { id: file.id, report, now_ms: now_ms() });
            }
        });
    }
    move || is_current.set(false)
}

/// Position of a device, and settings to replay in the syntax of `PYTORCH_CUDA_ALLOC_CONF`; empty ones keep those of
/// What if.
pub type Tried = (u32, String);

/// Returns a callback that opens What if with settings, on the GPU that it has.
#[hook]
pub fn use_try(file: &FileHandle, shown: &ShownFile) -> Callback<Tried> {
    let deps = (file.clone(), shown.device.device, shown.ready.choices.what_if.clone());
    use_callback(deps, |(device, conf): Tried, (file, shown_device, what_if)| {
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
                        Ok(RecordedSetup { capacity_bytes, .. }) => {
                            WhatIfSetup { capacity_bytes, ..Default::default() }
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
