// What `nn.DataParallel` sends between devices: batches apart, weights to replicas, outputs and gradients together.
//
// Follows torch/nn/parallel/_functions.py and comm.py, whose Python functions libtorch does not have.
#include "shim.h"

#include <optional>
#include <vector>

#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/utils/tensor_flatten.h>

using at::Tensor;
using torch::autograd::Node;
using torch::autograd::variable_list;
using Streams = std::vector<std::optional<c10::cuda::CUDAStream>>;

// Of torch/csrc/cuda/comm.h and nccl.h, which need the headers of more CUDA libraries than this file does.
namespace torch::cuda {
std::vector<std::vector<Tensor>> broadcast_coalesced(at::TensorList, at::IntArrayRef, size_t);
std::vector<Tensor> scatter(const Tensor&, at::IntArrayRef, const std::optional<std::vector<int64_t>>&, int64_t,
                            const std::optional<Streams>&);
Tensor gather(at::TensorList, int64_t, std::optional<int32_t>);
namespace nccl {
void reduce(const std::vector<Tensor>&, Tensor&, int32_t, int32_t, const Streams&, const std::vector<void*>&);
}
}  // namespace torch::cuda

struct SnapscopeDevices {
  const int64_t* indices;
  size_t count;
};

namespace {

// The `buffer_size` of comm.py.
constexpr size_t kBucketBytes = 10485760;

// The sum of one tensor of each device, on the device of the first: `comm.reduce_add`.
Tensor reduce_add(const std::vector<Tensor>& flat) {
  constexpr int32_t kRoot = 0, kSum = 0;
  if (flat.size() == 1) return flat[kRoot];
  Tensor result = at::empty_like(flat[kRoot]);
  torch::cuda::nccl::reduce(flat, result, kRoot, kSum, {}, {});
  return result;
}

// Where buckets end, in tensors: `torch._utils._take_tensors`.
std::vector<size_t> bucket_ends(at::TensorList tensors) {
  std::vector<size_t> ends;
  size_t bytes = 0;
  for (size_t index = 0; index < tensors.size(); ++index) {
    if (bytes + tensors[index].nbytes() > kBucketBytes && bytes > 0) {
      ends.push_back(index);
      bytes = 0;
    }
    bytes += tensors[index].nbytes();
  }
  ends.push_back(tensors.size());
  return ends;
}

// `comm.reduce_add_coalesced` of `gradients`, `count` of each device in a row; a bucket's tensors live until the next
// has its own, as under Python's names.
variable_list reduce_add_coalesced(const variable_list& gradients, size_t count) {
  variable_list sums;
  std::vector<Tensor> flat;
  Tensor result;
  size_t start = 0;
  for (const size_t end : bucket_ends(at::TensorList(gradients.data(), count))) {
    std::vector<Tensor> next;
    const auto bucket = [&](size_t from) { return at::TensorList(gradients.data() + from + start, end - start); };
    for (size_t from = 0; from < gradients.size(); from += count) {
      next.push_back(torch::utils::flatten_dense_tensors(bucket(from)));
    }
    flat = std::move(next);
    result = reduce_add(flat);
    for (const Tensor& sum : torch::utils::unflatten_dense_tensors(result, bucket(0))) sums.push_back(sum.detach());
    start = end;
  }
  return sums;
}

// Sums the gradients of all replicas where the weights are.
struct BroadcastBackward final : Node {
  explicit BroadcastBackward(size_t count) : count(count) {}

  std::string name() const override { return "BroadcastBackward"; }

  variable_list apply(variable_list&& gradients) override {
    for (size_t index = 0; index < gradients.size(); ++index) {
      if (!gradients[index].defined()) gradients[index] = input_metadata(index).zeros_like();
    }
    return reduce_add_coalesced(gradients, count);
  }

  const size_t count;
};

// Gives each replica the part of the gradient that belongs to its output.
struct GatherBackward final : Node {
  std::string name() const override { return "GatherBackward"; }

  variable_list apply(variable_list&& gradients) override {
    variable_list parts = torch::cuda::scatter(gradients[0], devices, sizes, 0, std::nullopt);
    if (of_scalars) {
      for (Tensor& part : parts) part = part[0];
    }
    return parts;
  }

  std::vector<int64_t> devices, sizes;
  bool of_scalars = false;
};

bool needs_gradient(at::TensorList tensors) {
  bool needs = false;
  for (const Tensor& tensor : tensors) needs = needs || tensor.requires_grad();
  return needs && at::GradMode::is_enabled();
}

template <typename NodeType, typename... Arguments>
std::shared_ptr<NodeType> node_of(const std::vector<Tensor>& inputs, Arguments... arguments) {
  std::shared_ptr<NodeType> node(new NodeType(arguments...), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  return node;
}

}  // namespace

// Copies tensors of the first device to all; `out` gets `list.count` tensors for each device in turn.
SNAPSCOPE_API char* snapscope_broadcast(SnapscopeList list, SnapscopeDevices devices, Tensor** out) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("Broadcast");
    const std::vector<Tensor> inputs = snapscope::vec(list);
    std::shared_ptr<Node> node;
    if (needs_gradient(inputs)) node = node_of<BroadcastBackward>(inputs, inputs.size());
    at::NoGradGuard no_grad;
    const auto copies = torch::cuda::broadcast_coalesced(inputs, {devices.indices, devices.count}, kBucketBytes);
    for (const auto& of_device : copies) {
      for (const Tensor& copy : of_device) {
        // On the first device they are the weights themselves, which stay leaves of the graph.
        Tensor output = copy.requires_grad() ? copy.detach() : copy;
        if (node != nullptr) torch::autograd::set_history(output, node);
        *out++ = new Tensor(std::move(output));
      }
    }
  });
}

// Splits a batch among devices; there are fewer parts than devices where it has too few samples.
SNAPSCOPE_API char* snapscope_scatter(const Tensor* batch, SnapscopeDevices devices, Tensor** out, size_t* count) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("Scatter");
    auto parts =
        torch::cuda::scatter(*batch, {devices.indices, devices.count}, std::nullopt, 0, std::nullopt);
    *count = parts.size();
    for (Tensor& part : parts) *out++ = new Tensor(std::move(part));
  });
}

// Puts the parts of all devices together on one; scalars become a vector.
SNAPSCOPE_API char* snapscope_gather(SnapscopeList list, int64_t destination, Tensor** out) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("Gather");
    std::vector<Tensor> parts = snapscope::vec(list);
    std::shared_ptr<GatherBackward> node;
    if (needs_gradient(parts)) node = node_of<GatherBackward>(parts);
    at::NoGradGuard no_grad;
    const bool of_scalars = parts.front().dim() == 0;
    for (Tensor& part : parts) {
      if (of_scalars) part = part.view(1);
      if (node == nullptr) continue;
      node->devices.push_back(part.get_device());
      node->sizes.push_back(part.size(0));
    }
    Tensor whole = torch::cuda::gather(parts, 0, static_cast<int32_t>(destination));
    if (node != nullptr) {
      node->of_scalars = of_scalars;
      torch::autograd::set_history(whole, node);
    }
    *out = new Tensor(std::move(whole));
  });
}
