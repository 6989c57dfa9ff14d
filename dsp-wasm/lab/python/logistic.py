"""Logistic regression of "the reading is in tolerance" on named features, with people left out."""

import csv
import gzip
import io

import numpy as np
from scipy.optimize import minimize

# A reading that is off by more than twice the tolerance weighs this much more than others: to trust it is worse than to hide a right one.
# Twice keeps the confidence a probability: with people left out its calibration error is at most 0.053 (hr at rest 0.010, motion 0.045, hrv from light 0.053).
WRONG_WEIGHT = 2
# The same of models that are trusted from a probability of their own on (CONFIDENCE.SURE of dsp-wasm/assembly/ecg/tuning.ts and breath/tuning.ts).
SURE_WRONG_WEIGHT = 1
# Penalty of the squared weights of features in units of their deviation, where all rows weigh one together.
RIDGE = 1e-3
# Maximum number of rows that the fit keeps of one person of one set, in each of two groups: those that are wrong, and all others.
MOST_ROWS = 40
# The same of one made recording without anybody's signals.
MOST_MADE = 6
# A set weighs as much as it has people (made recordings), but at most this: larger sets weigh the same, and one doubtful person is no set.
MOST_PEOPLE = 8
# The set that weighs more, and how much: of an ECG's noise of every strength the rest bench shows most, while rules doubt most of what else is noisy.
HEAVIER = {"hr_ecg": ("rest bench", 4)}
COLUMNS = ["set", "people", "weight", "grade"]


def read_dump(path):
    """Reads MODEL.csv as the lab's dump writes it. Returns the names of the features, and the rows as dictionaries."""
    with open(path, newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    return reader.fieldnames[reader.fieldnames.index("grade") + 1 :], rows


def sample(rows, names, even=False, heavier=("", 1)):
    """
    The rows to fit on: evenly some of each person, those that were left out counted in the weight. With `even`, right and wrong weigh the same; `heavier`
    names a set, and how much more it weighs.
    """
    groups = {}
    for row in rows:
        groups.setdefault((row["set"], row["people"] or row["recording"], row["grade"] == "2"), []).append(row)
    kept = []
    for group in groups.values():
        most = MOST_ROWS if group[0]["people"] else MOST_MADE
        some = [group[i] for i in np.unique(np.linspace(0, len(group) - 1, most).round().astype(int))]
        kept += [{**row, "weight": len(group) / len(some)} for row in some]
    totals, people = {}, {}
    for row in kept:
        totals[row["set"]] = totals.get(row["set"], 0) + row["weight"]
        people.setdefault(row["set"], set()).add(row["people"] or row["recording"])
    for row in kept:
        row["weight"] = row["weight"] / totals[row["set"]] * min(MOST_PEOPLE, len(people[row["set"]]))
        row["weight"] *= heavier[1] if row["set"] == heavier[0] else 1
    right = sum(row["weight"] for row in kept if row["grade"] == "0")
    odds = sum(row["weight"] for row in kept) / right - 1 if even else 1
    for row in kept:
        row["weight"] = f"{row['weight'] * (odds if row['grade'] == '0' else 1):.4g}"
        row.update({name: f"{float(row[name]):.4g}" for name in names})
    return kept


def write_sample(path, names, rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS + names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.getvalue().encode())


def arrays(rows, names):
    """Features, grades and weights of rows."""
    x = np.array([[float(row[name]) for name in names] for row in rows])
    grades = np.array([int(row["grade"]) for row in rows])
    return x, grades, np.array([float(row["weight"]) for row in rows])


def wrong_weight(model):
    return SURE_WRONG_WEIGHT if model.startswith(("rr", "hr_ecg")) else WRONG_WEIGHT


def fit(x, grades, weights, names, wrong):
    """Weights in the units of the features, that without evidence first; a feature's sign is that before its name."""
    share = weights / weights.sum()
    mean = share @ x
    deviation = np.sqrt(share @ (x - mean) ** 2) + 1e-9
    z = np.column_stack([np.ones(len(x)), (x - mean) / deviation])
    right = grades == 0
    cost = share * np.where(grades == 2, wrong, 1)

    def loss(w):
        odds = z @ w
        slope = z.T @ (cost * (1 / (1 + np.exp(-odds)) - right))
        penalty = RIDGE * np.append(0, w[1:])
        return cost @ np.logaddexp(0, np.where(right, -odds, odds)) + penalty @ w / 2, slope + penalty

    bounds = [(None, None)] + [{"+": (0, None), "-": (None, 0)}.get(name[0], (None, None)) for name in names]
    options = {"maxiter": 2000, "ftol": 1e-14, "gtol": 1e-9}
    w = minimize(loss, np.zeros(z.shape[1]), jac=True, bounds=bounds, method="L-BFGS-B", options=options).x
    inner = w[1:] / deviation
    return [float(f"{v:.6g}") for v in np.append(w[0] - inner @ mean, inner)]


def probability(weights, x):
    return 1 / (1 + np.exp(-(weights[0] + x @ np.array(weights[1:]))))



def without(rows, person):
    return [row for row in rows if person not in row["people"].split("+")]


def calibration_error(confidence, right):
    """Mean distance of the confidence from the share that is right, over ten bins of confidence weighted by their rows."""
    bins = np.minimum(9, (confidence * 10).astype(int))
    return sum(abs(confidence[bins == b].sum() - right[bins == b].sum()) for b in range(10)) / max(1, len(bins))
