//! Tests the memory of models and optimizers in real recordings against arithmetic.

mod ddp;
mod parallel;
mod recorded;

mod cnn;
mod data;
mod encoder;
mod experts;
mod fsdp;
mod lora;
mod mlp;
mod optimizer;
mod pipeline;
mod recurrent;
mod resnet;
mod saving;
mod saving_table;
mod tensor;
mod transformer;
mod unet;
