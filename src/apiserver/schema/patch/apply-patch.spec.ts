import { describe, expect, it } from 'vitest';
import { translateDocumentLimit } from '../../http/decoding/index.js';
import { StatusError } from '../errors/index.js';
import { createSchemaRegistry } from '../index.js';
import { applyPatch } from './apply-patch.js';
import type { PatchOptions } from './apply-patch.js';
import { MAX_COPIED } from './copy-budget.js';
import { patchTypeOf } from './patch-type.js';

const schemas = createSchemaRegistry();
const pod = Object.freeze({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: Object.freeze({ name: 'p', labels: Object.freeze({ a: '1' }) }),
});

function patched(type: PatchOptions['type'], patch: unknown) {
  const text = typeof patch === 'string' ? patch : JSON.stringify(patch);
  return applyPatch(pod, { type, patch: text, schemas, schema: 'io.k8s.api.core.v1.Pod' }).object;
}

function refusal(type: PatchOptions['type'], patch: unknown): number {
  return refusalStatus(type, patch)?.code ?? 200;
}

function refusalStatus(type: PatchOptions['type'], patch: unknown): StatusError['status'] | undefined {
  try {
    patched(type, patch);
  } catch (error) {
    const translated = translateDocumentLimit(error);
    if (translated instanceof StatusError) return translated.status;
    throw error;
  }
  return undefined;
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
    ['a path that is no text', 'json', [{ op: 'add', path: 1, value: 1 }], 422],
    ['a path that is not there at all', 'json', [{ op: 'add', value: 1 }], 422],
    ['a path without a slash in front', 'json', [{ op: 'add', path: 'metadata', value: 1 }], 422],
    ['a source that is no text', 'json', [{ op: 'copy', from: {}, path: '/metadata/a' }], 422],
    ['adding below a text', 'json', [{ op: 'add', path: '/metadata/name/first', value: 1 }], 422],
    ['an operation that is null', 'json', [null], 400],
    ['a document that is replaced by a number', 'json', [{ op: 'replace', path: '', value: 1 }], 422],
    ['what is nested too deep', 'merge', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, 400],
  ])('refuses %s', (_name, type, patch, code) => {
    expect(refusal(type, patch)).toBe(code);
  });

  it.each<PatchOptions['type']>(['merge', 'strategic'])(
    '%s: stores names that every JavaScript object has like any other',
    (type) => {
      const names = ['a', 'constructor', 'prototype', 'hasOwnProperty', '__proto__', 'z'];
      const text = `{${names.map((name) => `"${name}":"of ${name}"`).join(',')}}`;
      const { annotations } = patched(type, `{"metadata":{"annotations":${text}}}`).metadata;
      expect(JSON.stringify(annotations)).toBe(text);
    },
  );

  it.each<[PatchOptions['type'], string]>([
    ['merge', '{"__proto__":{"polluted":1},"metadata":{"__proto__":{"polluted":1}}}'],
    ['strategic', '{"__proto__":{"polluted":1},"metadata":{"__proto__":{"polluted":1}}}'],
    ['strategic', '{"metadata":{"annotations":{"__proto__":{"polluted":1}}}}'],
    ['merge', '{"constructor":{"prototype":{"polluted":1}}}'],
    ['strategic', '{"constructor":{"prototype":{"polluted":1}}}'],
    ['json', '[{"op":"add","path":"/__proto__/polluted","value":1}]'],
    ['json', '[{"op":"copy","from":"/kind","path":"/constructor/prototype/polluted"}]'],
  ])('%s: never reaches what all objects share: %s', (type, patch) => {
    refusal(type, patch);
    expect('polluted' in {}).toBe(false);
  });

  it.each<[string, unknown]>([
    ['long', 'x'.repeat(MAX_COPIED / 2)],
    ['many', '1'],
  ])('stops copies of an object into itself before they are too %s', (_name, label) => {
    const copies = Array.from({ length: 40 }, (_, index) => ({
      op: 'copy',
      from: '/metadata',
      path: `/metadata/labels/${index}`,
    }));
    const patch = [{ op: 'add', path: '/metadata/labels/a', value: label }, ...copies];
    // A genuine server does not say which.
    expect(refusalStatus('json', patch)).toMatchObject({
      code: 422,
      message: 'the server rejected our request due to an error in our request',
    });
  });

  it('refuses more operations than one patch may have', () => {
    const tests = Array.from({ length: 10_001 }, () => ({ op: 'test', path: '/kind', value: 'Pod' }));
    expect(refusal('json', tests)).toBe(413);
  });
});

describe('patchTypeOf', () => {
  it('knows server-side apply, and names what it has when it refuses', () => {
    expect(patchTypeOf('application/apply-patch+yaml')).toBe('apply');
    expect(() => patchTypeOf('text/plain')).toThrow('415: Unsupported Media Type');
  });
});
