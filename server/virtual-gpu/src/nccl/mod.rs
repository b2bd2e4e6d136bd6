//! NCCL, as far as PyTorch calls it: one rank of many, which is alone.
//!
//! A collective returns at once. Where copies are kept (`SNAPSCOPE_VIRTUAL_GPU_VALUES=shadow`), every other rank is
//! taken to hold what this one holds, so that checks which compare ranks agree.

mod collective;

mod communicator;

mod memory;
