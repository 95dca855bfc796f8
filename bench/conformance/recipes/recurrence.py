"""LSTM, GRU and RNN: directions, lengths, states, peepholes, activations."""
import numpy as np

from recipes import recipe

# What takes alpha and beta; Affine and ScaledTanh have no defaults that everybody agrees on.
ACTIVATIONS = {"Sigmoid": (), "Tanh": (), "Relu": (), "Softsign": (), "Softplus": (), "LeakyRelu": ("alpha",), "ThresholdedRelu": ("alpha",),
               "Elu": ("alpha",), "Affine": ("alpha", "beta"), "ScaledTanh": ("alpha", "beta"), "HardSigmoid": ("alpha", "beta")}
NUMBERS = {"alpha": [0.25, 0.5, 0.75], "beta": [0.125, 0.5, 0.75]}


def activations(d, count):
    names = [d.one(*ACTIVATIONS) for _ in range(count)]
    attributes = {"activations": names}
    for parameter in ("alpha", "beta"):
        numbers = [d.one(*NUMBERS[parameter]) for name in names if parameter in ACTIVATIONS[name]]
        if numbers:
            attributes["activation_" + parameter] = numbers
    return attributes


@recipe("LSTM", "GRU", "RNN")
def recurrence(d):
    gates, each = {"LSTM": (4, 3), "GRU": (3, 2), "RNN": (1, 1)}[d.op]
    steps, batch, size, hidden = d.integer(1, 5), d.integer(1, 3), d.integer(1, 4), d.integer(1, 5)
    direction = d.one("forward", "reverse", "bidirectional")
    directions = 2 if direction == "bidirectional" else 1
    dtype = d.type()
    layout = d.version >= 14 and d.flag(0.25)

    def weight(*shape):
        return d.maybe_fixed((d.rng.normal(0, 0.6, shape)).astype(dtype), 0.6)

    def state():
        return d.values([batch, directions, hidden] if layout else [directions, batch, hidden], dtype)
    inputs = [d.values([batch, steps, size] if layout else [steps, batch, size], dtype), weight(directions, gates * hidden, size),
              weight(directions, gates * hidden, hidden), weight(directions, 2 * gates * hidden) if d.flag(0.7) else None,
              d.maybe_fixed(d.rng.integers(1, steps + 1, batch).astype(np.int32)) if d.flag(0.4) else None, state() if d.flag() else None]
    attributes = {"hidden_size": hidden, "direction": direction} | (d.some(clip=[0.5, 1.5, 4.0]) if d.flag(0.4) else {})
    if d.flag(0.3):
        attributes |= activations(d, each * directions)
    if layout:
        attributes["layout"] = 1
    if d.op == "GRU":
        attributes |= d.some(linear_before_reset=[0, 1])
    if d.op == "LSTM":
        attributes |= d.some(input_forget=[0, 1]) if d.flag(0.2) else {}
        inputs += [state() if d.flag() else None, weight(directions, 3 * hidden) if d.flag(0.3) else None]
    wanted = [d.flag(0.8) for _ in range(3 if d.op == "LSTM" else 2)]
    return d.case(inputs, attributes, wanted if any(wanted) else [True])
