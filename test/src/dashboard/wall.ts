import type { Page } from 'playwright-core';
import type { Desk } from './desk.js';

/** Devices of a full wall. */
export const DEVICES = 100;

/** Opens the wall on a page of a signed-in person whose readings come from `send`, with a tile for each device. */
export async function showWall(page: Page, desk: Desk, send: (reading: object) => void): Promise<void> {
  await page.goto(`${desk.service.url}/dashboard/a/${await desk.account(page)}/live`);
  await page.getByRole('status').getByText('Live').waitFor();
  for (let n = 0; n < DEVICES; n++) for (const reading of readings(n, 60)) send(reading);
  await page
    .locator('.tile')
    .nth(DEVICES - 1)
    .waitFor();
}

/** The readings that a device has in a second. */
export function readings(n: number, heartRate: number): object[] {
  const device = { device_id: `bed-${n}`, session_id: '0', confidence: 0.9, sqi_class: 'excellent', ts: Date.now() };
  return [
    { ...device, type: 'hr', value: heartRate, unit: 'bpm' },
    { ...device, type: 'spo2', value: 95 + (n % 4), unit: '%' },
    { ...device, type: 'rr', value: 12 + (n % 7), unit: 'brpm' },
  ];
}
