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

svd = result_type("svd", "U", "S", "V")
qr = result_type("qr", "Q", "R")
slogdet = result_type("slogdet", "sign", "logabsdet")
linalg_svd = result_type("linalg_svd", "U", "S", "Vh")
linalg_qr = result_type("linalg_qr", "Q", "R")
linalg_slogdet = result_type("linalg_slogdet", "sign", "logabsdet")
linalg_eig = result_type("linalg_eig", "eigenvalues", "eigenvectors")
linalg_eigh = result_type("linalg_eigh", "eigenvalues", "eigenvectors")
linalg_lu = result_type("linalg_lu", "P", "L", "U")
linalg_lstsq = result_type("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
linalg_inv_ex = result_type("linalg_inv_ex", "inverse", "info")
linalg_solve_ex = result_type("linalg_solve_ex", "result", "info")
linalg_cholesky_ex = result_type("linalg_cholesky_ex", "L", "info")
linalg_lu_factor = result_type("linalg_lu_factor", "LU", "pivots")
linalg_lu_factor_ex = result_type("linalg_lu_factor_ex", "LU", "pivots", "info")
linalg_ldl_factor = result_type("linalg_ldl_factor", "LD", "pivots")
linalg_ldl_factor_ex = result_type("linalg_ldl_factor_ex", "LD", "pivots", "info")
lu_unpack = result_type("lu_unpack", "P", "L", "U")
geqrf = result_type("geqrf", "a", "tau")
triangular_solve = result_type("triangular_solve", "solution", "cloned_coefficient")
