//! Hook that replays the settings of a finding in What if.

use crate::ask::{GetRecordedSetup, WhatIfSetup};
use crate::hooks::{FileHandle, ShownFile};
use crate::state::{Choice, DockTab, FileAction};
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
