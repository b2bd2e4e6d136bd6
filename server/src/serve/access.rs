//! Who may ask for a row of the route table.
//!
//! It is decided after the router has found the row: a path has many spellings, and only the router knows them all.

use std::rc::Rc;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage as _, ResponseError as _};

use crate::serve::guard::Client;
use crate::serve::login;
use crate::serve::site::Site;
use crate::serve::state::State;

/// Who may ask, and what is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody, as often as they like: whoever looks whether the server is alive.
    Health,
    /// Anybody: what holds nothing of this server's, or is asked for by a token of its own.
    Open,
    /// Anybody, or in private mode whoever has the server's token.
    Read,
    /// The same, of a document that people look at: whoever has no token yet is asked for it.
    Page,
    /// Whoever has the token for metrics.
    Metrics,
    /// Whoever has the server's token.
    Change,
    /// The same, and it counts as a job or a link that is new.
    Submit,
    /// Whoever shows the token that was given for that one thing.
    OwnToken,
}

/// The methods of a path.
pub(crate) type Accesses = Rc<[(Method, Access)]>;

/// The middleware of a path: refuses what may not be, before its handler sees it.
pub(crate) async fn admit(
    accesses: Accesses,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let of_method = |method: &Method| accesses.iter().find(|row| row.0 == *method).map(|row| row.1);
    let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    // A method that the path does not have is refused by the path.
    let access = of_method(method).unwrap_or(Access::Open);
    let state = request.app_data::<Data<State>>().expect("the app has a state").clone();
    let client = state.guard.client(&request);
    match state.guard.admit(access, client, request.request()) {
        Ok(()) => {
            request.extensions_mut().insert(Client(client));
            Ok(next.call(request).await?.map_into_left_body())
        }
        Err(refusal) if access == Access::Page && refusal.status_code() == StatusCode::UNAUTHORIZED => {
            let form =
                login::instead_of(request.request(), request.app_data::<Data<Site>>().expect("the app has a site"));
            Ok(request.into_response(form).map_into_right_body())
        }
        // As a response and not as an error: the middleware around this adds its headers to responses only.
        Err(refusal) => Ok(request.into_response(refusal.error_response()).map_into_right_body()),
    }
}
