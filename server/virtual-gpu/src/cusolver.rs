//! cuSOLVER, as far as PyTorch calls it.
