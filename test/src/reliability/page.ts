import type { DecoderFigures } from './decoder-fuzz.js';
import { type Kept, kept, type PartName } from './figures.js';
import type { RowFigures } from './matrix.js';
import type { ServiceFuzzFigures } from './service-fuzz.js';
import type { SoakFigures } from './soak.js';

const COMMANDS: Readonly<Record<PartName, string>> = {
  matrix: 'npm run reliability -- --part matrix',
  decoder: 'npm run reliability -- --part decoder',
  service: 'npm run reliability -- --part service',
  soak: 'npm run soak -- --minutes 60',
  'soak-mongo-redis': 'npm run soak -- --minutes 60 --mongo-redis',
};

const INTRODUCTION = `<!-- Made by npm run reliability from test/figures; do not edit. -->
# Reliability

What was done to the service, on real processes, and what came of it. \`npm run reliability\` measures all of it but the soak and writes this
page (some twenty minutes); \`npm run reliability -- --page\` writes it from the figures that are kept in [test/figures](test/figures). The tests of
every change run the same rows with fewer devices and shorter stops.
`;

const NOT_TRIED = `## Not tried

- Power cuts and disks that lie about a sync; disks that are slow or fail to read; a machine that runs out of memory.
- A MongoDB of several members, and MongoDB itself: SecantusDB stands in for it, with \`--sync-on-commit\`; its \`replSetStepDown\` and
  \`failCommand\` are taken for the real ones.
- Redis Cluster under load (its bus has tests of its own), Redis with replicas.
- Lost, late or doubled packets, half-open links and partitions between machines: all processes are on one machine.
- More load than one machine gives: these are counts of what is lost, not of what can be carried.
`;

/** Builds the page RELIABILITY.md from the saved results. */
export function page(): string {
  const sections = [
    section('matrix', 'Faults under load', matrixText),
    section('decoder', 'Decoder and intake, fuzzed', decoderText),
    section('service', 'The whole service, fuzzed', serviceText),
    section('soak', 'Soak: embedded store', soakText),
    section('soak-mongo-redis', 'Soak: MongoDB and Redis', soakText),
  ];
  return `${[INTRODUCTION, ...sections, NOT_TRIED].join('\n')}`;
}

function section<P extends PartName>(
  part: P,
  title: string,
  text: (figures: NonNullable<ReturnType<typeof kept<P>>>['figures']) => string,
): string {
  const there = kept(part);
  const body = there ? `${origin(part, there)}\n\n${text(there.figures)}` : `Not measured yet: \`${COMMANDS[part]}\`.`;
  return `## ${title}\n\n${body}\n`;
}

const origin = (part: PartName, { date, cores, node }: Kept<unknown>) =>
  `\`${COMMANDS[part]}\` · ${date} · ${cores} cores, Node ${node}`;

function matrixText(rows: readonly RowFigures[]): string {
  const { devices, subscribers, stopMs } = rows[0] ?? { devices: 0, subscribers: 0, stopMs: 0 };
  const tried = rows.filter(({ skipped }) => skipped === undefined);
  const red = tried.filter(({ failures }) => failures.length > 0);
  return `${devices} devices stream a pulse in real time (and send again what is asked for), ${subscribers} subscribers each see all of them; a stop
lasts ${stopMs / 1000} s. When all is well again one device reconnects and a new one joins. Set-ups: \`one\` gateway with the embedded store;
\`disk\` and \`clock\` the same on a disk of 48 MB and with a wall clock that is set; \`nodes\` a gateway, Redis and two fan-out nodes;
\`mongo\` a gateway over MongoDB; \`pair\` two gateways, MongoDB, Redis and two fan-out nodes.

Three columns must be 0: *live, not stored* (shown and not in the store), *unseen* (stored, not shown, and no close told the subscriber to look)
and *twice*. *Not analysed* are seconds of data that were acknowledged and have no reading. *Back* is from the end of the fault until all
subscribers see a device again: the median device and the slowest. Closes: code and how often; 1000 are the sessions' ends, 1006 are also
attempts while nothing listens. Health: when it first said so, after the fault began, and when it was well for good, after the fault ended.

| fault | set-up | live, not stored | unseen | twice | not analysed | back, s | subscribers' closes | devices' closes | health | held |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.map(matrixRow).join('\n')}

Held: ${tried.length - red.length} of ${tried.length}.${rows.length > tried.length ? ` Not tried here: ${rows.length - tried.length}.` : ''}
${red.map(({ fault, failures }) => `- ${fault}: ${failures.join('; ')}`).join('\n')}`.trimEnd();
}

function matrixRow({ fault, setup, skipped, tally, recovery, codes, health, failures }: RowFigures): string {
  if (skipped !== undefined) return `| ${fault} | ${setup} | | | | | | | | | not tried: ${skipped} |`;
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
  return `false after ${seconds(downAfterMs)} s, ${wellAfterMs === null ? 'gone' : `well after ${seconds(wellAfterMs)} s`}`;
}

function decoderText(figures: DecoderFigures): string {
  const { seed, frames, decoded, taken, refused, heapBefore, heapAfter } = figures;
  const codes = Object.entries(refused).map(([code, count]) => `${code} ${count.toLocaleString('en')}`);
  return `${frames.toLocaleString('en')} frames (a tenth of them text) in ${figures.seconds.toFixed(0)} s, seed ${seed}: ${decoded.toLocaleString('en')} decoded,
${taken.toLocaleString('en')} taken by the intake. Refused: ${codes.join(', ')}.

Held after each: nothing throws, a refusal has a code of the catalogue, what is accepted lies within the protocol's bounds, runs come in order
of time and at most a minute (and a frame's length) ahead of their arrival, \`next_seq\` only grows, and every number is delivered once or
counted as lost. In use after a collection: ${megabytes(heapBefore)} when all code had run, ${megabytes(heapAfter)} at the end.`;
}

function serviceText(figures: ServiceFuzzFigures): string {
  const { seed, good, before, after, failures } = figures;
  const statuses = Object.entries(figures.statuses).map(([status, count]) => `${status} × ${count}`);
  return `${Math.round(figures.seconds)} s, seed ${seed}: six devices, four subscribers and four REST clients of three accounts sent ${figures.frames.toLocaleString('en')} frames over
${figures.connections.toLocaleString('en')} connections, and ${figures.requests.toLocaleString('en')} requests, good and bad. Closes: ${closes(figures.codes)}. Answers: ${statuses.join(', ')}.

A good device beside them had ${good.readings} heart rates, at most ${good.worstBpm.toFixed(1)} bpm off, the latest ${good.latestMs} ms after its data. Health was asked
${figures.healthLooks} times and was not true ${figures.healthNotOk} times. Resident memory ${megabytes(before.rss)} before and ${megabytes(after.rss)} after, descriptors ${before.descriptors} and ${after.descriptors}.

${failures.length === 0 ? 'All held: the process lives, nobody saw what is another account’s, no answer was a server error.' : `**Did not hold:** ${failures.join('; ')}`}`;
}

function soakText(figures: SoakFigures): string {
  const rows = figures.servers.map(
    ({ server, rssSlope, rssAtHalf, rssAtEnd, mostDescriptors, mostHandles }) =>
      `| ${server} | ${rssSlope.toFixed(0)} | ${megabytes(rssAtHalf)} | ${megabytes(rssAtEnd)} | ${mostDescriptors} | ${mostHandles} |`,
  );
  return `${figures.minutes} min, seed ${figures.seed}: about ${figures.devices} devices and ${figures.subscribers} subscribers at a time, coming and going (${figures.sessions.toLocaleString('en')} and
${figures.subscriptions.toLocaleString('en')} in all), and two readers of REST (${figures.requests.toLocaleString('en')} requests). Health was asked ${figures.healthLooks.toLocaleString('en')} times and was not true ${figures.healthNotOk} times.

| server | resident memory, kB a minute | at half time | at the end | most descriptors | most handles |
|---|---|---|---|---|---|
${rows.join('\n')}

The slope is the median of all pairs' slopes over the second half.${figures.storeAtEnd > 0 ? ` The store has ${megabytes(figures.storeAtEnd)} at the end, its log had ${megabytes(figures.mostWal)} at most.` : ''}
${figures.failures.length === 0 ? 'All held.' : `**Did not hold:** ${figures.failures.join('; ')}`}`;
}

const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
