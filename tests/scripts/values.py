"""Computes with lengths, masks and indices on the device, and compares each result with that of the CPU.

What the device draws is compared with what an H200 drew.
"""

import torch
import torch.nn.functional as F


def lengths(device):
    numbers = torch.tensor([3, 5, 2], device=device)
    yield numbers.max().item(), int(numbers.sum()), [int(number) for number in numbers]
    yield numbers.cpu(), numbers.to("cpu", torch.int32), numbers.cpu().numpy().tolist(), (numbers > 2).cpu().sum()
    yield torch.repeat_interleave(torch.arange(3, device=device), numbers)
    yield torch.bincount(numbers), torch.unique(numbers), F.one_hot(numbers), numbers.cumsum(0)
    yield [part.shape for part in torch.ones(10, 4, device=device).split(numbers.tolist())]
    yield torch.arange(numbers.max(), device=device) < numbers[:, None]


def masks(device):
    mask = torch.tensor([[True, False, True], [False, False, True]]).to(device)
    floats = torch.ones(2, 3, 4, device=device)
    yield mask.nonzero(), mask.sum(-1), torch.where(mask), mask.any().item(), bool(mask.all())
    yield torch.where(condition=mask, input=mask, other=~mask), torch.nonzero(input=mask)
    yield floats[mask].shape, torch.masked_select(floats, mask[..., None]).shape, floats[~mask].shape
    yield mask.int().argmax(-1), mask.flip(-1).int().argmax(-1), (mask.long() * 5).tolist()
    floats[mask] = 0
    yield floats.shape, floats[:, mask[0]].shape


def changes(device):
    numbers = torch.zeros(6, dtype=torch.long, device=device)
    numbers.view(2, 3)[1] = 5
    numbers[0] += 2
    numbers.scatter_(0, torch.tensor([1], device=device), torch.tensor([9], device=device))
    buffer = torch.empty(6, dtype=torch.long, device=device)
    buffer.copy_(numbers)
    yield numbers, buffer[buffer > 4], buffer.flip(0), numbers.equal(buffer), numbers.sort(descending=True)
    labels = torch.full((2, 4), -100, device=device)
    labels[:, 2:] = torch.arange(4, device=device).view(2, 2)
    yield labels[labels != -100], (labels != -100).sum().item(), F.pad(labels, (0, 1), value=-100)


def scalars(device):
    total = torch.zeros((), device=device) + 3
    yield torch.ones_like(total), torch.zeros_like(total), torch.full_like(total, total), total.new_ones(2)
    yield total.new_zeros(()), total.new_full((2,), total), total.new_tensor(total), torch.full((2,), total.long().item())
    leaf = torch.ones((), device=device, requires_grad=True)
    (leaf * total).backward(torch.ones_like(total))
    yield leaf.grad.shape, torch.tensor(total), torch.linspace(0, total, 4, device=device)


def decompositions(device):
    """Shapes of what functions of matrices return, whose errors are on the device; twice, since memory is used again."""
    for _ in range(2):
        batch = torch.randn(3, 20, 20).to(device)
        batch = batch @ batch.mT + 20 * torch.eye(20, device=device)
        for matrices in (batch, batch[0]):
            for function in "cholesky eigh svd qr inv slogdet matrix_exp lu eigvalsh pinv matrix_rank".split():
                found = getattr(torch.linalg, function)(matrices)
                yield [part.shape for part in (found if isinstance(found, tuple) else [found])]
            yield torch.linalg.solve(matrices, matrices).shape, torch.linalg.lstsq(matrices, matrices)[0].shape
        tones = torch.stft(torch.randn(2, 4000).to(device), 256, window=torch.ones(256, device=device), return_complex=True)
        yield torch.istft(tones, 256, window=torch.ones(256, device=device)).shape, torch.isin(batch, batch[0]).shape


def lazy(device):
    """Modules whose parameters have no shape before the first call, and a class of its own that takes functions."""
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.LazyLinear(5)).to(device)
    yield net(torch.zeros(2, 3, 8, 8, device=device)).shape, net[2].weight.is_cuda == (device == "cuda")

    class Pair:
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return {torch.zeros_like: "zeros", torch.unique: "unique"}[function]

    yield torch.zeros_like(Pair()), torch.unique(Pair())


def sequences(device):
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, device=device)
    encoder = torch.nn.TransformerEncoder(layer, 2).eval()
    padding = torch.arange(9, device=device) >= torch.tensor([[9], [2], [5]], device=device)
    with torch.no_grad():
        yield encoder(torch.ones(3, 9, 16, device=device), src_key_padding_mask=padding).shape


def drawn():
    torch.manual_seed(0)
    places = torch.randint(0, 4096, (2, 60_000), device="cuda")
    assert places.unique(dim=1).shape[1] == 59_887, places.unique(dim=1).shape
    assert 0 <= torch.rand(1000, device="cuda").max().item() < 1


def plain(result):
    """Returns a result without tensors, so that results of two devices can be compared."""
    if isinstance(result, torch.Tensor):
        return result.tolist()
    return [plain(part) for part in result] if isinstance(result, (list, tuple)) else result


for check in (lengths, masks, changes, scalars, lazy, decompositions, sequences):
    for found, expected in zip(check("cuda"), check("cpu"), strict=True):
        assert plain(found) == plain(expected), f"{check.__name__}: {plain(found)} instead of {plain(expected)}"
drawn()
print("all values are those of the CPU")
