//! Tests the memory of models and optimizers in real recordings against arithmetic.

mod ddp;
mod parallel;
mod recorded;

mod cnn;
mod data;
mod encoder;
mod fsdp;
mod lora;
mod mlp;
mod optimizer;
mod recurrent;
mod resnet;
mod saving;
mod saving_table;
mod transformer;
