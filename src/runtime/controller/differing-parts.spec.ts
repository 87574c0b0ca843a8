import { describe, expect, it } from 'vitest';
import type { Deployment } from '../../machinery/kubernetes/index.js';
import { TRACE_ANNOTATION } from '../../machinery/trace-context/index.js';
import { differingParts } from './differing-parts.js';

function web(replicas: number, metadata: object = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { namespace: 'a', name: 'web', resourceVersion: '7', ...metadata },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template: {} },
  };
}

describe('parts that differ', () => {
  it('is named by section and field, noise left out', () => {
    const before = web(1, { resourceVersion: '6', labels: { a: '1' } });
    expect(differingParts(before, web(2))).toEqual(['metadata.labels', 'spec.replicas']);
  });

  it('is nothing between equals, and a whole section that was not there', () => {
    expect(differingParts(web(1), web(1, { resourceVersion: '8' }))).toEqual([]);
    expect(differingParts(web(1), { ...web(1), status: { replicas: 1 } } as Deployment)).toEqual(['status']);
  });

  it('is an annotation, but for the one that names the trace of the last write', () => {
    const traced = (trace: string, others: object = {}) =>
      web(1, { annotations: { [TRACE_ANNOTATION]: trace, ...others } });
    expect(differingParts(web(1), traced('a'))).toEqual([]);
    expect(differingParts(traced('a', { b: '1' }), traced('c', { b: '1' }))).toEqual([]);
    expect(differingParts(traced('a', { b: '1' }), traced('a', { b: '2' }))).toEqual([
      'metadata.annotations',
    ]);
    expect(differingParts(traced('a', { b: '1' }), web(1))).toEqual(['metadata.annotations']);
  });
});
