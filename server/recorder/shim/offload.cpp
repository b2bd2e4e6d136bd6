// What waits in host memory: saved tensors, and an optimizer's state with its step.
#include "saving.h"
#include "shim.h"

#include <list>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

using at::Tensor;

namespace {

Tensor pinned_like(const Tensor& tensor) {
  return at::empty_like(tensor, tensor.options().device(at::kCPU).pinned_memory(true));
}

// Goes to the host when a node saves it, and comes back when the node needs it.
struct OnHost final : torch::autograd::SavedVariableHooks {
  void call_pack_hook(const Tensor& tensor) override {
    device = tensor.device();
    packed = at::empty(tensor.sizes(), tensor.options().device(at::kCPU).pinned_memory(true));
    packed.copy_(tensor);
  }
  Tensor call_unpack_hook() override { return packed.to(device, /*non_blocking=*/true); }
  at::Device device = at::kCPU;
  Tensor packed;
};

// torchao's `CPUOffloadOptimizer` without the arithmetic of its steps, which takes no memory of the device: gradients go
// to the host during backward, on a stream of their own, and weights come back with a step.
class Offload {
 public:
  explicit Offload(bool gradients)
      : gradients_(gradients), stream_(c10::cuda::getStreamFromPool()), place_(stream_.device()) {}
  Offload(const Offload&) = delete;

  void add(const Tensor& weight);
  void receive(size_t index);
  void step();

 private:
  // A parameter, and what the host has of it.
  struct Parameter {
    Tensor weight;
    Tensor host_weight;
    Tensor host_gradient;
  };

  const bool gradients_;
  const c10::Stream stream_;
  const c10::Device place_;
  std::vector<Parameter> parameters_;
  // Those whose gradient is on its way, the first one first.
  std::list<std::pair<size_t, c10::Event>> queue_;
};

// Runs after a parameter's gradient has been added up.
struct Receives final : torch::autograd::PostAccumulateGradHook {
  Receives(Offload* offload, size_t index) : offload(offload), index(index) {}
  void operator()(const Tensor&) override { offload->receive(index); }
  Offload* offload;
  size_t index;
};

void Offload::add(const Tensor& weight) {
  const Tensor host_weight = pinned_like(weight);
  const Tensor host_gradient = pinned_like(host_weight);
  host_weight.copy_(weight.detach(), /*non_blocking=*/true);
  parameters_.push_back({weight, host_weight, host_gradient});
  torch::autograd::impl::set_post_acc_grad_hooks(weight, std::make_unique<Receives>(this, parameters_.size() - 1));
}

void Offload::receive(size_t index) {
  Parameter& parameter = parameters_[index];
  Tensor& gradient = parameter.weight.mutable_grad();
  if (!gradient.defined()) return;
  c10::Event computed(c10::DeviceType::CUDA);
  computed.record(c10::cuda::getCurrentCUDAStream(place_.index()));
  computed.block(stream_);
  c10::Event copied(c10::DeviceType::CUDA);
  {
    const c10::StreamGuard guard(stream_);
    parameter.host_gradient.copy_(gradient, /*non_blocking=*/true);
    copied.record(stream_);
  }
  queue_.remove_if([index](const auto& entry) { return entry.first == index; });
  queue_.emplace_back(index, std::move(copied));
  if (gradients_) {
    gradient.record_stream(stream_);
    gradient.reset();
  }
}

void Offload::step() {
  const at::AutoGradMode no_grad(false);
  for (auto& [index, copied] : queue_) {
    copied.synchronize();
    const c10::StreamGuard guard(stream_);
    parameters_[index].weight.copy_(parameters_[index].host_weight, /*non_blocking=*/true);
  }
  stream_.synchronize();
  queue_.clear();
}

}  // namespace

namespace snapscope {

std::unique_ptr<torch::autograd::SavedVariableHooks> on_host() { return std::make_unique<OnHost>(); }

}  // namespace snapscope

// An optimizer on the host; `gradients` frees them once the host has them. It must outlive every backward pass.
SNAPSCOPE_API char* snapscope_offload_new(bool gradients, void** out) {
  return snapscope::guarded([&] { *out = new Offload(gradients); });
}

SNAPSCOPE_API void snapscope_offload_delete(void* offload) { delete static_cast<Offload*>(offload); }

SNAPSCOPE_API char* snapscope_offload_add(void* offload, const Tensor* weight) {
  return snapscope::guarded([&] { static_cast<Offload*>(offload)->add(*weight); });
}

SNAPSCOPE_API char* snapscope_offload_step(void* offload) {
  return snapscope::guarded([&] { static_cast<Offload*>(offload)->step(); });
}
