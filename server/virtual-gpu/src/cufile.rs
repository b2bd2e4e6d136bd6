//! Exports cuFile (GPUDirect Storage), of which every call fails with a line in the log.
//!
//! Its functions would read files into device memory, which does not exist.

use crate::stub::unmodelled;
use crate::unsupported::Unsupported;

/// `CU_FILE_PLATFORM_NOT_SUPPORTED`.
const NOT_SUPPORTED: i32 = 5007;

unmodelled! { "cufile", 5007 =>
    cuFileBufRegister, cuFileBufDeregister, cuFileHandleRegister, cuFileHandleDeregister, cuFileDriverOpen,
    cuFileDriverClose,
}

/// Defines transfers that fail: their result is a number of bytes, or the negative of an error code.
macro_rules! transfers {
    { $($name:ident),* $(,)? } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name() -> isize {
                static FUNCTION: Unsupported = Unsupported::new(stringify!($name), "cufile", NOT_SUPPORTED);
                -(FUNCTION.call() as isize)
            }
        )*
    };
}

transfers! { cuFileRead, cuFileWrite }
