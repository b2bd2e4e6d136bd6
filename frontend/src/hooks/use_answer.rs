//! Hooks for answers of a file's Web Worker.

use crate::ask::{
    Around, BandName, CategoryBytes, Details, GetAround, GetBandNames, GetCategories, GetDetails, GetStacks,
};
use crate::platform::{AskError, WorkerClient};
use shared::report::LiveGroups;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Number of stacks in the table.
const STACK_ROWS: u32 = 50;

/// Returns the details of an allocation; the previous ones stay until the new ones arrive.
#[hook]
pub fn use_details(client: &WorkerClient, device: u32, allocation: Option<u32>) -> Option<Rc<Details>> {
    let details = use_answer((client.clone(), device, allocation), |(client, device, allocation)| async move {
        match allocation {
            Some(allocation) => {
                client.ask(GetDetails { device, allocation }).await.map(|details| Some(Rc::new(details)))
            }
            None => Ok(None),
        }
    });
    details.and_then(|details| details.as_ref().clone())
}

/// Returns the stacks that hold the most memory at a moment.
#[hook]
pub fn use_stacks(client: &WorkerClient, device: u32, moment: u32) -> Option<Rc<LiveGroups>> {
    use_answer((client.clone(), device, moment), |(client, device, moment)| async move {
        client.ask(GetStacks { device, moment, limit: STACK_ROWS }).await
    })
}

/// Returns the live bytes of a moment by category; without a moment it asks nothing.
#[hook]
pub fn use_categories(client: &WorkerClient, device: u32, moment: Option<u32>) -> Option<Rc<CategoryBytes>> {
    let categories = use_answer((client.clone(), device, moment), |(client, device, moment)| async move {
        match moment {
            Some(moment) => client.ask(GetCategories { device, moment }).await.map(|bytes| Some(Rc::new(bytes))),
            None => Ok(None),
        }
    });
    categories.and_then(|categories| categories.as_ref().clone())
}

/// Number of stacks that the timeline's legend names.
const LEGEND_STACKS: u32 = 6;

/// Returns the largest stacks of a moment with their colours; without a moment it asks nothing.
#[hook]
pub fn use_band_names(client: &WorkerClient, device: u32, moment: Option<u32>) -> Option<Rc<Vec<BandName>>> {
    let names = use_answer((client.clone(), device, moment), |(client, device, moment)| async move {
        match moment {
            Some(moment) => {
                let names = client.ask(GetBandNames { device, moment, limit: LEGEND_STACKS }).await;
                names.map(|names| Some(Rc::new(names)))
            }
            None => Ok(None),
        }
    });
    names.and_then(|names| names.as_ref().clone())
}

/// Returns what an allocation was for and what happened around it; without an allocation it asks nothing.
#[hook]
pub fn use_around(client: &WorkerClient, device: u32, allocation: Option<u32>, moment: u32) -> Option<Rc<Around>> {
    let around =
        use_answer((client.clone(), device, allocation, moment), |(client, device, allocation, moment)| async move {
            match allocation {
                Some(allocation) => {
                    client.ask(GetAround { device, allocation, moment }).await.map(|around| Some(Rc::new(around)))
                }
                None => Ok(None),
            }
        });
    around.and_then(|around| around.as_ref().clone())
}

/// Asks whenever `question` changes, and drops answers to earlier questions.
#[hook]
pub fn use_answer<Q, A, F>(question: Q, ask: impl Fn(Q) -> F + 'static) -> Option<Rc<A>>
where
    Q: Clone + PartialEq + 'static,
    A: 'static,
    F: Future<Output = Result<A, AskError>> + 'static,
{
    let answer = use_state(|| None);
    let setter = answer.setter();
    use_effect_with(question, move |question| {
        let is_current = Rc::new(std::cell::Cell::new(true));
        let (waiting, asked) = (is_current.clone(), ask(question.clone()));
        spawn_local(async move {
            // An error means that the file was closed, so nobody waits for the answer.
            if let Ok(answer) = asked.await
                && waiting.get()
            {
                setter.set(Some(Rc::new(answer)));
            }
        });
        move || is_current.set(false)
    });
    answer.as_ref().cloned()
}
