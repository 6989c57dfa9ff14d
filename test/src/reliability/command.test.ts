import { expect } from 'chai';
import { run } from '../running.js';

const COMMAND = 'test/dist/reliability/command.js';

describe('the reliability commands', () => {
  for (const [words, fault] of [
    [['soak', '--minutes', 'x'], '--minutes must be a number, not x'],
    [['reliability', '--row', 'x'], 'there is no row x; known are '],
    [['x'], 'there is no command x'],
  ] as const)
    it(`refuse ${words.join(' ')} before they run anything, and show how they are used`, async () => {
      const { code, stdout, stderr } = await run(COMMAND, words);
      expect([code, stdout]).to.deep.equal([1, '']);
      expect(stderr).to.include(fault).and.to.include('\nreliability [--part');
    });
});
