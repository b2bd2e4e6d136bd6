import torch

MASK = "attention_mask"
next_batch = torch.utils.data.dataloader._BaseDataLoaderIter.__next__


def next_trimmed(loader):
    """Returns the next batch of a loader without the columns that no sample uses."""
    batch = next_batch(loader)
    is_named = hasattr(batch, "keys")
    values = dict(batch) if is_named else dict(enumerate(batch)) if isinstance(batch, (list, tuple)) else {}
    mask = values.get(MASK)
    if mask is None or mask.dim() != 2:
        return batch
    used = mask.any(0)
    for key, value in values.items():
        if getattr(value, "shape", None) == mask.shape:
            values[key] = value[:, used]
    if not is_named:
        return list(values.values())
    batch.update(values)
    return batch


torch.utils.data.dataloader._BaseDataLoaderIter.__next__ = next_trimmed
