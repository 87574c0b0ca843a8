import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../machinery/kubernetes/index.js';
import type { PodTemplateSpec } from '../../../machinery/kubernetes/index.js';
import { equalIgnoringHash, podTemplateHash } from './pod-template.js';

const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'a', image: 'app:1' }] },
};

describe('pod templates', () => {
  it('are equal whatever hash label they carry, in whatever order their keys are', () => {
    const other = {
      spec: { containers: [{ image: 'app:1', name: 'a' }] },
      metadata: { labels: { 'pod-template-hash': 'x', app: 'web' } },
    };
    expect(equalIgnoringHash(template, other)).toBe(true);
    expect(podTemplateHash(other)).toBe(podTemplateHash(template));
  });

  it('differ when their pods would', () => {
    const other = { ...template, spec: { containers: [{ name: 'a', image: 'app:2' }] } };
    expect(equalIgnoringHash(template, other)).toBe(false);
    expect(podTemplateHash(other)).not.toBe(podTemplateHash(template));
  });

  it('differ in the last digit of an integer that no double holds', () => {
    const [one, other] = ['9007199254740992', '9007199254740993'].map((grace) => ({
      ...template,
      spec: parseJson(`{"terminationGracePeriodSeconds":${grace}}`) as PodTemplateSpec['spec'],
    }));
    expect(equalIgnoringHash(one!, other!)).toBe(false);
    expect(podTemplateHash(one!)).not.toBe(podTemplateHash(other!));
  });

  it('empty and absent fields are the same', () => {
    const other = {
      ...template,
      metadata: { ...template.metadata, annotations: {}, creationTimestamp: undefined },
    };
    expect(equalIgnoringHash(template, other)).toBe(true);
    expect(podTemplateHash(other)).toBe(podTemplateHash(template));
  });

  it('the hash is stable over releases, and of the safe alphabet', () => {
    expect(podTemplateHash(template)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{10}$/);
    expect(podTemplateHash(template)).toBe('57rpkchqmf');
  });

  it('each collision gives another hash', () => {
    const hashes = [undefined, 1, 2, 3].map((count) => podTemplateHash(template, count));
    expect(new Set(hashes).size).toBe(4);
  });
});
