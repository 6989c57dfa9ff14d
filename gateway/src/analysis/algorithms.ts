import { type Modality, WINDOW_LAG_S } from '@device-insights/dsp-wasm';
import { type Algorithm, type AnyAlgorithm, asEstimated, type BeatAlgorithm } from './algorithm.js';
import { BRIDGED_MS } from './sample-run.js';
import { readSpo2 } from './spo2.js';

/** The properties that all algorithms of a type share, so that their readings are comparable: version, window and cadence. */
const HR = { version: '1.0.0', type: 'hr', windowS: 8, everyS: 1 } as const;
const SPO2 = { version: '1.0.0', type: 'spo2', windowS: 8, everyS: 1 } as const;
const RR = { version: '1.0.0', type: 'rr', windowS: 32, everyS: 2 } as const;
const HRV = { version: '1.0.0', type: 'hrv', windowS: 60, everyS: 10, lagS: WINDOW_LAG_S } as const;
const RHYTHM = { version: '1.0.0', type: 'rhythm', windowS: 60, everyS: 10, lagS: WINDOW_LAG_S } as const;
const BEATS = { version: '1.0.0', type: 'beats', windowS: 10, everyS: 10 } as const;
/** One optical channel: the green light if there is one. */
const LIGHT = [['ppg_green', 'ppg', 'ppg_ir', 'ppg_red']] as const;

/** Every algorithm that computes readings. */
export const ALGORITHMS: readonly Algorithm[] = [
  {
    ...HR,
    id: 'd446f7b3-8198-4771-9537-7308a0462748',
    slug: 'hr-ecg',
    name: 'Heart rate from ECG',
    description:
      'Heart rate over 8 s from the intervals between R peaks. Trusted from 25 to 300 bpm; the first trusted reading comes after 4 s of clean data, after 6 to 9 s below 60 bpm. Outside this range a reading has a confidence below 0.5, and no_reading says why.',
    range: [30, 300],
    requires: [['ecg']],
    estimator: 'hr_ecg',
    read: asEstimated,
  },
  {
    ...HR,
    id: 'feb541bb-a202-41b7-ac57-991906994d51',
    slug: 'hr-ppg',
    name: 'Heart rate from PPG',
    description:
      'Pulse rate over 8 s from the optical signal; with an accelerometer, motion is distinguished from the pulse. Trusted from 50 to 220 bpm, and most of the time from 30 bpm; the first trusted reading comes after 4 to 8 s of clean data. Outside this range a reading has a confidence below 0.5, and no_reading says why.',
    range: [30, 220],
    requires: LIGHT,
    uses: ['accel'],
    estimator: 'hr_ppg',
    read: asEstimated,
  },
  {
    ...RR,
    id: '8bc44f86-5314-4848-a1d5-4c98f73a6ab2',
    slug: 'rr-ecg',
    name: 'Respiratory rate from ECG',
    description:
      'Breaths over 32 s from respiratory sinus arrhythmia and the height and baseline of the R waves. Trusted from 4 to 60 a minute and up to half of the heart rate; the first trusted reading comes after 16 to 40 s of clean data. Near half of the heart rate the confidence is below 0.5: a faster breath looks like a slower one there.',
    range: [4, 60],
    requires: [['ecg']],
    bridgedS: 0.04,
    estimator: 'rr_ecg',
    read: asEstimated,
  },
  {
    ...RR,
    id: 'fa10ccb3-db18-41e7-9331-09c6a44fe224',
    slug: 'rr-ppg',
    name: 'Respiratory rate from PPG',
    description:
      'Breaths over 32 s from how breathing modulates the amplitude, the baseline and the rate of the pulse. Trusted from 8 to 30 a minute, less often from 4 to 60, and up to half of the heart rate; the first trusted reading comes after 16 to 40 s of clean data. Near half of the heart rate the confidence is below 0.5: a faster breath looks like a slower one there.',
    range: [4, 60],
    requires: LIGHT,
    leastRateHz: 9, // Slower light gives the pulse a false slow swing
    bridgedS: BRIDGED_MS / 1000,
    estimator: 'rr_ppg',
    read: asEstimated,
  },
  {
    ...RR,
    id: '95f487af-83e0-4118-b037-adc22c52ffd4',
    slug: 'rr-resp',
    name: 'Respiratory rate from effort',
    description:
      'Breaths over 32 s, directly from a chest or abdominal effort signal. Trusted from 6 to 90 a minute, less often from 4; the first trusted reading comes after 16 to 40 s of clean data.',
    range: [4, 90],
    requires: [['resp']],
    estimator: 'rr_resp',
    read: asEstimated,
  },
  {
    ...SPO2,
    id: '7048a0b9-9a49-45e4-8055-2159d3e5889b',
    slug: 'spo2-ratio',
    name: 'SpO2 by ratio of ratios',
    description:
      'Blood oxygen over 8 s from the pulsatile red light relative to the infrared, by the calibration curve of the device model. Trusted from 70 to 100 %, with the default curve from 90 %; the first trusted reading comes after 4 s of clean data. A curve that gives less than 69 or more than 105 % has a confidence below 0.5, and no_reading says implausible_ratio; below 90 % on the default curve it says uncalibrated.',
    range: [70, 100],
    requires: [['ppg_red'], ['ppg_ir']],
    estimator: 'spo2',
    read: readSpo2,
  },
  {
    ...HRV,
    id: '3bd16bdf-e057-4662-acf9-df305b688eab',
    slug: 'hrv-ecg',
    name: 'Heart rate variability from ECG',
    description:
      'RMSSD over the 60 s that ended 3 s ago, so that all their beats are known: how much each interval between beats differs from the one before, with artefacts corrected as by Lipponen and Tarvainen (2019). SDNN and pNN50 are stored with it. Not trusted in motion.',
    range: [0, 500],
    requires: [['ecg']],
    uses: ['accel'],
    estimator: 'hrv_ecg',
    read: asEstimated,
  },
  {
    ...HRV,
    id: '94d85674-6eb5-4047-af53-09d345f76c0d',
    slug: 'hrv-ppg',
    name: 'Heart rate variability from PPG',
    description:
      'RMSSD over the 60 s that ended 3 s ago, from the intervals between pulses in the light, which come close to those of the ECG only at rest, with artefacts corrected as by Lipponen and Tarvainen (2019). SDNN and pNN50 are stored with it. Not trusted in motion.',
    range: [0, 500],
    requires: LIGHT,
    uses: ['accel'],
    estimator: 'hrv_ppg',
    read: asEstimated,
  },
  {
    ...RHYTHM,
    id: '9b222136-b8f5-4d2c-b087-971ff872e7f8',
    slug: 'rhythm-ecg',
    name: 'Rhythm from ECG',
    description:
      'Probability in % that the beats of the 60 s that ended 3 s ago are irregular as in atrial fibrillation. It is no diagnosis: other irregular rhythms can look the same, and only a physician with an ECG can tell.',
    range: [0, 100],
    requires: [['ecg']],
    uses: ['accel'],
    estimator: 'rhythm_ecg',
    read: asEstimated,
  },
  {
    ...RHYTHM,
    id: '2f6e7650-268e-4f65-b5d5-602f8bcf37f2',
    slug: 'rhythm-ppg',
    name: 'Rhythm from PPG',
    description:
      'Probability in % that the pulses of the 60 s that ended 3 s ago are irregular as in atrial fibrillation. It is no diagnosis: other irregular rhythms can look the same, and only a physician with an ECG can tell. Not trusted in motion.',
    range: [0, 100],
    requires: LIGHT,
    uses: ['accel'],
    estimator: 'rhythm_ppg',
    read: asEstimated,
  },
];

/** Those that keep beats. */
export const BEAT_ALGORITHMS: readonly BeatAlgorithm[] = [
  {
    ...BEATS,
    id: '2d0e29a2-b19f-4ed9-bc43-959eb746dd0b',
    slug: 'beats-ecg',
    name: 'Beats from ECG',
    description:
      'Stores the time and quality of each beat: the R peaks of the ECG, up to 20 s after they were measured.',
    source: 'ecg',
    requires: [['ecg']],
    estimator: 'hrv_ecg',
  },
  {
    ...BEATS,
    id: '1aba7a36-e90c-444a-b6b7-85c55d4fa5a4',
    slug: 'beats-ppg',
    name: 'Beats from PPG',
    description:
      'Stores the time and quality of each pulse in the light, by its upstroke, up to 20 s after it was measured.',
    source: 'ppg',
    requires: LIGHT,
    estimator: 'hrv_ppg',
  },
];

/** Every algorithm of the service. */
export const CATALOGUE: readonly AnyAlgorithm[] = [...ALGORITHMS, ...BEAT_ALGORITHMS];

/** The algorithms that an entitlement lists; null means all. */
export function entitled<Each extends AnyAlgorithm>(
  algorithms: readonly Each[],
  slugs: readonly string[] | null,
): readonly Each[] {
  return slugs === null ? algorithms : algorithms.filter(({ slug }) => slugs.includes(slug));
}

/** Those whose readings are not listed, but whose estimates the listed ones of light need: no light without a pulse is trusted. */
export function unread(slugs: readonly string[] | null): readonly Algorithm[] {
  const ofLight = entitled(CATALOGUE, slugs).some(({ requires }) => requires.flat().some((one) => isLight(one)));
  return ofLight
    ? ALGORITHMS.filter(({ slug, estimator }) => estimator === 'hr_ppg' && slugs?.includes(slug) === false)
    : [];
}

const isLight = (modality: Modality) => LIGHT.some((oneOf) => oneOf.some((one) => one === modality));

/** How far back data are needed, seconds: the longest window and its lag. */
export const LONGEST_WINDOW_S = Math.max(...ALGORITHMS.map(({ windowS, lagS = 0 }) => windowS + lagS));
