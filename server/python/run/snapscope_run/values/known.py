"""Known values: tensors on the CPU, shared by the views of one tensor."""

# Most elements of a value that is carried, by kind; larger ones are not what sizes and branches depend on.
MOST_INTEGERS = 1 << 23
MOST_NUMBERS = 1 << 16


class Base:
    """What the views of one tensor share: whether its value is still known, and what was assumed for it."""

    __slots__ = ("is_known", "assumed", "memory", "version", "tensor", "__weakref__")

    def __init__(self, assumed=None):
        self.is_known = True
        # None, or "choices" that are spread evenly, or "finite" numbers.
        self.assumed = assumed
        # The value's memory, if it is laid out as that of the device, and the version and a reference of the tensor.
        self.memory = None
        self.version = None
        self.tensor = None


class Value:
    """The value of one tensor; its memory is that of the base's value, as the tensor's is that of its base."""

    __slots__ = ("tensor", "base")

    def __init__(self, tensor, base):
        self.tensor = tensor
        self.base = base


def is_small(tensor):
    """Returns true for a tensor whose value may be carried.

    An empty tensor of numbers has none to carry; models make many, such as caches before the first token.
    """
    if tensor.requires_grad:
        return False
    if tensor.is_floating_point() or tensor.is_complex():
        return 0 < tensor.numel() <= MOST_NUMBERS
    return tensor.numel() <= MOST_INTEGERS


def address(tensor):
    """Returns the address of the memory that a tensor's views share."""
    return tensor.untyped_storage().data_ptr()
