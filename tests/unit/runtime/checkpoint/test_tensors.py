"""Arrays of NumPy, JAX and torch come back bit by bit, as the kind that is asked for."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from windlass.runtime import Checkpointer, CheckpointMismatch, CheckpointRefused, Options

SMALL_FILES = Options(file_bytes_max=64, checksum="crc32")
ELEMENTS = st.sampled_from(
    ["?", "i1", "<u2", ">i4", "<i8", "<f2", "<f4", ">f8", "<c8", "S3", "<U2", "<M8[s]"]
)


def there_and_back(folder, state, like=None):
    checkpoints = Checkpointer(folder / f"c{len(list(folder.iterdir()))}", options=SMALL_FILES)
    checkpoints.save(1, state)
    return checkpoints.restore(like=like).state


def same(left, right):
    left, right = np.asarray(left), np.asarray(right)
    return (
        left.dtype == right.dtype
        and left.dtype.str == right.dtype.str
        and left.shape == right.shape
        and left.tobytes() == right.tobytes()
    )


@given(st.data())
def test_any_array_in_any_order_comes_back_bit_by_bit(tmp_path_factory, data):
    array = data.draw(
        hnp.arrays(ELEMENTS.flatmap(st.just), hnp.array_shapes(min_dims=0, min_side=0, max_side=9))
    )
    order = data.draw(st.sampled_from(["as it is", "transposed", "every second", "reversed"]))
    if order == "transposed":
        array = array.T
    elif order != "as it is" and array.ndim:
        array = array[:: 2 if order == "every second" else -1]
    folder = tmp_path_factory.mktemp("any")
    assert same(there_and_back(folder, {"x": array})["x"], array)
    assert same(there_and_back(folder, {"x": array}, like={"x": array})["x"], array)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4"])
def test_machine_learning_types_come_back_bit_by_bit(tmp_path, name):
    array = np.arange(-8, 8).reshape(4, 4).astype(getattr(ml_dtypes, name)).T
    assert same(there_and_back(tmp_path, [array])[0], array)


def test_scalars_come_back_as_scalars_and_arrays_as_arrays(tmp_path):
    state = [np.float32(1.5), np.array(1.5, np.float32), np.bool_(True), np.float64(2), np.str_("")]
    back = there_and_back(tmp_path, state)
    assert [type(value) for value in back] == [type(value) for value in state]
    assert back == state
    swapped = there_and_back(tmp_path, state[:2], like=[state[1], state[0]])
    assert [type(value) for value in swapped] == [np.ndarray, np.float32]


def test_an_array_larger_than_a_file_is_cut_and_comes_back(tmp_path):
    array = np.arange(3 * 1 * 70 * 5, dtype=np.int16).reshape(3, 1, 70, 5)
    assert same(there_and_back(tmp_path, array), array)
    sizes = [path.stat().st_size for path in tmp_path.rglob("*.bin")]
    assert max(sizes) <= 64 and len(sizes) > 30


def test_what_comes_back_can_be_written_to(tmp_path):
    back = there_and_back(tmp_path, np.zeros(3))
    back += 1
    assert back.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("saved", "like"),
    [(np.zeros(3), np.zeros(3, "f4")), (np.zeros(3), np.zeros(4)), (np.zeros(3), np.zeros((3, 1)))],
    ids=["type", "length", "dimensions"],
)
def test_another_type_or_shape_is_refused_by_name(tmp_path, saved, like):
    with pytest.raises(CheckpointMismatch, match=r"state\['w'\] was saved as float64\[3\]"):
        there_and_back(tmp_path, {"w": saved}, like={"w": like})


# ---- JAX --------------------------------------------------------------------------------------


@pytest.fixture
def jax():
    return pytest.importorskip("jax", reason="JAX is not installed")


def test_jax_arrays_come_back_as_numpy_or_like_jax(tmp_path, jax):
    state = {
        "f": jax.numpy.linspace(0, 1, 7),
        "b": jax.numpy.ones((2, 3), "bfloat16"),
        "e": jax.numpy.zeros((0, 2)),
        "s": jax.numpy.int32(5),
    }
    free = there_and_back(tmp_path, state)
    back = there_and_back(tmp_path, state, like=state)
    for name, array in state.items():
        assert isinstance(free[name], np.ndarray) and same(free[name], array)
        assert isinstance(back[name], jax.Array) and same(back[name], array)
        assert back[name].dtype == array.dtype


def test_numpy_and_jax_can_be_swapped_by_like(tmp_path, jax):
    numpy_state, jax_state = np.ones(3, "f4"), jax.numpy.ones(3)
    assert isinstance(there_and_back(tmp_path, numpy_state, like=jax_state), jax.Array)
    assert isinstance(there_and_back(tmp_path, jax_state, like=numpy_state), np.ndarray)


def test_a_sharding_of_like_is_honoured(tmp_path, jax):
    mesh = jax.make_mesh((1,), ("data",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    array = jax.device_put(jax.numpy.arange(8.0), sharding)
    for like in (array, jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=sharding)):
        back = there_and_back(tmp_path, array, like=like)
        assert back.sharding == sharding and same(back, array)


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg"])
def test_random_keys_go_on_with_the_same_numbers(tmp_path, jax, impl):
    keys = {"one": jax.random.key(3, impl=impl), "many": jax.random.split(jax.random.key(4), 3)}
    expected = jax.random.normal(keys["one"], (4,))
    for like in (None, keys):
        back = there_and_back(tmp_path, keys, like=like)
        assert same(jax.random.normal(back["one"], (4,)), expected)
        assert back["many"].shape == (3,)


def test_a_key_and_an_array_are_not_taken_for_each_other(tmp_path, jax):
    key, array = jax.random.key(0), jax.numpy.zeros(2, "uint32")
    for saved, like in ((key, array), (array, key)):
        with pytest.raises(CheckpointMismatch):
            there_and_back(tmp_path, saved, like=like)


def test_saving_inside_of_jit_is_refused(tmp_path, jax):
    with pytest.raises(CheckpointRefused, match="has no values"):
        jax.jit(lambda x: there_and_back(tmp_path, x))(jax.numpy.ones(2))


# ---- torch ------------------------------------------------------------------------------------


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed (the extra `torch` has it)")


def torch_same(left, right):
    import torch

    return left.dtype == right.dtype and torch.equal(left.detach().cpu(), right.detach().cpu())


@pytest.mark.parametrize(
    "name", ["float32", "bfloat16", "float16", "float64", "int64", "uint8", "bool", "complex64"]
)
def test_torch_tensors_come_back_as_torch(tmp_path, torch, name):
    whole = torch.arange(12).reshape(3, 4).to(getattr(torch, name))
    for tensor in (whole, whole.T, whole[:, 1], whole[0, 0], whole[:0]):
        for like in (None, tensor):
            assert torch_same(there_and_back(tmp_path, tensor, like=like), tensor)


def test_eight_bit_floats_of_torch_keep_their_bits(tmp_path, torch):
    tensor = torch.arange(8.0).to(torch.float8_e4m3fn)
    back = there_and_back(tmp_path, tensor)
    assert back.dtype == tensor.dtype
    assert torch.equal(back.view(torch.uint8), tensor.view(torch.uint8))
    as_numpy = there_and_back(tmp_path, tensor, like=np.zeros(8, ml_dtypes.float8_e4m3fn))
    assert as_numpy.astype("f4").tolist() == list(range(8))


def test_a_model_and_its_optimizer_go_on_where_they_were(tmp_path, torch):
    def built():
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 2)
        return model, torch.optim.AdamW(model.parameters(), lr=0.1)

    def trained(model, optimizer, count):
        for index in range(count):
            optimizer.zero_grad()
            model(torch.full((1, 4), float(index))).square().sum().backward()
            optimizer.step()

    model, optimizer = built()
    trained(model, optimizer, 3)
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    back = there_and_back(tmp_path, {**state, "rng": torch.get_rng_state()})
    again, its_optimizer = built()
    again.load_state_dict(back["model"])
    its_optimizer.load_state_dict(back["optimizer"])
    torch.set_rng_state(back["rng"])
    trained(model, optimizer, 2)
    trained(again, its_optimizer, 2)
    assert torch_same(again.weight, model.weight)


def test_parameters_come_back_as_parameters_with_like(tmp_path, torch):
    parameter = torch.nn.Parameter(torch.ones(3), requires_grad=True)
    back = there_and_back(tmp_path, {"p": parameter}, like={"p": parameter})["p"]
    assert isinstance(back, torch.nn.Parameter) and back.requires_grad


def test_sparse_tensors_are_refused_with_a_remedy(tmp_path, torch):
    with pytest.raises(CheckpointRefused, match="not dense") as caught:
        there_and_back(tmp_path, {"s": torch.eye(3).to_sparse()})
    assert "to_dense" in caught.value.remedy
