//! cuDNN, as far as PyTorch calls it.
