//! The binary `snapscope` at a terminal: what it prints, where, and its exit status.

mod command;
mod compare;
mod diagnose;
mod events;
mod export;
mod figures;
mod replay;
