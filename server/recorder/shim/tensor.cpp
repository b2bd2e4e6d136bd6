// What a process of a tensor-parallel group exchanges with the others, and what it makes of that.
//
// Follows torch/distributed/tensor of PyTorch 2.11: the allocations of a redistribution are made, and nothing is sent.
// A collective's result holds what the others would send in no particular values.
#include "shim.h"

#include <vector>

#include <ATen/ATen.h>
#include <ATen/SequenceNumber.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

using at::Tensor;
using torch::autograd::Node;
using torch::autograd::variable_list;

// This process among its group; the layout is that of traffic.rs.
struct SnapscopeShare {
  int64_t rank;
  int64_t ranks;
};

namespace {

// `all_reduce` of functional collectives: the sum is a tensor of its own.
Tensor summed(const Tensor& part) { return part.clone(at::MemoryFormat::Contiguous); }

// `all_gather_tensor` and `_maybe_view_chunk_cat`: the parts of all processes, one after another along `dim`.
Tensor gathered(const Tensor& part, int64_t ranks, int64_t dim) {
  const Tensor own = part.contiguous();
  std::vector<int64_t> sizes = own.sizes().vec();
  const int64_t first = sizes[0];
  sizes[0] *= ranks;
  const Tensor all = at::empty(sizes, own.options());
  int64_t between = 1;
  for (int64_t index = 1; index < dim; ++index) between *= sizes[index];
  if (dim == 0) return all;
  if (first * between > 1) return at::cat(at::chunk(all, ranks, 0), dim);
  sizes[0] = 1;
  sizes[dim] *= ranks;
  return all.view(sizes);
}

// `reduce_scatter_tensor`: this process's part of the sum, and what is read until somebody waits for it.
struct Scattered {
  Tensor part;
  Tensor read;
};

Scattered scattered(const Tensor& whole, int64_t ranks, int64_t dim) {
  Tensor read = whole.contiguous();
  if (dim != 0) read = at::cat(at::chunk(read, ranks, dim));
  std::vector<int64_t> sizes = read.sizes().vec();
  sizes[0] /= ranks;
  return {at::empty(sizes, read.options()), read};
}

// The gradient of what all processes read alike is the sum of theirs.
struct EnterBackward final : Node {
  std::string name() const override { return "EnterBackward"; }
  variable_list apply(variable_list&& gradients) override { return {summed(gradients[0])}; }
};

// A sum's gradient is that of each part.
struct LeaveBackward final : Node {
  std::string name() const override { return "LeaveBackward"; }
  variable_list apply(variable_list&& gradients) override { return {gradients[0]}; }
};

// Of tokens from all processes: each gets the sum of the gradients of its own.
struct GatherTokensBackward final : Node {
  GatherTokensBackward(SnapscopeShare share, int64_t dim, bool late) : share(share), dim(dim), late(late) {}
  std::string name() const override { return "GatherTokensBackward"; }
  variable_list apply(variable_list&& gradients) override {
    Scattered sum = scattered(gradients[0], share.ranks, dim);
    // Where the result is waited for by its reader, what the collective reads outlives the gradient.
    if (late) gradients.clear();
    sum.read.reset();
    return {sum.part};
  }
  const SnapscopeShare share;
  const int64_t dim;
  const bool late;
};

// Of features from all processes, which all have the gradient of: each takes that of its own.
struct SliceBackward final : Node {
  explicit SliceBackward(SnapscopeShare share) : share(share) {}
  std::string name() const override { return "GatherFeaturesBackward"; }
  variable_list apply(variable_list&& gradients) override {
    return {at::chunk(gradients[0], share.ranks, -1)[share.rank].clone()};
  }
  const SnapscopeShare share;
};

// Of a sum that is split among the processes.
struct ScatterBackward final : Node {
  ScatterBackward(SnapscopeShare share, int64_t dim) : share(share), dim(dim) {}
  std::string name() const override { return "ScatterBackward"; }
  variable_list apply(variable_list&& gradients) override { return {gathered(gradients[0], share.ranks, dim)}; }
  const SnapscopeShare share;
  const int64_t dim;
};

// Autograd adds up the gradients of a DTensor's readers in a tensor of its own, where it would change a plain tensor.
struct ForkBackward final : Node {
  // It does so before any other node runs.
  ForkBackward() : Node(UINT64_MAX) {}
  std::string name() const override { return "ForkBackward"; }
  variable_list apply(variable_list&& gradients) override {
    if (!gradients[0].defined()) return {gradients[1]};
    return {gradients[1].defined() ? at::add(gradients[0], gradients[1]) : gradients[0]};
  }
};

// `redistribute` of a gradient that this process has whole, to the rows that its weight has.
Tensor rows_of(const Tensor& whole, SnapscopeShare share) { return at::chunk(whole, share.ranks, 0)[share.rank].clone(); }

// DTensor has no rule for the gradient of an embedding that is split by rows: each process computes all of it.
struct VocabularyBackward final : Node {
  VocabularyBackward(SnapscopeShare share, Tensor weight, Tensor indices)
      : share(share), weight(std::move(weight)), indices(std::move(indices)) {}
  std::string name() const override { return "EmbeddingBackward0"; }
  // Autograd takes no gradient of another shape than its weight's, so that it is put there by hand.
  variable_list apply(variable_list&& gradients) override {
    const int64_t rows = weight.size(0) * share.ranks;
    Tensor whole = at::embedding_dense_backward(gradients[0], indices, rows, /*padding_idx=*/-1, /*scale=*/false);
    // What follows is for Autograd to do, which has let go of them by then.
    gradients.clear();
    Tensor& gradient = weight.mutable_grad();
    if (!gradient.defined()) {
      gradient = std::move(whole);
    } else if (gradient.size(0) == rows) {
      gradient.add_(whole);
    } else {
      // The head has the same weights, and its gradient has their rows.
      gradient = at::add(gradient, rows_of(whole, share));
    }
    return {};
  }
  void release_variables() override { indices.reset(); }
  const SnapscopeShare share;
  Tensor weight, indices;
};

template <typename NodeType, typename... Arguments>
std::shared_ptr<NodeType> node_of(const Tensor& input, Arguments... arguments) {
  if (!input.requires_grad() || !at::GradMode::is_enabled()) return nullptr;
  std::shared_ptr<NodeType> node(new NodeType(arguments...), torch::autograd::deleteNode);
  node->set_next_edges(torch::autograd::collect_next_edges(input));
  return node;
}

// Hands an output over, with its place in the graph.
void give(Tensor output, const std::shared_ptr<Node>& node, Tensor** out) {
  if (node != nullptr) torch::autograd::set_history(output, node);
  *out = new Tensor(std::move(output));
}

}  // namespace

// A tensor for two readers whose gradients are added up apart.
SNAPSCOPE_API char* snapscope_tensor_fork(const Tensor* input, Tensor** first, Tensor** second) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("Fork");
    const auto node = node_of<ForkBackward>(*input);
    at::NoGradGuard no_grad;
    give(input->detach(), node, first);
    give(input->detach(), node, second);
  });
}

// A tensor that all processes have, as a layer reads that each has a part of.
SNAPSCOPE_API char* snapscope_tensor_enter(const Tensor* input, Tensor** out) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("Enter");
    const auto node = node_of<EnterBackward>(*input);
    at::NoGradGuard no_grad;
    give(input->detach(), node, out);
  });
}

// The sum of what such layers of all processes give.
SNAPSCOPE_API char* snapscope_tensor_leave(const Tensor* part, Tensor** out) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("Leave");
    const auto node = node_of<LeaveBackward>(*part);
    at::NoGradGuard no_grad;
    give(summed(*part), node, out);
  });
}

// The tokens of all processes; `late` says that in backward their gradient is waited for by its reader.
SNAPSCOPE_API char* snapscope_tensor_gather_tokens(const Tensor* part, SnapscopeShare share, bool late, Tensor** out) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("GatherTokens");
    const auto node = node_of<GatherTokensBackward>(*part, share, int64_t{1}, late);
    at::NoGradGuard no_grad;
    give(gathered(*part, share.ranks, 1), node, out);
  });
}

// The features of all processes.
SNAPSCOPE_API char* snapscope_tensor_gather_features(const Tensor* part, SnapscopeShare share, Tensor** out) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("GatherFeatures");
    const auto node = node_of<SliceBackward>(*part, share);
    at::NoGradGuard no_grad;
    give(gathered(*part, share.ranks, part->dim() - 1), node, out);
  });
}

// The sum, of which each process gets its tokens; `read` is to be kept until somebody waits for them.
SNAPSCOPE_API char* snapscope_tensor_scatter(const Tensor* part, SnapscopeShare share, Tensor** out, Tensor** read) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("Scatter");
    const auto node = node_of<ScatterBackward>(*part, share, int64_t{1});
    at::NoGradGuard no_grad;
    Scattered sum = scattered(*part, share.ranks, 1);
    *read = new Tensor(std::move(sum.read));
    give(std::move(sum.part), node, out);
  });
}

// The rows of an embedding of which this process has a part; tokens of other parts give nothing.
SNAPSCOPE_API char* snapscope_tensor_embedding(const Tensor* weight, const Tensor* indices, SnapscopeShare share,
                                               Tensor** out) {
  return snapscope::guarded([&] {
    SNAPSCOPE_OPERATION("aten::embedding");
    std::shared_ptr<Node> node;
    if (weight->requires_grad() && at::GradMode::is_enabled()) {
      node.reset(new VocabularyBackward(share, *weight, *indices), torch::autograd::deleteNode);
    }
    at::NoGradGuard no_grad;
    const int64_t rows = weight->size(0), first = rows * share.rank;
    // As in Python's expression, the first operand goes first.
    Tensor before = at::lt(*indices, first), after = at::ge(*indices, first + rows);
    const Tensor foreign = at::bitwise_or(before, after);
    before.reset();
    after.reset();
    Tensor own = indices->clone();
    own = at::sub(own, first);
    own.masked_fill_(foreign, 0);
    give(at::embedding(*weight, own), node, out);
  });
}
