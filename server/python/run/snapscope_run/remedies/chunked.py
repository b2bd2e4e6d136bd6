import torch


class ChunkedCrossEntropy(torch.autograd.Function):
    """A cross entropy that takes some rows at a time, and keeps the gradient instead of the probabilities."""

    @staticmethod
    def forward(ctx, logits, target, ignored, is_mean, rows=1024):
        gradient = torch.empty_like(logits)
        total = torch.zeros((), device=logits.device)
        kept = (target != ignored).unsqueeze(1)
        for part, goal, mask, out in zip(*(one.split(rows) for one in (logits, target, kept, gradient))):
            logs = torch.log_softmax(part.float(), -1)
            goal = goal.clamp(min=0).unsqueeze(1)
            total -= (logs.gather(1, goal) * mask).sum()
            minus = torch.full_like(goal, -1, dtype=logs.dtype)
            out.copy_(logs.exp_().scatter_add_(1, goal, minus).mul_(mask))
        count = kept.sum() if is_mean else torch.ones_like(total)
        ctx.save_for_backward(gradient, count)
        # As that of PyTorch, whose float16 would overflow when a scaler multiplies it.
        return total / count if torch.is_autocast_enabled() else (total / count).to(logits.dtype)

    @staticmethod
    def backward(ctx, outer):
        gradient, count = ctx.saved_tensors
        return gradient.mul_(outer / count), None, None, None


_cross_entropy = torch.nn.functional.cross_entropy


def chunked_cross_entropy(logits, target, weight=None, *args, ignore_index=-100, reduction="mean", **kwargs):
    is_plain = weight is None and not args and not any(kwargs.values()) and reduction != "none"
    if is_plain and logits.dim() == 2 and target.dim() == 1 and logits.requires_grad:
        return ChunkedCrossEntropy.apply(logits, target, ignore_index, reduction == "mean")
    kwargs.update(ignore_index=ignore_index, reduction=reduction)
    return _cross_entropy(logits, target, weight, *args, **kwargs)


torch.nn.functional.cross_entropy = chunked_cross_entropy
