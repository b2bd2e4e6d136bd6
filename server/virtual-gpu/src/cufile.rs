//! cuFile (GPUDirect Storage): every call fails, by name.
//!
//! Files would be read into device memory, of which there is none.

use std::sync::Once;

use crate::stub::{say_unmodelled, unmodelled};

/// `CU_FILE_PLATFORM_NOT_SUPPORTED`.
const NOT_SUPPORTED: i32 = 5007;

unmodelled! { "cufile", 5007 =>
    cuFileBufRegister, cuFileBufDeregister, cuFileHandleRegister, cuFileHandleDeregister, cuFileDriverOpen,
    cuFileDriverClose,
}

/// Defines transfers that fail: they return a count of bytes, and an error as a negative one.
macro_rules! transfers {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> isize {
                static SAID: Once = Once::new();
                SAID.call_once(|| say_unmodelled(stringify!($name), "cufile", NOT_SUPPORTED));
                -(NOT_SUPPORTED as isize)
            }
        )*
    };
}

transfers! { cuFileRead, cuFileWrite }
