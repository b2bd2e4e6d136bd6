//! cuBLAS, as far as PyTorch calls it.
