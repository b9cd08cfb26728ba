"""Module: the tree, state, hooks, moving, copying, and what is said when something is wrong."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import torch

import autograd_lab as lab
from autograd_lab import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.register_buffer("scale", lab.ones(1))
        self.register_buffer("scratch", lab.zeros(1), persistent=False)

    def forward(self, x):
        return self.fc(x) * self.scale


def test_the_tree_is_found_by_name():
    net = nn.Sequential(Block(), nn.Linear(3, 1))
    assert [n for n, _ in net.named_parameters()] == ["0.fc.weight", "0.fc.bias", "1.weight", "1.bias"]
    assert [n for n, _ in net.named_buffers()] == ["0.scale", "0.scratch"]
    assert [n for n, _ in net.named_modules()] == ["", "0", "0.fc", "1"]
    assert list(net.state_dict()) == ["0.scale", "0.fc.weight", "0.fc.bias", "1.weight", "1.bias"]
    assert net.get_submodule("0.fc") is net[0].fc
    assert net.get_parameter("1.bias") is net[1].bias


def test_a_shared_module_counts_once():
    layer = nn.Linear(2, 2)
    assert len(list(nn.Sequential(layer, layer).parameters())) == 2


def test_state_is_shared_by_state_dict_and_copied_by_loading():
    a, b = Block(), Block()
    state = a.state_dict()
    a.fc.weight._array()[...] = 5
    assert state["fc.weight"].numpy()[0, 0] == 5
    assert repr(b.load_state_dict(state)) == "<All keys matched successfully>"
    a.fc.weight._array()[...] = 7
    assert b.fc.weight.detach().numpy()[0, 0] == 5


def test_loading_lists_everything_that_does_not_fit():
    net = Block()
    state = net.state_dict()
    del state["fc.bias"]
    state["extra"] = lab.zeros(1)
    state["fc.weight"] = lab.zeros(2, 2)
    with pytest.raises(RuntimeError) as error:
        net.load_state_dict(state)
    text = str(error.value)
    assert text.startswith("Error(s) in loading state_dict for Block:")
    assert 'Missing key(s) in state_dict: "fc.bias". ' in text
    assert 'Unexpected key(s) in state_dict: "extra". ' in text
    assert "size mismatch for fc.weight: copying a param with shape torch.Size([2, 2]) from checkpoint" in text
    del state["fc.weight"]
    keys = net.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["fc.weight", "fc.bias"] and keys.unexpected_keys == ["extra"]


def test_a_plain_list_of_modules_warns_and_names_the_cure():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = [nn.Linear(2, 2), nn.Linear(2, 2)]

    with pytest.warns(UserWarning, match=r"Net\.layers is a plain list.*nn\.ModuleList"):
        Net()


def test_a_list_of_modules_that_are_known_does_not_warn():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Linear(2, 2)
            self.order = [self.a]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Net()


def test_assignments_are_checked():
    net = Block()
    with pytest.raises(TypeError, match="cannot assign .* as parameter 'weight'"):
        net.fc.weight = lab.zeros(3, 3)
    with pytest.raises(TypeError, match="as child module 'fc'"):
        net.fc = 3
    with pytest.raises(AttributeError, match="before Module.__init__"):
        type("Late", (nn.Module,), {"__init__": lambda self: setattr(self, "fc", nn.Linear(1, 1))})()
    with pytest.raises(AttributeError, match="'Block' object has no attribute 'fd'"):
        net.fd
    with pytest.raises(NotImplementedError, match='missing the required "forward"'):
        nn.Module()(1)


def test_casting_keeps_the_parameters_themselves():
    net = Block()
    weight = net.fc.weight
    assert net.double() is net
    assert net.fc.weight is weight and weight.dtype is lab.float64 and net.scale.dtype is lab.float64
    assert net.to(lab.float32).fc.bias.dtype is lab.float32
    with pytest.raises(TypeError, match="floating point or complex"):
        net.to(lab.int64)


def test_modes_freezing_and_forgetting():
    net = nn.Sequential(nn.Dropout(), Block())
    assert not net.eval()[0].training and net.train()[0].training
    net(lab.ones(2, 3)).sum().backward()
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    net.requires_grad_(False)
    assert not net(lab.ones(2, 3)).requires_grad


def test_forward_hooks_see_and_replace():
    net, seen = nn.Linear(2, 2), []
    first = net.register_forward_pre_hook(lambda m, args: (args[0] * 0,))
    second = net.register_forward_hook(lambda m, args, out: seen.append(args[0].numpy().sum()) or out + 1)
    out = net(lab.ones(1, 2))
    np.testing.assert_allclose(out.detach().numpy()[0], net.bias.detach().numpy() + 1, rtol=1e-6)
    assert seen == [0]
    first.remove()
    second.remove()
    net(lab.ones(1, 2))
    assert len(seen) == 1


def test_backward_hooks_see_both_gradients():
    net, seen = nn.Linear(2, 1), {}
    net.register_full_backward_pre_hook(lambda m, grad_output: seen.setdefault("before", grad_output))
    net.register_full_backward_hook(lambda m, grad_input, grad_output: seen.update(inputs=grad_input, outputs=grad_output))
    x = lab.ones(1, 2, requires_grad=True)
    (net(x) * 3).sum().backward()
    assert seen["outputs"][0].item() == 3 and seen["before"][0].item() == 3
    np.testing.assert_allclose(seen["inputs"][0].numpy(), 3 * net.weight.detach().numpy())
    np.testing.assert_allclose(x.grad.numpy(), 3 * net.weight.detach().numpy())


def test_hooks_of_all_modules_come_and_go():
    names = []
    handle = nn.register_module_forward_hook(lambda m, args, out: names.append(type(m).__name__))
    net = nn.Sequential(nn.Linear(1, 1), nn.Tanh())
    net(lab.ones(1, 1))
    handle.remove()
    net(lab.ones(1, 1))
    assert names == ["Linear", "Tanh", "Sequential"]


def test_copies_and_pickles_stand_alone():
    net = Block()
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(nn.Sequential(nn.Linear(3, 3)))), copy.deepcopy(net).double()):
        assert list(twin.parameters())[0] is not net.fc.weight
    twin = copy.deepcopy(net)
    twin.fc.weight._array()[...] = 9
    assert not (net.fc.weight.detach().numpy() == 9).any()
    assert isinstance(twin.fc.weight, nn.Parameter) and twin.fc.weight.requires_grad


def test_containers_behave_like_lists_and_dicts():
    net = nn.Sequential(nn.Linear(1, 2), nn.Tanh(), nn.Linear(2, 3))
    assert len(net) == 3 and isinstance(net[-1], nn.Linear) and len(net[:2]) == 2
    net[1] = nn.ReLU()
    net.append(nn.Sigmoid()).insert(0, nn.Identity())
    del net[1]
    assert [type(m).__name__ for m in net] == ["Identity", "ReLU", "Linear", "Sigmoid"]
    layers = nn.ModuleList([nn.Linear(1, 1)]) + [nn.Linear(1, 1)]
    assert list(layers.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
    table = nn.ModuleDict({"a": nn.Linear(1, 1)})
    table["b"] = nn.ReLU()
    assert list(table) == ["a", "b"] and "a" in table and table.pop("b") is not None


def test_sizes_that_do_not_fit_are_named():
    with pytest.raises(RuntimeError, match=r"mat1 and mat2 shapes cannot be multiplied \(2x4 and 3x5\)"):
        nn.Linear(3, 5)(lab.ones(2, 4))
    with pytest.raises(RuntimeError, match=r"to have 1 channels, but got 3 channels instead"):
        nn.Conv2d(1, 2, 3)(lab.ones(1, 3, 5, 5))
    with pytest.raises(IndexError, match="Target 5 is out of bounds"):
        nn.CrossEntropyLoss()(lab.zeros(2, 3), lab.tensor([0, 5]))
    with pytest.raises(ValueError, match=r"Expected input batch_size \(2\) to match target batch_size \(3\)"):
        nn.CrossEntropyLoss()(lab.zeros(2, 3), lab.tensor([0, 1, 1]))
    with pytest.raises(RuntimeError, match="expected scalar type Long but found Float"):
        nn.CrossEntropyLoss()(lab.zeros(2, 3), lab.zeros(2))
    with pytest.raises(RuntimeError, match="between 0 and 1"):
        nn.BCELoss()(lab.tensor([2.0]), lab.tensor([1.0]))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        nn.BatchNorm1d(3)(lab.ones(1, 3))


def test_a_loss_of_unequal_sizes_warns_with_both_and_the_cure():
    with pytest.warns(UserWarning, match=r"target size \(torch.Size\(\[4\]\)\).*input size \(torch.Size\(\[4, 1\]\)\).*reshape"):
        nn.MSELoss()(lab.zeros(4, 1), lab.zeros(4))


def test_clipping_and_vectors():
    net = nn.Linear(3, 2)
    net(lab.ones(4, 3)).sum().backward()
    before = np.sqrt(sum(float((p.grad.numpy() ** 2).sum()) for p in net.parameters()))
    assert nn.utils.clip_grad_norm_(net.parameters(), 1.0).item() == pytest.approx(before, rel=1e-6)
    assert np.sqrt(sum(float((p.grad.numpy() ** 2).sum()) for p in net.parameters())) == pytest.approx(1.0, rel=1e-5)
    nn.utils.clip_grad_value_(net.parameters(), 0.01)
    assert max(float(abs(p.grad.numpy()).max()) for p in net.parameters()) == pytest.approx(0.01)
    vector = nn.utils.parameters_to_vector(net.parameters())
    nn.utils.vector_to_parameters(vector * 2, net.parameters())
    np.testing.assert_allclose(nn.utils.parameters_to_vector(net.parameters()).detach().numpy(), 2 * vector.detach().numpy())


def test_a_whole_network_is_right_to_second_order():
    lab.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.BatchNorm2d(3), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(12, 4), nn.LayerNorm(4),
    ).double()  # fmt: skip
    x, target = lab.randn(3, 2, 4, 4, dtype=lab.float64, requires_grad=True), lab.tensor([0, 1, 3])
    loss = lambda x: nn.CrossEntropyLoss(label_smoothing=0.1)(net(x), target)  # noqa: E731
    assert lab.autograd.gradcheck(loss, (x,))
    assert lab.autograd.gradgradcheck(loss, (x,))


@pytest.mark.parametrize("lib", [lab, torch], ids=["lab", "torch"])
def test_batch_norm_takes_a_plain_dict_without_its_count(lib):
    layer = lib.nn.BatchNorm1d(2)
    layer(lib.ones(3, 2))
    layer.load_state_dict({name: lib.zeros(2) for name in ("weight", "bias", "running_mean", "running_var")})
    assert layer.num_batches_tracked.item() == 1 and layer.running_var.tolist() == [0.0, 0.0]
