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

Results of faults, fuzzing and long runs on real processes. \`npm run reliability\` measures everything except the soak runs and writes this page
(about twenty minutes). \`npm run reliability -- --page\` only writes the page, from the figures in [test/figures](test/figures). The tests of every
change run the same rows with fewer devices and shorter stops.
`;

const NETWORK = `## The network between machines

Each process ran in a network namespace of its own; packets were dropped without a word, so no side was told. One to eight devices streamed a
pulse in real time, and one to four subscribers received all of them. Measured once, by hand, on 2026-11-24; \`test/src/vanished.test.ts\` and \`test/src/lost-host.test.ts\`
are in the tests of every change, where network namespaces are allowed.

Nothing was live and not stored, unseen or twice in any row. *Not analysed* counts data that were acknowledged; *back* is the time from the end of the
fault until every subscriber receives every device again.

| fault | not analysed | back | what was seen |
|---|---|---|---|
| one of two gateways and Redis: cut for 5 s; only what the gateway sends, for 30 s; only what it receives, for 10 s | 0 | 3.0 to 3.9 s | health of that gateway false after 1 to 2 s; every subscriber closed (1012) at the cut and again when the missing insights come |
| one of two fan-out nodes and Redis: cut for 20 s | 0 | 1.0 s | health of that node false after 2 s; its subscribers closed and served by the other node |
| one of two gateways and MongoDB: cut for 20 s | 0 | under 5 s | health false after 3 to 6 s; its devices paused, and acknowledged again 1 to 2 s after the end |
| the same for 45 s, devices may go to the other gateway | 0 | 1.0 s | the SDK leaves the paused gateway after 30 s; the other one takes the sessions over |
| the same for 15 s, and the devices' links break 1 s after its start | 0 | 1.0 s | they are live at the other gateway within 4 s, before the end of the cut |
| the same for 90 s, devices cannot go to the other gateway | the first 4 s of the new session | 1.9 s | after 60 s the other gateway closes the sessions as those of a dead one; when the first comes back, it stores what it had acknowledged, and the devices go on in new sessions, whose first reading comes after 4 s (\`test/src/cut-off.test.ts\`; with a relay between the gateway and MongoDB) |
| both gateways and MongoDB: cut for 100 s | 0 | 1.4 s | ingest false on both; the SDK leaves after 30 s and waits; the sessions are the same after the end (with relays) |
| device's link: 5 % of packets lost each way, 2 % twice, 2 % out of order, 150 ms each way, 30 s | 0 | | no reading wrong; median delay 0.8 s, longest 7.9 s |
| device's link: 20 % of packets lost each way, 150 ms each way, 45 s | 0 | | no reading wrong; median delay 0.8 s, longest 20 s; one of six devices reconnected |
| a device's link vanishes, and it comes back from another address | 0 | 26 s | the SDK notices by its pings (15 s apart, so within 30 s) and resumes its session |
| Redis cut for 6 s while its name server is silent for 30 s | 0 | 0.9 s after the name server answers | health false; readings are stored meanwhile, REST answers. The log says \`Connection timeout\` and does not name the name server |
| REST over a link of 64 kbit/s | | | 3,734 insights of a session in 7.8 s; the SDK waits for more as long as parts of the answer arrive (\`timeoutMs\` limits the time without one) |
| app on a link of 64 kbit/s, insights at 300 kbit/s | | | others are not delayed, memory grows by 5 MB; closed 33 s after it fell behind, as 1006, because the close code waits behind the data. The kernel's buffers come on top of the limit of 10 s: the last readings were 54 s late. Behind a relay that reads on, 200 s late and not closed after 5 min |
| app and device vanish without closing | | | both sockets are freed within 90 s and the session ends 60 s later; a device's while an acknowledgement is on its way, too. An app to which insights are on their way when it vanishes is left to TCP, which gave up a device after 938 s, and an app after 109 s with \`net.ipv4.tcp_retries2=8\`, as the proxy of the compose files has it |
`;

const NOT_TRIED = `## Not tested

- Power cuts, disks that confirm a sync without doing it, slow disks, read errors, and a machine without free memory.
- MongoDB itself, and a replica set with several members. SecantusDB with \`--sync-on-commit\` takes its place; its \`replSetStepDown\` and
  \`failCommand\` may differ from MongoDB's.
- The service over a MongoDB that keeps up, for an hour.
- Redis Cluster under load (the bus has its own tests with it), and Redis with replicas.
- Partitions between members of a replica set or of a Redis Cluster, and the faults of the network under load.
- The largest load: these runs count losses; they do not look for the limit of throughput.
`;

const STAND_IN = `

What fails is SecantusDB, the stand-in for MongoDB: for each page it sorts all insights of the account, some 20,000 a second, so from
about 70,000 on its calls take longer than 3 s. Then health is false and requests fail (500, as specified) for as long as the load lasts.`;

/** Builds the page RELIABILITY.md from the saved results. */
export function page(): string {
  const sections = [
    section('matrix', 'Faults under load', matrixText),
    section('decoder', 'Decoder and intake, fuzzed', decoderText),
    section('service', 'The whole service, fuzzed', serviceText),
    section('soak', 'Soak: embedded store', soakText),
    section(
      'soak-mongo-redis',
      'Soak: MongoDB and Redis',
      (figures) => `${soakText(figures)}${figures.failures.length > 0 ? STAND_IN : ''}`,
    ),
  ];
  return `${[INTRODUCTION, ...sections, NETWORK, NOT_TRIED].join('\n')}`;
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
