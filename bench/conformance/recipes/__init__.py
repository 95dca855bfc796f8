"""How each operator's cases are made: a function an operator, by its name. What is missing here stops the bench."""
RECIPES = {}


def recipe(*names):
    def add(function):
        for name in names:
            RECIPES[name] = function
        return function
    return add


from recipes import attention, composed, control, fused, indexing, movement, pointwise, products, quantized, recurrence, reductions, resize, rows, sampling, shapes, windows  # noqa: E402,F401
