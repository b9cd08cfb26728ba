"""Result tuples with named fields, printing as ``torch.return_types.max(values=…, indices=…)``."""

from operator import itemgetter


class _Result(tuple):
    """A tuple whose fields have names too."""

    __slots__ = ()
    _fields = ()

    def __repr__(self):
        inner = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
        return f"torch.return_types.{type(self).__name__}(\n{inner})"

    def __reduce__(self):
        return type(self), (tuple(self),)


def result_type(name, *fields):
    """A result class: a tuple with these fields."""
    doc = f"What ``{name}`` returns: {', '.join(fields)}."
    places = {field: property(itemgetter(i), doc=f"Field {i}.") for i, field in enumerate(fields)}
    return type(
        name,
        (_Result,),
        {
            "__slots__": (),
            "_fields": fields,
            "__match_args__": fields,
            "__doc__": doc,
            "__module__": __name__,
            **places,
        },
    )


max = result_type("max", "values", "indices")
min = result_type("min", "values", "indices")
sort = result_type("sort", "values", "indices")
topk = result_type("topk", "values", "indices")
median = result_type("median", "values", "indices")
nanmedian = result_type("nanmedian", "values", "indices")
mode = result_type("mode", "values", "indices")
kthvalue = result_type("kthvalue", "values", "indices")
cummax = result_type("cummax", "values", "indices")
cummin = result_type("cummin", "values", "indices")
aminmax = result_type("aminmax", "min", "max")
