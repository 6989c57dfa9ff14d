import { Error as MongooseErrors, mongo } from 'mongoose';
import { StoreRefused, StoreUnavailable } from '../store.js';

/**
 * The meaning of a failed call: `refused` for its contents; `not now`, to be retried; or a `bug`, of this program or of
 * its configuration, which is passed on unchanged. Only refused data are given up.
 */
export type Meaning = 'refused' | 'not now' | 'bug';

/**
 * Error codes with which the server refuses contents. Every other code means "not now", labelled or not: time limits
 * (50, 202, 262), no primary or a step-down (189, 10107, 11600, 11602, 13435, 13436), conflicts (112, 251), a write
 * concern that was not met (64, 100), memory and disk (146, 14031), rights (13, 18), and all unknown codes.
 */
const REFUSED_CODES: ReadonlySet<unknown> = new Set([
  22, // InvalidBSON
  121, // DocumentValidationFailure
  10334, // BSONObjectTooLarge
  11000, // DuplicateKey
]);

/** The error classes of the driver and of mongoose; the first match determines the meaning. */
const CLASSES: readonly (readonly [name: abstract new (...args: never[]) => Error, Meaning])[] = [
  // The value cannot be converted to the type of its field.
  [mongo.BSON.BSONError, 'refused'],
  [MongooseErrors.CastError, 'refused'],
  [MongooseErrors.ValidationError, 'refused'],
  [MongooseErrors.MongooseServerSelectionError, 'not now'],
  [MongooseErrors, 'bug'],
  // A connection, a session or a cursor that no longer exists.
  [mongo.MongoNotConnectedError, 'not now'],
  [mongo.MongoServerClosedError, 'not now'],
  [mongo.MongoTopologyClosedError, 'not now'],
  [mongo.MongoClientClosedError, 'not now'],
  [mongo.MongoExpiredSessionError, 'not now'],
  [mongo.MongoCursorExhaustedError, 'not now'],
  // A wrong call, or an invalid URI.
  [mongo.MongoAPIError, 'bug'],
  [mongo.MongoParseError, 'bug'],
  // The network, the pool (whose classes the driver does not export), the selection of a server, and the rest.
  [mongo.MongoError, 'not now'],
];

/** The meaning of a call's error. A bulk write wraps an error of the driver in its own error. */
export function meaningOf(error: unknown): Meaning {
  if (error instanceof mongo.MongoBulkWriteError && error.errorResponse instanceof Error)
    return meaningOf(error.errorResponse);
  if (error instanceof mongo.MongoServerError) return isRefusal(error) ? 'refused' : 'not now';
  return CLASSES.find(([name]) => error instanceof name)?.[1] ?? 'bug';
}

/** The error that the caller gets. */
export function told(error: unknown): unknown {
  const meaning = meaningOf(error);
  if (meaning === 'bug' || !(error instanceof Error)) return error;
  const message = error.message.replace(/\d+\.\d+(?= ?ms\b)/g, (ms) => `${Math.round(Number(ms))}`);
  if (meaning === 'refused') return new StoreRefused(`MongoDB refused the operation: ${message}`, { cause: error });
  return new StoreUnavailable(`MongoDB could not do the operation now: ${message}${hint(error)}`, {
    cause: error,
  });
}

/** MongoDB's code of a failed authentication. */
const AUTHENTICATION_FAILED = 18;

/** What to check where the message of the driver does not say it; otherwise empty. */
function hint(error: Error): string {
  const { reason, code } = error as {
    readonly reason?: Partial<mongo.TopologyDescription> | null;
    readonly code?: unknown;
  };
  if (code === AUTHENTICATION_FAILED)
    return '; check the user, the password (special characters as %XX) and authSource in MONGODB_URI';
  // The driver forgets each server that is of another replica set, and then only says that it found none in time.
  if (reason?.setName && reason.servers?.size === 0)
    return `; no server belongs to the replica set ${reason.setName}: check replicaSet in MONGODB_URI`;
  return '';
}

/** If a bulk write has several errors, each must be a refusal. A label means that a repetition would be accepted. */
function isRefusal(error: mongo.MongoServerError): boolean {
  if (error.errorLabels.length > 0 || !REFUSED_CODES.has(error.code)) return false;
  const writes = error instanceof mongo.MongoBulkWriteError ? [error.writeErrors].flat() : [];
  return writes.every(({ code }) => REFUSED_CODES.has(code));
}
