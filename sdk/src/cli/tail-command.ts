import { INSIGHT_TYPES, SQI_CLASSES } from '../live/insight.js';
import { readingLine } from '../live/reading-line.js';
import { type Command, tellStatus } from './command.js';

export const tailCommand: Command = {
  name: 'tail',
  usage: `tail [--json] [--device ID]… [--type ${INSIGHT_TYPES.join('|')}] [--quality ${SQI_CLASSES.slice(1).join('|')}]
      Prints the live insights of the key.`,
  options: {
    json: { type: 'boolean' },
    device: { type: 'string', multiple: true },
    type: { type: 'string' },
    quality: { type: 'string' },
  },
  run: async (args, { client, print, tell, stop }) => {
    const devices = args.texts('device');
    const type = args.choice('type', INSIGHT_TYPES);
    const quality = args.choice('quality', SQI_CLASSES);
    const filter = {
      ...(devices.length > 0 && { devices }),
      ...(type && { types: [type] }),
      ...(quality && { quality }),
    };
    const onHole = ({ since, until, cause }: { since: number; until: number; cause: Error }) =>
      tell(
        `insights between ${new Date(since).toISOString()} and ${new Date(until).toISOString()} may be missing: ${cause.message}`,
      );
    tell('connecting');
    const live = client.live.subscribe({ onHole, onStatus: tellStatus(tell), ...filter });
    stop.addEventListener('abort', () => live.close());
    for await (const insight of live) await print(args.flag('json') ? JSON.stringify(insight) : readingLine(insight));
  },
};
