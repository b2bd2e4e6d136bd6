//! cuRAND, as far as PyTorch calls it.
