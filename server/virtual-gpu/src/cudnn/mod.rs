//! Implements cuDNN, as far as PyTorch calls it.
//!
//! cuDNN has two interfaces: descriptors with one function per operation, for norms, recurrent networks and losses, and
//! a graph of operations ("backend"), for convolutions and attention.
//! Neither computes anything here. What matters is that a program finds an engine for its operation, that descriptors
//! return what was set, and how much memory an engine asks for.

mod backend;

mod backend_content;

mod card;

mod convolution;

mod descriptor;

mod engines;

#[cfg(test)]
mod fake;

mod handle;

mod kept;

mod loader;

mod operations;

mod real;

mod rnn;

mod rnn_space;

mod rnn_weights;

mod status;

mod work_space;
