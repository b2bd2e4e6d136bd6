//! Builds the complete actix-web app, for `snapscope serve` and for tests.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::web::Data;
use actix_web::{App, Error};

use crate::serve::access::guard;
use crate::serve::observe::observe;
use crate::serve::site::Site;
use crate::serve::state::State;
use crate::serve::unread::close_unread;
use crate::serve::{headers, routes};

/// Builds the app from the loaded page and the state.
///
/// The headers are outside of all that refuses, so that refusals carry them too.
pub fn create_app(
    site: Data<Site>,
    state: Data<State>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    App::new()
        .app_data(site)
        .app_data(state)
        .configure(routes::configure)
        .wrap(from_fn(guard))
        .wrap(from_fn(observe))
        .wrap(headers::security())
        .wrap(from_fn(close_unread))
}
