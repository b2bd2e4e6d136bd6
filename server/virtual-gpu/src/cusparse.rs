//! cuSPARSE, as far as PyTorch calls it.
