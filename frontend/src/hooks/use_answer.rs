//! Answers of a file's worker, as they come.

use crate::platform::{AskError, WorkerClient};
use crate::worker::{CategoryBytes, Details, Stacks};
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// How many stacks the table shows.
const STACK_ROWS: u32 = 50;

/// The details of an allocation; those of the last one stay until the new ones are there.
#[hook]
pub fn use_details(client: &WorkerClient, device: u32, allocation: Option<u32>) -> Option<Rc<Details>> {
    let details = use_answer((client.clone(), device, allocation), |(client, device, allocation)| async move {
        match allocation {
            Some(allocation) => client.details(device, allocation).await.map(|details| Some(Rc::new(details))),
            None => Ok(None),
        }
    });
    details.and_then(|details| details.as_ref().clone())
}

/// The stacks that hold the memory of a moment.
#[hook]
pub fn use_stacks(client: &WorkerClient, device: u32, moment: u32) -> Option<Rc<Stacks>> {
    use_answer((client.clone(), device, moment), |(client, device, moment)| async move {
        client.stacks(device, moment, STACK_ROWS).await
    })
}

/// What the live bytes of a moment are for; nothing is asked without a moment.
#[hook]
pub fn use_categories(client: &WorkerClient, device: u32, moment: Option<u32>) -> Option<Rc<CategoryBytes>> {
    let categories = use_answer((client.clone(), device, moment), |(client, device, moment)| async move {
        match moment {
            Some(moment) => client.categories(device, moment).await.map(|bytes| Some(Rc::new(bytes))),
            None => Ok(None),
        }
    });
    categories.and_then(|categories| categories.as_ref().clone())
}

/// Asks whenever `question` changes, and drops answers that come after it has changed again.
#[hook]
pub(super) fn use_answer<Q, A, F>(question: Q, ask: impl Fn(Q) -> F + 'static) -> Option<Rc<A>>
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
            // An error means that the file was closed: then nobody looks at the answer.
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
