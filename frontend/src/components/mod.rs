//! Components that several views or pages share.

pub mod icon;

pub mod buttons;
pub mod controls;
pub mod dialog;
pub mod drop_overlay;
pub mod picture;
pub mod site_header;
pub mod stack_view;
