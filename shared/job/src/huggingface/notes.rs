//! Reasons why keys are ignored, with the keys of each reason.

/// Reason of keys that have no effect on memory.
pub(super) const NO_MEMORY: &str = "does not change device memory";

/// Reason of keys that would change memory but are not modelled.
pub(super) const PLAIN: &str = "not modeled; the figures are for plain training on one GPU";

const NOT_KNOWN: &str = "unknown key";

/// Keys of a model's config that have no effect on memory in training.
const CONFIG: &str = "
    architectures auto_map bad_words_ids begin_suppress_tokens bos_token_id chunk_size_feed_forward
    cross_attention_hidden_size decoder_start_token_id diversity_penalty do_sample early_stopping
    encoder_no_repeat_ngram_size eos_token_id exponential_decay_length_penalty finetuning_task forced_bos_token_id
    forced_eos_token_id id2label initializer_range is_decoder is_encoder_decoder label2id length_penalty max_length
    min_length n_ctx name_or_path no_repeat_ngram_size num_beam_groups num_beams num_labels num_return_sequences
    output_scores pad_token_id prefix pretraining_tp problem_type pruned_heads remove_invalid_values
    repetition_penalty return_dict return_dict_in_generate rope_scaling scale_attn_by_inverse_layer_idx
    scale_attn_weights classifier_dropout gradient_checkpointing layer_types
    out_features out_indices stage_names max_window_layers num_channels pooler_act pooler_output_size
    position_embedding_type sep_token_id suppress_tokens task_specific_params temperature tf_legacy_loss
    tie_encoder_decoder tokenizer_class top_k top_p torchscript transformers_version typical_p use_bfloat16
";

/// Keys of a model's config that would change memory if set.
const CONFIG_PLAIN: &str = "
    add_cross_attention output_attentions output_hidden_states
    downsample_in_bottleneck downsample_in_first_stage quantization_config reorder_and_upcast_attn sliding_window
    use_sliding_window
";

/// Training arguments that have no effect on the memory of a step.
const ARGUMENTS: &str = "
    accelerator_config adam_global_step average_tokens_across_devices data_seed dataset_name dataset_text_field
    disable_tqdm do_eval do_predict do_train eval_delay eval_do_concat_batches eval_on_start eval_use_gather_object
    full_determinism gradient_checkpointing_kwargs activation_checkpointing_kwargs greater_is_better group_by_length
    ignore_data_skip include_for_metrics include_inputs_for_metrics include_num_input_tokens_seen
    include_tokens_per_second jit_mode_eval label_names length_column_name load_best_model_at_end local_rank
    lr_scheduler_kwargs lr_scheduler_type metric_for_best_model mp_parameters no_cuda optim_args output_dir
    overwrite_output_dir past_index prediction_loss_only project remove_unused_columns report_to
    restore_callback_states_from_checkpoint resume_from_checkpoint run_name seed skip_memory_metrics torchdynamo
    train_sampling_strategy use_cpu use_legacy_prediction_loop use_mps_device warmup_ratio warmup_steps
";

/// Prefixes of training arguments that have no effect on the memory of a step.
const ARGUMENT_STARTS: &[&str] = &["dataloader_", "hub_", "log", "push_to_hub", "save_", "trackio_", "enable_jit"];

/// Training arguments that would change memory if set.
const ARGUMENTS_PLAIN: &str = "
    auto_find_batch_size batch_eval_metrics bf16_full_eval debug deepspeed eval_accumulation_steps fp16_backend
    fp16_full_eval fp16_opt_level fsdp fsdp_config fsdp_min_num_params fsdp_transformer_layer_cls_to_wrap
    half_precision_backend label_smoothing_factor liger_kernel_config neftune_noise_alpha optim_target_modules
    parallelism_config torch_compile torch_compile_backend torch_compile_mode torch_empty_cache_steps tp_size
    tpu_num_cores use_ipex use_liger_kernel packing ray_scope
";

/// Returns true if a list of keys, with spaces between them, has a key.
fn has(keys: &str, key: &str) -> bool {
    keys.split_ascii_whitespace().any(|known| known == key)
}

/// Returns the reason why a key of a model's config is ignored.
pub(super) fn why_config(key: &str) -> &'static str {
    if has(CONFIG, key) || key.starts_with('_') || key.starts_with("summary_") {
        NO_MEMORY
    } else if has(CONFIG_PLAIN, key) {
        PLAIN
    } else {
        NOT_KNOWN
    }
}

/// Returns the reason why a key of decoders is ignored in other models.
pub(super) fn why_encoder(key: &str) -> &'static str {
    match key {
        "use_cache" => "only decoders have a cache",
        _ => "BERT's head always shares the weights of the token embedding; image models read no tokens",
    }
}

/// Returns the reason why a training argument is ignored.
pub(super) fn why_argument(key: &str) -> &'static str {
    let is_known = has(ARGUMENTS, key) || ARGUMENT_STARTS.iter().any(|start| key.starts_with(start));
    if is_known || key.starts_with('_') {
        NO_MEMORY
    } else if has(ARGUMENTS_PLAIN, key) || key.starts_with("ddp_") {
        PLAIN
    } else {
        NOT_KNOWN
    }
}
