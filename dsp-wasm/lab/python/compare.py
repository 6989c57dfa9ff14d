"""
Compares the variability of the core with that of NeuroKit2 (pip install neurokit2==0.3.0) on the same beats.

    compare.py FILE    a JSON list of {"beats": seconds of a minute's beats, "rmssd": the core's value, ms}
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


minutes = json.load(open(sys.argv[1]))
off = np.abs([minute["rmssd"] - rmssd(minute["beats"]) for minute in minutes])
print(f"{len(off)} minutes; difference of RMSSD: median {np.median(off):.2f} ms, 95 % {np.percentile(off, 95):.2f} ms; within 1 ms {100 * (off <= 1).mean():.1f} %")
