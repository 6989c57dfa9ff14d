import { once } from 'node:events';
import { readRecording } from '@device-insights/sdk/node';
import { Command, InvalidArgumentError } from 'commander';
import { analyseOffline } from './offline.js';

/** Reads `a,b` or `a,b,c`. */
function parseCurve(text: string): number[] {
  const curve = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  if (curve.length < 2 || curve.length > 3 || !curve.every(Number.isFinite))
    throw new InvalidArgumentError('It must be two or three numbers, such as 110,-25 (SpO2 = a + b R + c R²).');
  return curve;
}

async function analyze(file: string, options: { spo2Curve?: number[] }): Promise<void> {
  const recording = await readRecording(file);
  for await (const insight of analyseOffline(recording, options.spo2Curve ?? null))
    if (!process.stdout.write(`${JSON.stringify(insight)}\n`)) await once(process.stdout, 'drain');
}

const command = new Command('analyze')
  .description(
    "Computes the insights of a recording, one JSON object a line in the stored form; the recording's t = 0 is 0 ms.",
  )
  .argument('<file>', 'the recording: its ID.json (sdk/RECORDINGS.md)')
  .option('--spo2-curve <a,b[,c]>', "the device's curve, SpO2 = a + b R + c R²", parseCurve)
  .action(analyze);

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

command.parseAsync().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
