//! Jobs between the API and the database, and the workers that record them.

mod submit;
mod view;

pub mod worker;

pub use submit::{MOST_PRIORITY, prepare};
pub use view::{details, resource};
