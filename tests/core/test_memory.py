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


def test_pooled_ufuncs_keep_methods_and_options():
    from autograd_lab.backend.memory import pooled_numpy as xp

    a = np.ones((LARGE, 2), np.float32)
    assert xp.add.reduce(a, axis=0).tolist() == [LARGE, LARGE]
    assert xp.add(a, 1, out=a) is a and a[0, 0] == 2
    assert xp.maximum(a, 3)[0, 0] == 3 and is_fresh(xp.maximum(a, 3))
    xp.add.at(a, np.array([0, 0]), 1.0)
    assert a[0, 0] == 4 and xp.add(np.float32(1), np.float32(2)) == 3
