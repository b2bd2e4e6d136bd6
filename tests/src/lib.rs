//! Shared support code of the tests: generators, servers, a browser driver and fault injection.
//!
//! Its functions panic, with the line of the test, where the machine lacks something or an answer is not as it must be.

pub mod browser;
pub mod built;
pub mod clock;
pub mod corpus;
pub mod cpython;
pub mod documents;
pub mod environment;
pub mod equal;
pub mod generator;
pub mod gpu_check;
pub mod histories;
pub mod http;
pub mod judge;
pub mod laws;
pub mod mistakes;
pub mod opening;
pub mod padded;
pub mod patience;
pub mod postgres;
pub mod process;
pub mod repro;
pub mod s3;
pub mod server;
pub mod serving;
pub mod static_folder;
pub mod storage;
pub mod tasks;
