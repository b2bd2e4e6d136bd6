//! Describes one route: its method and path, who may use it and whose requests are counted, and how it may be refused.

use std::net::IpAddr;

use actix_web::http::Method;
use actix_web::{Route, guard};
use shared::api::ErrorCode;

/// One method of a path.
pub(crate) struct Row {
    /// HTTP method; documents with `GET` also support `HEAD`.
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// Errors that a request may get, besides those that any request may get.
    pub(crate) refusals: &'static [ErrorCode],
    pub(crate) access: Access,
    has_head: bool,
    handler: fn() -> Route,
}

impl Row {
    /// Sets an access right that differs from the default of the method.
    pub(super) fn of(self, access: Access) -> Self {
        Self { access, ..self }
    }

    pub(super) fn route(&self) -> Route {
        let method = guard::Any(guard::Method(self.method.clone()));
        (self.handler)().guard(if self.has_head { method.or(guard::Head()) } else { method })
    }

    /// Returns the methods as in an `Allow` header.
    pub(super) fn methods(&self) -> String {
        format!("{}{}", self.method, if self.has_head { ", HEAD" } else { "" })
    }
}

/// Makes the row of a document that also supports `HEAD`.
pub(super) fn read(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { has_head: true, ..get(path, refusals, handler) }
}

pub(super) fn get(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { method: Method::GET, path, refusals, access: Access::Read, has_head: false, handler }
}

pub(super) fn post(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { method: Method::POST, ..change(path, refusals, handler) }
}

pub(super) fn patch(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { method: Method::PATCH, ..change(path, refusals, handler) }
}

pub(super) fn delete(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { method: Method::DELETE, ..change(path, refusals, handler) }
}

fn change(path: &'static str, refusals: &'static [ErrorCode], handler: fn() -> Route) -> Row {
    Row { access: Access::Change, ..get(path, refusals, handler) }
}

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
