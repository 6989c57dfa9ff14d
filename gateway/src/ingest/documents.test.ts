import { readFileSync } from 'node:fs';
import { CLOSE } from '@device-insights/fanout';
import { expect } from 'chai';
import { REASONS } from '../analysis/reason.js';
import { FRAME_ERRORS } from '../errors.js';
import { NOTICES } from './notices.js';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** The first column of every table row that begins with such a word. */
function rows(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, cell = '']) => cell);
}

describe('The documents of the ingest protocol', () => {
  const page = read('INGEST.md');
  const asyncapi = read('asyncapi.yaml');

  it('list the codes of errors in their order of precedence', () => {
    const errors = page.slice(page.indexOf('| code | cause |'), page.indexOf('Of several causes'));
    expect(rows(errors, /^\| `(\w+)` \|/gm)).to.deep.equal([...FRAME_ERRORS]);
    expect(rows(asyncapi, /^ {14}- (\w+)$/gm)).to.deep.equal([...FRAME_ERRORS]);
  });

  it('list the notices, and the reasons of no_reading in their order of precedence', () => {
    const notices = page.slice(page.indexOf('| notice | when |'), page.indexOf('## 4.'));
    expect(rows(notices, /^\| `(\w+)` \|/gm)).to.deep.equal([...NOTICES, ...REASONS]);
    expect(asyncapi).to.contain(`code: { enum: [${NOTICES.join(', ')}] }`);
    expect(asyncapi).to.contain(`enum: [${REASONS.join(', ')}]`);
  });

  it('list the close codes, and after which of them to reconnect', () => {
    const listed = [...page.matchAll(/^\| (\d{4}) \| .* \| (yes|no)[^|]*\|$/gm)];
    const expected = Object.values(CLOSE).map(({ code, reconnect }) => [String(code), reconnect ? 'yes' : 'no']);
    expect(listed.map(([, code, reconnect]) => [code, reconnect])).to.deep.equal(expected);
  });
});
