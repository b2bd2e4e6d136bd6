//! Replays in a file's worker, as they come.

use super::use_answer::use_answer;
use crate::platform::{AskError, WorkerClient};
use crate::worker::{RecordedSetup, ReplayData, SweepData, WhatIfAnswer, WhatIfQuestion, WhatIfSetup};
use gloo_timers::callback::Timeout;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// A replay is asked for once nothing was typed for so long.
const REST_MS: u32 = 200;

/// Under what the recording of a device ran; a sentence where it can't be replayed.
#[hook]
pub fn use_recorded_setup(client: &WorkerClient, device: u32) -> Option<Rc<Result<RecordedSetup, String>>> {
    use_answer((client.clone(), device), |(client, device)| async move {
        match client.what_if(device, WhatIfQuestion::Recorded).await {
            Ok(WhatIfAnswer::Recorded(recorded)) => Ok(Ok(recorded)),
            Ok(_) => Ok(Err(OTHER_KIND.to_owned())),
            Err(error) => refused(error),
        }
    })
}

/// A replay with what it was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Under what.
    pub setup: WhatIfSetup,
    /// What it came to, or why there is none.
    pub outcome: Result<ReplayData, String>,
}

/// The replay of a setup; that of the last one stays until the new one is there.
#[hook]
pub fn use_replay(client: &WorkerClient, device: u32, setup: &WhatIfSetup) -> Option<Rc<Replayed>> {
    let rested = use_rested(setup.clone());
    use_answer((client.clone(), device, rested), |(client, device, setup)| async move {
        let outcome = match client.what_if(device, WhatIfQuestion::Replay(setup.clone())).await {
            Ok(WhatIfAnswer::Replay(data)) => Ok(*data),
            Ok(_) => Err(OTHER_KIND.to_owned()),
            Err(error) => refused(error)?,
        };
        Ok(Replayed { setup, outcome })
    })
}

const OTHER_KIND: &str = "The answer is of another kind than the question";

/// A refusal is something to show; after the other errors nobody looks.
fn refused<T>(error: AskError) -> Result<Result<T, String>, AskError> {
    match error {
        AskError::Refused(reason) => Ok(Err(reason)),
        other => Err(other),
    }
}

/// A value, once it has not changed for a moment; the first one at once.
#[hook]
fn use_rested<T: Clone + PartialEq + 'static>(value: T) -> T {
    let rested = use_state_eq(|| value.clone());
    use_effect_with(value, {
        let rested = rested.setter();
        move |value| {
            let value = value.clone();
            let timer = Timeout::new(REST_MS, move || rested.set(value));
            move || drop(timer)
        }
    });
    (*rested).clone()
}

/// A sweep and its switches.
#[derive(Clone, PartialEq)]
pub struct SweepHandle {
    /// What it has found; `None` before it was started.
    pub data: Option<Rc<SweepData>>,
    /// Whether it goes on.
    pub is_running: bool,
    /// Begins anew on the card of a setup.
    pub on_start: Callback<WhatIfSetup>,
    /// Ends it; what it has found stays.
    pub on_stop: Callback<()>,
}

/// Tries settings step by step, so that other questions are answered in between.
#[hook]
pub fn use_sweep(client: &WorkerClient, device: u32) -> SweepHandle {
    let data = use_state_eq(|| None::<Rc<SweepData>>);
    let is_running = use_state_eq(|| false);
    let turn = use_memo((), |()| Cell::new(0_u32));
    let on_start = {
        let (turn, data, is_running) = (turn.clone(), data.setter(), is_running.setter());
        use_callback((client.clone(), device), move |setup: WhatIfSetup, (client, device)| {
            let this = turn.get().wrapping_add(1);
            turn.set(this);
            is_running.set(true);
            data.set(None);
            let (turn, data, is_running) = (turn.clone(), data.clone(), is_running.clone());
            let (client, device) = (client.clone(), *device);
            spawn_local(async move {
                let mut is_new = true;
                while turn.get() == this {
                    let question = WhatIfQuestion::Sweep { setup: setup.clone(), is_new };
                    let Ok(WhatIfAnswer::Sweep(found)) = client.what_if(device, question).await else { break };
                    if turn.get() != this {
                        return;
                    }
                    is_new = false;
                    let is_done = found.is_done();
                    data.set(Some(Rc::new(found)));
                    if is_done {
                        break;
                    }
                }
                is_running.set(false);
            });
        })
    };
    let on_stop = {
        let (turn, is_running) = (turn.clone(), is_running.setter());
        use_callback((), move |(), ()| {
            turn.set(turn.get().wrapping_add(1));
            is_running.set(false);
        })
    };
    // What another device needs is another question, and nobody looks at this one after the view is closed.
    use_effect_with((client.clone(), device), {
        let data = data.setter();
        move |_| {
            move || {
                turn.set(turn.get().wrapping_add(1));
                data.set(None);
            }
        }
    });
    SweepHandle { data: (*data).clone(), is_running: *is_running, on_start, on_stop }
}
