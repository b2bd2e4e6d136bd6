//! Checks the origin, the token and the rate of requests.
//!
//! A page of another site can make a browser send requests to this machine. Such requests carry that site's origin and
//! are refused. While the server listens on a loopback address only, foreign host names are refused as well, because an
//! attacker can make a name resolve to this machine.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use actix_web::cookie::Cookie;
use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::http::header::{HOST, HeaderMap, ORIGIN};
use actix_web::{HttpMessage as _, HttpRequest};
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use ipnet::IpNet;
use shared::api::ErrorCode;

use crate::config::ServeConfig;
use crate::serve::error::ApiError;
use crate::serve::route::{Access, Client};
use crate::serve::session::{Key, bearer};

/// Number of remembered addresses above which idle ones are forgotten.
const MOST_ADDRESSES: usize = 50_000;

/// Minimum interval between such sweeps over all addresses, in seconds.
const SWEEP_SECONDS: u64 = 10;

/// Time for which no token is compared after too many wrong ones.
const GUESSER_WAITS: Duration = Duration::from_secs(10);

/// Header in which proxies name the client.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Checks and rate limits of the server.
#[derive(Debug)]
pub(crate) struct Guard {
    requests: Option<Limit>,
    submissions: Option<Limit>,
    /// Clients that have tried too many tokens, with the time until which theirs are not compared.
    guessers: Mutex<HashMap<IpAddr, Instant>>,
    /// Token required to submit and delete.
    token: Option<Key>,
    metrics_token: Option<Key>,
    /// True if reading requires the token too.
    is_private: bool,
    /// True if the server listens on a loopback address, without proxies or without a public address of theirs.
    is_local: bool,
    /// Host name in the public address.
    public_host: Option<String>,
    /// True if the public address uses HTTPS.
    is_secure: bool,
    /// Networks of proxies whose statement of the client's address is trusted.
    trusted_proxies: Vec<IpNet>,
}

impl Guard {
    /// Makes the guard of a configuration, on the installation with this ID.
    pub(crate) fn new(config: &ServeConfig, installation: &str) -> Self {
        let key = |token: &Option<String>| token.as_deref().map(|token| Key::new(token, installation));
        let limit = |rate: Option<u32>| Some(Limit::per_minute(NonZeroU32::new(rate?)?));
        let public = config.public_address.as_deref().and_then(|address| address.split("://").nth(1));
        let public = public.and_then(|address| address.split('/').next());
        Self {
            requests: limit(config.requests),
            submissions: limit(config.submissions),
            guessers: Mutex::default(),
            token: key(&config.token),
            metrics_token: key(&config.metrics_token),
            is_private: config.is_private,
            is_local: config.listen.ip().is_loopback()
                && (config.trusted_proxies.is_empty() || config.public_address.is_none()),
            public_host: public.map(|host| host_name(host).to_owned()),
            is_secure: config.public_address.as_deref().is_some_and(|address| address.starts_with("https:")),
            trusted_proxies: config.trusted_proxies.clone(),
        }
    }

    /// Refuses requests with a foreign host name, and changes made by a page of another site.
    pub(crate) fn check(&self, request: &ServiceRequest) -> Result<(), ApiError> {
        let headers = request.headers();
        if !self.is_own_name(request) {
            let message = match self.is_local {
                true => {
                    "This server accepts only requests for names of this machine, such as localhost; behind a proxy, start it \
                     with --public-address."
                }
                false => "This server accepts only requests for its public address.",
            };
            return Err(ApiError::new(ErrorCode::Forbidden, message));
        }
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        if !is_reading && !is_same_origin(headers) {
            return Err(ApiError::new(ErrorCode::Forbidden, "This request comes from a page of another site."));
        }
        Ok(())
    }

    /// Checks a client's rate and token for a route with this access right.
    pub(crate) fn admit(&self, access: Access, client: IpAddr, request: &HttpRequest) -> Result<(), ApiError> {
        if access != Access::Health {
            take_turn(self.requests.as_ref(), client)?;
        }
        if access == Access::Submit {
            take_turn(self.submissions.as_ref(), client)?;
        }
        let (key, what) = match access {
            Access::Metrics => (self.metrics_token.as_ref(), "the token for metrics"),
            Access::Change | Access::Submit => (self.token.as_ref(), "the server's token"),
            Access::Read | Access::Page if self.is_private => (self.token.as_ref(), "the server's token"),
            _ => return Ok(()),
        };
        let Some(key) = key else { return Ok(()) };
        let has_token = bearer(request.headers()).is_some();
        if has_token {
            self.check_guesser(client)?;
        }
        if key.is_shown_by(request) {
            return Ok(());
        }
        if has_token {
            self.take_guess(client)?;
        }
        Err(ApiError::new(ErrorCode::Unauthorized, format!("This request needs {what}.")))
    }

    /// Logs a browser in with the token and returns its session cookie; `None` if the server has no token.
    ///
    /// # Errors
    ///
    /// Returns an error if the token is wrong or if the client has tried too many.
    pub(crate) fn log_in(&self, token: &str, request: &HttpRequest) -> Result<Option<Cookie<'static>>, ApiError> {
        let Some(key) = &self.token else { return Ok(None) };
        let client = request.extensions().get::<Client>().map(|client| client.0);
        let client = client.unwrap_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED));
        self.check_guesser(client)?;
        if key.fits(token) {
            return Ok(Some(key.cookie(request.headers(), self.is_secure)));
        }
        self.take_guess(client)?;
        Err(ApiError::new(ErrorCode::Unauthorized, "This is not the server's token."))
    }

    /// Returns true if the server has a token and this browser has not logged in.
    pub(crate) fn needs_token(&self, request: &HttpRequest) -> bool {
        self.token.as_ref().is_some_and(|key| !key.has_session(request))
    }

    /// Refuses to compare the token of a client that has tried too many, because the answer would be one more guess.
    fn check_guesser(&self, client: IpAddr) -> Result<(), ApiError> {
        let guessers = self.guessers.lock().unwrap_or_else(PoisonError::into_inner);
        let wait =
            guessers.get(&client).map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
        if wait.is_zero() { Ok(()) } else { Err(too_many(wait)) }
    }

    /// Counts a wrong token as a submission, which limits the rate of guesses.
    fn take_guess(&self, client: IpAddr) -> Result<(), ApiError> {
        take_turn(self.submissions.as_ref(), client).inspect_err(|_| {
            let now = Instant::now();
            let mut guessers = self.guessers.lock().unwrap_or_else(PoisonError::into_inner);
            guessers.retain(|_, until| *until > now);
            guessers.insert(client, now + GUESSER_WAITS);
        })
    }

    /// Determines the client: the peer, or the last address named by trusted proxies that is not such a proxy itself.
    pub(crate) fn client(&self, request: &ServiceRequest) -> IpAddr {
        let Some(peer) = request.peer_addr() else { return IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
        let mut address = plain(peer.ip());
        let lines = request.headers().get_all(FORWARDED_FOR).filter_map(|line| line.to_str().ok());
        let named: Vec<&str> = lines.flat_map(|line| line.split(',')).map(str::trim).collect();
        for name in named.iter().rev() {
            if !self.is_trusted(address) {
                break;
            }
            // If the entry is not an address, the one before it is the last known.
            let Some(before) = forwarded(name) else { break };
            address = before;
        }
        network_of(address)
    }

    fn is_trusted(&self, address: IpAddr) -> bool {
        self.trusted_proxies.iter().any(|network| network.contains(&address))
    }

    /// Returns true if the request names this server; another name may be an attacker's that resolves to it.
    fn is_own_name(&self, request: &ServiceRequest) -> bool {
        let headers = request.headers();
        if self.is_local {
            return is_name_of_this_machine(headers);
        }
        let Some(public) = &self.public_host else { return true };
        let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return true };
        // Nobody else can redirect a numeric address.
        let is_numeric = host_name(host).parse::<IpAddr>().is_ok();
        // A proxy may name this server as its own settings do. On the same machine a browser has the proxy's address,
        // and an attacker's name has a dot.
        let is_of_proxy =
            self.is_proxy(request.peer_addr(), |peer| !peer.is_loopback() || !host_name(host).contains('.'));
        is_numeric || host_name(host).eq_ignore_ascii_case(public) || is_name_of_this_machine(headers) || is_of_proxy
    }

    /// Returns true if what a request says about its way here can be trusted.
    pub(crate) fn is_forwarded(&self, request: &HttpRequest) -> bool {
        self.is_proxy(request.peer_addr(), |_| true)
    }

    fn is_proxy(&self, peer: Option<SocketAddr>, holds: impl Fn(IpAddr) -> bool) -> bool {
        peer.map(|peer| plain(peer.ip())).is_some_and(|peer| self.is_trusted(peer) && holds(peer))
    }
}

#[derive(Debug)]
struct Limit {
    limiter: DefaultKeyedRateLimiter<IpAddr>,
    /// Time of the last sweep, in seconds after `began`.
    swept_s: AtomicU64,
    began: Instant,
}

impl Limit {
    fn per_minute(rate: NonZeroU32) -> Self {
        let limiter = RateLimiter::keyed(Quota::per_minute(rate));
        Self { limiter, swept_s: AtomicU64::new(0), began: Instant::now() }
    }

    fn take_turn(&self, client: IpAddr) -> Result<(), ApiError> {
        if self.limiter.len() > MOST_ADDRESSES && self.is_sweep_due() {
            self.limiter.retain_recent();
        }
        self.limiter.check_key(&client).map_err(|not_until| {
            let wait: Duration = not_until.wait_time_from(DefaultClock::default().now());
            too_many(wait)
        })
    }

    /// Returns true if this request must sweep the addresses; at most one per interval does.
    fn is_sweep_due(&self) -> bool {
        let now = self.began.elapsed().as_secs();
        let swept = self.swept_s.load(Ordering::Relaxed);
        let is_due = now >= swept + SWEEP_SECONDS;
        is_due && self.swept_s.compare_exchange(swept, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

fn too_many(wait: Duration) -> ApiError {
    let message = "This address sends more requests than the server allows.";
    ApiError::new(ErrorCode::TooManyRequests, message).retry_after(wait.as_secs() + 1)
}

fn take_turn(limit: Option<&Limit>, client: IpAddr) -> Result<(), ApiError> {
    limit.map_or(Ok(()), |limit| limit.take_turn(client))
}

/// Reduces an IPv6 address to its /64 network, which one household usually has; IPv4 stays as it is.
pub(super) fn network_of(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

/// Converts an IPv4-mapped IPv6 address to IPv4.
pub(super) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(address) => address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4),
        address => address,
    }
}

/// Parses an address as proxies write it, with or without a port.
fn forwarded(name: &str) -> Option<IpAddr> {
    let bare = name.strip_prefix('[').and_then(|name| name.split(']').next());
    let address = bare.unwrap_or(name).parse().ok();
    address.or_else(|| name.parse::<SocketAddr>().ok().map(|address| address.ip())).map(plain)
}

/// Returns true if the request was not sent by a page of another site.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let Some(origin) = headers.get(ORIGIN) else { return true };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let origin = origin.to_str().ok().and_then(|origin| Some(origin.split_once("://")?.1));
    origin.is_some() && origin == host
}

/// Returns true for `localhost` and its subdomains, for loopback addresses, and without a host.
pub(crate) fn is_name_of_this_machine(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else { return true };
    let name = host_name(host);
    let is_loopback = name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || name.eq_ignore_ascii_case("localhost") || name.to_ascii_lowercase().ends_with(".localhost")
}

fn host_name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{HeaderName, HeaderValue};
    use actix_web::test::TestRequest;

    use super::*;

    fn headers(list: &[(HeaderName, &'static str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn names_of_this_machine_are_known() {
        let is_known = |host: &&'static str| is_name_of_this_machine(&headers(&[(HOST, *host)]));
        let own = ["127.0.0.1:8080", "127.8.0.1", "[::1]:8080", "localhost:8080", "LOCALHOST", "snap.localhost:1"];
        assert_eq!(own.iter().find(|host| !is_known(host)), None);
        let others = ["example.org", "127.0.0.1.example.org:8080", "192.168.1.2:8080", "localhost.example.org"];
        assert_eq!(others.iter().find(|host| is_known(host)), None);
    }

    #[test]
    fn other_sites_are_told_from_this_one() {
        let host = (HOST, "snap.example.org");
        assert!(is_same_origin(&headers(std::slice::from_ref(&host))));
        for (origin, expected) in [
            ("https://snap.example.org", true),
            ("https://evil.example.org", false),
            ("https://snap.example.org:444", false),
            ("null", false),
        ] {
            assert_eq!(is_same_origin(&headers(&[host.clone(), (ORIGIN, origin)])), expected, "{origin}");
        }
    }

    #[test]
    fn addresses_are_those_of_households() {
        let network = |text: &str| network_of(plain(text.parse().unwrap())).to_string();
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }

    /// Makes the guard of a public server behind proxies.
    fn public_guard() -> Guard {
        Guard {
            requests: None,
            submissions: None,
            guessers: Mutex::default(),
            token: None,
            metrics_token: None,
            is_private: false,
            is_local: false,
            is_secure: true,
            public_host: Some("snap.example.org".to_owned()),
            trusted_proxies: vec!["10.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()],
        }
    }

    #[track_caller]
    fn check_client(peer: &str, named: &[&str], expected: &str) {
        let request = TestRequest::default().peer_addr(SocketAddr::new(peer.parse().unwrap(), 1));
        let request = named.iter().fold(request, |request, line| request.append_header((FORWARDED_FOR, *line)));
        assert_eq!(public_guard().client(&request.to_srv_request()).to_string(), expected);
    }

    #[test]
    fn a_public_server_answers_under_its_own_name() {
        let is_own = |peer: &str, host: &'static str| {
            let request = TestRequest::default().peer_addr(SocketAddr::new(peer.parse().unwrap(), 1));
            public_guard().is_own_name(&request.insert_header((HOST, host)).to_srv_request())
        };
        assert!(is_own("192.0.2.1", "snap.example.org") && is_own("192.0.2.1", "SNAP.example.org:8080"));
        assert!(is_own("192.0.2.1", "192.0.2.9:8080") && is_own("192.0.2.1", "[2001:db8::1]:8080"));
        // A foreign name that resolves here is refused from a browser but accepted from a trusted proxy.
        assert!(!is_own("192.0.2.1", "evil.example.org"));
        assert!(is_own("10.1.2.3", "snapscope:8080") && is_own("10.1.2.3", "snap.internal:8080"));
        // A browser on the proxy's machine has its address.
        assert!(is_own("::1", "snapscope:8080") && is_own("::1", "snap.example.org"));
        assert!(!is_own("::1", "evil.example.org") && !is_own("::1", "snap.example.org.evil.example"));
    }

    #[test]
    fn no_token_is_compared_after_too_many_wrong_ones() {
        let submissions = Some(Limit::per_minute(NonZeroU32::new(2).unwrap()));
        let guard = Guard { submissions, token: Some(Key::new("right", "here")), ..public_guard() };
        let answer = |token: &str, client: u8| {
            let request = TestRequest::default().insert_header(("Authorization", format!("Bearer {token}")));
            let client = IpAddr::from([192, 0, 2, client]);
            guard.admit(Access::Change, client, &request.to_http_request()).map_err(|refused| refused.body().code)
        };
        let [wrong, later] =
            [ErrorCode::Unauthorized, ErrorCode::TooManyRequests].map(|code| Err(code.name().to_owned()));
        assert_eq!(
            ["a", "b", "c", "right"].map(|token| answer(token, 1)),
            [&wrong, &wrong, &later, &later].map(Clone::clone)
        );
        assert_eq!([answer("right", 2), answer("a", 2), answer("right", 2)], [Ok(()), wrong, Ok(())]);
    }

    #[test]
    fn whoever_asks_is_named_by_trusted_proxies_only() {
        check_client("192.0.2.1", &[], "192.0.2.1");
        check_client("192.0.2.1", &["203.0.113.9"], "192.0.2.1");
        check_client("10.1.2.3", &[], "10.1.2.3");
        check_client("10.1.2.3", &["203.0.113.9"], "203.0.113.9");
        check_client("::ffff:10.1.2.3", &["203.0.113.9:4711"], "203.0.113.9");
        // Entries that the client itself wrote are further to the left.
        check_client("10.1.2.3", &["198.51.100.1, 203.0.113.9"], "203.0.113.9");
        check_client("10.1.2.3", &["198.51.100.1, 203.0.113.9", "10.9.9.9"], "203.0.113.9");
        check_client("::1", &["[2001:db8:1:2:3:4:5:6]"], "2001:db8:1:2::");
        check_client("10.1.2.3", &["203.0.113.9, unknown"], "10.1.2.3");
    }

    #[test]
    fn many_addresses_are_walked_once_in_a_while() {
        let limit = Limit::per_minute(NonZeroU32::new(1).unwrap());
        assert!(!limit.is_sweep_due(), "nothing is old yet");
        let limit = Limit { began: Instant::now() - Duration::from_secs(SWEEP_SECONDS), ..limit };
        assert!(limit.is_sweep_due());
        assert!(!limit.is_sweep_due(), "another request has done it");
    }
}
