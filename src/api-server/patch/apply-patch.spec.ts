import { describe, expect, it } from 'vitest';
import { StatusError } from '../errors/index.js';
import { createSchemaRegistry } from '../schema/index.js';
import { applyPatch } from './apply-patch.js';
import type { PatchOptions } from './apply-patch.js';
import { patchTypeOf } from './patch-type.js';

const schemas = createSchemaRegistry();
const pod = Object.freeze({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: Object.freeze({ name: 'p', labels: Object.freeze({ a: '1' }) }),
});

function patched(type: PatchOptions['type'], patch: unknown) {
  const text = typeof patch === 'string' ? patch : JSON.stringify(patch);
  return applyPatch(pod, { type, patch: text, schemas, schema: 'io.k8s.api.core.v1.Pod' });
}

function refusal(type: PatchOptions['type'], patch: unknown): number {
  try {
    patched(type, patch);
  } catch (error) {
    if (error instanceof StatusError) return error.status.code;
    throw error;
  }
  return 200;
}

describe('applyPatch', () => {
  it.each<[PatchOptions['type'], unknown]>([
    ['json', [{ op: 'add', path: '/metadata/labels/b', value: '2' }]],
    ['merge', { metadata: { labels: { b: '2' } } }],
    ['strategic', { metadata: { labels: { b: '2' } } }],
  ])('%s: changes a copy and leaves the original', (type, patch) => {
    expect(patched(type, patch).metadata.labels).toEqual({ a: '1', b: '2' });
    expect(pod.metadata.labels).toEqual({ a: '1' });
  });

  it.each<[string, PatchOptions['type'], unknown, number]>([
    ['text that is no JSON', 'merge', '{', 400],
    ['a merge patch that is no object', 'merge', [], 400],
    ['a strategic patch that is no object', 'strategic', '"x"', 400],
    ['a JSON patch that is no list', 'json', {}, 400],
    ['a JSON patch of something that is no operation', 'json', [1], 400],
    ['a test that fails', 'json', [{ op: 'test', path: '/metadata/name', value: 'q' }], 422],
    ['a path that is not there', 'json', [{ op: 'replace', path: '/spec/x', value: 1 }], 422],
    ['an operation that does not exist', 'json', [{ op: 'sing', path: '/metadata' }], 422],
  ])('refuses %s', (_name, type, patch, code) => {
    expect(refusal(type, patch)).toBe(code);
  });
});

describe('patchTypeOf', () => {
  it('knows server-side apply, and names what it has when it refuses', () => {
    expect(patchTypeOf('application/apply-patch+yaml')).toBe('apply');
    expect(() => patchTypeOf('text/plain')).toThrow(/text\/plain.*apply-patch\+yaml/);
  });
});
