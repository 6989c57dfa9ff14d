import { MAX_SUBS } from '../memory/channel';
import { SCRATCH } from '../memory/map';
import { Row } from '../memory/row';
import { ROW_BYTES, STRETCH_BYTES, Stretch } from './features';
import { READING_BYTES } from './reading';
import { INTERVALS_BYTES, Intervals } from './rhythm';

/** Working arrays of R peak detection and of the heart rate from it, as a chain: each begins where the previous one ends. */

/** Features of up to a second, at which beats are looked for. */
export const GROUP = changetype<Stretch>(SCRATCH);
const GROUP_END: usize = SCRATCH + STRETCH_BYTES;

/** Features from one beat to the next. */
export const BETWEEN = changetype<Stretch>(GROUP_END);
const BETWEEN_END: usize = GROUP_END + STRETCH_BYTES;

/** A row of a stretch. */
export const ROW = changetype<Row<f32>>(BETWEEN_END);
const ROW_END: usize = BETWEEN_END + ROW_BYTES;

export const INTERVALS = changetype<Intervals>(ROW_END);
const INTERVALS_END: usize = ROW_END + INTERVALS_BYTES;

/** What each lead tells of a window. */
export const READINGS: usize = INTERVALS_END;
export const ECG_SCRATCH_END: usize = READINGS + <usize>MAX_SUBS * READING_BYTES;
