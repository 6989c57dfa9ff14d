import { expect } from 'chai';
import { DeviceInsights } from '../client.js';
import { Arguments, UsageError } from './arguments.js';
import { tailCommand } from './tail-command.js';

describe('the command tail', () => {
  it('refuses a device that no insight can come from, instead of waiting for ever', async () => {
    for (const device of ['', 'a b', 'x'.repeat(129)]) {
      const args = new Arguments(['--device', 'band-1', '--device', device], tailCommand.options);
      const surroundings = {
        client: new DeviceInsights({ baseUrl: 'http://127.0.0.1:1', apiKey: 'svc_key' }),
        print: async () => {},
        tell: () => {},
        stop: AbortSignal.abort(),
      };
      const error = await tailCommand.run(args, surroundings).catch((caught: unknown) => caught);
      expect(error, device).to.be.instanceOf(UsageError);
      expect(String(error)).to.contain(`1 to 128 of the characters A-Z a-z 0-9 . _ : -; it is "${device}"`);
    }
  });
});
