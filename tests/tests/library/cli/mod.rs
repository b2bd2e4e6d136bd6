//! Tests the command line of `snapscope`: its output and exit status.

mod command;
mod compare;
mod diagnose;
mod events;
mod export;
mod figures;
mod host;
mod host_mistakes;
mod log;
mod long_names;
mod replay;
mod source;
