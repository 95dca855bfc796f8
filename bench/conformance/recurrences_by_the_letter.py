"""LSTM, GRU and RNN in NumPy's float64: the standard's equations word for word, a sequence of the batch at a time (see by_the_letter.py)."""
import numpy as np

GATES = {"LSTM": "iofc", "GRU": "zrh", "RNN": "i"}  # in the order in which W, R and the halves of B hold them
USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
# What each takes, with its defaults; None: the standard names none.
NUMBERS = {"Affine": (None, None), "LeakyRelu": (0.01,), "ThresholdedRelu": (1.0,), "ScaledTanh": (None, None), "HardSigmoid": (0.2, 0.5), "Elu": (1.0,)}
FUNCTIONS = {
    "Relu": lambda x: np.maximum(0, x),
    "Tanh": np.tanh,
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "Affine": lambda x, alpha, beta: alpha * x + beta,
    "LeakyRelu": lambda x, alpha: np.where(x >= 0, x, alpha * x),
    "ThresholdedRelu": lambda x, alpha: np.where(x >= alpha, x, 0),
    "ScaledTanh": lambda x, alpha, beta: alpha * np.tanh(beta * x),
    "HardSigmoid": lambda x, alpha, beta: np.minimum(np.maximum(alpha * x + beta, 0), 1),
    "Elu": lambda x, alpha: np.where(x >= 0, x, alpha * np.expm1(np.minimum(x, 0))),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Softplus": lambda x: np.logaddexp(0, x),
}


def single(number):
    return float(np.float32(number))


def activations(case, ways):
    """For each way its functions, of inputs that are clipped; alphas and betas go to those in turn that take some. C is not clipped on its way into h:
    there the text is open ("clips the input of activations"), and ONNX Runtime's reading taken (decision 0024)."""
    names = case.attributes.get("activations") or USUAL[case.op] * ways
    left = [[single(v) for v in case.attributes.get("activation_" + word, [])] for word in ("alpha", "beta")]
    limit = single(case.attributes["clip"]) if "clip" in case.attributes else np.inf

    def of(name, is_last):
        numbers = [left[i].pop(0) if left[i] else single(default) for i, default in enumerate(NUMBERS.get(name, ()))]
        return lambda x: FUNCTIONS[name](x if is_last else np.clip(x, -limit, limit), *numbers)
    each = len(names) // ways
    functions = [of(name, is_last=i % each == 2) for i, name in enumerate(names)]
    return [functions[way * each:(way + 1) * each] for way in range(ways)]


class Way:
    """The weights of one direction, by gate."""

    def __init__(self, case, way, functions):
        self.functions, self.attributes = functions, case.attributes
        self.gates = GATES[case.op]
        w, r = case.array(1)[way].astype(np.float64), case.array(2)[way].astype(np.float64)
        self.hidden = r.shape[1]
        n = self.hidden

        def given(i, count):
            there = len(case.inputs) > i and case.inputs[i] is not None
            return case.array(i)[way].astype(np.float64) if there else np.zeros(count * n)
        bias, peepholes = given(3, 2 * len(self.gates)), given(7, 3) if case.op == "LSTM" else None
        self.w = {g: w[k * n:(k + 1) * n] for k, g in enumerate(self.gates)}
        self.r = {g: r[k * n:(k + 1) * n] for k, g in enumerate(self.gates)}
        self.wb = {g: bias[k * n:(k + 1) * n] for k, g in enumerate(self.gates)}
        self.rb = {g: bias[(len(self.gates) + k) * n:(len(self.gates) + k + 1) * n] for k, g in enumerate(self.gates)}
        self.p = {g: peepholes[k * n:(k + 1) * n] for k, g in enumerate("iof")} if peepholes is not None else {}

    def sums(self, g, x, h):
        return self.w[g] @ x + self.r[g] @ h + self.wb[g] + self.rb[g]

    def lstm(self, x, h, c):
        f, g, last = self.functions
        it = f(self.sums("i", x, h) + self.p["i"] * c)
        ft = 1 - it if self.attributes.get("input_forget") else f(self.sums("f", x, h) + self.p["f"] * c)
        ct = ft * c + it * g(self.sums("c", x, h))
        return f(self.sums("o", x, h) + self.p["o"] * ct) * last(ct), ct

    def gru(self, x, h, c):
        f, g = self.functions
        zt, rt = f(self.sums("z", x, h)), f(self.sums("r", x, h))
        if self.attributes.get("linear_before_reset"):
            ht = g(self.w["h"] @ x + rt * (self.r["h"] @ h + self.rb["h"]) + self.wb["h"])
        else:
            ht = g(self.w["h"] @ x + self.r["h"] @ (rt * h) + self.rb["h"] + self.wb["h"])
        return (1 - zt) * ht + zt * h, c

    def rnn(self, x, h, c):
        return self.functions[0](self.sums("i", x, h)), c


def recurrence(case):
    direction = case.attributes.get("direction", "forward")
    x, ways = case.array(0).astype(np.float64), 2 if direction == "bidirectional" else 1
    lying = case.attributes.get("layout") == 1
    if lying:
        x = x.swapaxes(0, 1)
    steps, batch = x.shape[:2]
    hidden = case.array(2).shape[2]
    lengths = case.array(4) if len(case.inputs) > 4 and case.inputs[4] is not None else [steps] * batch

    def state(i):
        if len(case.inputs) <= i or case.inputs[i] is None:
            return np.zeros([ways, batch, hidden])
        given = case.array(i).astype(np.float64)
        return given.swapaxes(0, 1) if lying else given.copy()
    y, h, c = np.zeros([steps, ways, batch, hidden]), state(5).copy(), (state(6) if case.op == "LSTM" else np.zeros([ways, batch, hidden])).copy()
    for way, functions in enumerate(activations(case, ways)):
        weights = Way(case, way, functions)
        step = getattr(weights, case.op.lower())
        for b in range(batch):
            order = range(int(lengths[b]))
            for t in reversed(order) if direction == "reverse" or way == 1 else order:
                h[way, b], c[way, b] = step(x[t, b], h[way, b], c[way, b])
                y[t, way, b] = h[way, b]
    outputs = [y.transpose(2, 0, 1, 3), h.swapaxes(0, 1), c.swapaxes(0, 1)] if lying else [y, h, c]
    return [outputs[i] for i, wanted in enumerate(case.outputs) if wanted]
