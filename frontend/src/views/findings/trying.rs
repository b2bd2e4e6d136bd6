//! Hook that replays the settings of a finding in What if.

use crate::ask::{GetRecordedSetup, WhatIfSetup};
use crate::platform::WorkerClient;
use crate::state::{Choice, DockTab, FileAction};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Settings to replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// Position of the device.
    pub device: u32,
    /// Settings in the syntax of `PYTORCH_CUDA_ALLOC_CONF`; empty keeps those of What if.
    pub conf: String,
}

/// Returns a callback that opens What if with settings, on the GPU that it has; `what_if` is its setup of the device.
#[hook]
pub fn use_try(
    client: &WorkerClient,
    shown_device: u32,
    what_if: Option<&Rc<WhatIfSetup>>,
    on_action: &Callback<FileAction>,
) -> Callback<Tried> {
    let deps = (client.clone(), shown_device, what_if.cloned(), on_action.clone());
    use_callback(deps, |Tried { device, conf }: Tried, (client, shown_device, what_if, on_action)| {
        let (client, what_if, on_action) = (client.clone(), what_if.clone(), on_action.clone());
        let is_shown = device == *shown_device;
        if !is_shown {
            on_action.emit(FileAction::ChooseDevice(device));
        }
        spawn_local(async move {
            if !conf.is_empty() {
                let known = what_if.filter(|_| is_shown).map(|setup| WhatIfSetup::clone(&setup));
                let setup = match known {
                    Some(setup) => setup,
                    // A refusal is shown by What if itself.
                    None => match client.ask(GetRecordedSetup { device }).await {
                        Ok(recorded) => {
                            WhatIfSetup { capacity_bytes: recorded.capacity_bytes, ..WhatIfSetup::default() }
                        }
                        Err(_) => WhatIfSetup::default(),
                    },
                };
                on_action.emit(FileAction::Choose(Choice::WhatIf(WhatIfSetup { conf, ..setup })));
            }
            on_action.emit(FileAction::ChooseDock(Some(DockTab::WhatIf)));
        });
    })
}
