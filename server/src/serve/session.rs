//! Checks the server's token in requests and in the session cookies of browsers.

use actix_web::HttpRequest;
use actix_web::cookie::time::Duration;
use actix_web::cookie::{Cookie, SameSite};
use actix_web::http::header::{AUTHORIZATION, HOST, HeaderMap};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::database::now_ms;
use crate::hex::hex;

/// Lifetime of a session, in days.
const DAYS: i64 = 30;

/// A token stored as its hash, so that the time of a comparison does not reveal how much of a wrong token matches.
#[derive(Debug)]
pub(crate) struct Key {
    hash: [u8; 32],
    /// Signs the session cookies. It depends on the token, so that a change of the token ends all sessions.
    signer: Hmac<Sha256>,
}

impl Key {
    /// Makes the key of a token on an installation, whose ID nobody else knows.
    ///
    /// Browsers send cookies to all servers on a host. Without the ID, another one could find a weak token by trying many
    /// against a cookie.
    pub(crate) fn new(token: &str, installation: &str) -> Self {
        let secret = format!("{installation}\n{token}");
        let signer = Hmac::new_from_slice(secret.as_bytes()).expect("HMAC takes keys of any length");
        Self { hash: Sha256::digest(token).into(), signer }
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

    pub(crate) fn has_session(&self, request: &HttpRequest) -> bool {
        let Some(cookie) = request.cookie(&cookie_name(request.headers())) else { return false };
        let end_ms = cookie.value().split('.').next().and_then(|end| end.parse().ok());
        end_ms.is_some_and(|end_ms| {
            now_ms() < end_ms && Sha256::digest(cookie.value()) == Sha256::digest(self.session(end_ms))
        })
    }

    /// Returns the value of the cookie of a session that ends at `end_ms` since 1970.
    fn session(&self, end_ms: i64) -> String {
        let signature = self.signer.clone().chain_update(format!("session until {end_ms}")).finalize();
        format!("{end_ms}.{}", hex(signature.into_bytes()))
    }

    /// Makes the session cookie; `is_secure` must be true if the server is reached over HTTPS.
    pub(crate) fn cookie(&self, headers: &HeaderMap, is_secure: bool) -> Cookie<'static> {
        let end_ms = now_ms() + Duration::days(DAYS).whole_milliseconds() as i64;
        Cookie::build(cookie_name(headers), self.session(end_ms))
            .path("/")
            .http_only(true)
            .secure(is_secure)
            // Lax cookies are sent when a link in a chat opens the page, but not with requests made by other sites.
            .same_site(SameSite::Lax)
            .max_age(Duration::days(DAYS))
            .finish()
    }
}

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
    use actix_web::http::header::{COOKIE, HeaderName};
    use actix_web::test::TestRequest;

    use super::*;

    fn request(headers: &[(HeaderName, &str)]) -> HttpRequest {
        let request =
            headers.iter().fold(TestRequest::default(), |request, header| request.insert_header(header.clone()));
        request.to_http_request()
    }

    #[test]
    fn a_session_belongs_to_a_token_and_a_port() {
        let key = Key::new("abc", "here");
        let cookie = key.cookie(request(&[(HOST, "localhost:81")]).headers(), true);
        assert!(cookie.http_only() == Some(true) && cookie.secure() == Some(true), "{cookie}");
        assert!(!cookie.value().contains("abc"), "{cookie}");
        let shown_at = |host: &'static str, key: &Key| {
            key.is_shown_by(&request(&[(HOST, host), (COOKIE, &format!("{}={}", cookie.name(), cookie.value()))]))
        };
        assert!(shown_at("localhost:81", &key));
        assert!(!shown_at("localhost:82", &key), "the cookie of another server on this machine");
        assert!(!shown_at("localhost:81", &Key::new("abd", "here")), "the token has changed");
        assert!(!shown_at("localhost:81", &Key::new("abc", "there")), "another installation with the same token");
    }

    #[test]
    fn a_session_ends_and_is_not_prolonged() {
        let key = Key::new("abc", "here");
        let is_valid = |value: &str| key.has_session(&request(&[(COOKIE, &format!("snapscope={value}"))]));
        let [past, future] = [-60_000, 60_000].map(|offset| now_ms() + offset);
        assert!(is_valid(&key.session(future)) && !is_valid(&key.session(past)));
        let signature = key.session(past).split_off(past.to_string().len());
        assert!(!is_valid(&format!("{future}{signature}")) && !is_valid(&future.to_string()) && !is_valid(""));
    }

    #[test]
    fn a_token_is_taken_from_its_header() {
        let shown = |sent: &str| Key::new("abc", "here").is_shown_by(&request(&[(AUTHORIZATION, sent)]));
        assert!(shown("Bearer abc") && shown("Bearer  abc "));
        assert!(!shown("abc") && !shown("Bearer") && !shown("Bearer ab") && !shown("Basic abc"));
    }
}
