import type { Reason } from '@device-insights/contract/ingest';
import type { NoReading } from '../analysis/no-reading.js';
import type { NoticeFields, Notices } from './notices.js';

/** What each reason means, and what to do about it. */
const DETAILS: Readonly<Record<Reason, string>> = {
  no_data: 'a required channel has no data: check that the device sends its frames',
  gaps: 'more than half of the data are missing, or the reading follows the rhythm of the gaps: check the connection and the sequence numbers',
  no_contact: 'the sensor has no contact: check that it is worn and its LED is on, or that the electrodes are attached',
  saturated: 'the samples are clipped at an end of their range: reduce the light or the gain',
  bad_scale:
    'the samples do not fit the bit_depth of the channel, or jump between its ends: check their width, byte order and sign',
  no_dc:
    'the DC component of the light is missing or negative: send the light as measured, before any high-pass filter',
  implausible_ratio:
    'the ratio of red and infrared is outside the curve: check that the two channels are not swapped, and spo2_calibration',
  hum: 'a sinusoid masks the signal, such as mains hum or a lamp: check the electrodes, or shield the light',
  motion: 'motion disturbs the light: wait for rest, or fasten the sensor',
  rate_off: 'the sample rate, the times or the order of the samples are wrong, or not known yet: see the other notices',
  uncalibrated: 'below 90 % the default curve is too uncertain: set spo2_calibration in the device model',
  out_of_range: 'the value is outside the range of its type',
  too_little: 'the data since the start, or since the last gap, are shorter than half a window: keep sending',
  noise: 'no pulse, beat or breath stands out from the noise: check the fit of the sensor',
};

/** The fields of the notice that there is no trusted reading of a type. */
export function noReadingFields({ insight, reason, algorithm, seen }: NoReading): NoticeFields {
  const detail = `no trusted ${insight}: ${DETAILS[reason]}`;
  return { insight, reason, algorithm, ...seen, detail };
}

/**
 * Raises and clears the notices of types without a trusted reading.
 * @param told those that the notices have said already
 * @param now those that there are
 * @returns what the notices have said now: `now` itself, unless some have to wait
 */
export function tellNoReadings(
  notices: Notices,
  told: readonly NoReading[],
  now: readonly NoReading[],
): readonly NoReading[] {
  for (const { insight } of told)
    if (!now.some((each) => each.insight === insight)) notices.clear('no_reading', null, insight);
  const said = now.flatMap((each) => {
    const before = told.find(({ insight }) => insight === each.insight);
    if (before?.reason === each.reason) return each;
    return notices.raise('no_reading', null, noReadingFields(each)) ? each : (before ?? []);
  });
  return now.every((each) => said.includes(each)) ? now : said;
}
