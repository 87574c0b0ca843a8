import { counted } from '@rollkeeper/machinery/text';
import type { FailureSeries } from './failure-series.js';

/** Returns, for example, `3 pods died before they were ready, and none has become ready since (OutOfcpu); the next are created 4s …`. */
export function describeFailures({ delayMs, pods, reason }: FailureSeries): string {
  const who =
    pods === 1 ? '1 pod died before it was ready' : `${counted(pods, 'pod')} died before they were ready`;
  const next = `the next are created ${delayMs / 1000}s after the last of them`;
  return `${who}, and none has become ready since (${reason}); ${next}`;
}
