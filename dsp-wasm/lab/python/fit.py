"""
Fits the tables of weights of the signal core on what `npm run fit` has dumped, writes them into dsp-wasm/assembly/FAMILY/TABLE_weights.ts,
and FOLDER/left-out.json: these tables, and for each person those that were fitted without that person.

    fit.py network FOLDER           the network of the heart rate in motion
    fit.py models FOLDER MODEL …    models of confidence
"""

import csv
import hashlib
import json
import math
import sys
from pathlib import Path

import logistic
import network
import numpy as np

PACKAGE = Path(__file__).parents[2]
SAMPLES = Path(__file__).parents[1] / "samples"
# The folder of a table in dsp-wasm/assembly, by how its name begins.
FAMILIES = {"motion": "pulse", "hr_ppg": "pulse", "hr_ecg": "ecg", "rr": "breath", "spo2": "spo2", "hrv": "beats", "rhythm": "beats"}
# Share of the trusted readings that shall be in tolerance with people left out, of models whose trust begins at the least probability from which on it is,
AIMS = {"hrv_ecg": 0.95, "hrv_ppg": 0.95}
# but not below this, where a wrong trusted reading costs as much as four right ones that are not.
LEAST_SURE = 0.8
# CONFIDENCE.SURE of models whose trust begins at a chosen probability.
SURE = {"hr_ecg": 0.625, "rr_ppg": 0.75, "rr_ecg": 0.75, "rr_resp": 0.75}
# Resamplings of the people, of which the interval has 95 %.
BOOTSTRAPS = 1000


def write_table(table, lines, comment, sure=None):
    """Writes the numbers of a table, a text for each line, under a comment, and the probability from which on it is trusted."""
    family = next(family for start, family in FAMILIES.items() if table.startswith(start))
    text = "\n * ".join(["/**", *comment])
    body = "\n".join(f"  {line}" for line in lines)
    (PACKAGE / f"assembly/{family}/{table}_weights.ts").write_text(
        "// biome-ignore-all lint/suspicious/noApproximativeNumericConstant: weights may resemble constants\n"
        f"{text}\n */\n// biome-ignore format: as the lab writes it\nexport const {table.upper()}_WEIGHTS: StaticArray<f32> = [\n{body}\n];\n"
        + (f"/** Minimum probability of a trusted reading. */\nexport const {table.upper()}_SURE: f32 = {sure};\n" if sure else "")
    )


def fit_network(folder):
    with open(folder / "motion.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    traits = np.fromfile(folder / "motion.f32", np.float32).reshape(len(rows), -1, len(network.CANDIDATES))
    rates = np.array([float(row["rate"]) for row in rows])
    people = [row["people"].split("+") for row in rows]

    def fitted(person=None):
        kept = [i for i, own in enumerate(people) if person not in own]
        counts = {}
        for i in kept:
            counts[rows[i]["group"]] = counts.get(rows[i]["group"], 0) + 1
        weights = np.array([float(rows[i]["weight"]) / counts[rows[i]["group"]] for i in kept])
        return network.fit(traits[kept], rates[kept], weights)

    weights = fitted()
    width = len(weights) // network.HIDDEN
    lines = [", ".join(map(str, weights[i : i + width])) + "," for i in range(0, len(weights), width)]
    write_table("motion", lines, [
        "The network of motion.ts: a row for each of its hidden units, the weights of the fifteen traits, the unit's bias, and its",
        f"weight in the sum. Written by `npm run fit`, from {len(rows)} windows of recordings in motion and of benches made of them.",
        f"Its digest: {digest(weights)}",
    ])  # fmt: skip
    left_out = {"tables": {"motion": weights}, "people": {}}
    for person in sorted({one for own in people for one in own}):
        left_out["people"][person] = {"motion": fitted(person)}
        print(f"network without {person}", flush=True)
    (folder / "left-out.json").write_text(json.dumps(left_out))


def digest(weights):
    """Of the numbers as they are written, by which a test sees that nobody has changed them."""
    return hashlib.sha256(", ".join(map(str, weights)).encode()).hexdigest()[:16]


def fit_models(folder, *models):
    file = folder / "left-out.json"
    left_out = json.loads(file.read_text()) if file.exists() else {"tables": {}, "people": {}}
    SAMPLES.mkdir(exist_ok=True)
    for model in models:
        fit_model(model, folder / f"{model}.csv", left_out)
    file.write_text(json.dumps(left_out))


def fit_model(model, file, left_out):
    names, rows = logistic.read_dump(file)
    # Fibrillation is as likely as not before its signs are seen
    kept = logistic.sample(rows, names, model == "rhythm", logistic.HEAVIER.get(model, ("", 1)))
    logistic.write_sample(SAMPLES / f"{model}.csv.gz", names, kept)
    wrong = logistic.wrong_weight(model)
    weights = logistic.fit(*logistic.arrays(kept, names), names, wrong)
    x = np.array([[float(row[name]) for name in names] for row in rows])
    grades = np.array([int(row["grade"]) for row in rows])
    # A row of several people counts as the first one's; one of none is never left out
    owners = np.array([row["people"].split("+")[0] for row in rows])
    left_out["tables"][model] = weights
    for tables in left_out["people"].values():
        tables.pop(model, None)  # Someone may have no readings for this model any more
    confidence = logistic.probability(weights, x)
    for person in sorted({one for row in rows for one in row["people"].split("+")} - {""}):
        own = logistic.fit(*logistic.arrays(logistic.without(kept, person), names), names, wrong)
        left_out["people"].setdefault(person, {})[model] = own
        confidence[owners == person] = logistic.probability(own, x[owners == person])
    of_people = owners != ""
    recorded = np.array([not row["set"].startswith("bench") for row in rows])
    sure = least_sure(confidence[recorded], grades[recorded] == 0, AIMS[model]) if model in AIMS else None
    figures = report(confidence[of_people], grades[of_people], owners[of_people], sure or SURE.get(model, 0.5))
    print(f"{model}: {len(rows)} readings of {len(set(owners) - {''})} people and of benches, {len(kept)} fitted; left out: {figures}")
    lines = [f"{weight:.6g}, // {name}" for weight, name in zip(weights, ["without evidence", *names])]
    write_table(model, lines, [
        f"Weights of the confidence {model} (src/features.ts). Written by `npm run fit`: logistic regression, in which a wrong reading",
        f"weighs {wrong} times as much as any other. With people left out: {figures}",
        *([f"Trusted from {sure} on, where {100 * AIMS[model]:g} % of the recorded minutes are in tolerance with people left out, or more."] if sure else []),
    ], sure)  # fmt: skip


def least_sure(confidence, right, aim):
    """The least confidence from which on that share of the readings is right, rounded up to thousandths; at least LEAST_SURE."""
    order = np.argsort(-confidence)
    shares = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    return max(LEAST_SURE, math.ceil(1000 * confidence[order][shares >= aim][-1]) / 1000)


def report(confidence, grades, owners, sure):
    """Figures with their intervals over the people: calibration error, trusted share, and share of wrong but trusted readings."""
    people = [np.flatnonzero(owners == person) for person in sorted(set(owners))]

    def figures(i):
        trusted = confidence[i] >= sure
        error = logistic.calibration_error(confidence[i], grades[i] == 0)
        return error, 100 * trusted.mean(), 100 * (trusted & (grades[i] == 2)).mean()

    random = np.random.default_rng(1)
    draws = [figures(np.concatenate([people[k] for k in random.integers(len(people), size=len(people))])) for _ in range(BOOTSTRAPS)]
    low, high = np.percentile(draws, [2.5, 97.5], axis=0)
    error, trusted, wrong = [f"{value:.3g} ({a:.3g} to {b:.3g})" for value, a, b in zip(figures(slice(None)), low, high)]
    return f"calibration error {error}, trusted {trusted} %, wrong but trusted {wrong} %"


if __name__ == "__main__":
    {"network": fit_network, "models": fit_models}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
