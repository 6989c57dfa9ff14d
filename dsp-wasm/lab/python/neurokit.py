"""
RMSSD by NeuroKit2. Reads a JSON list of minutes from its input, each a list of the times of beats in seconds; writes a JSON list of RMSSD in ms
after the correction of the beats.
"""

import json
import sys

import neurokit2
import numpy as np

# NeuroKit2 counts samples: 0.1 ms each.
RATE = 10_000


def rmssd(beats):
    peaks = np.round(np.array(beats) * RATE).astype(int)
    _, kept = neurokit2.signal_fixpeaks(peaks, sampling_rate=RATE, iterative=True, method="Kubios")
    return 1000 * np.sqrt(np.mean(np.diff(np.diff(kept) / RATE) ** 2))


json.dump([rmssd(beats) for beats in json.load(sys.stdin)], sys.stdout)
