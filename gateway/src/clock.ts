export { type Clock, systemClock, type Timer } from '@device-insights/fanout/process/clock';
