//! Converts jobs between the API and the database.

mod submit;
mod view;

pub use submit::{MOST_PRIORITY, prepare};
pub use view::{details, resource};
