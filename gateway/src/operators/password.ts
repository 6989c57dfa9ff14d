import { randomBytes, randomInt, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';

/** Costs of scrypt (RFC 7914), as OWASP recommends for passwords: 32 MB, three times. */
const COSTS = { N: 32_768, r: 8, p: 3 };
const MAX_MEMORY = 64 * 1024 * 1024;
const SALT_BYTES = 16;
const HASH_BYTES = 32;
const FORM = /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([\w-]+)\$([\w-]+)$/;
/** Letters and digits that are not confused with each other. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const NEW_LENGTH = 20;

/** Allowed length of a password, characters. */
export const PASSWORD_LENGTH = { min: 12, max: 200 } as const;

/** Hashes a password with its own salt: `scrypt$N$r$p$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derived(password, salt, COSTS);
  return ['scrypt', COSTS.N, COSTS.r, COSTS.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * Whether a password matches a hash. Takes the same time if `hashed` is null, so that it does not reveal which names
 * exist.
 */
export async function isPassword(password: string, hashed: string | null): Promise<boolean> {
  const [, n, r, p, salt = '', hash = ''] = FORM.exec(hashed ?? '') ?? [];
  const costs = n === undefined ? COSTS : { N: Number(n), r: Number(r), p: Number(p) };
  const found = await derived(password, Buffer.from(salt, 'base64url'), costs);
  const expected = Buffer.from(hash, 'base64url');
  return expected.length === HASH_BYTES && timingSafeEqual(found, expected);
}

/** A generated password, to be shown once: about 100 random bits. */
export function newPassword(): string {
  const letters = Array.from({ length: NEW_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]);
  return [0, 5, 10, 15].map((at) => letters.slice(at, at + 5).join('')).join('-');
}

function derived(password: string, salt: Buffer, costs: ScryptOptions): Promise<Buffer> {
  const text = password.normalize('NFKC');
  return new Promise((resolve, reject) => {
    scrypt(text, salt, HASH_BYTES, { ...costs, maxmem: MAX_MEMORY }, (error, hash) =>
      error ? reject(error) : resolve(hash),
    );
  });
}
