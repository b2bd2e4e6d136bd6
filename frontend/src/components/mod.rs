//! Components that several views or pages share.

pub mod icon;

pub mod buttons;
pub mod controls;
pub mod dialog;
pub mod picture;
pub mod pieces;
pub mod site_header;
pub mod stack_view;

pub use buttons::{CopyButton, ExportButton, Making};
pub use controls::{
    bound, by_position, choice, click, is_checked, options, passing, position_of, segmented, select, setting,
    square_button, tab_keys, text_of, toggling,
};
pub use dialog::Dialog;
pub use icon::{IconName, icon};
pub use picture::Picture;
pub use pieces::{color_key, drop_overlay, empty, fact, waiting};
pub use site_header::{Place, scheme_switch, site_header};
pub use stack_view::{RowFigures, StackRow, StackView};
