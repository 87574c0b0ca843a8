import { describe, expect, it } from 'vitest';
import { formats } from '../../src/testing/conformance/formats.js';
import { runConformance } from '../../src/testing/conformance/run-conformance.js';

const RECORDING = new URL('../vectors/surface-1.36.json.gz', import.meta.url).pathname;
/** How much of each section agrees with a genuine server of 1.36.2. These numbers only rise. */
const FLOORS: Readonly<Record<string, number>> = {
  discovery: 317,
  'aggregated discovery': 21,
  'openapi definitions': 341,
  'openapi paths': 0,
  'openapi v3 paths': 22,
  paths: 25,
  headers: 8,
  'wire headers': 1,
  'wire encoding': 5,
  'wire accept': 62,
  'wire err': 17,
  'wire proto': 60,
  'table columns': 0,
};

describe('the recorded surface of a genuine API server', () => {
  it('is ours in at least as many entries as before', { timeout: 120_000 }, async () => {
    const { sections } = await runConformance(RECORDING, formats, () => undefined);
    expect(sections.map(({ section }) => section)).toEqual(Object.keys(FLOORS));
    for (const { passed, section } of sections) {
      expect(passed, section).toBeGreaterThanOrEqual(FLOORS[section] ?? 0);
    }
  });
});
