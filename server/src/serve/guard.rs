//! Who may ask, and how often.
//!
//! A page of another site can make a browser send requests to this machine; such requests name that site, and are
//! refused. A name that an attacker lets point to this machine is refused as well, while only it is listened to.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{AUTHORIZATION, HOST, HeaderMap, ORIGIN};
use actix_web::middleware::Next;
use actix_web::web::Data;
use actix_web::{Error, ResponseError as _};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use sha2::{Digest as _, Sha256};

use crate::config::ServeConfig;
use crate::serve::error::{ApiError, ErrorCode};
use crate::serve::state::State;

/// How many addresses are remembered before those that have been quiet are forgotten.
const MOST_ADDRESSES: usize = 50_000;

/// The limits on how often one address may ask.
#[derive(Debug)]
pub(crate) struct Guard {
    requests: Option<DefaultKeyedRateLimiter<IpAddr>>,
    submissions: Option<DefaultKeyedRateLimiter<IpAddr>>,
    /// SHA-256 of the token, so that comparing takes as long for each wrong one.
    token: Option<[u8; 32]>,
    /// The same of what the metrics need.
    metrics_token: Option<[u8; 32]>,
    /// Whether only this machine is listened to.
    is_local: bool,
}

impl Guard {
    /// The limits of a configuration.
    pub(crate) fn new(config: &ServeConfig) -> Self {
        let limiter = |rate: Option<u32>| {
            let rate = NonZeroU32::new(rate?)?;
            Some(RateLimiter::keyed(Quota::per_minute(rate)))
        };
        Self {
            requests: limiter(config.requests),
            submissions: limiter(config.submissions),
            token: hashed(config.token.as_ref()),
            metrics_token: hashed(config.metrics_token.as_ref()),
            is_local: config.listen.ip().is_loopback(),
        }
    }

    /// Lets a request pass, or says why not.
    fn check(&self, request: &ServiceRequest) -> Result<(), ApiError> {
        let headers = request.headers();
        if self.is_local && !is_name_of_this_machine(headers) {
            return Err(ApiError::new(ErrorCode::Forbidden, "This server answers under names of this machine only."));
        }
        let address = request.peer_addr().map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), network_of);
        take_turn(self.requests.as_ref(), address)?;
        if request.path() == "/metrics" && !knows(headers, self.metrics_token.as_ref()) {
            return Err(ApiError::new(ErrorCode::Unauthorized, "This needs the token for metrics."));
        }
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            return Ok(());
        }
        if !is_same_origin(headers) {
            return Err(ApiError::new(ErrorCode::Forbidden, "This request comes from a page of another site."));
        }
        if is_submission(request) {
            take_turn(self.submissions.as_ref(), address)?;
        }
        if !carries_own_token(request) && !knows(headers, self.token.as_ref()) {
            return Err(ApiError::new(ErrorCode::Unauthorized, "This needs the server's token."));
        }
        Ok(())
    }
}

fn hashed(token: Option<&String>) -> Option<[u8; 32]> {
    token.map(|token| Sha256::digest(token).into())
}

/// Whether a request has the token, where one is needed.
fn knows(headers: &HeaderMap, token: Option<&[u8; 32]>) -> bool {
    let Some(token) = token else { return true };
    let sent = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    sent.is_some_and(|sent| <[u8; 32]>::from(Sha256::digest(sent.trim())) == *token)
}

/// The middleware: refuses what may not be, before any handler sees it.
pub(crate) async fn guard(
    state: Data<State>,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    match state.guard.check(&request) {
        Ok(()) => Ok(next.call(request).await?.map_into_left_body()),
        // As a response and not as an error: the middleware around this adds its headers to responses only.
        Err(refusal) => Ok(request.into_response(refusal.error_response()).map_into_right_body()),
    }
}

/// Jobs and links that are new; deleting and cancelling are not.
fn is_submission(request: &ServiceRequest) -> bool {
    *request.method() == Method::POST && matches!(request.path(), "/api/v1/jobs" | "/api/v1/shares")
}

/// Whoever deletes a link shows the token that was given for that, and needs no other.
fn carries_own_token(request: &ServiceRequest) -> bool {
    *request.method() == Method::DELETE && request.path().starts_with("/api/v1/shares/")
}

fn take_turn(limiter: Option<&DefaultKeyedRateLimiter<IpAddr>>, address: IpAddr) -> Result<(), ApiError> {
    let Some(limiter) = limiter else { return Ok(()) };
    if limiter.len() > MOST_ADDRESSES {
        limiter.retain_recent();
    }
    limiter.check_key(&address).map_err(|not_until| {
        let wait: Duration = not_until.wait_time_from(DefaultClock::default().now());
        let message = "This address asks more often than the server answers.";
        ApiError::new(ErrorCode::TooManyRequests, message).retry_after(wait.as_secs() + 1)
    })
}

/// An address; of IPv6 the part that one household has.
fn network_of(peer: SocketAddr) -> IpAddr {
    match peer.ip() {
        IpAddr::V6(address) => match address.to_ipv4_mapped() {
            Some(address) => IpAddr::V4(address),
            None => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        },
        address => address,
    }
}

/// Whether the page that sends a request, if it is one, is this server's.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let origin = origin.to_str().ok().and_then(|origin| Some(origin.split_once("://")?.1));
    origin.is_some() && origin == host
}

/// `localhost`, or a numeric address of this machine.
fn is_name_of_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return true };
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let is_loopback = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};

    use super::*;

    fn headers(list: &[(HeaderName, &'static str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[track_caller]
    fn check_host(host: &'static str, expected: bool) {
        assert_eq!(is_name_of_this_machine(&headers(&[(HOST, host)])), expected, "{host}");
    }

    #[test]
    fn names_of_this_machine_are_known() {
        check_host("127.0.0.1:8080", true);
        check_host("127.8.0.1", true);
        check_host("[::1]:8080", true);
        check_host("localhost:8080", true);
        check_host("LOCALHOST", true);
        check_host("snap.localhost:1", true);
        check_host("example.org", false);
        check_host("127.0.0.1.example.org:8080", false);
        check_host("192.168.1.2:8080", false);
        check_host("localhost.example.org", false);
    }

    #[track_caller]
    fn check_origin(origin: Option<&'static str>, expected: bool) {
        let mut list = vec![(HOST, "snap.example.org")];
        list.extend(origin.map(|origin| (ORIGIN, origin)));
        assert_eq!(is_same_origin(&headers(&list)), expected, "{origin:?}");
    }

    #[test]
    fn other_sites_are_told_from_this_one() {
        check_origin(None, true);
        check_origin(Some("https://snap.example.org"), true);
        check_origin(Some("https://evil.example.org"), false);
        check_origin(Some("https://snap.example.org:444"), false);
        check_origin(Some("null"), false);
    }

    #[test]
    fn addresses_are_those_of_households() {
        let network = |text: &str| network_of(SocketAddr::new(text.parse().unwrap(), 1)).to_string();
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
