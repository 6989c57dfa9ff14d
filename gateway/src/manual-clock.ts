export { ManualClock } from '@device-insights/fanout/manual-clock';
