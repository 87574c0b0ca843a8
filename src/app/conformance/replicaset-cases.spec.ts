import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { ReplicaSetCase } from './replicaset-cases.js';
import { isReplicaSetCase, runReplicaSetCase } from './replicaset-cases.js';

const file = new URL('../../../test/vectors/replicaset-sync.jsonl.gz', import.meta.url);
const cases = gunzipSync(readFileSync(file))
  .toString('utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as ReplicaSetCase);

describe('recorded ReplicaSet syncs', () => {
  it('are all there', () => {
    expect(cases).toHaveLength(200);
    expect(cases.every((testCase) => isReplicaSetCase(testCase))).toBe(true);
  });

  it.each(cases)('$id comes to the same', async (testCase) => {
    expect(await runReplicaSetCase(testCase)).toEqual([]);
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
