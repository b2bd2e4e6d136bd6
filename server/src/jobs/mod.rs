//! Jobs between the interface and the database: what is submitted, and how a job looks from outside.

mod submit;
mod view;

pub use submit::{MOST_PRIORITY, prepare};
pub use view::{details, resource};
