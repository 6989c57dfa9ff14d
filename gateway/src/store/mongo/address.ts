import { mongo } from 'mongoose';

/**
 * What is wrong with the URI of MongoDB, as its driver says; null if nothing is. Of the driver's messages only those of
 * its parser are shown: others may hold a part of the password.
 */
export function faultOfMongoUri(uri: string): string | null {
  try {
    new mongo.MongoClient(uri);
    return null;
  } catch (error) {
    return error instanceof mongo.MongoParseError ? error.message : 'its servers are not valid';
  }
}
