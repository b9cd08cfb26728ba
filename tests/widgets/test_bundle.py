"""The built style sheet: no rule of ours can touch the notebook around a view."""

import re

from autograd_lab.display.html import bundle


def test_every_rule_is_scoped():
    css = re.sub(r"@keyframes[^{]*\{(?:[^{}]*\{[^{}]*\})*\}", "", bundle("tape.css"))
    css = re.sub(r"@(?:media|container|supports)[^{]*\{", "", css)
    rules = [rule.strip("}\n ") for rule in re.findall(r"([^{}]+)\{", css.replace("}", "}\n"))]
    selectors = [one for rule in rules for one in re.split(r",(?![^(]*\))", rule)]
    loose = [one for one in selectors if not re.search(r"\.agl(?![-\w])", one)]
    assert len(selectors) > 200 and not loose
