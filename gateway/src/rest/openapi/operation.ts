import type { z } from 'zod';

/** An operation of REST, for the OpenAPI document. Its refusals follow from its path, method and schemas. */
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
}

/** Operations by method and path, in the order of the document. */
export type Operations = Readonly<Record<`${'GET' | 'POST' | 'PUT' | 'DELETE'} ${string}`, Operation>>;
