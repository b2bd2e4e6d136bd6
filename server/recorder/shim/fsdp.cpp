// The hooks of FSDP2: when parameters are gathered and freed, and when gradients are reduced.
//
//   forward     root | block 0 | block 1 | loss     each block gathers its parameters, computes, and frees them
//   backward    loss | block 1 | block 0 | root     a block that begins lets the one before it gather already
#include "fsdp.h"
#include "shim.h"

#include <ATen/record_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

using at::Tensor;
using torch::autograd::Node;
using torch::autograd::variable_list;

namespace snapscope::fsdp {

namespace {

// Runs when backward has left a block: `RegisterPostBackwardFunction`.
struct PostBackward final : Node {
  explicit PostBackward(Group& group) : group(group) {}

  std::string name() const override { return "FSDP::post_backward"; }

  variable_list apply(variable_list&& gradients) override {
    group.post_backward();
    return std::move(gradients);
  }

  Group& group;
};

}  // namespace

Parameter& Group::add(at::IntArrayRef sizes, at::ScalarType type, uint32_t module) {
  parameters_.push_back(std::make_unique<Parameter>(sizes, type, module, context_.policy));
  return *parameters_.back();
}

Tensor Group::pre_forward(const Tensor& input) {
  // Checkpointing: the hook of backward has gathered what is computed again.
  if (in_backward_) return input;
  if (is_root()) {
    context_.start();
    context_.let_gathering_wait();
  }
  stage_ = Stage::kForward;
  unshard();
  wait_for_unshard();
  if (!c10::GradMode::is_enabled() || !input.requires_grad()) return input;
  std::shared_ptr<Node> node(new PostBackward(*this), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(input));
  Tensor output = input.detach();
  torch::autograd::set_history(output, node);
  return output;
}

void Group::post_forward(at::TensorList outputs) {
  if (in_backward_) return;
  if (reshard_after_forward_) reshard();
  post_forward_indices_.push_back(context_.post_forward_order.size());
  context_.post_forward_order.push_back(this);
  stage_ = Stage::kIdle;
  for (const Tensor& output : outputs) {
    if (c10::GradMode::is_enabled() && output.requires_grad()) {
      output.register_hook([this](const Tensor&) { pre_backward(); });
    }
  }
  if (!is_root()) return;
  context_.let_gathering_wait();
  context_.last_gathered.reset();
}

void Group::pre_backward() {
  in_backward_ = true;
  if (!std::exchange(context_.final_callback_queued, true)) {
    auto& engine = torch::autograd::Engine::get_default_engine();
    engine.queue_callback([context = &context_] { finish_backward(*context); });
  }
  if (stage_ == Stage::kPreBackward) return;
  stage_ = Stage::kPreBackward;
  unshard();
  wait_for_unshard();
  prefetch();
}

// Lets the group that ended its forward pass before this one gather its parameters.
void Group::prefetch() {
  if (post_forward_indices_.empty()) return;
  const size_t index = post_forward_indices_.back();
  post_forward_indices_.pop_back();
  if (index == 0) return;
  Group& next = *context_.post_forward_order[index - 1];
  const Stage before = std::exchange(next.stage_, Stage::kPreBackward);
  next.unshard();
  next.stage_ = before;
}

void Group::post_backward() {
  const Within within(module_);
  c10::NoGradGuard no_grad;
  stage_ = Stage::kPostBackward;
  std::vector<Parameter*> parameters;
  std::vector<Tensor> gradients;
  for (const auto& parameter : parameters_) {
    Tensor& gradient = parameter->whole.mutable_grad();
    if (!gradient.defined()) continue;
    parameters.push_back(parameter.get());
    gradients.push_back(std::exchange(gradient, Tensor()));
  }
  reshard();
  if (!gradients.empty()) reduce(parameters, gradients);
}

// `_root_post_backward_final_callback`: the root, whose input asks for no gradient, has its turn here.
void Group::finish_backward(Context& context) {
  for (Group* group : context.groups) {
    if (group->stage_ != Stage::kPostBackward) group->post_backward();
    group->stage_ = Stage::kIdle;
    group->in_backward_ = false;
    group->buffer_.reset();
    group->post_forward_indices_.clear();
  }
  context.post_forward_order.clear();
  wait(c10::cuda::getCurrentCUDAStream(), *context.reduce);
  context.last_reduced.reset();
  context.final_callback_queued = false;
}

}  // namespace snapscope::fsdp

using snapscope::fsdp::Context;
using snapscope::fsdp::Group;
using snapscope::fsdp::Parameter;

// The layout is that of `parallel/fsdp/groups.rs`.
struct SnapscopeFsdpPolicy {
  int64_t rank, ranks;
  bool reshard_after_forward, mixed_precision;
};

// What the groups of a model share; it lives as long as the process.
SNAPSCOPE_API Context* snapscope_fsdp_start(SnapscopeFsdpPolicy policy) {
  snapscope::fsdp::Policy out{policy.rank, policy.ranks, policy.reshard_after_forward, {}, {}};
  if (policy.mixed_precision) {
    out.parameter = at::kBFloat16;
    out.reduced = at::kFloat;
  }
  return new Context(out);
}

// A group of parameters; the first is the root's, which keeps its parameters between forward and backward.
SNAPSCOPE_API Group* snapscope_fsdp_group(Context* context, uint32_t module) {
  const bool is_root = context->groups.empty();
  context->groups.push_back(new Group(*context, module, context->policy.reshard_after_forward && !is_root));
  return context->groups.back();
}

// A parameter of a group: the shard, which the optimizer changes, and what the layers read.
SNAPSCOPE_API char* snapscope_fsdp_parameter(Group* group, uint32_t module, const int64_t* sizes, size_t dimensions,
                                             bool bfloat16, Tensor** shard, Tensor** whole) {
  return snapscope::guarded([&] {
    const Parameter& made = group->add({sizes, dimensions}, bfloat16 ? at::kBFloat16 : at::kFloat, module);
    *shard = new Tensor(made.shard);
    *whole = new Tensor(made.whole);
  });
}

// Before a module runs; the module reads `out` in place of `input`.
SNAPSCOPE_API char* snapscope_fsdp_pre_forward(Group* group, const Tensor* input, Tensor** out) {
  return snapscope::guarded([&] { *out = new Tensor(group->pre_forward(*input)); });
}

// After a module has run.
SNAPSCOPE_API char* snapscope_fsdp_post_forward(Group* group, SnapscopeList outputs) {
  return snapscope::guarded([&] { group->post_forward(snapscope::vec(outputs)); });
}
