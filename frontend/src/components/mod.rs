//! Components of the page.

pub mod icon;

pub mod copy_button;
pub mod dialog;
pub mod export_button;
pub mod scheme_switch;
mod sheet_buttons;
pub mod site_header;
mod tab_keys;

pub mod drop_overlay;
pub mod export;
pub mod header;
pub mod help_dialog;
pub mod links_dialog;
mod remaining;
pub mod share;

pub mod arrival_card;
pub mod awaited_bar;
pub mod error_card;
pub mod hero;
pub mod keep_box;
pub mod loading_card;
pub mod part_bar;
pub mod part_card;
pub mod preview_plot;
pub mod preview_view;

pub mod device_picker;
pub mod dock;
pub mod figures_row;
pub mod notice_list;
pub mod origin_bar;
pub mod panel;
pub mod timeline;
pub mod toolbar;
