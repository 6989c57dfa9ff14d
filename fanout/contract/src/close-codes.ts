/** Close codes of both sockets (ingest protocol, section 6). */
export const CLOSE = {
  normal: { code: 1000, reconnect: false, meaning: 'normal closure' },
  tooLarge: { code: 1009, reconnect: false, meaning: 'frame larger than max_frame_bytes' },
  restarting: { code: 1012, reconnect: true, meaning: 'the node is restarting or draining' },
  overloaded: { code: 1013, reconnect: true, meaning: 'overloaded, or a dependency is down' },
  badRequest: {
    code: 4000,
    reconnect: false,
    meaning: 'bad request: a parameter is missing or malformed, or all frames are bad',
  },
  authenticationFailed: {
    code: 4001,
    reconnect: false,
    meaning: 'authentication failed: key missing, invalid, revoked or expired',
  },
  forbidden: {
    code: 4003,
    reconnect: false,
    meaning: 'the key is valid, but may not do this',
  },
  unknownModel: { code: 4004, reconnect: false, meaning: 'there is no such device model' },
  takenOver: { code: 4009, reconnect: false, meaning: 'taken over by a newer connection of the same device' },
  tooManyDevices: { code: 4029, reconnect: false, meaning: 'the account has as many devices as it may have' },
} as const;

/**
 * The reason of a close by ws, which gives none: after a message that is too large (1009) it names the limit.
 *
 * @param given the reason of a close by the service
 */
export function closeReason<Given>(code: number | undefined, given: Given, limitBytes: number): Given | string {
  return code === CLOSE.tooLarge.code ? (given ?? `a message is larger than ${limitBytes} bytes`) : given;
}

export type CloseReason = keyof typeof CLOSE;
