import { expect } from 'chai';
import { personOf } from './people.js';

describe('the person of a recording', () => {
  it('is in its name', () => {
    expect(['spc-s02-t01', 'troika-07', 'maxwrist-a-curl-1', 'bidmc-03-ecg'].map(personOf)).to.deep.equal([
      'spc-s02',
      'troika-07',
      'maxwrist-a',
      'bidmc-03',
    ]);
  });

  it('is one in the sets that come from the same records', () => {
    expect(['nstdb-118e06', 'mitdb-100', 'mitarr-202'].map(personOf)).to.deep.equal([
      'mitarr-118',
      'mitarr-100',
      'mitarr-201',
    ]);
  });
});
