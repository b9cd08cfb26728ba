"""Static charts: numbers as people read them, gaps and words for what is not finite, escaped text."""

import math
from xml.etree import ElementTree

import pytest

from autograd_lab.display.charts import Scale, Series, format_count, format_number, format_seconds, line_chart

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize(
    "seconds, text",
    [
        (None, "–"),
        (0, "0 s"),
        (1.5, "1.500 s"),
        (0.99999, "1.000 s"),
        (0.00012345, "123.5 µs"),
        (2e-9, "2 ns"),
        (1e-12, "0.001000 ns"),
        (math.nan, "NaN"),
        (3600, "3600 s"),
    ],
)
def test_times_have_four_digits_and_a_unit(seconds, text):
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    "value, text",
    [
        (None, "–"),
        (0.0, "0"),
        (-0.5, "−0.5000"),
        (12.0, "12"),
        (0.0234567, "0.02346"),
        (123456.0, "123456"),
        (1e-7, "1.000e−07"),
        (math.inf, "Infinity"),
        (-math.inf, "−Infinity"),
    ],
)
def test_numbers_are_plain_where_they_can_be(value, text):
    assert format_number(value) == text


def test_counts_have_separators():
    assert format_count(10000) == "10,000" and format_count(0.5) == "0.5"


def draw(*series, **known):
    return ElementTree.fromstring(
        line_chart(series, title="T", description="D", x_label="step", y_label="loss", **known)
    )


def words(tree):
    return [text.text for text in tree.iter(f"{SVG}text")]


def test_it_has_a_name_and_a_description():
    tree = draw(Series("a", [1, 2], [1.0, 2.0]))
    assert tree.get("role") == "img"
    assert (tree.find(f"{SVG}title").text, tree.find(f"{SVG}desc").text) == ("T", "D")


def test_text_is_escaped():
    text = line_chart(
        [Series("<i>", [1], [1.0])], title="<b>", description="&", x_label="<x>", y_label='"', footer=["<script>"]
    )
    assert not any(tag in text for tag in ("<i>", "<b>", "<x>", "<script>"))
    ElementTree.fromstring(text)


def test_no_points_says_so():
    assert "No points yet" in words(draw())
    assert "No points yet" in words(draw(Series("a", [1], [None])))


def test_values_that_are_not_finite_leave_a_gap_and_a_word():
    tree = draw(Series("a", [1, 2, 3, 4, 5], [1.0, 2.0, math.nan, 3.0, math.inf]))
    assert {"NaN", "Infinity"} <= set(words(tree))
    curve = next(path for path in tree.iter(f"{SVG}path") if path.get("stroke-width") == "2")
    assert curve.get("d").count("M") == 2


@pytest.mark.parametrize("log", [True, False])
def test_one_point_and_equal_values_are_drawn(log):
    for points in ([3.0], [3.0, 3.0]):
        tree = draw(Series("a", range(1, len(points) + 1), points), log_x=log, log_y=log)
        assert len(list(tree.iter(f"{SVG}circle"))) == len(points)


def test_on_a_logarithmic_axis_zero_is_left_out():
    tree = draw(Series("a", [1, 10, 100], [0.0, 1.0, 10.0]), log_y=True)
    assert len(list(tree.iter(f"{SVG}circle"))) == 2


@pytest.mark.parametrize("low, high", [(1e-9, 1.0), (0.5, 0.7), (3, 3), (16, 1024), (1e-300, 1e300)])
def test_logarithmic_ticks_lie_inside_and_are_few(low, high):
    ticks = Scale(low, high, 0, 100, log=True).ticks()
    assert 1 <= len(ticks) <= 9 and all(low / 1.2 <= tick <= high * 1.2 for tick in ticks)


@pytest.mark.parametrize("low, high", [(0, 1), (-3, 1e6), (0.999, 1.0), (5, 5), (0, 0)])
def test_linear_ticks_lie_inside_and_are_few(low, high):
    assert 2 <= len(Scale(low, high, 0, 100, log=False).ticks()) <= 9


def test_names_at_the_ends_do_not_cover_each_other():
    tree = draw(*(Series(f"line {n}", [1, 2], [1.0, 2.0 + n / 1000]) for n in range(4)))
    places = sorted(float(t.get("y")) for t in tree.iter(f"{SVG}text") if t.text.startswith("line"))
    assert all(b - a >= 13 for a, b in zip(places, places[1:], strict=False))
