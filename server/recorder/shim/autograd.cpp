// Autocast and activation checkpointing.
#include "shim.h"

#include <vector>

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>

using at::Tensor;

// Tensors of tch are pointers to `at::Tensor`.
using TensorPointers = Tensor* const*;

namespace {

std::vector<Tensor> list(TensorPointers tensors, size_t count) {
  std::vector<Tensor> out;
  out.reserve(count);
  for (size_t index = 0; index < count; ++index) out.push_back(*tensors[index]);
  return out;
}

}  // namespace

// A segment of the model in Rust: reads `count` inputs, returns a new tensor, or null with a message.
using SnapscopeSegment = Tensor* (*)(void* data, TensorPointers inputs, size_t count, char** message);
using SnapscopeDrop = void (*)(void* data);

namespace {

struct Segment {
  SnapscopeSegment run;
  SnapscopeDrop drop;
  void* data;
  ~Segment() { drop(data); }

  Tensor operator()(const std::vector<Tensor>& inputs) const {
    std::vector<Tensor> held = inputs;
    std::vector<Tensor*> pointers;
    for (Tensor& input : held) pointers.push_back(&input);
    char* message = nullptr;
    Tensor* output = run(data, pointers.data(), pointers.size(), &message);
    if (output == nullptr) {
      const std::string text = message == nullptr ? "a checkpointed segment failed" : message;
      free(message);
      TORCH_CHECK(false, text);
    }
    Tensor result = *output;
    delete output;
    return result;
  }
};

// Reentrant checkpointing, as `torch.utils.checkpoint.checkpoint(use_reentrant=True)` does it.
struct Checkpoint : torch::autograd::Function<Checkpoint> {
  using Context = torch::autograd::AutogradContext;

  static Tensor forward(Context* context, const std::shared_ptr<Segment>& segment, at::TensorList inputs) {
    context->saved_data["segment"] = c10::IValue::make_capsule(
        c10::make_intrusive<Holder>(segment));
    context->save_for_backward(inputs.vec());
    at::NoGradGuard no_grad;
    return (*segment)(inputs.vec());
  }

  static torch::autograd::variable_list backward(Context* context, torch::autograd::variable_list gradients) {
    const auto holder = c10::static_intrusive_pointer_cast<Holder>(context->saved_data["segment"].toCapsule());
    std::vector<Tensor> inputs;
    for (const Tensor& saved : context->get_saved_variables()) {
      inputs.push_back(saved.detach().requires_grad_(saved.requires_grad()));
    }
    Tensor output;
    {
      at::AutoGradMode grad(true);
      output = (*holder->segment)(inputs);
    }
    torch::autograd::backward({output}, {gradients[0]});
    torch::autograd::variable_list out{Tensor()};
    for (const Tensor& input : inputs) out.push_back(input.requires_grad() ? input.grad() : Tensor());
    return out;
  }

  struct Holder : torch::CustomClassHolder {
    explicit Holder(std::shared_ptr<Segment> segment) : segment(std::move(segment)) {}
    std::shared_ptr<Segment> segment;
  };
};

}  // namespace

// Runs a segment without keeping its activations; backward runs it again. `data` is dropped in the end.
SNAPSCOPE_API char* snapscope_checkpoint(SnapscopeSegment run, SnapscopeDrop drop, void* data, TensorPointers inputs,
                                         size_t count, Tensor** out) {
  const auto segment = std::make_shared<Segment>(Segment{run, drop, data});
  return snapscope::guarded([&] { *out = new Tensor(Checkpoint::apply(segment, list(inputs, count))); });
}

// `half` is 0 for no autocast, 1 for float16, 2 for bfloat16. Pairs with `snapscope_autocast_leave`.
SNAPSCOPE_API void snapscope_autocast_enter(int half) {
  at::autocast::increment_nesting();
  at::autocast::set_autocast_enabled(at::kCUDA, half != 0);
  if (half != 0) at::autocast::set_autocast_dtype(at::kCUDA, half == 1 ? at::kHalf : at::kBFloat16);
  at::autocast::set_autocast_cache_enabled(true);
}

SNAPSCOPE_API void snapscope_autocast_leave() {
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCUDA, false);
}
