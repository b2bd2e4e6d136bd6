//! Hook for the totals of the selected kind.

use crate::ask::{GetKind, Kind, KindFacts, Readable};
use crate::hooks::use_answer;
use crate::platform::WorkerClient;
use std::rc::Rc;
use yew::prelude::*;

/// Returns the totals of a kind at a moment; those of the kind before stay until the new ones arrive.
#[hook]
pub fn use_kind(
    client: &WorkerClient,
    device: u32,
    kind: Option<Rc<Kind>>,
    moment: u32,
) -> Option<Rc<Readable<KindFacts>>> {
    let has_kind = kind.is_some();
    let answer = use_answer((client.clone(), device, kind, moment), |(client, device, kind, moment)| async move {
        match kind {
            Some(kind) => {
                client.ask(GetKind { device, kind: Kind::clone(&kind), moment }).await.map(|facts| Some(Rc::new(facts)))
            }
            None => Ok(None),
        }
    });
    answer.filter(|_| has_kind).and_then(|answer| answer.as_ref().clone())
}
