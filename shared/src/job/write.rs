//! Converts a job back to a config with every key, which resolves to the same job.

mod cnn;
mod data;
mod encoder;
mod experts;
mod recurrent;
mod saving;
mod unet;

use super::activation::ACTIVATIONS;
use super::attention::ATTENTIONS;
use super::cnn::Layers;
use super::family::FAMILIES;
use super::lora::Lora;
use super::mistake::MISTAKES;
use super::model::{
    ARCHITECTURES, DEPTHS, MLP_ACTIVATIONS, Mlp, Model, NORMS, Norm, POSITIONS, Positions, RESNET_ARCHITECTURES,
    ResNet, Transformer, family_of,
};
use super::names::name_of;
use super::parallel::{GATHERS, KINDS, Parallel};
use super::pipeline::SCHEDULES;
use super::raw::{Betas, RawEvaluation, RawJob, RawLora, RawLoss, RawModel, RawOptimizer, RawParallel, Sizes};
use super::training::{
    Amp, Device, Evaluation, Job, Optimizer, OptimizerKind, PRECISIONS, Precision, RULES, Rule, ZeroGrad,
};

impl Job {
    /// Returns the job as the JSON document that the recorder reads; it resolves to the same job.
    pub fn to_json(&self) -> String {
        self.to_raw().to_json()
    }

    /// Returns the job as a config with every key written out.
    pub fn to_raw(&self) -> RawJob {
        let (precision, grad_scaler) = raw_precision(self.precision);
        let (card, device) = match &self.device {
            Device::Virtual(cards) => (Some(cards.to_string()), None),
            Device::Cuda(index) => (None, Some(format!("cuda:{index}"))),
        };
        RawJob {
            name: Some(self.name.clone()),
            model: Some(raw_model(&self.model)),
            batch: Some(self.batch),
            sequence: self.model.max_positions().map(|_| self.sequence),
            steps: Some(self.steps),
            accumulation: Some(self.accumulation),
            precision: Some(precision.to_owned()),
            grad_scaler,
            optimizer: Some(raw_optimizer(self.optimizer)),
            checkpointing: Some(saving::raw_checkpointing(self)),
            offload_activations: Some(self.saving.offload_activations),
            loss: self.saving.loss_chunks.map(|chunks| RawLoss { chunks: Some(chunks) }),
            lora: self.lora.as_ref().map(raw_lora),
            clip_grad_norm: self.clip_grad_norm,
            keep_outputs: Some(self.keep_outputs),
            set_to_none: Some(self.zero_grad == ZeroGrad::SetToNone),
            data: Some(data::raw_data(&self.data)),
            evaluation: self.evaluation.map(raw_evaluation),
            mistakes: Some(self.mistakes.iter().map(|mistake| name_of(MISTAKES, mistake).to_owned()).collect()),
            allocator: Some(self.allocator.clone()),
            memory_fraction: self.memory_fraction,
            parallel: self.parallel.map(raw_parallel),
            card,
            device,
            sweep: None,
        }
    }
}

fn raw_precision(precision: Precision) -> (&'static str, Option<bool>) {
    let named = |known: &Precision| match (known, precision) {
        (Precision::Autocast(known), Precision::Autocast(amp)) => known.fp16 == amp.fp16,
        (known, precision) => *known == precision,
    };
    let name = PRECISIONS.iter().find(|(_, known)| named(known)).map_or("", |(name, _)| name);
    match precision {
        Precision::Autocast(Amp { grad_scaler, .. }) => (name, Some(grad_scaler)),
        _ => (name, None),
    }
}

fn raw_optimizer(optimizer: Optimizer) -> RawOptimizer {
    let raw = |rule: Rule| RawOptimizer {
        kind: word(RULES, &rule),
        learning_rate: Some(optimizer.learning_rate),
        weight_decay: Some(optimizer.weight_decay),
        ..saving::raw_storage(optimizer)
    };
    let adam = |rule: Rule, (first, second): (f64, f64), epsilon| RawOptimizer {
        betas: Some(Betas(first, second)),
        epsilon: Some(epsilon),
        ..raw(rule)
    };
    match optimizer.kind {
        OptimizerKind::Sgd { momentum, nesterov } => {
            RawOptimizer { momentum: Some(momentum), nesterov: Some(nesterov), ..raw(Rule::Sgd) }
        }
        OptimizerKind::Adam { betas, epsilon } => adam(Rule::Adam, betas, epsilon),
        OptimizerKind::AdamW { betas, epsilon } => adam(Rule::AdamW, betas, epsilon),
    }
}

fn raw_lora(lora: &Lora) -> RawLora {
    RawLora {
        rank: Some(lora.rank),
        alpha: Some(lora.alpha),
        dropout: Some(lora.dropout),
        targets: Some(lora.targets.iter().map(|target| target.name().to_owned()).collect()),
    }
}

fn raw_parallel(parallel: Parallel) -> RawParallel {
    let (devices, gather) = match parallel {
        Parallel::DataParallel { devices, gather } => (Some(devices), word(GATHERS, &gather)),
        _ => (None, None),
    };
    let rank = parallel.rank();
    let ddp = parallel.ddp().map(|(_, ddp)| ddp);
    let fsdp = parallel.fsdp();
    let pipeline = match parallel {
        Parallel::Pipeline { pipeline, .. } => Some(pipeline),
        _ => None,
    };
    RawParallel {
        kind: word(KINDS, &parallel.kind()),
        devices,
        gather,
        ranks: rank.map(|rank| rank.ranks),
        rank: rank.map(|rank| rank.rank),
        bucket_mb: ddp.and_then(|ddp| ddp.bucket_mb),
        gradient_as_bucket_view: ddp.map(|ddp| ddp.gradient_as_bucket_view),
        static_graph: ddp.map(|ddp| ddp.static_graph),
        find_unused_parameters: ddp.map(|ddp| ddp.find_unused_parameters),
        parameters_as_bucket_view: match parallel {
            Parallel::Zero1 { parameters_as_bucket_view, .. } => Some(parameters_as_bucket_view),
            _ => None,
        },
        reshard_after_forward: fsdp.map(|fsdp| fsdp.reshard_after_forward),
        mixed_precision: fsdp.map(|fsdp| fsdp.mixed_precision),
        sequence_parallel: match parallel {
            Parallel::Tensor { sequence_parallel, .. } => Some(sequence_parallel),
            _ => None,
        },
        micro_batches: pipeline.map(|pipeline| pipeline.micro_batches),
        schedule: pipeline.and_then(|pipeline| word(SCHEDULES, &pipeline.schedule)),
    }
}

const fn raw_evaluation(evaluation: Evaluation) -> RawEvaluation {
    let Evaluation { every, batches, batch, no_grad } = evaluation;
    RawEvaluation { every: Some(every), batches: Some(batches), batch: Some(batch), no_grad: Some(no_grad) }
}

fn raw_model(model: &Model) -> RawModel {
    let raw = match model {
        Model::Mlp(mlp) => raw_mlp(mlp),
        Model::ResNet(resnet) => raw_resnet(resnet),
        Model::Transformer(transformer) => raw_transformer(transformer),
        Model::Bert(bert) => encoder::raw_bert(bert),
        Model::Vit(vit) => encoder::raw_vit(vit),
        Model::Unet(unet) => unet::raw_unet(unet),
        Model::Rnn(rnn) => recurrent::raw_rnn(rnn),
        Model::Cnn(cnn) => cnn::raw_cnn(cnn),
    };
    RawModel { family: word(FAMILIES, &family_of(model)), ..raw }
}

fn raw_mlp(mlp: &Mlp) -> RawModel {
    RawModel {
        input: Some(mlp.input_features),
        hidden: Some(Sizes::Each(mlp.hidden_features.clone())),
        classes: Some(mlp.classes),
        activation: word(MLP_ACTIVATIONS, &mlp.activation),
        bias: Some(mlp.bias),
        dropout: Some(mlp.dropout),
        ..RawModel::default()
    }
}

fn raw_resnet(resnet: &ResNet) -> RawModel {
    RawModel {
        architecture: word(RESNET_ARCHITECTURES, &resnet.family),
        depth: DEPTHS.iter().find(|(_, depth)| *depth == resnet.depth).map(|(number, _)| *number),
        classes: Some(resnet.classes),
        image_size: Some(resnet.image_size),
        channels_last: Some(resnet.channels_last),
        ..RawModel::default()
    }
}

fn raw_transformer(model: &Transformer) -> RawModel {
    let (is_layer_norm, epsilon) = match model.norm {
        Norm::LayerNorm(epsilon) => (true, epsilon),
        Norm::RmsNorm(epsilon) => (false, epsilon),
    };
    let theta = match model.positions {
        Positions::Learned => None,
        Positions::Rotary(theta) => Some(theta),
    };
    RawModel {
        architecture: word(ARCHITECTURES, &model.family),
        vocabulary: Some(model.vocabulary),
        layers: Some(Layers::Count(model.layers)),
        hidden: Some(Sizes::One(model.hidden)),
        intermediate: Some(model.intermediate),
        heads: Some(model.heads),
        kv_heads: Some(model.kv_heads),
        head_dim: Some(model.head_dim),
        max_positions: Some(model.max_positions),
        norm: word(NORMS, &is_layer_norm),
        norm_epsilon: Some(epsilon),
        positions: word(POSITIONS, &theta.is_none()),
        rope_theta: theta,
        activation: word(ACTIVATIONS, &model.activation),
        qkv_bias: Some(model.qkv_bias),
        attention_bias: Some(model.attention_bias),
        mlp_bias: Some(model.mlp_bias),
        tied_head: Some(model.tied_head),
        embedding_dropout: Some(model.dropout.embedding),
        attention_dropout: Some(model.dropout.attention),
        residual_dropout: Some(model.dropout.residual),
        attention: word(ATTENTIONS, &model.attention),
        use_cache: Some(model.use_cache),
        ..experts::raw_experts(model.experts.as_ref())
    }
}

/// Returns the word for a value as the value of a key.
fn word<T: PartialEq>(names: &'static [(&'static str, T)], value: &T) -> Option<String> {
    Some(name_of(names, value).to_owned())
}
