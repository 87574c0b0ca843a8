import { describe, expect, it } from 'vitest';
import { disruptionCases } from './disruption-cases.js';
import { runConformance } from './run-conformance.js';

const FILE = 'test/vectors/disruption-sync-1.36.jsonl.gz';

describe('the disruption controller held against recordings of Kubernetes 1.36', () => {
  it('makes of every recorded state what the genuine controller made', async () => {
    const failures: string[] = [];
    const totals = await runConformance(FILE, [disruptionCases], ({ differences, id }) => {
      failures.push(`${id}\n  ${differences.join('\n  ')}`);
    });
    expect(failures.slice(0, 8).join('\n')).toBe('');
    expect(totals).toEqual({ passed: 117, failed: 0, deliberate: 0, sections: [] });
  });
});
