//! Which kernels `scaled_dot_product_attention` may take.
#![allow(unsafe_code, reason = "tch has no switch for attention's backends")]

use std::ffi::c_int;

use shared::job::Attention;

unsafe extern "C" {
    fn snapscope_attention_backends(flash: c_int, efficient: c_int, cudnn: c_int, math: c_int);
}

/// Leaves one backend, as `torch.nn.attention.sdpa_kernel` does, or all of them for PyTorch to pick from.
///
/// The switches are those of the process, so that threads of the autograd engine have them as well.
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
