//! cuFile, as far as PyTorch calls it.
