export { ManualClock } from '@device-insights/fanout/process/manual-clock';
