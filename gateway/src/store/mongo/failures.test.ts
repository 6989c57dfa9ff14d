import { expect } from 'chai';
import { mongo } from 'mongoose';
import { type Meaning, meaningOf, told } from './failures.js';

/** What each class that the driver exports means; a class that a new version brings must be put here. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  MongoError: 'not now',
  MongoDriverError: 'not now',
  MongoSystemError: 'not now',
  MongoRuntimeError: 'not now',
  MongoServerError: 'not now',
  MongoBulkWriteError: 'not now',
  MongoClientBulkWriteError: 'not now',
  MongoWriteConcernError: 'not now',
  MongoNetworkError: 'not now',
  MongoNetworkTimeoutError: 'not now',
  MongoServerSelectionError: 'not now',
  MongoOperationTimeoutError: 'not now',
  MongoStalePrimaryError: 'not now',
  MongoUnexpectedServerResponseError: 'not now',
  MongoDecompressionError: 'not now',
  MongoNotConnectedError: 'not now',
  MongoServerClosedError: 'not now',
  MongoTopologyClosedError: 'not now',
  MongoClientClosedError: 'not now',
  MongoExpiredSessionError: 'not now',
  MongoCursorExhaustedError: 'not now',
  MongoAWSError: 'not now',
  MongoAzureError: 'not now',
  MongoGCPError: 'not now',
  MongoOIDCError: 'not now',
  MongoKerberosError: 'not now',
  MongoChangeStreamError: 'not now',
  MongoGridFSChunkError: 'not now',
  MongoGridFSStreamError: 'not now',
  MongoClientBulkWriteCursorError: 'not now',
  MongoClientBulkWriteExecutionError: 'not now',
  MongoAPIError: 'bug',
  MongoInvalidArgumentError: 'bug',
  MongoParseError: 'bug',
  MongoTransactionError: 'bug',
  MongoBatchReExecutionError: 'bug',
  MongoCursorInUseError: 'bug',
  MongoTailableCursorError: 'bug',
  MongoCompatibilityError: 'bug',
  MongoMissingCredentialsError: 'bug',
  MongoMissingDependencyError: 'bug',
};

const serverError = (code: number, ...errorLabels: string[]) =>
  new mongo.MongoServerError({ message: 'a fault', code, errorLabels });

/** As the driver does with every error of a command of a bulk write. */
const inBulk = (error: unknown) =>
  new mongo.MongoBulkWriteError(error as mongo.MongoError, {} as mongo.BulkWriteResult);

describe('a failure of MongoDB', () => {
  it('has the meaning in the table for each error class of the driver, alone and in a bulk write', () => {
    const classes = Object.entries(mongo).filter(([name]) => /^Mongo(?!Crypt).*Error$/.test(name));
    const found = classes.map(([name, each]) => {
      const { prototype } = each as { prototype: object };
      const error: unknown = Object.create(prototype, { errorLabelSet: { value: new Set() } });
      return [name, meaningOf(error)];
    });
    expect(Object.fromEntries(found)).to.deep.equal(MEANINGS);
  });

  it('is a refusal exactly if the server refuses the content', () => {
    for (const code of [22, 121, 10334, 11000]) expect(meaningOf(serverError(code)), String(code)).to.equal('refused');
    const passing = [1, 2, 6, 7, 8, 13, 18, 26, 50, 59, 64, 79, 89, 91, 100, 112, 146, 189, 202, 251, 262, 292, 9001];
    for (const code of [...passing, 10107, 11600, 11601, 11602, 13435, 13436, 14031, 16500, 0, 999_999])
      expect(meaningOf(serverError(code)), String(code)).to.equal('not now');
    expect(meaningOf(serverError(11000, 'TransientTransactionError'))).to.equal('not now');
    expect(meaningOf(new mongo.BSON.BSONError('cyclic'))).to.equal('refused');
    expect(meaningOf(new TypeError('x is undefined'))).to.equal('bug');
  });

  it('has the same meaning in a bulk write as alone', () => {
    for (const error of [
      new mongo.MongoNetworkError('gone'),
      new mongo.MongoDriverError('Timed out while checking out a connection from connection pool'),
      new mongo.MongoInvalidArgumentError('too large'),
      serverError(14031),
      serverError(11000),
    ])
      expect(meaningOf(inBulk(error)), error.message).to.equal(meaningOf(error));
    const writes = (...codes: number[]) => ({
      message: 'x',
      code: codes[0],
      writeErrors: codes.map((code) => ({ code })),
    });
    expect(meaningOf(inBulk(writes(11000, 11000)))).to.equal('refused');
    expect(meaningOf(inBulk(writes(11000, 14031)))).to.equal('not now');
  });

  it("is told with the driver's times in whole milliseconds", () => {
    const error = new mongo.MongoNetworkError('no answer of 10.0.0.123 after 3001.089288999996 ms');
    expect(String(told(error))).to.include('no answer of 10.0.0.123 after 3001 ms');
  });
});
