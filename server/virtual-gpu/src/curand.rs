//! cuRAND: PyTorch's libraries ask for the file, and call none of its functions.
//!
//! Its random numbers come from kernels of its own. Whoever asks for a generator is told that there is none.

use crate::stub::unmodelled;

// `CURAND_STATUS_INITIALIZATION_FAILED`: the library has no status for "not supported".
unmodelled! { "curand", 203 => curandCreateGenerator, curandCreateGeneratorHost }
