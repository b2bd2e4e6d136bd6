//! Checks the server's token in requests and in the session cookies of browsers.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::header::{AUTHORIZATION, HOST, HeaderMap};
use sha2::{Digest as _, Sha256};

use crate::hex::hex;

/// Lifetime of the session cookie, in days.
const DAYS: i64 = 30;

/// A token stored as its hash, so that the time of a comparison does not reveal how much of a wrong token matches.
#[derive(Debug)]
pub(crate) struct Key {
    hash: [u8; 32],
    /// Value of the session cookie, derived from the token; changing the token ends all sessions.
    session: String,
}

impl Key {
    pub(crate) fn new(token: &str) -> Self {
        let session = Sha256::new().chain_update("snapscope session\n").chain_update(token).finalize();
        Self { hash: Sha256::digest(token).into(), session: hex(session) }
    }

    /// Returns true if `token` is this token, ignoring surrounding spaces.
    pub(crate) fn fits(&self, token: &str) -> bool {
        <[u8; 32]>::from(Sha256::digest(token.trim())) == self.hash
    }

    /// Returns true if a request has the token or a valid session cookie.
    pub(crate) fn is_shown_by(&self, request: &HttpRequest) -> bool {
        let headers = request.headers();
        bearer(headers).is_some_and(|token| self.fits(token)) || self.has_session(request)
    }

    /// Returns true if the request has a valid session cookie.
    pub(crate) fn has_session(&self, request: &HttpRequest) -> bool {
        let sent = request.cookie(&cookie_name(request.headers()));
        sent.is_some_and(|cookie| Sha256::digest(cookie.value()) == Sha256::digest(&self.session))
    }

    /// Makes the session cookie; `is_secure` must be true if the server is reached over HTTPS.
    pub(crate) fn cookie(&self, headers: &HeaderMap, is_secure: bool) -> Cookie<'static> {
        Cookie::build(cookie_name(headers), self.session.clone())
            .path("/")
            .http_only(true)
            .secure(is_secure)
            // Lax cookies are sent when a link in a chat opens the page, but not with requests made by other sites.
            .same_site(SameSite::Lax)
            .max_age(Duration::days(DAYS))
            .finish()
    }
}

/// Returns the bearer token of a request.
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Returns the name of the cookie, which contains the port because browsers share cookies among the ports of a host.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| port.parse::<u16>().is_ok());
    port.map_or_else(|| "snapscope".to_owned(), |port| format!("snapscope-{port}"))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::COOKIE;
    use actix_web::test::TestRequest;

    use super::*;

    #[test]
    fn a_session_belongs_to_a_token_and_a_port() {
        let key = Key::new("abc");
        let cookie =
            key.cookie(TestRequest::default().insert_header((HOST, "localhost:81")).to_http_request().headers(), true);
        assert!(cookie.http_only() == Some(true) && cookie.secure() == Some(true), "{cookie}");
        assert!(!cookie.value().contains("abc"), "{cookie}");
        let shown_at = |host: &'static str, key: &Key| {
            let sent = (COOKIE, format!("{}={}", cookie.name(), cookie.value()));
            key.is_shown_by(&TestRequest::default().insert_header((HOST, host)).insert_header(sent).to_http_request())
        };
        assert!(shown_at("localhost:81", &key));
        assert!(!shown_at("localhost:82", &key), "the cookie of another server on this machine");
        assert!(!shown_at("localhost:81", &Key::new("abd")), "the token has changed");
    }

    #[test]
    fn a_token_is_taken_from_its_header() {
        let shown = |sent: &'static str| {
            Key::new("abc").is_shown_by(&TestRequest::default().insert_header((AUTHORIZATION, sent)).to_http_request())
        };
        assert!(shown("Bearer abc") && shown("Bearer  abc "));
        assert!(!shown("abc") && !shown("Bearer") && !shown("Bearer ab") && !shown("Basic abc"));
    }
}
