//! The whole app, as `main` and the tests run it.

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::web::Data;
use actix_web::{App, Error};
use tracing_actix_web::TracingLogger;

use crate::serve::log::RequestSpan;
use crate::serve::site::Site;
use crate::serve::{headers, routes};

/// Builds the app over a loaded page.
///
/// The headers wrap everything else, so that refusals carry them too.
pub fn create_app(
    site: Data<Site>,
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
        .configure(routes::configure)
        .wrap(TracingLogger::<RequestSpan>::new())
        .wrap(headers::security())
}
