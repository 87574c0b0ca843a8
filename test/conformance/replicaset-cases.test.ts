import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ReplicaSetCase } from './replicaset-cases.js';
import { isReplicaSetCase, rulesOf, runReplicaSetCase } from './replicaset-cases.js';

const file = new URL('../vectors/replicaset-sync-1.36.jsonl.gz', import.meta.url);
const cases = gunzipSync(readFileSync(file))
  .toString('utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as ReplicaSetCase);

describe('recorded ReplicaSet syncs', () => {
  it('are all there', () => {
    expect(cases).toHaveLength(515);
    expect(cases.every((testCase) => isReplicaSetCase(testCase))).toBe(true);
  });

  it('come to the same, but where a rule of ours says why not', async () => {
    for (const testCase of cases) {
      const found = await runReplicaSetCase(testCase);
      if (found.length > 0)
        expect(rulesOf(testCase, found), `${testCase.id}: ${found.join('; ')}`).not.toEqual([]);
    }
  });

  it('a wrong expectation is reported field by field', async () => {
    const [first] = cases;
    const wrong = { ...first!, expect: { ...first!.expect, created: 77, error: true } };
    expect(await runReplicaSetCase(wrong)).toEqual([
      `created: expected 77, got ${first!.expect.created}`,
      'error: expected true, got false',
    ]);
  });
});
