//! cuDNN, as far as PyTorch calls it.
//!
//! Two interfaces: descriptors with one function per operation, for norms, recurrent networks and losses, and a graph
//! of operations ("backend"), for convolutions and attention.
//! Neither computes. What matters is that a program finds a way to run its operation, that descriptors give back what
//! was put in, and how much memory each way asks for.

mod backend;

mod backend_content;

mod convolution;

mod descriptor;

mod handle;

mod operations;

mod rnn;

mod rnn_weights;

mod status;

mod work_space;
