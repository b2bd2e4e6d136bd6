//! Hook that cancels, renames and deletes a job, asking for the token where the server needs it.

use crate::common::hooks::TokenHandle;
use crate::common::model::refusal::needs_token;
use frontend::platform::{ApiError, ApiRequest};
use shared::api::JobChange;
use wasm_bindgen_futures::spawn_local;
use yew::prelude::*;

/// Request to change a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    Cancel,
    Rename(String),
    Delete,
}

impl Order {
    fn request(&self, id: &str) -> ApiRequest {
        match self {
            Self::Cancel => ApiRequest::post(format!("jobs/{id}/cancel")),
            Self::Rename(name) => ApiRequest::patch(format!("jobs/{id}")).json(&JobChange { name: name.clone() }),
            Self::Delete => ApiRequest::delete(format!("jobs/{id}")),
        }
    }
}

/// Returns a callback that sends orders about the job `id`, and why the last one was refused.
///
/// `on_done` receives each order that was carried out.
#[hook]
pub(crate) fn use_orders(
    id: &AttrValue,
    token: &TokenHandle,
    on_done: Callback<Order>,
) -> (Callback<Order>, Option<ApiError>) {
    let refused = use_state_eq(|| None);
    let sender = Sender { id: id.clone(), token: token.clone(), refused: refused.setter(), on_done };
    (Callback::from(move |order| sender.clone().send(order)), (*refused).clone())
}

#[derive(Clone)]
struct Sender {
    id: AttrValue,
    token: TokenHandle,
    refused: UseStateSetter<Option<ApiError>>,
    on_done: Callback<Order>,
}

impl Sender {
    fn send(self, order: Order) {
        spawn_local(async move {
            match order.request(&self.id).send_for_nothing().await {
                Ok(()) => {
                    self.refused.set(None);
                    self.on_done.emit(order);
                }
                Err(error) if needs_token(&error) => {
                    let token = self.token.clone();
                    token.ask(Callback::from(move |()| self.clone().send(order.clone())));
                }
                Err(error) => self.refused.set(Some(error)),
            }
        });
    }
}
