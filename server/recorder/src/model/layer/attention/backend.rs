//! Selects the kernels that `scaled_dot_product_attention` may use.
#![allow(unsafe_code, reason = "tch has no switch for attention's backends")]

use std::ffi::c_int;

use shared::job::Attention;

unsafe extern "C" {
    fn snapscope_attention_backends(flash: c_int, efficient: c_int, cudnn: c_int, math: c_int);
}

/// Allows only one backend, as `torch.nn.attention.sdpa_kernel` does, or all of them for PyTorch to choose from.
///
/// The switches are global to the process, so that they also apply to threads of the autograd engine.
pub(super) fn select(attention: Attention) {
    let allowed = |backend| {
        let any = matches!(attention, Attention::Sdpa | Attention::Eager);
        c_int::from(any || attention == backend)
    };
    // SAFETY: no pointer is passed.
    unsafe {
        snapscope_attention_backends(
            allowed(Attention::Flash),
            allowed(Attention::Efficient),
            allowed(Attention::Cudnn),
            allowed(Attention::Math),
        );
    }
}
