//! Assigns each request an ID, and logs and counts its outcome.
//!
//! Only the template of the route is logged, because an address may contain the token of a link, which opens it.

use std::time::Instant;

use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::middleware::Next;
use actix_web::web::Data;
use tracing::{Instrument as _, debug, error_span, info};

use crate::serve::request_id::{CURRENT, HEADER, RequestId};
use crate::serve::state::State;

/// Middleware around everything that handles requests.
pub(crate) async fn observe(
    state: Data<State>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let start = Instant::now();
    let id = RequestId::of(request.headers());
    let (method, route) = (request.method().clone(), route(&request));
    // The span has the highest level, so that lines inside it carry the ID at any log level.
    let span = error_span!("request", %id, %method, route);
    let answer = CURRENT.scope(id.clone(), next.call(request)).instrument(span.clone());
    let mut response = answer.await?;
    response.headers_mut().insert(HEADER, id.value());
    let (status, seconds) = (response.status(), start.elapsed().as_secs_f64());
    let (status_code, milliseconds) = (status.as_u16(), (seconds * 1e6).round() / 1e3);
    // Successful reads are logged at debug level only, because there are too many of them.
    span.in_scope(|| match method {
        Method::GET | Method::HEAD if status_code < 400 => debug!(status = status_code, milliseconds, "answered"),
        _ => info!(status = status_code, milliseconds, "answered"),
    });
    state.metrics.http.answered(&method, &route, status, seconds);
    Ok(response)
}

/// Returns the template of the matched route, or a pattern for all other paths.
fn route(request: &ServiceRequest) -> String {
    // The scope `/api` as a whole is not a route.
    let template = request.match_pattern().filter(|template| template != "/api");
    template.unwrap_or_else(|| if request.path().starts_with("/api/") { "/api/*" } else { "/*" }.to_owned())
}
