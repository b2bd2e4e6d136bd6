"""Values that are assumed where a GPU would compute them: choices, spread evenly or not, and numbers that are finite."""

from ..importing import when_imported
from . import carried
from .known import is_small
from .patch import wrap

# Functions that choose one of a dimension's elements, with the position of their argument `dim`.
_CHOOSE = {"argmax": 1, "argmin": 1}
_RANK = {"topk": 2, "sort": 1, "argsort": 1, "max": 1, "min": 1}
# A choice among more elements is one of a token, whose first and last numbers often have a meaning.
_MOST_EXPERTS = 1024
# How choices of experts are spread: "even", "skewed" or "worst".
_routing = "even"


def install(torch, routing):
    global _routing
    _routing = routing
    for owner in (torch, torch.Tensor):
        for name, place in _CHOOSE.items():
            wrap(owner, name, lambda function, place=place: _chooser(place))
        for name, place in _RANK.items():
            wrap(owner, name, lambda function, name=name, place=place: _ranker(name, place))
        wrap(owner, "multinomial", lambda function: _chooser(None))
        wrap(owner, "isfinite", lambda function: _constant(True))
        wrap(owner, "isnan", lambda function: _constant(False))
        wrap(owner, "isinf", lambda function: _constant(False))
    when_imported("transformers.generation.utils", _search_on, lambda error: None)


def _is_unknown(tensor):
    return type(tensor) is carried.torch.Tensor and tensor.is_cuda


def _spread(shape, size, chosen=1):
    """Returns indices below `size`, of which each row chooses as many different ones as `chosen` says.

    Even: each occurs equally often. Skewed: the one in place n is the first choice of a share that falls with 1 / n
    (Zipf's law). Worst: all rows choose the same ones.
    """
    torch = carried.torch
    count = torch.Size(shape).numel()
    places = torch.arange(count, device="cpu")
    if size > _MOST_EXPERTS:
        return (size // 4 + places % (size // 2)).view(shape)
    if _routing == "even" or not count:
        return (places % max(size, 1)).view(shape)
    rows = places // chosen
    first = torch.zeros_like(rows)
    if _routing == "skewed":
        shares = (1 / torch.arange(1, size + 1, device="cpu")).cumsum(0)
        first = torch.searchsorted(shares / shares[-1], (rows + 0.5) / (count / chosen))
    return ((first + places % chosen) % size).view(shape)


def _give(result, size, chosen=1):
    if _is_unknown(result) and not result.is_floating_point() and is_small(result):
        carried.give(result, _spread(result.shape, size, chosen), "choices")


def _dimension(args, kwargs, place, default):
    if "dim" in kwargs:
        return kwargs["dim"]
    return args[place] if place is not None and len(args) > place else default


def _chooser(place):
    def choose(result, *args, **kwargs):
        if args and _is_unknown(args[0]):
            dim = _dimension(args, kwargs, place, None if place else -1)
            size = args[0].numel() if dim is None else args[0].shape[dim] if args[0].dim() else 1
            _give(result, size)
        return result

    return choose


def _ranker(name, place):
    def rank(result, *args, **kwargs):
        if not args or not _is_unknown(args[0]) or not args[0].dim():
            return result
        dim = _dimension(args, kwargs, place, None if name in ("max", "min") else -1)
        if not isinstance(dim, int):
            return result
        indices = result if name == "argsort" else result[1]
        if name in ("sort", "argsort"):
            _give_order(indices, dim)
        else:
            is_last = name == "topk" and dim % indices.dim() == indices.dim() - 1
            _give(indices, args[0].shape[dim], max(indices.shape[-1], 1) if is_last else 1)
        return result

    return rank


def _give_order(indices, dim):
    """Assumes that a tensor is sorted already."""
    torch = carried.torch
    if _is_unknown(indices) and is_small(indices):
        shape = [1] * indices.dim()
        shape[dim] = indices.shape[dim]
        order = torch.arange(indices.shape[dim], device="cpu").view(shape).expand(indices.shape).clone()
        carried.give(indices, order, "choices")


def _constant(answer):
    def test(result, *args, **kwargs):
        if args and _is_unknown(args[0]) and _is_unknown(result):
            carried.give(result, carried.torch.full(result.shape, answer, device="cpu"), "finite")
        return result

    return test


def _search_on(module):
    """Lets a search with beams end when all have what ends them, such as the largest length, and not by their scores."""

    def check(result, improvable, finished, ended, *args, **kwargs):
        value = carried.value_of(ended)
        return result if value is None else not value.tensor.all()

    name, owner = "_beam_search_has_unfinished_sequences", module.GenerationMixin
    wrap(owner, name, lambda function: check)
    if hasattr(owner, name):
        setattr(owner, name, staticmethod(getattr(owner, name)))


def limit_generation(tokens):
    """Lets transformers end each generation after this many new tokens, whatever they are."""
    name = "transformers.generation.stopping_criteria"
    when_imported(name, lambda module: _limit(module.StoppingCriteriaList, tokens), lambda error: None)


def _limit(criteria, tokens):
    def check(done, criteria, input_ids, *args, **kwargs):
        criteria._snapscope_tokens = getattr(criteria, "_snapscope_tokens", 0) + 1
        if criteria._snapscope_tokens < tokens:
            return done
        torch = carried.torch
        return torch.ones(input_ids.shape[:1], dtype=torch.bool, device=input_ids.device)

    wrap(criteria, "__call__", lambda function: check)
