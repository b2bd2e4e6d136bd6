// A group of processes in which only one runs: what the others would send is what it has itself.
//
// Allocates what ProcessGroupNCCL of PyTorch 2.11 does, which needs the other processes: nothing, but for `allgather`.
#include "ranks.h"

#include <ATen/ATen.h>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

namespace {

using at::Tensor;

// A collective that is done.
struct Done final : c10d::Work {
  // `result` is what the caller's tensors hold then; `scratch` is freed with this.
  explicit Done(std::vector<Tensor> result, Tensor scratch = {})
      : outputs(std::move(result)), scratch(std::move(scratch)) {}

  bool isCompleted() override { return true; }
  bool isSuccess() const override { return true; }
  bool wait(std::chrono::milliseconds) override { return true; }
  void synchronize() override {}
  std::vector<Tensor> result() override { return outputs; }

  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    const std::vector<c10::Device> devices{outputs.front().device()};
    auto future = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()), devices);
    future->markCompleted(c10::IValue(outputs));
    return future;
  }

  std::vector<Tensor> outputs;
  Tensor scratch;
};

// The collectives that data parallelism asks for.
struct Alone final : c10d::Backend {
  using c10d::Backend::Backend;
  using Result = c10::intrusive_ptr<c10d::Work>;

  const std::string getBackendName() const override { return "alone"; }

  Result broadcast(std::vector<Tensor>& tensors, const c10d::BroadcastOptions&) override {
    return c10::make_intrusive<Done>(tensors);
  }

  Result allreduce(std::vector<Tensor>& tensors, const c10d::AllreduceOptions&) override {
    return c10::make_intrusive<Done>(tensors);
  }

  // Gathers into one tensor first, as NCCL does.
  Result allgather(std::vector<std::vector<Tensor>>& outputs, std::vector<Tensor>& inputs,
                   const c10d::AllgatherOptions&) override {
    const Tensor& input = inputs.front();
    std::vector<int64_t> shape = input.sizes().vec();
    shape.insert(shape.begin(), getSize());
    const Tensor gathered = at::empty(shape, input.options());
    for (int rank = 0; rank < getSize(); ++rank) {
      gathered[rank].copy_(input, true);
      outputs.front()[rank].copy_(gathered[rank], true);
    }
    return c10::make_intrusive<Done>(outputs.front(), gathered);
  }
};

}  // namespace

namespace snapscope {

c10::intrusive_ptr<c10d::ProcessGroup> process_group(int rank, int ranks) {
  constexpr auto kBackend = c10d::ProcessGroup::BackendType::CUSTOM;
  auto group = c10::make_intrusive<c10d::ProcessGroup>(c10::make_intrusive<c10d::HashStore>(), rank, ranks);
  group->setBackend(c10::DeviceType::CUDA, kBackend, c10::make_intrusive<Alone>(rank, ranks));
  group->setDefaultBackend(kBackend);
  return group;
}

}  // namespace snapscope
