import { createConnection } from 'mongoose';

/** Sends a command to a MongoDB's `admin` database, as an operator would; resolves with its answer. */
export async function adminCommand(uri: string, command: Record<string, unknown>): Promise<Record<string, unknown>> {
  const connection = createConnection(uri, { serverSelectionTimeoutMS: 5000 });
  connection.on('error', () => {});
  try {
    await connection.asPromise();
    return await connection.getClient().db('admin').command(command);
  } finally {
    await connection.close(true);
  }
}
