"""The pool of large buffers: no block is handed out twice while an array looks into it."""

import numpy as np

from autograd_lab.backend.memory import LARGE, Pool, is_fresh, pool, take

FLOAT32 = np.dtype(np.float32)


def test_blocks_in_use_are_not_handed_out_again():
    own = Pool()
    a, b = own.take((LARGE,), FLOAT32), own.take((LARGE,), FLOAT32)
    assert not np.shares_memory(a, b)
    assert is_fresh(a) and not is_fresh(a[1:])
    view = a[5:]
    del a
    assert not np.shares_memory(own.take((LARGE,), FLOAT32), view)


def test_a_free_block_is_used_again():
    own = Pool()
    a = own.take((LARGE,), FLOAT32)
    address = a.ctypes.data
    del a
    assert own.take((10, LARGE // 10 + 1), FLOAT32).ctypes.data != address
    assert own.take((LARGE,), FLOAT32).ctypes.data == address


def test_the_cap_holds_and_free_blocks_go_back():
    own = Pool(cap=3 * LARGE)
    kept = [own.take((LARGE // 4,), FLOAT32) for _ in range(5)]
    assert own.held <= own.cap and sum(is_fresh(a) for a in kept) == 5
    del kept
    own.empty_cache()
    assert own.held == 0


def test_gradients_of_large_products_do_not_share_a_buffer():
    import autograd_lab as lab

    x, w = lab.ones(LARGE).requires_grad_(), lab.full((LARGE,), 2.0).requires_grad_()
    dx, dw = lab.autograd.grad(x * w, (x, w), lab.ones(LARGE))
    assert (dx.numpy() == 2).all() and (dw.numpy() == 1).all()
    assert pool.held > 0 and take((1,), FLOAT32) is not None
