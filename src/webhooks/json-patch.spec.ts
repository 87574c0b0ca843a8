import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyJsonPatch } from '../apiserver/schema/patch/json-patch.js';
import { jsonPatchBetween } from './json-patch.js';

describe('the patch between two values', () => {
  it('says as little as it can, field by field', () => {
    const before = { a: 1, 'b/c~d': { e: [1, 2] }, gone: null, same: { x: [] } };
    const after = { a: 2, 'b/c~d': { e: [1, 3] }, new: { y: 1 }, same: { x: [] }, absent: undefined };
    expect(jsonPatchBetween(before, after)).toEqual([
      { op: 'remove', path: '/gone' },
      { op: 'replace', path: '/a', value: 2 },
      { op: 'replace', path: '/b~1c~0d/e/1', value: 3 },
      { op: 'add', path: '/new', value: { y: 1 } },
    ]);
    expect(jsonPatchBetween(before, before)).toEqual([]);
    expect(jsonPatchBetween({ list: [1] }, { list: [1, 2] })).toEqual([
      { op: 'replace', path: '/list', value: [1, 2] },
    ]);
  });

  it('makes one of the other where the server applies it', () => {
    const json = fc.jsonValue().map((value) => ({ value }));
    fc.assert(
      fc.property(json, json, (before, after) => {
        const patch = jsonPatchBetween(before, after) as unknown as Parameters<typeof applyJsonPatch>[1];
        expect(applyJsonPatch(before as Parameters<typeof applyJsonPatch>[0], patch)).toEqual(after);
      }),
    );
  });
});
