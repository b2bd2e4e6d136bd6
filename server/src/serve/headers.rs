//! Sets the security headers that every response carries.
//!
//! Frames of the own site are allowed, and the page to be framed by itself, because it opens the sample in a frame that
//! nobody sees (`static/boot.js`).

use actix_web::middleware::DefaultHeaders;

/// Content that the page may load: its own files, and the snapshots that a person opens.
///
/// `'wasm-unsafe-eval'` allows compiling WebAssembly only; `blob:` is for pictures that the page generates, and frames for
/// the sample that the page opens unseen so that the browser has compiled its code before a file comes.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; \
    script-src 'self' 'wasm-unsafe-eval'; \
    style-src 'self'; \
    img-src 'self' data: blob:; \
    connect-src 'self' blob:; \
    worker-src 'self'; \
    frame-src 'self'; \
    font-src 'self'; \
    manifest-src 'self'; \
    base-uri 'none'; \
    form-action 'none'; \
    frame-ancestors 'self'";

/// Returns the headers that keep other sites and foreign code away from a person's snapshots.
pub(crate) fn security() -> DefaultHeaders {
    DefaultHeaders::new()
        .add(("Content-Security-Policy", CONTENT_SECURITY_POLICY))
        .add(("X-Content-Type-Options", "nosniff"))
        .add(("Referrer-Policy", "no-referrer"))
        .add(("Cross-Origin-Opener-Policy", "same-origin"))
        .add(("Cross-Origin-Resource-Policy", "same-origin"))
}
