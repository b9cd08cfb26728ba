"""Floor 1: array namespaces, devices, dtypes, promotion, random numbers, clocks and memory. Nothing here knows a Tensor."""
