//! Tests of the server: its API, pages, database, store and deployment.

mod api;
mod data;
mod deploy;
mod http;
mod open;
mod storage;
