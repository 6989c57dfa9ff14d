/** What an option must be, in words, and whether a value is that. `true`: any value is taken. */
export type Rule = true | readonly [must: string, isRight: (value: unknown) => boolean];
/** The options of an object with the rule of each; the compiler reports one that is missing or too many. */
export type Rules<Options> = Readonly<Record<keyof Required<Options>, Rule>>;

/** The rule of a number that is not below `least`; the option may be left out. */
export function atLeast(least: number): Rule {
  return [`a number of at least ${least}`, (value = least) => typeof value === 'number' && value >= least];
}

/** The rule of a text that matches a pattern. */
export function matching(pattern: RegExp, must: string): Rule {
  return [must, (value) => typeof value === 'string' && pattern.test(value)];
}

/** A device's own identifier, and in words. */
export const DEVICE_ID = /^[\w.:-]{1,128}$/;
export const DEVICE_ID_MUST = '1 to 128 of A-Z a-z 0-9 . _ : -';

export const isDeviceId = (value: unknown) => DEVICE_ID.test(String(value));

/** Whether a value is a whole number from 0 on. */
export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0;
}

/**
 * @param must what the value must be, in words
 * @throws TypeError, or the given kind, if the value is not right. It shows the value, but no key, and no address that may
 * contain one
 */
export function check(
  isRight: boolean,
  name: string,
  must: string,
  value: unknown,
  Kind: ErrorConstructor = TypeError,
): asserts isRight {
  if (isRight) return;
  const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
  throw new Kind(`${name} must be ${must}${name === 'apiKey' || /[?#@]/.test(shown) ? '' : `; it is ${shown}`}`);
}

/**
 * @throws TypeError for a name without a rule (a misspelt option would have no effect, and nobody would notice), and for
 * a value that is not what its rule says
 */
export function checkOptions(what: string, options: object, rules: Readonly<Record<string, Rule>>): void {
  const values: Readonly<Record<string, unknown>> = { ...options };
  for (const name in { ...values, ...rules }) {
    const rule = rules[name];
    if (!rule) throw new TypeError(`${what} has no option "${name}"; its options are ${Object.keys(rules).join(', ')}`);
    if (rule !== true) check(rule[1](values[name]), name, rule[0], values[name]);
  }
}
