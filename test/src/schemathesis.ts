import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonProgram } from '@device-insights/gateway/test-python';
import { fileOf } from './server-process.js';

const SCHEMATHESIS = 'schemathesis==4.32.5';
const run = promisify(execFile);

/** Settings for a run of schemathesis. */
interface FuzzOptions {
  /** REST base. */
  readonly url: string;
  readonly key: string;
  /** A device model that cannot be deleted, one of its channels, and a session: random ids would never match them. */
  readonly modelId: string;
  readonly channelId: string;
  readonly sessionId: string;
  /** Directory for its files. */
  readonly folder: string;
  readonly seed: number;
  readonly maxSeconds: number;
}

/** Facts that the document cannot express, so that a check would report them as a fault. */
const config = ({ modelId, channelId, sessionId }: FuzzOptions) => `
# Broken cursors, "since" after "until", and a ch_id that the model does not have are 400.
[[operations]]
include-operation-id = ["listSessions", "listInsights", "updateDeviceModel"]
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409"]

# Any bytes are a binary body, and few are frames.
[[operations]]
include-operation-id = "createUpload"
checks.positive_data_acceptance.expected-statuses = ["2xx", "400", "401", "403", "404", "409"]
parameters = { "query.device_model_id" = "${modelId}" }

# An Idempotency-Key that came before gives the first answer again, also where its resource has been deleted since.
[[operations]]
include-path-regex = "^/v1/device-models/"
checks.ensure_resource_availability.enabled = false

[[operations]]
include-path-regex = "^/v1/device-models/\\\\{dm_id\\\\}"
parameters = { "path.dm_id" = "${modelId}" }

[[operations]]
include-operation-id = "updateModality"
parameters = { "path.dm_id" = "${modelId}", "path.ch_id" = "${channelId}" }

[[operations]]
include-path-regex = "^/v1/sessions/"
parameters = { "path.id" = "${sessionId}" }
`;

/**
 * Fuzzes a running gateway by its OpenAPI document with all checks of schemathesis (from PyPI). Returns its report;
 * rejects with it if a check failed.
 */
export async function fuzz(options: FuzzOptions): Promise<string> {
  const { url, key, folder, seed, maxSeconds } = options;
  const file = join(folder, 'schemathesis.toml');
  await writeFile(file, config(options));
  const args = ['--config-file', file, 'run', fileOf('gateway/openapi.json'), '--url', url, '--no-color'];
  const bounds = ['--seed', `${seed}`, '--max-examples', '20', '--generation-database', 'none'];
  const header = ['--header', `Authorization: Bearer ${key}`];
  const { stdout } = await run(await pythonProgram(SCHEMATHESIS, 'st'), [...args, ...bounds, ...header], {
    cwd: folder,
    timeout: maxSeconds * 1000,
    maxBuffer: 16 * 1024 * 1024,
  }).catch((error: { stdout?: string }) => {
    throw new Error(`schemathesis found something, or did not end in time:\n${error.stdout ?? ''}`, { cause: error });
  });
  return stdout;
}
