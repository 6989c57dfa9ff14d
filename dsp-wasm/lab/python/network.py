"""The network of dsp-wasm/assembly/pulse/motion.ts: softmax regression of the reference's rate over the candidates, by Adam (Kingma and Ba 2015)."""

import numpy as np

CANDIDATES = 3.75 * np.arange(8, 60)
HIDDEN = 16
# Slope of the rectifier below zero, as in the core.
LEAK = 0.1
# How far a candidate may lie from the reference and still be right, bpm: the spread of a window's own rate.
SPREAD = 2.5
EPOCHS, BATCH, RATE, LAST_RATE, RIDGE = 8, 32, 0.01, 1e-4, 1e-4
# Epochs at the end whose weights are averaged.
AVERAGED = 5


def fit(traits, rates, weights):
    """
    traits: windows x traits x candidates; rates: the reference of each window, bpm. The same examples give the same weights.
    Returns a row for each hidden unit: the weights of the traits, its bias, and its weight in the sum.
    """
    count = traits.shape[1]
    mean = traits.mean((0, 2), dtype=float)
    deviation = traits.std((0, 2), dtype=float) + 1e-6
    random = np.random.default_rng(1)
    w = np.column_stack([random.normal(0, count**-0.5, (HIDDEN, count)), np.zeros(HIDDEN), random.normal(0, 0.5 * HIDDEN**-0.5, HIDDEN)])
    right = np.exp(-0.5 * ((CANDIDATES - rates[:, None]) / SPREAD) ** 2) + 1e-6
    right /= right.sum(1, keepdims=True)
    share = weights / weights.mean()
    first, second, average, steps = np.zeros_like(w), np.zeros_like(w), np.zeros_like(w), 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS) + LAST_RATE
        for batch in np.split(random.permutation(len(traits)), range(BATCH, len(traits), BATCH)):
            x = (traits[batch] - mean[:, None]) / deviation[:, None]
            slope = slope_of(w, x, right[batch], share[batch] / len(batch)) + RIDGE * w
            steps += 1
            first = 0.9 * first + 0.1 * slope
            second = 0.999 * second + 0.001 * slope**2
            w = w - rate * first / (1 - 0.9**steps) / (np.sqrt(second / (1 - 0.999**steps)) + 1e-8)
        if epoch >= EPOCHS - AVERAGED:
            average += w / AVERAGED
    # In the units of the traits
    average[:, :count] /= deviation
    average[:, count] -= average[:, :count] @ mean
    return [round(float(v), 4) for v in average.ravel()]


def slope_of(w, x, right, share):
    """Slope of the loss of some windows."""
    count = x.shape[1]
    sums = np.matmul(w[:, :count], x) + w[:, count, None]
    units = np.where(sums > 0, sums, LEAK * sums)
    odds = np.tensordot(units, w[:, -1], (1, 0))
    odds -= odds.max(1, keepdims=True)
    likelihood = np.exp(odds)
    wrong = share[:, None] * (likelihood / likelihood.sum(1, keepdims=True) - right)
    back = wrong[:, None, :] * w[:, -1, None] * np.where(sums > 0, 1, LEAK)
    of_traits = np.tensordot(back, x, ((0, 2), (0, 2)))
    return np.column_stack([of_traits, back.sum((0, 2)), np.tensordot(units, wrong, ((0, 2), (0, 1)))])
