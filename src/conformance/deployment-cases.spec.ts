import { describe, expect, it } from 'vitest';
import { deploymentCases } from './deployment-cases.js';
import { runConformance } from './run-conformance.js';

describe('the Deployment controller held against recordings of Kubernetes', () => {
  it('leaves every recorded state as the genuine controller did', async () => {
    const failures: string[] = [];
    const totals = await runConformance(
      'test/vectors/deployment-sync.jsonl.gz',
      [deploymentCases],
      (id, differences) => failures.push(`${id}\n  ${differences.join('\n  ')}`),
    );
    expect(failures.slice(0, 8).join('\n')).toBe('');
    expect(totals).toEqual({ passed: 400, failed: 0 });
  });
});
