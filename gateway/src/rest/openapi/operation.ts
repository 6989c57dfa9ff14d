import type { z } from 'zod';
import type { RestContext, RestOptions, RestStep } from '../rest-context.js';

/** An operation of REST: its handler, and its description for OpenAPI. Its refusals follow from its path, method and schemas. */
export interface Operation {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Whether it needs no key. */
  readonly isOpen?: true;
  /** Its query; the answer then is a page, with a Link header. */
  readonly query?: z.ZodObject;
  /** Whether it takes an Idempotency-Key. */
  readonly isIdempotent?: true;
  /** Its JSON body, which is read before `handle`. */
  readonly body?: z.ZodType;
  /** Success: an object, a list of them, or nothing; `fhir` if also as a Bundle, `csv` if also as CSV. */
  readonly answer: {
    readonly description: string;
    readonly schema?: z.ZodType;
    readonly list?: z.ZodType;
    readonly fhir?: true;
    readonly csv?: true;
  };
  /** Whether it is refused (409) while others need the resource. */
  readonly mayConflict?: true;
  /** Whether its body is the frames of a device; its answer then is no page, though it has a query. */
  readonly isUpload?: true;
  /** Steps before `handle`; default: those that follow from `body` and `isIdempotent`. */
  readonly steps?: (options: RestOptions) => RestStep[];
  /** Sets the body of the answer; the status follows from the method (`successOf`). */
  readonly handle: (ctx: RestContext, options: RestOptions) => unknown;
}

/** The status of an operation that succeeds. */
export function successOf(method: string): number {
  return { POST: 201, DELETE: 204 }[method] ?? 200;
}

/** Operations by method and path, in the order of the document. */
export type Operations = Readonly<Record<`${'GET' | 'POST' | 'PUT' | 'DELETE'} ${string}`, Operation>>;
