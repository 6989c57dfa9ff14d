/**
 * An offer whose frames can be shared: they do not depend on earlier messages, and the window is not limited (RFC 7692,
 * section 7.1).
 */
const SHARED =
  /^permessage-deflate(?:\s*;\s*(?:server_no_context_takeover|client_no_context_takeover|client_max_window_bits(?:="?(?:8|9|1[0-5])"?)?))*$/;
const NO_TAKEOVER = /;\s*server_no_context_takeover/;
/** Such an offer must be declined (RFC 7692, section 7); `ws` would refuse the handshake. */
const REPEATED = /;\s*(\w+)\b.*;\s*\1\b/;

/**
 * The first offer of a `Sec-WebSocket-Extensions` header under which one compressed frame serves many subscribers;
 * undefined if there is none. Only clients that ask for no context takeover get compression: a single insight shrinks
 * little, and inflating costs the client too.
 */
export function sharedDeflateOffer(header: string | undefined): string | undefined {
  const offers = (header ?? '').split(',').map((offer) => offer.trim());
  return offers.find((offer) => SHARED.test(offer) && NO_TAKEOVER.test(offer) && !REPEATED.test(offer));
}
