//! Identifies the client of a request.

use std::net::IpAddr;

/// The client of a request, for handlers that count clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Client(pub(crate) IpAddr);
