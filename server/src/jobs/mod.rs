//! Jobs between the API and the database, and the workers that record them.
//!
//! A job is one recording, a search for the largest batch (`fit`), remedies (`fix`), a `sweep`, or a `script`. It can be
//! deleted only once it is over; the housekeeper removes its snapshot.
//! The curve that is stored beside a recording's figures has these figures as its highest points.
//! A worker takes jobs for a real GPU, and scripts if its operator allows them, once a small recording of that kind has
//! succeeded; until then the reason stands in its row.

mod submit;
mod view;

pub mod worker;

pub use submit::{MOST_PRIORITY, prepare};
pub use view::{details, resource};
