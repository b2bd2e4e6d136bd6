//! Middlewares that ask the guard about each request, and about the access right of its route.
//!
//! Access rights are checked after routing, because a path has many spellings and only the router knows them all.

use std::rc::Rc;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, HttpMessage as _, ResponseError as _};

use crate::serve::login;
use crate::serve::route::{Access, Client};
use crate::serve::site::Site;
use crate::serve::state::State;

/// Outermost check, a middleware that refuses foreign host names and origins.
pub(crate) async fn guard(
    state: Data<State>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    match state.guard.check(&request) {
        Ok(()) => Ok(next.call(request).await?.map_into_left_body()),
        // The refusal is a response instead of an error, because the outer middleware adds its headers to responses
        // only.
        Err(refusal) => Ok(request.into_response(refusal.error_response()).map_into_right_body()),
    }
}

pub(crate) type Accesses = Rc<[(Method, Access)]>;

/// Middleware of a path that refuses requests without access before they reach the handler.
pub(crate) async fn admit(
    accesses: Accesses,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let of_method = |method: &Method| accesses.iter().find(|row| row.0 == *method).map(|row| row.1);
    let method = if request.method() == Method::HEAD { &Method::GET } else { request.method() };
    // The path itself refuses methods that it does not have.
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
        // The refusal is a response instead of an error, because the outer middleware adds its headers to responses
        // only.
        Err(refusal) => Ok(request.into_response(refusal.error_response()).map_into_right_body()),
    }
}
