//! Exports cuRAND, whose file PyTorch's libraries need to load, though they call none of its functions.
//!
//! PyTorch's random numbers come from its own kernels. Creating a generator fails.

use crate::stub::unmodelled;

// 203 is `CURAND_STATUS_INITIALIZATION_FAILED`, because the library has no status for "not supported".
unmodelled! { "curand", 203 => curandCreateGenerator, curandCreateGeneratorHost }
