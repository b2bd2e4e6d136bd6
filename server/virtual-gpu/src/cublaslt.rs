//! cuBLASLt, as far as PyTorch calls it.
