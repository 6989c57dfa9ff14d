import { MOST_GROWTH, USUAL_FALL, USUAL_RISE } from './tuning';

/** The usual size of a session's pulse, as natural logarithms; 0 before there is one. */

/** How much larger than usual a pulse is. What was there before a growth beyond MOST_GROWTH was none. */
export function growthOver<T>(usual: T, size: T): T {
  return isFirst<T>(usual, size) ? 0 : size - usual;
}

/**
 * The usual size after a pulse of this size: it falls faster than it rises.
 * @param learn whether it surely is a pulse
 */
export function usualAfter<T>(usual: T, size: T, learn: bool): T {
  if (isFirst<T>(usual, size)) return size;
  const change = learn ? size - usual : 0;
  return usual + (change < 0 ? <T>USUAL_FALL : <T>USUAL_RISE) * change;
}

function isFirst<T>(usual: T, size: T): bool {
  return usual === 0 || size - usual > <T>MOST_GROWTH;
}
