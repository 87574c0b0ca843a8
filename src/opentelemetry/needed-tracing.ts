import type { Tracing } from '@rollkeeper/runtime/telemetry';
import type { TracingOptions } from './tracing.js';
import { sendsSpans, untraced } from './untraced.js';

/** As `startTracing`, whose SDK is loaded only if there is something to trace for. */
export async function startNeededTracing(options: TracingOptions): Promise<Tracing> {
  const { env, processors = [] } = options;
  if (!sendsSpans(env) && processors.length === 0) return untraced();
  const { startTracing } = await import('./tracing.js');
  return startTracing(options);
}
