/** A request that may be repeated: a POST carries an Idempotency-Key. */
export interface HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/** An answer with all of its body. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}
