//! NVRTC, as far as PyTorch calls it.
