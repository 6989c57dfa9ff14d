/** What `REDIS_URL` must be, for the message that says it is not. */
export const REDIS_URL_RULE =
  'must be a redis:// or rediss:// URL (several of a cluster, separated by commas); write special characters of its user and password as %XX, so % as %25';

/** Whether a text is the URL of a Redis server, or of several ones of a cluster, separated by commas. */
export function isRedisUrls(text: string): boolean {
  return text.split(',').every((url) => isRedisUrl(url.trim()));
}

function isRedisUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, username, password } = new URL(text);
  const isServer = /^rediss?:$/.test(protocol) && hostname !== '' && /^(\/\d*)?$/.test(pathname);
  return isServer && isDecodable(username) && isDecodable(password);
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
