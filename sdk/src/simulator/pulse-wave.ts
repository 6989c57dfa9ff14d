/** One wave of a pulse: place and width in beats, height against the systolic peak. */
interface Wave {
  readonly centre: number;
  readonly width: number;
  readonly height: number;
}

/**
 * A finger's volume pulse at 75 bpm as a sum of Gaussians on the beat's circle (Tang et al. 2020, "PPGSynth"): the systolic peak
 * and, after the dicrotic notch, the diastolic one.
 */
const WAVES: readonly Wave[] = [
  { centre: 0.2, width: 0.085, height: 1 },
  { centre: 0.52, width: 0.095, height: 0.42 },
];

/** Rate of that pulse, bpm. */
const USUAL_RATE = 75;
/** The waves of faster beats would run into each other. */
const MOST_STRETCH = 1.4;

/**
 * Blood volume at a place in the beat (0 to 1, its foot near 0): about 0 at the foot, about 1 at the systolic peak. The systole lasts
 * as the square root of the interval (Bazett 1920), so a slow heart pauses after its waves.
 *
 * @param hr heart rate, bpm
 */
export function pulseWave(phase: number, hr: number): number {
  const stretch = Math.min(MOST_STRETCH, Math.sqrt(hr / USUAL_RATE));
  let sum = 0;
  for (const { centre, width, height } of WAVES)
    sum += height * Math.exp(-((around(phase - stretch * centre) / (stretch * width)) ** 2) / 2);
  return sum;
}

/** The nearest of the distances that differ by whole beats: -0.5 to 0.5. */
function around(distance: number): number {
  return distance - Math.round(distance);
}
