//! Handles `/login`, where a browser exchanges the server's token for a session cookie.
//!
//! The page is a plain form without scripts, which needs a security policy of its own.

use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, ContentType, LOCATION, REFERRER_POLICY};
use actix_web::web::{Data, Payload};
use actix_web::{HttpRequest, HttpResponse, ResponseError as _};
use serde::Deserialize;
use shared::api::ErrorCode;
use shared::base::markup::escaped;

use crate::serve::api::job_request::{parameters, read_body};
use crate::serve::error::{ApiError, refuse_page};
use crate::serve::site::Site;
use crate::serve::state::State;

/// Placeholder in the document for the server's message.
const SAID: &str = "<!-- said -->";

/// Start of the hidden field in the document for the address to go to after the login.
const NEXT: &str = "name=\"next\" value=\"";

/// Maximum size of the form in bytes, more than a token and an address need.
const MOST_FORM_BYTES: usize = 16 << 10;

/// Security policy of the page: it may use the style sheet and images, and send its form to this server.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";

/// Fields of the login form, or the same parameters in the address.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams, utoipa::ToSchema)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Login {
    /// The server's token.
    token: Option<String>,
    /// Path on this server to go to after the login [default: /]
    next: Option<String>,
}

/// Returns the login form; with a token in the address, as `snapscope serve` prints it, logs in at once.
#[utoipa::path(
    get, path = "/login", operation_id = "login_page", tag = "pages", params(Login),
    responses(
        (status = 200, description = "The login form", body = String, content_type = "text/html"),
        (status = 303, description = "The token was right: a session cookie, and a redirect to `next`"),
    )
)]
pub(crate) async fn page(request: HttpRequest, site: Data<Site>, state: Data<State>) -> Result<HttpResponse, ApiError> {
    let login: Login = parameters(request.query_string())?;
    if login.token.is_some() {
        return Ok(log_in(&request, &site, &state, &login));
    }
    Ok(form(&site, StatusCode::OK, None, login.next.as_deref()))
}

/// Logs a browser in with the token and sets a session cookie.
#[utoipa::path(
    post, path = "/login", operation_id = "login", tag = "pages",
    request_body(content = Login, content_type = "application/x-www-form-urlencoded"),
    responses((status = 303, description = "The token was right: a session cookie, and a redirect to `next`"))
)]
pub(crate) async fn login(
    request: HttpRequest,
    payload: Payload,
    site: Data<Site>,
    state: Data<State>,
) -> Result<HttpResponse, ApiError> {
    let form = read_body(payload, MOST_FORM_BYTES, "form").await?;
    let login: Login = parameters(&String::from_utf8_lossy(&form))?;
    Ok(log_in(&request, &site, &state, &login))
}

fn log_in(request: &HttpRequest, site: &Site, state: &State, login: &Login) -> HttpResponse {
    let sent = login.token.as_deref().unwrap_or_default();
    let next = login.next.as_deref().filter(|next| is_of_this_server(next));
    let cookie = match state.guard.log_in(sent, request) {
        Ok(cookie) => cookie,
        Err(refusal) => return form(site, refusal.status_code(), Some(&refusal.to_string()), next),
    };
    let mut response = HttpResponse::SeeOther();
    response.insert_header((LOCATION, next.unwrap_or("/"))).insert_header((CACHE_CONTROL, "no-store"));
    if let Some(cookie) = cookie {
        response.cookie(cookie);
    }
    response.finish()
}

/// Returns the login form in place of a page that requires the token.
pub(crate) fn instead_of(request: &HttpRequest, site: &Site) -> HttpResponse {
    form(site, StatusCode::UNAUTHORIZED, None, request.uri().path_and_query().map(|next| next.as_str()))
}

fn form(site: &Site, status: StatusCode, said: Option<&str>, next: Option<&str>) -> HttpResponse {
    let Some(document) = site.document("/login.html") else {
        return refuse_page(ErrorCode::Unauthorized, "This page needs the server's token.");
    };
    let said = said.map(|said| format!("<p class=\"login-said\" role=\"alert\">{}</p>", escaped(said)));
    let next = next.filter(|next| is_of_this_server(next)).unwrap_or_default();
    let html = String::from_utf8_lossy(&document.asset.plain).replacen(SAID, &said.unwrap_or_default(), 1).replacen(
        NEXT,
        &format!("{NEXT}{}", escaped(next)),
        1,
    );
    HttpResponse::build(status)
        .insert_header(ContentType::html())
        .insert_header((CACHE_CONTROL, "no-store"))
        .insert_header((CONTENT_SECURITY_POLICY, POLICY))
        // With the default policy, `no-referrer`, a browser would not state that the form comes from this server.
        .insert_header((REFERRER_POLICY, "same-origin"))
        .body(html)
}

/// Returns true if an address is a path on this server.
fn is_of_this_server(address: &str) -> bool {
    let path = address.strip_prefix('/');
    path.is_some_and(|path| !path.starts_with(['/', '\\'])) && address.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_on_stays_on_this_server() {
        assert!(is_of_this_server("/jobs") && is_of_this_server("/jobs/0198?x=1"));
        for address in ["", "jobs", "//evil.example.org", "/\\evil.example.org", "https://evil", "/a\r\nb: c", "/ä"] {
            assert!(!is_of_this_server(address), "{address}");
        }
    }
}
