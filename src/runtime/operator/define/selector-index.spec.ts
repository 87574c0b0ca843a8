import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLabelSelector } from '../../../machinery/kubernetes/index.js';
import { aPod } from '../../../testing/pod-builder.js';
import { aReplicaSet } from '../../../testing/replicaset-harness.js';
import { selectorIndex, selectorIndexValuesFor } from './selector-index.js';

describe('selectorIndex', () => {
  it('each selector of an object is found under one of its values', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b', 'pod-template-hash'), fc.constantFrom('1', '2'));
    const expressions = fc.array(
      fc.record({ key: fc.constantFrom('a', 'b'), operator: fc.constantFrom('Exists', 'DoesNotExist') }),
      { maxLength: 2 },
    );
    fc.assert(
      fc.property(labels, expressions, labels, (matchLabels, matchExpressions, podLabels) => {
        const selector = { matchLabels, matchExpressions };
        if (!compileLabelSelector(selector)(podLabels)) return;
        const filed = selectorIndex(aReplicaSet({ selector }));
        const looked = selectorIndexValuesFor(aPod({ labels: podLabels }));
        expect(filed.some((value) => looked.includes(value))).toBe(true);
      }),
      { seed: 20261121 },
    );
  });

  it('files under the hash, which few objects share', () => {
    const selector = { matchLabels: { app: 'web', 'pod-template-hash': 'abc' } };
    expect(selectorIndex(aReplicaSet({ selector }))).toEqual(['default/pod-template-hash=abc']);
  });
});
