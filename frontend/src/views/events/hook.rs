//! Hooks for the list of events.

use crate::ask::{EventDetails, EventPage, GetEvent, GetEvents};
use crate::hooks::use_answer;
use crate::platform::WorkerClient;
use std::rc::Rc;
use yew::prelude::*;

/// Returns a range of events; the previous one stays until the new one arrives.
#[hook]
pub fn use_events(client: &WorkerClient, device: u32, window: (u32, u32)) -> Option<Rc<EventPage>> {
    use_answer((client.clone(), device, window.0, window.1), |(client, device, first, count)| async move {
        client.ask(GetEvents { device, first, count }).await
    })
}

/// Returns all about the chosen event; the previous one stays until the new one arrives.
#[hook]
pub fn use_event(client: &WorkerClient, device: u32, event: Option<u32>) -> Option<Rc<EventDetails>> {
    let details = use_answer((client.clone(), device, event), |(client, device, event)| async move {
        match event {
            Some(event) => client.ask(GetEvent { device, event }).await.map(|details| Some(Rc::new(details))),
            None => Ok(None),
        }
    });
    details.and_then(|details| details.as_ref().clone()).filter(|details| Some(details.report.line.event) == event)
}
