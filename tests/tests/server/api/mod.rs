//! Tests the API under `/api/v1`, with a database and a store of the test's own.

mod guards;
mod jobs;
mod logs;
mod metrics;
mod openapi;
mod pages;
mod scripts;
mod shares;
mod tasks;
