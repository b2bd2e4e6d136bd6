//! CUPTI, as far as PyTorch calls it.
