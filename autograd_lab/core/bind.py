"""``bind``: apply a row to operands. The one interception point, with three readings (arrays, Tensors, symbols).

The templates in specialise.py hold the common case; this module is the general one: interpreters, promotion, half
precision, several outputs, views, errors. It also records nodes and rewrites history for in-place changes.
"""

import functools

import numpy as np

from ..backend import dtype as dt
from ..backend.namespace import array_namespace
from ..backend.promotion import result_of
from ..errors import broadcast_error, operands_text, shape_text
from .modes import modes
from .storage import storage_of
from .tape import LEAF, Aval, Node, Slot, next_seq
from .tensor import TENSOR_TYPES, Tensor, wrap
from .writing import not_writable, write_out

_HALF = frozenset((dt.float16.numpy, dt.bfloat16.numpy))
_FLOAT32 = np.dtype(np.float32)
SYMBOLS = None
"""The namespace handed to ``forward`` for symbols; set by autograd/symbols.py."""


def set_symbols(namespace):
    """Tell ``bind`` which namespace reads rows as formulas."""
    global SYMBOLS
    SYMBOLS = namespace


def bind(row, operands, params, out=None):
    """Apply ``row`` to operands of any kind; with ``out`` the result is written there."""
    if out is not None:
        return write_out(out, bind(row, operands, params), operands, exact=True)
    top = modes.now.top
    if top is not None:
        return top.bind(row, operands, params)
    tensors = False
    for o in operands:
        if type(o) in TENSOR_TYPES or isinstance(o, Tensor):
            tensors = True
        elif getattr(o, "_is_symbol", False):
            return SYMBOLS.bind(row, operands, params)
    if tensors:
        return apply(row, operands, params)
    return raw(row, operands, params)


def raw(row, operands, params):
    """The array reading: no Tensor, no tape."""
    arrays = [o for o in operands if isinstance(o, np.ndarray | np.generic)]
    if not arrays:
        if any(not isinstance(o, int | float | complex | type(None)) and not hasattr(o, "dtype") for o in operands):
            raise _not_a_tensor(row, operands)
        arrays = [o for o in operands if hasattr(o, "dtype")]
        if not arrays:
            raise _not_a_tensor(row, operands)
    xp = array_namespace(arrays[0])
    return call_forward(row, xp, operands, params)


def _not_a_tensor(row, operands):
    return TypeError(
        f"{row.name}(): at least one operand must be a Tensor; got {', '.join(type(o).__name__ for o in operands)}. "
        "Wrap data with tensor(...)"
    )


def call_forward(row, xp, operands, params):
    """Run the row's forward on raw operands with the functions of ``xp``."""
    operands = (list(operands),) if row.arity == "many" else operands
    if isinstance(row.forward, str):
        return getattr(xp, row.forward)(*operands, *params)
    return row.forward(xp, *operands, *params)


# ----- Tensors -----


def apply(row, operands, params):
    """The Tensor reading: check, cast, compute, wrap, record."""
    tensors = []
    if any(isinstance(o, np.generic) for o in operands):
        # A NumPy number counts as a Python number: np.sqrt(64) * x keeps the dtype of x.
        operands = tuple(o.item() if isinstance(o, np.generic) else o for o in operands)
    for place, o in enumerate(operands, 1):
        if isinstance(o, Tensor):
            tensors.append(o)
        elif isinstance(o, np.ndarray):
            raise TypeError(
                f"{row.name}(): operand {place} is a NumPy array of shape {shape_text(o.shape)} in host memory, not a Tensor; "
                "convert it with from_numpy(...) (shares memory) or tensor(...)"
            )
        elif not isinstance(o, bool | int | float | complex | None | Aval):
            raise TypeError(
                f"{row.name}(): operand {place} must be Tensor or a number, not {type(o).__name__}"
            )
    xp = array_namespace(tensors[0]._d)
    for t in tensors[1:]:
        if array_namespace(t._d) is not xp and t._d.ndim:
            raise RuntimeError(
                f"{row.name}: Expected all tensors to be on the same device, but found at least two devices, "
                f"{tensors[0].device} and {t.device}!\n{operands_text(operands)}\nMove one with .to(device)"
            )
    cast = cast_operands(row, operands)
    arrays = [o._d if isinstance(o, Tensor) else o for o in cast]
    half = row.upcast and next((a.dtype for a in arrays if getattr(a, "dtype", None) in _HALF), None)
    if half:
        arrays = [a.astype(np.float32) if getattr(a, "dtype", None) in _HALF else a for a in arrays]
    if row.kind == "view":
        arrays = [o._array() if isinstance(o, Tensor) else o for o in cast]
    try:
        result = call_forward(row, xp, arrays, params)
    except (ValueError, TypeError) as error:
        raise _worded(row, arrays, operands, error) from None
    if row.outputs != 1:
        return _wrap_many(row, cast, params, result, half)
    if half and result.dtype == _FLOAT32:
        result = result.astype(half)
    t = wrap(result)
    if row.kind == "view":
        link_view(row, operands[0], params, t)
    now = modes.now
    if now.grad and row.differentiable and result.dtype.kind not in "iub":
        for o in cast:
            if isinstance(o, Tensor) and o._node is not None:
                record(row, now, cast, params, result, t)
                break
    return t


def _worded(row, arrays, operands, error):
    if isinstance(error, TypeError) and any(o is None for o in operands):
        place = next(i for i, o in enumerate(operands, 1) if o is None)
        return TypeError(f"{row.name}(): operand {place} must be Tensor or a number, not NoneType")
    shapes = [a.shape for a in arrays if hasattr(a, "shape")]
    if "broadcast" in str(error) and len(shapes) >= 2 and row.kind == "elementwise":
        for i, a in enumerate(shapes):
            for b in shapes[i + 1 :]:
                try:
                    np.broadcast_shapes(a, b)
                except ValueError:
                    return broadcast_error(row.name, a, b)
    return RuntimeError(f"{row.name}: {error}\n{operands_text(operands)}")


def common_dtype(operands):
    """The dtype that PyTorch's promotion gives for these tensors and numbers (None counts for nothing)."""
    dims, zeros, numbers = [], [], []
    for o in operands:
        if isinstance(o, Tensor):
            (dims if o._d.ndim else zeros).append(o.dtype)
        elif o is not None:
            numbers.append(dt.of_number(o))
    return result_of(dims, zeros, numbers)


def cast_operands(row, operands):
    """Operands cast as the row's ``dtypes`` says.

    same, free  as they are                     arith    to the common dtype
    float       common dtype, integers to the default floating one
    compare     like arith                      match    must be one dtype already
    tail        like arith, but the first operand stays (where)
    """
    policy = row.dtypes
    if policy in ("same", "free"):
        return operands
    if policy == "match":
        kinds = {o._d.dtype for o in operands if isinstance(o, Tensor)}
        if len(kinds) > 1:
            names = " and ".join(o.dtype.name for o in operands if isinstance(o, Tensor))
            raise RuntimeError(
                f"{row.name}: expected operands to have the same dtype, but got {names}\n{operands_text(operands)}\n"
                "Cast one with .to(dtype), .float() or .double()"
            )
        return operands
    head, tail = (operands[:1], operands[1:]) if policy == "tail" else ((), operands)
    target = common_dtype(tail)
    if policy == "float" and target.category < dt.CATEGORY_FLOAT:
        target = dt.get_default_dtype()
    return (*head, *(_cast(o, target) for o in tail))


def _cast(o, target):
    if isinstance(o, Tensor):
        if o._d.dtype == target.numpy:
            return o
        t = wrap(o._d.astype(target.numpy))
        t._node, t._st = o._node, o._st
        if t._node is LEAF:
            t._base, t._view_kind = o, "cast"
        return t
    if o is None:
        return None
    if target.category < dt.CATEGORY_FLOAT and not isinstance(o, float | complex):
        fits = target.category == dt.CATEGORY_INT and type(o) is int and in_range(o, target)
        return o if fits else np.asarray(o).astype(target.numpy)[()]
    if target.category >= dt.CATEGORY_FLOAT and isinstance(o, bool | int):
        return float(o)
    return o


@functools.cache
def _limits(target):
    info = np.iinfo(target.numpy)
    return int(info.min), int(info.max)


def in_range(number, target):
    """Whether an integer dtype can hold a Python int (NumPy refuses one that it cannot; PyTorch wraps it)."""
    low, high = _limits(target)
    return low <= number <= high


def edge_of(tensor):
    """The edge that leads to where this tensor came from."""
    node = tensor._node
    if node is LEAF:
        return tensor._base if tensor._view_kind == "cast" else tensor
    return node


def versions_of(saved):
    """Versions of the saved tensors' storages now."""
    return tuple(s._st.version if isinstance(s, Tensor) and s._st is not None else 0 for s in saved)


def record(row, now, operands, params, result, output):
    """Put one application of ``row`` on the tape and make it ``output``'s node. Returns the node."""
    edges = tuple(edge_of(o) if isinstance(o, Tensor) and o._node is not None else None for o in operands)
    node = Node.__new__(Node)
    node.op = row
    node.edges = edges
    _save(node, row, operands, edges, result)
    node.y_storage = None
    node.params = params
    node.seq = next_seq()
    if row.outputs == 1:
        node.shape, node.dtype = result.shape, result.dtype
        output._node = node
    else:
        node.shape, node.dtype = tuple(r.shape for r in result), tuple(r.dtype for r in result)
        _place(row, node, output)
    node.where = node.extra = None
    if now.watch is not None:
        now.watch(node, operands, output)
    return node


def _save(node, row, operands, edges, result):
    """Keep exactly what the rules of the operands that need gradients read."""
    if row.arity == "many":
        node.saved, node.versions, node.y = tuple(Aval(o._d.shape, o._d.dtype) for o in operands), None, None
        if "operands" in row.saves:
            node.saved, node.versions = tuple(operands), versions_of(operands)
        return
    wanted, y = [0] * row.arity, False
    for i, plan in enumerate(row.plans):
        if row.joint is None and (i >= len(edges) or edges[i] is None or row.rules[i] is None):
            continue
        y = y or plan[0]
        for place, want in enumerate(plan[1]):
            if want == 1 or (want and not wanted[place]):
                wanted[place] = want
    saved, shared = [], False
    for o, want in zip(operands, wanted, strict=True):
        if want == 0:
            saved.append(None)
        elif isinstance(o, Tensor):
            saved.append(o if want == 1 else Aval(o._d.shape, o._d.dtype))
            shared = shared or (want == 1 and o._st is not None)
        elif want == 2 and hasattr(o, "shape"):
            saved.append(Aval(o.shape, o.dtype))
        else:
            saved.append(o)
    node.saved = tuple(saved)
    node.versions = versions_of(saved) if shared else None
    node.y = result if y else None


def _place(row, node, outputs):
    """Give each differentiable output its place on a node with several."""
    live = [i for i in range(len(outputs)) if i not in row.nondiff and outputs[i]._d.dtype.kind not in "iub"]
    for i in live:
        outputs[i]._node = Slot(node, i)


def _wrap_many(row, operands, params, results, half):
    if half:
        results = tuple(r.astype(half) if r.dtype == _FLOAT32 else r for r in results)
    outputs = tuple(wrap(r) for r in results)
    if row.kind == "view":
        for i, t in enumerate(outputs):
            link_view(row, operands[0], (*params, i), t, kind="many")
    now = modes.now
    if now.grad and row.differentiable and any(isinstance(o, Tensor) and o._node is not None for o in operands):
        record(row, now, operands, params, tuple(results), outputs)
    return outputs


# ----- views and in-place changes -----


def link_view(row, source, params, t, kind="view"):
    """Make ``t`` a view of ``source``: shared storage, the base, and the way from the base to the view."""
    st = t._st = storage_of(source)
    step = (row, params)
    if source._base is None or source._view_kind == "cast":
        t._base, t._spec = source, (step,)
    else:
        t._base, t._spec = source._base, (*source._spec, step)
    now = modes.now
    inherited = source._view_kind if source._view_kind in ("many", "no_grad") else None
    t._view_kind = inherited or (kind if now.grad else "no_grad")
    if now.grad:
        st.add_view(t)


def check_inplace(tensor, name):
    """Raise PyTorch's RuntimeError where an in-place change of ``tensor`` is not allowed while recording."""
    if not modes.now.grad:
        return
    base = tensor._base
    if tensor._node is LEAF:
        raise RuntimeError(
            f"a leaf Variable that requires grad is being used in an in-place operation ({name}, shape "
            f"{shape_text(tensor._d.shape)}). Update it inside `with no_grad():`, or work on a copy: w = w + …"
        )
    if base is None or (base._node is None and tensor._node is None):
        return
    if base._node is LEAF:
        raise RuntimeError(
            f"a view of a leaf Variable that requires grad is being used in an in-place operation ({name}). "
            "Update it inside `with no_grad():`, or clone() the leaf first"
        )
    if tensor._view_kind == "many":
        raise RuntimeError(
            f"Output {tensor.output_nr} of {tensor.grad_fn.name() if tensor.grad_fn else 'a multi-output view'} is a view and is "
            f"being modified inplace ({name}). This view is the output of a function that returns multiple views. "
            "Such functions do not allow the output views to be modified inplace: use narrow, select or slicing, or clone() it"
        )
    if tensor._view_kind == "no_grad" and base._node is not None:
        raise RuntimeError(
            f"A view was created in no_grad mode and is being modified inplace with grad mode enabled ({name}). "
            "Make the view while recording, or do the change inside `with no_grad():` too"
        )


def change(tensor, result, name):
    """Write ``result`` (a Tensor of the same shape, computed functionally) into ``tensor``'s memory and move its history.

    For a view of a recorded base, the base's history becomes "the base with this region replaced", and every live
    view's place on the tape is made anew from it.
    """
    st = tensor._st
    if isinstance(tensor._d, np.generic) and isinstance(result._d, np.generic):
        tensor._d = result._d.astype(tensor._d.dtype)  # nobody can look into an unboxed value: no memory to write to
    elif result._d is not tensor._d:
        d = tensor._array()
        try:
            np.copyto(d, result._d, casting="unsafe")
        except ValueError:
            raise not_writable(name, d, result._d) from None
    if st is None:
        st = storage_of(tensor)
    st.bump(name, result._node.where if isinstance(result._node, Node) else None)
    now = modes.now
    if not now.grad:
        return tensor
    base = tensor._base
    if base is None:
        tensor._node = result._node if result._node is not LEAF else None
        if result._node is LEAF:
            tensor._node = copy_node(result)
        _retell_views(tensor, st)
    elif base._node is not None or result._node is not None:
        base._node = _replaced_region(base, tensor, result)
        _retell_views(base, st)
    return tensor


def copy_node(source):
    """The node of a plain copy of ``source`` (a leaf that requires grad)."""
    from .op import ROWS

    t = wrap(source._d)
    return record(ROWS["clone"], modes.now, (source,), (), source._d, t)


def _replaced_region(base, view, value):
    from .op import ROWS

    t = wrap(base._d)
    shadow = wrap(base._d)
    shadow._node = base._node
    record(ROWS["replace_region"], modes.now, (shadow, value), (view._spec,), base._d, t)
    return t._node


def _retell_views(base, st):
    """Make the nodes of all live views anew: they now look at a changed base."""
    views = [v for v in st.live_views() if v._base is base]
    if not views:
        return
    from .op import ROWS

    for view in views:
        if base._node is None:
            view._node = None
        else:
            t = wrap(view._d)
            record(ROWS["view_of"], modes.now, (base,), (view._spec,), view._d, t)
            view._node = t._node


def follow_spec(xp, array, spec):
    """Walk from a base array to the view that ``spec`` describes."""
    for row, params in spec:
        if row.outputs == 1:
            array = call_forward(row, xp, (array,), params)
        else:
            array = call_forward(row, xp, (array,), params[:-1])[params[-1]]
    return array
