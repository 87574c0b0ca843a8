// Files of tests share a process: each leaves what belongs to all as it has found it.
import { context, trace } from '@opentelemetry/api';
import { afterAll, beforeAll, expect } from 'vitest';

let environment: NodeJS.ProcessEnv;

beforeAll(() => {
  environment = { ...process.env };
});

// Hooks of a file end before this one, which was there first.
afterAll(() => {
  const tracing = isTracing();
  trace.disable();
  context.disable();
  expect(tracing, 'a tracer provider is left behind').toBe(false);
  expect(process.env, 'the environment is not as it was').toEqual(environment);
});

function isTracing(): boolean {
  const span = trace.getTracer('shared-process').startSpan('left behind');
  span.end();
  return span.isRecording() || span.spanContext().traceId !== '0'.repeat(32);
}
