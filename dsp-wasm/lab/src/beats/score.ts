import { type Figures, grouped, type Row, TRUSTED, withIntervals } from '../score.js';
import { type Minute, modelOf, toleranceOf } from './minutes.js';

/** One row for each set and estimator with known variability, then one for each estimator. */
export function scoreVariability(minutes: readonly Minute[]): Row[] {
  const known = minutes.filter((minute) => modelOf(minute) !== 'rhythm' && minute.rmssd !== null);
  return rowsOf(known, (some) => {
    const answered = some.filter(({ answer }) => answer.estimate);
    const trusted = answered.filter(isTrusted);
    return {
      'median error ms': median(answered.map(errorOf)),
      'trusted %': percent(trusted, some),
      'in tolerance % (trusted)': percent(
        trusted.filter((one) => errorOf(one) <= toleranceOf(one)),
        trusted,
      ),
      'wrong but trusted %': percent(
        trusted.filter((one) => errorOf(one) > 2 * toleranceOf(one)),
        some,
      ),
    };
  });
}

/** The same of known rhythms; sensitivity and specificity are those of the trusted. */
export function scoreRhythm(minutes: readonly Minute[]): Row[] {
  const known = minutes.filter((minute) => modelOf(minute) === 'rhythm' && minute.fibrillation !== null);
  return rowsOf(known, (some) => {
    const trusted = some.filter(isTrusted);
    const irregular = (one: Minute) => (one.answer.estimate?.value ?? 0) >= 50;
    const [ill, well] = [trusted.filter((one) => one.fibrillation), trusted.filter((one) => !one.fibrillation)];
    return {
      'in fibrillation %': percent(
        some.filter((one) => one.fibrillation),
        some,
      ),
      'trusted %': percent(trusted, some),
      'sensitivity %': percent(ill.filter(irregular), ill),
      'specificity %': percent(
        well.filter((one) => !irregular(one)),
        well,
      ),
    };
  });
}

/** The rhythm of the minutes by light, and of the same minutes by the same person's ECG. */
export function scoreSameRhythm(minutes: readonly Minute[]): Row[] {
  const light = minutes.filter(({ estimator, electric }) => estimator === 'rhythm_ppg' && electric);
  return scoreRhythm([
    ...light,
    ...light.map((one): Minute => ({ ...one, estimator: 'rhythm_ecg', answer: one.electric ?? one.answer })),
  ]);
}

const isTrusted = ({ answer }: Minute) => (answer.estimate?.confidence ?? 0) >= TRUSTED;
const errorOf = ({ answer, rmssd }: Minute) => Math.abs((answer.estimate?.value ?? Number.NaN) - (rmssd ?? Number.NaN));

function rowsOf(minutes: readonly Minute[], figuresOf: (some: readonly Minute[]) => Figures): Row[] {
  const named = [({ set, estimator }: Minute) => `${set} ${estimator}`, allOf];
  return named.flatMap((nameOf) =>
    [...grouped(minutes, nameOf)].map(([what, own]) => {
      const people = [...grouped(own, ({ person }) => person).values()];
      return {
        what,
        people: people.length,
        minutes: own.length,
        ...withIntervals(own, people, figuresOf, (value) => value.toFixed(1)),
      };
    }),
  );
}

/** Of recorded and of made signals apart. */
const allOf = ({ set, estimator }: Minute) => `all ${set.startsWith('bench') ? 'made' : 'recorded'} ${estimator}`;

const percent = (some: readonly unknown[], all: readonly unknown[]) =>
  all.length > 0 ? (100 * some.length) / all.length : null;

function median(values: readonly number[]): number | null {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? null;
}
