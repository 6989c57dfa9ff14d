/** Records of one person under several names: MIT-BIH records 201 and 202, and those that nstdb adds noise to. */
const SAME: Readonly<Record<string, string>> = { 'mitarr-202': 'mitarr-201', 'mitdb-100': 'mitarr-100' };

/** Whose recording it is, by its name: `spc-s02-t01` is of spc-s02, `bidmc-03-ecg` of bidmc-03. */
export function personOf(id: string): string {
  const person = id
    .split('-', 2)
    .join('-')
    .replace(/^nstdb-(\d+)e\d+$/, 'mitarr-$1');
  return SAME[person] ?? person;
}
