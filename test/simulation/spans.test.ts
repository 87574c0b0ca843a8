import { expect, it } from 'vitest';
import { planOf } from './plan.js';
import { simulate } from './simulate.js';

interface EncodedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

const OF_2026 = /^1767\d{15}$/;

it('the spans of a seed are the same again, and lead from a request to what replicas did for it', async () => {
  const act = { atMs: 100, act: 'create or update', name: 'load-0', dice: [0.5, 0.5, 0.5, 0.5] } as const;
  const plan = { ...planOf(7, 2000, { only: [], way: 'store' }), acts: [act] };
  const { spans, violations } = await simulate({ seed: 7, plan, spans: true });
  expect(violations).toEqual([]);
  expect((await simulate({ seed: 7, plan, spans: true })).spans).toBe(spans);
  const { resourceSpans } = JSON.parse(spans ?? '') as {
    readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: EncodedSpan[] }[] }[];
  };
  const all = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  expect(all.length).toBeGreaterThan(10);
  for (const { endTimeUnixNano, startTimeUnixNano } of all) {
    expect([startTimeUnixNano, endTimeUnixNano]).toEqual([
      expect.stringMatching(OF_2026),
      expect.stringMatching(OF_2026),
    ]);
    expect(BigInt(endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
  }
  const byId = new Map(all.map((span) => [span.spanId, span]));
  const wayOf = (span: EncodedSpan): readonly string[] => {
    const parent = span.parentSpanId === undefined ? undefined : byId.get(span.parentSpanId);
    return [...(parent ? wayOf(parent) : []), span.name];
  };
  const ways = new Set(all.map((span) => wayOf(span).join(' > ')));
  expect(ways).toContain('POST deployments > change seen > sync deployment > change seen > sync replicaset');
});
