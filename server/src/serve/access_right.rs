//! Defines the access rights of routes, and whose requests are counted.

use std::net::IpAddr;

/// Access right of a route, which also decides how requests are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody, without a rate limit; for health checks.
    Health,
    /// Anybody; for content that is not private to this server, and for links, whose own token grants access.
    Open,
    /// Anybody, or holders of the server's token in private mode.
    Read,
    /// Like `Read`, for pages; a browser without the token gets the login form.
    Page,
    /// Holders of the token for metrics.
    Metrics,
    /// Holders of the server's token.
    Change,
    /// Like `Change`, and counted as a submission of a job or a link.
    Submit,
    /// Holders of the deletion token of one link, which the handler checks.
    OwnToken,
}

/// The client of a request, for handlers that count clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Client(pub(crate) IpAddr);
