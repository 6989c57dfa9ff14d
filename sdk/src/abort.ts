/**
 * What a call with an aborted signal rejects with: the signal's reason. React Native's signals have no reason, and no
 * `throwIfAborted`.
 */
export function abortReason(signal: AbortSignal): unknown {
  return signal.reason ?? Object.assign(new Error('the operation was aborted'), { name: 'AbortError' });
}

/** @throws the signal's reason, if it has aborted */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortReason(signal);
}
