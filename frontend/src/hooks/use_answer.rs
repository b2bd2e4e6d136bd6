//! Hooks for answers of a file's Web Worker.

use super::use_file::use_file;
use crate::ask::Ask;
use crate::platform::AskError;
use std::rc::Rc;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Asks the worker of the shown file, and returns its last answer; without a question there is none.
///
/// The previous answer stays until the new one arrives.
#[hook]
pub fn use_asked<Q: Ask + Clone + PartialEq + 'static>(question: Option<Q>) -> Option<Rc<Q::Answer>> {
    let is_asked = question.is_some();
    let client = use_file().client;
    let answer = use_answer((client, question), |(client, question)| async move {
        match question {
            Some(question) => client.ask(question).await.map(|answer| Some(Rc::new(answer))),
            None => Ok(None),
        }
    });
    answer.filter(|_| is_asked).and_then(|answer| answer.as_ref().clone())
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
