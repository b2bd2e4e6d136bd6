//! cuFFT, as far as PyTorch calls it.
