//! Lines above the timeline: header, toolbar, figures of the device, notices about the file, and help.

pub mod device_picker;
pub mod figures_model;
pub mod figures_row;
pub mod header;
pub mod headline;
pub mod help_dialog;
pub mod keys_model;
pub mod notice_list;
pub mod notices_model;
pub mod origin_bar;
pub mod toolbar;
