//! Hooks for replays, which a file's Web Worker computes.

use crate::ask::{GetRecordedSetup, GetReplay, GetSweep, RecordedSetup, ReplayData, SweepData, WhatIfSetup};
use crate::components::bound;
use crate::hooks::{use_answer, use_subject};
use crate::platform::{AskError, WorkerClient};
use gloo_timers::callback::Timeout;
use std::cell::Cell;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Time without typing after which a replay is requested, in milliseconds.
const REST_MS: u32 = 200;

/// Returns the setup with which a device was recorded, or a sentence why it can't be replayed.
#[hook]
pub fn use_recorded_setup() -> Option<Rc<Result<RecordedSetup, String>>> {
    let subject = use_subject();
    use_answer(subject, |(client, device)| async move { unless_refused(client.ask(GetRecordedSetup { device }).await) })
}

#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    pub setup: WhatIfSetup,
    /// The replay, or the reason why there is none.
    pub outcome: Result<ReplayData, String>,
}

/// Returns the replay of a setup; the previous one stays until the new one arrives.
#[hook]
pub fn use_replay(setup: &WhatIfSetup) -> Option<Rc<Replayed>> {
    let rested = use_rested(setup.clone());
    let (client, device) = use_subject();
    use_answer((client, device, rested), |(client, device, setup)| async move {
        let outcome = unless_refused(client.ask(GetReplay { device, setup: setup.clone() }).await)?;
        Ok(Replayed { setup, outcome })
    })
}

/// Turns a refusal into a message to show; after other errors nobody waits for the answer.
fn unless_refused<T>(answer: Result<T, AskError>) -> Result<Result<T, String>, AskError> {
    match answer {
        Err(AskError::Refused(reason)) => Ok(Err(reason)),
        answer => answer.map(Ok),
    }
}

/// Returns a value once it has not changed for a moment; the first value at once.
#[hook]
fn use_rested<T: Clone + PartialEq + 'static>(value: T) -> T {
    let rested = use_state_eq(|| value.clone());
    let setter = rested.setter();
    use_effect_with(value, move |value| {
        let value = value.clone();
        let timer = Timeout::new(REST_MS, move || setter.set(value));
        move || drop(timer)
    });
    (*rested).clone()
}

/// State of a sweep, with callbacks to start and stop it.
#[derive(Clone, PartialEq)]
pub struct SweepHandle {
    pub data: Option<Rc<SweepData>>,
    pub is_running: bool,
    pub on_start: Callback<WhatIfSetup>,
    pub on_stop: Callback<()>,
}

fn next_turn(turn: &Cell<u32>) -> u32 {
    turn.set(turn.get().wrapping_add(1));
    turn.get()
}

/// Tries one setting after another, so that the worker can answer other questions in between.
#[hook]
pub fn use_sweep(client: &WorkerClient, device: u32) -> SweepHandle {
    let data = use_state_eq(|| None::<Rc<SweepData>>);
    let is_running = use_state_eq(|| false);
    let turn = use_memo((), |()| Cell::new(0_u32));
    let begin = (turn.clone(), data.setter(), is_running.setter(), client.clone());
    let on_start = bound(begin, move |(turn, data, is_running, client), setup: WhatIfSetup| {
        let this = next_turn(turn);
        is_running.set(true);
        data.set(None);
        let (turn, data, is_running, client) = (turn.clone(), data.clone(), is_running.clone(), client.clone());
        spawn_local(async move {
            let mut is_new = true;
            while turn.get() == this {
                let Ok(found) = client.ask(GetSweep { device, setup: setup.clone(), is_new }).await else { break };
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
    });
    let on_stop = bound((turn.clone(), is_running.setter()), |(turn, is_running), ()| {
        next_turn(turn);
        is_running.set(false);
    });
    // The sweep ends when the device changes or the view is closed.
    let (ended, setter) = (turn, data.setter());
    use_effect_with((client.clone(), device), move |_| {
        move || {
            next_turn(&ended);
            setter.set(None);
        }
    });
    SweepHandle { data: (*data).clone(), is_running: *is_running, on_start, on_stop }
}
