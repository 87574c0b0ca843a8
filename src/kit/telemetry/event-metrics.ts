import type { Meter } from '@opentelemetry/api';
import type { EventEnd, EventRecorderMetrics } from '../events/index.js';
import { METRICS } from './metric-names.js';

const ENDS: readonly EventEnd[] = ['written', 'failed', 'dropped'];

/** What becomes of Events, at zero from the start. */
export function createEventRecorderMetrics(meter: Meter): EventRecorderMetrics {
  const total = meter.createCounter(METRICS.events, {
    description: 'Writes of Events by what became of them',
  });
  for (const outcome of ENDS) total.add(0, { outcome });
  return { ended: (outcome) => total.add(1, { outcome }) };
}
