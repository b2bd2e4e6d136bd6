//! cuSPARSELt, as far as PyTorch calls it.
