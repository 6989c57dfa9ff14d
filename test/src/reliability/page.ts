import { cpus } from 'node:os';
import type { DecoderFigures } from './decoder-fuzz.js';
import type { RowFigures } from './matrix.js';
import type { ServiceFuzzFigures } from './service-fuzz.js';
import type { SoakFigures } from './soak.js';

/** The figures of each measured section of the page. */
export interface Figures {
  readonly matrix: readonly RowFigures[];
  readonly decoder: DecoderFigures;
  readonly service: ServiceFuzzFigures;
  readonly soak: SoakFigures;
  readonly 'soak-mongo-redis': SoakFigures;
}

/** Heading, command and text of a measured section. */
interface Section<P extends keyof Figures> {
  readonly title: string;
  readonly command: string;
  readonly text: (figures: Figures[P]) => string;
}

const SECTIONS: { readonly [P in keyof Figures]: Section<P> } = {
  matrix: { title: 'Faults under load', command: 'npm run reliability -- --part matrix', text: matrixText },
  decoder: {
    title: 'Decoder and intake, fuzzed',
    command: 'npm run reliability -- --part decoder',
    text: decoderText,
  },
  service: {
    title: 'The whole service, fuzzed',
    command: 'npm run reliability -- --part service',
    text: serviceText,
  },
  soak: { title: 'Soak: embedded store', command: 'npm run soak -- --minutes 60', text: soakText },
  'soak-mongo-redis': {
    title: 'Soak: MongoDB and Redis',
    command: 'npm run soak -- --minutes 60 --mongo-redis',
    text: soakText,
  },
};

/**
 * Puts figures that were measured now on this machine into the text of RELIABILITY.md, in place of those of the same
 * section; all other text stays. Throws an error if the page has no such section.
 */
export function withFigures<P extends keyof Figures>(page: string, part: P, figures: Figures[P]): string {
  const { title, command, text }: Section<P> = SECTIONS[part];
  const [before, rest] = page.split(`## ${title}\n`);
  if (before === undefined || rest === undefined) throw new Error(`RELIABILITY.md has no section ${title}`);
  const after = rest.indexOf('\n## ');
  const origin = `\`${command}\` · ${new Date().toISOString().slice(0, 10)} · ${cpus().length} cores, Node ${process.version}`;
  return `${before}## ${title}\n\n${origin}\n\n${text(figures)}\n${after < 0 ? '' : rest.slice(after)}`;
}

function matrixText(rows: readonly RowFigures[]): string {
  const { devices, subscribers, stopMs } = rows[0] ?? { devices: 0, subscribers: 0, stopMs: 0 };
  const tried = rows.filter(({ skipped }) => skipped === undefined);
  const red = tried.filter(({ failures }) => failures.length > 0);
  return `${devices} devices stream a pulse in real time, and send data again when the service asks for them. Each of ${subscribers} subscribers receives the
insights of all devices. A stop lasts ${stopMs / 1000} s. After the recovery one device reconnects and a new one connects. Set-ups:

- \`one\`: a gateway with the embedded store; \`disk\`: the same on a disk of 48 MB; \`clock\`: the same with a wall clock that is set.
- \`nodes\`: a gateway, Redis and two fan-out nodes.
- \`mongo\`: a gateway with MongoDB; \`pair\`: two gateways, MongoDB, Redis and two fan-out nodes.

The columns:

- *live, not stored*: insights that a subscriber received and the store does not have. Must be 0.
- *unseen*: stored insights that a subscriber did not receive, although no close code told it to look for missing insights. Must be 0.
- *twice*: insights that a subscriber received twice. Must be 0.
- *not analysed*: seconds of data that were acknowledged and have no reading.
- *back*: time from the end of the fault until all subscribers receive a device's insights again, for the median and the slowest device.
- *closes*: number of closed sockets by close code. 1000 is the normal end of a session; 1006 includes attempts to connect while no process listens.
- *health*: when health became false, counted from the start of the fault, and when it became true for good, counted from its end; *gone* means
  that the process had ended or did not recover.

| fault | set-up | live, not stored | unseen | twice | not analysed | back, s | subscribers' closes | devices' closes | health | passed |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.map(matrixRow).join('\n')}

Passed: ${tried.length - red.length} of ${tried.length}.${rows.length > tried.length ? ` Not run here: ${rows.length - tried.length}.` : ''}
${red.map(({ fault, failures }) => `- ${fault}: ${failures.join('; ')}`).join('\n')}`.trimEnd();
}

function matrixRow({ fault, setup, skipped, tally, recovery, codes, health, failures }: RowFigures): string {
  if (skipped !== undefined) return `| ${fault} | ${setup} | | | | | | | | | not run: ${skipped} |`;
  const cells = [
    ...[fault, setup, tally?.liveNotStored ?? '', tally?.storedNotSeen ?? '', tally?.duplicates ?? ''],
    tally ? `${tally.notAnalysedSeconds} of ${tally.acknowledgedSeconds} s` : '',
    recovery ? `${seconds(recovery.p50Ms)}, ${seconds(recovery.maxMs)}` : '',
    closes(codes?.apps),
    closes(codes?.devices),
    health ? healthText(health) : '',
    failures.length === 0 ? 'yes' : '**no**',
  ];
  return `| ${cells.join(' | ')} |`;
}

const seconds = (ms: number | null) => (ms === null ? 'never' : (ms / 1000).toFixed(1));

const closes = (codes: Readonly<Record<string, number>> = {}) =>
  Object.entries(codes)
    .map(([code, count]) => `${code} × ${count}`)
    .join(', ');

function healthText({ downAfterMs, wellAfterMs }: NonNullable<RowFigures['health']>): string {
  if (downAfterMs === null) return 'true throughout';
  return `false after ${seconds(downAfterMs)} s, ${wellAfterMs === null ? 'gone' : `true after ${seconds(wellAfterMs)} s`}`;
}

function decoderText(figures: DecoderFigures): string {
  const { seed, frames, decoded, taken, refused, heapBefore, heapAfter } = figures;
  const codes = Object.entries(refused).map(([code, count]) => `${code} ${count.toLocaleString('en')}`);
  return `${frames.toLocaleString('en')} frames (a tenth of them text) in ${figures.seconds.toFixed(0)} s, seed ${seed}: ${decoded.toLocaleString('en')} decoded,
${taken.toLocaleString('en')} accepted by the intake. Refused: ${codes.join(', ')}.

Checked after each frame: no exception; a refusal has a code of the catalogue; accepted values lie within the limits of the protocol; runs
are in order of time, and at most a minute (and a frame's length) ahead of their arrival; \`next_seq\` never decreases; every sequence number
is delivered once or counted as lost. Memory in use after a garbage collection: ${megabytes(heapBefore)} after all code had run once, ${megabytes(heapAfter)} at the end.`;
}

function serviceText(figures: ServiceFuzzFigures): string {
  const { seed, good, before, after, failures } = figures;
  const statuses = Object.entries(figures.statuses).map(([status, count]) => `${status} × ${count}`);
  return `${Math.round(figures.seconds)} s, seed ${seed}: six devices, four subscribers and four REST clients of three accounts sent ${figures.frames.toLocaleString('en')} frames over
${figures.connections.toLocaleString('en')} connections, and ${figures.requests.toLocaleString('en')} requests, good and bad. Closes: ${closes(figures.codes)}. Answers: ${statuses.join(', ')}.

One correct device streamed at the same time. It got ${good.readings} heart rates with errors of at most ${good.worstBpm.toFixed(1)} bpm, at most ${good.latestMs} ms after their data.
Health was checked ${figures.healthLooks} times and was false ${figures.healthNotOk} times. Resident memory was ${megabytes(before.rss)} before and ${megabytes(after.rss)} after; open
descriptors were ${before.descriptors} and ${after.descriptors}.

${failures.length === 0 ? 'All checks passed: the process was still running, no client received data of another account, and no answer was a server error.' : `**Failed:** ${failures.join('; ')}`}`;
}

function soakText(figures: SoakFigures): string {
  const rows = figures.servers.map(
    ({ server, rssSlope, rssAtHalf, rssAtEnd, mostDescriptors, mostHandles }) =>
      `| ${server} | ${rssSlope.toFixed(0)} | ${megabytes(rssAtHalf)} | ${megabytes(rssAtEnd)} | ${mostDescriptors} | ${mostHandles} |`,
  );
  return `${figures.minutes} min, seed ${figures.seed}: about ${figures.devices} devices and ${figures.subscribers} subscribers at a time, which connect and leave (${figures.sessions.toLocaleString('en')} and
${figures.subscriptions.toLocaleString('en')} in all), and two REST clients (${figures.requests.toLocaleString('en')} requests). Health was checked ${figures.healthLooks.toLocaleString('en')} times and was false ${figures.healthNotOk} times.

| server | growth of resident memory, kB a minute | resident memory at half time | at the end | most descriptors | most handles |
|---|---|---|---|---|---|
${rows.join('\n')}

The growth is the median slope over all pairs of measurements in the second half (Theil–Sen).${figures.storeAtEnd > 0 ? ` The store had ${megabytes(figures.storeAtEnd)} at the end, and its write-ahead log had at most ${megabytes(figures.mostWal)}.` : ''}
${figures.failures.length === 0 ? 'All checks passed.' : `**Failed:** ${figures.failures.join('; ')}`}`;
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
