//! NVSHMEM, as far as PyTorch calls it.
