//! Implements NCCL, as far as PyTorch calls it, for one rank whose peers never answer.
//!
//! A collective returns at once. Where copies are kept (`SNAPSCOPE_VIRTUAL_GPU_VALUES=shadow`), gathered and broadcast
//! data of other ranks is a copy of this rank's, so that checks that compare ranks pass; the result of a reduction is
//! this rank's own values.

mod collective;

mod communicator;
mod group;

mod memory;
