import { expect, it } from 'vitest';
import { createProcessMetrics } from '../../src/opentelemetry/index.js';
import { lintExposition } from './support/exposition-lint.js';

it.each([
  [
    '# HELP a_seconds A.\n# TYPE a_seconds gauge\na_seconds{quantile="1"} 1',
    'non-summary metrics should not have "quantile" label',
  ],
  ['# HELP a A.\n# TYPE a counter\na 1', 'counter metrics should have "_total" suffix'],
  [
    '# HELP a_total A.\n# TYPE a_total gauge\na_total 1',
    'non-counter metrics should not have "_total" suffix',
  ],
  ['# TYPE a gauge\na 1', 'no help text'],
  ['# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1', 'use a base unit, in full'],
])('the linter finds what promtool finds in %j', (text, problem) => {
  expect(lintExposition(text)).toEqual([expect.stringContaining(problem)]);
});

it('the metrics of a process have nothing that promtool warns about', async () => {
  const metrics = createProcessMetrics();
  try {
    const text = await metrics.serialize();
    expect(text).toContain('nodejs_eventloop_delay_seconds{percentile="99"}');
    expect(lintExposition(text)).toEqual([]);
  } finally {
    await metrics.shutdown();
  }
});
