"""The record of a training run: bounded, honest about what is not finite, and drawn."""

import json
import math
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from autograd_lab.profile.training import TrainingLog, progress_text, time_left


def filled(losses, **known):
    log = TrainingLog(**known)
    for loss in losses:
        log.add(None, {"loss": loss})
    return log


def test_steps_count_themselves_or_are_given():
    log = filled([3.0, 2.0])
    log.add(10, {"loss": 1.0})
    log.add(None, {"loss": 0.5})
    assert log.columns() == ([0, 1, 10, 11], {"loss": [3.0, 2.0, 1.0, 0.5]})
    assert log.done == 12


def test_counting_from_one_is_understood():
    log = TrainingLog()
    for step in range(1, 6):
        log.add(step, {"loss": 1.0})
    assert log.done == 5


def test_a_series_not_logged_at_a_step_has_a_hole_not_a_zero():
    log = TrainingLog()
    log.add(0, {"loss": 1.0})
    log.add(1, {"loss": 0.9, "accuracy": 0.5})
    log.add(2, {"loss": 0.8})
    assert log.points() == {"step": [0, 1, 2], "series": {"loss": [1.0, 0.9, 0.8], "accuracy": [None, 0.5, None]}}


@pytest.mark.parametrize("count", [9, 10, 11, 12, 100, 10_001])
def test_it_stays_short_and_keeps_its_ends(count):
    log = filled(range(count), most=10)
    steps, series = log.columns()
    assert len(steps) == len(series["loss"]) <= 12
    assert steps[-1] == count - 1 and steps == sorted(set(steps))
    assert log.latest["loss"] == count - 1


def test_averaging_keeps_the_mean():
    log = filled([1.0, 3.0] * 8, most=15)
    assert log.stride == 2
    assert log.columns()[1]["loss"] == [2.0] * 8


def test_nan_survives_averaging():
    log = filled([1.0] * 8 + [math.nan] + [1.0] * 23, most=8)
    assert "NaN" in log.points()["series"]["loss"]


def test_points_are_json_with_words_for_what_is_not_finite():
    points = filled([1 / 3, math.nan, math.inf, -math.inf]).points()
    assert points["series"]["loss"] == [0.333333, "NaN", "Infinity", "-Infinity"]
    json.dumps(points, allow_nan=False)


def test_tensors_with_one_element_are_numbers():
    log = TrainingLog()
    log.add(0, {"loss": SimpleNamespace(item=lambda: 0.25)})
    assert log.latest == {"loss": 0.25}


def refuse():
    raise RuntimeError("a Tensor with 4 elements cannot be converted to Scalar")


@pytest.mark.parametrize("value", ["much", None, SimpleNamespace(item=refuse), [1.0]])
def test_other_values_are_refused_by_name(value):
    log = TrainingLog()
    with pytest.raises(TypeError, match=r"log\(loss=…\) takes a number or a tensor with one element, got"):
        log.add(0, {"loss": value})
    assert log.columns() == ([], {})


@pytest.mark.parametrize(
    "given, text",
    [
        ((0, 10, None, ""), "no step yet"),
        ((3, None, None, ""), "step 3"),
        ((3, 10, 2.0, ""), "step 3 of 10 · 2 steps/s · 3.5 s left"),
        ((10, 10, 2.0, "done"), "step 10 of 10 · 2 steps/s · done"),
        ((12, 10, 2.0, ""), "step 12 · 2 steps/s"),
    ],
)
def test_progress_in_words(given, text):
    assert progress_text(*given) == text


@pytest.mark.parametrize("seconds, text", [(4.56, "4.6 s"), (59.4, "59 s"), (200, "3 min 20 s"), (7500, "2 h 5 min")])
def test_time_left_is_rough(seconds, text):
    assert time_left(seconds) == text


def test_the_picture_has_the_curve_and_the_numbers():
    log = TrainingLog()
    for step in range(5):
        log.add(step, {"loss": 1.0 / (step + 1), "lr": 0.1})
    tree = ElementTree.fromstring(log.svg("<Run>", "step 5 of 5 · done"))
    words = [node.text for node in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert {"<Run>", "loss", "step", "step 5 of 5 · done", "loss 0.2000 · lr 0.1000"} <= set(words)


def test_a_loss_over_decades_is_drawn_on_a_logarithmic_axis():
    assert "loss (log)" in filled([100.0, 1.0, 0.1]).svg()
    assert "loss (log)" not in filled([2.0, 1.0, 0.1]).svg()


def test_nothing_logged_yet_can_be_drawn():
    assert "No points yet" in TrainingLog().svg()
