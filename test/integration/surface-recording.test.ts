import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createProcessMetrics } from '../../src/opentelemetry/index.js';
import { createApiServerMetrics } from '../../src/rollkeeper/cli/api-server-metrics.js';
import { formats } from '../conformance/formats.js';
import { runConformance } from '../conformance/run-conformance.js';
import { SURFACE_DIFFERENCES } from '../conformance/surface-differences.js';
import { METRICS_LIKE_THERE } from '../support/surface-docs.js';

const RECORDING = new URL('../vectors/surface-1.36.json.gz', import.meta.url);
/** The number of entries of each section of the recording. */
const CASES = 2187;

describe('the recorded surface of a genuine API server', () => {
  it('is ours but for the differences that have a reason', { timeout: 240_000 }, async () => {
    const unexplained: object[] = [];
    const explained: string[] = [];
    const { deliberate, failed, passed } = await runConformance(RECORDING.pathname, formats, (found) => {
      if (found.rules.length === 0) unexplained.push(found);
      else explained.push(found.id);
    });
    expect(unexplained).toEqual([]);
    expect(explained.sort()).toEqual(SURFACE_DIFFERENCES.flatMap(({ cases }) => cases).sort());
    expect(passed + failed + deliberate).toBe(CASES);
  });

  it('has the metrics of ours that are named like its own, with the same types', async () => {
    const { metrics: recorded } = JSON.parse(gunzipSync(readFileSync(RECORDING)).toString()) as {
      metrics: readonly string[];
    };
    const there = new Map(recorded.map((line) => line.split(' ') as [string, string]));
    const process = createProcessMetrics();
    const ours = createApiServerMetrics(process);
    const asked = { verb: 'GET', group: '', version: 'v1', resource: 'endpoints', subresource: '', scope: '' } as const;
    ours.served(asked, 200, 1);
    ours.terminated(asked, 429);
    ours.authenticated('success', 'admin', 1);
    ours.authorized('allowed', 1);
    ours.received(asked, 1);
    ours.deprecated(asked);
    const text = await ours.serialize();
    await process.shutdown();
    const served = Array.from(text.matchAll(/^# TYPE (\S+) (\w+)$/gm), ([, name = '', type = '']) => ({ name, type }));
    const alike = served.filter(({ name }) => there.has(name));
    expect(alike.map(({ name, type }) => `${name} ${type}`)).toEqual(
      alike.map(({ name }) => `${name} ${there.get(name)}`),
    );
    expect(alike.map(({ name }) => name).sort()).toEqual([...METRICS_LIKE_THERE].sort());
  }); // prettier-ignore
});
