//! Describes one route: its method and path, who may use it, and how it may be refused.

use actix_web::http::Method;
use actix_web::{Route, guard};
use shared::api::ErrorCode;

use crate::serve::access_right::Access;

/// One method of a path.
pub(crate) struct Row {
    /// HTTP method; documents with `GET` also support `HEAD`.
    pub(crate) method: Method,
    /// Template of the path.
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
