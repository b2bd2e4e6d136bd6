//! NCCL, as far as PyTorch calls it.
