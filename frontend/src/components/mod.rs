//! Components that several views or pages share.

pub mod icon;

pub mod copy_button;
pub mod dialog;
pub mod drop_overlay;
pub mod export_button;
pub mod picture;
pub mod scheme_switch;
pub mod select;
pub mod site_header;
pub mod stack_row;
pub mod stack_view;
pub mod tab_keys;
