//! Root components of the pages.

mod app;
mod home;
mod viewer;

pub use app::{App, AppProps};
pub use home::{Home, HomeProps};
