/** The names of an object's options; the compiler reports one that is missing or too many. */
export type Names<Options> = Readonly<Record<keyof Required<Options>, true>>;

/** @throws TypeError for a name that `names` lacks: a misspelt option would have no effect, and nobody would notice */
export function checkNames(what: string, options: object, names: Readonly<Record<string, true>>): void {
  const unknown = Object.keys(options).find((name) => !(name in names));
  if (unknown !== undefined)
    throw new TypeError(`${what} has no option "${unknown}"; its options are ${Object.keys(names).join(', ')}`);
}
