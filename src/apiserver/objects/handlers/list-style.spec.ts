import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { LIST_STYLES } from './list-style.js';

const FRAME = { head: { kind: 'ThingList', apiVersion: 'v1' }, field: 'items' } as const;
const ROWS = {
  head: { kind: 'Table', apiVersion: 'v1', columnDefinitions: [{ name: 'Name' }] },
  field: 'rows',
} as const;
const METADATA = { resourceVersion: '7' };

describe.each(['json', 'yaml'] as const)('a list that is written piece by piece as %s', (format) => {
  const style = LIST_STYLES[format];

  it.each([FRAME, ROWS])('is the list again when it is read: $field', (frame) => {
    const entries = [{ metadata: { name: 'a' }, list: [] }, { b: ['x', { y: 1 }], a: 'one\ntwo' }];
    const written = entries.map((entry) => style.entry(entry)).join(style.between);
    const text = style.opening(frame) + written + style.closing(frame, METADATA);
    expect(parse(text)).toEqual({ ...frame.head, [frame.field]: entries, metadata: METADATA });
  });

  it('has an empty list of entries if it has none', () => {
    expect(parse(style.empty(FRAME, METADATA))).toEqual({ ...FRAME.head, items: [], metadata: METADATA });
  });
}); // prettier-ignore

it('a list in YAML begins with what comes first in its order', () => {
  expect(LIST_STYLES.yaml.opening(FRAME)).toBe('apiVersion: v1\nitems:\n');
  expect(LIST_STYLES.yaml.closing(FRAME, METADATA)).toBe(
    'kind: ThingList\nmetadata:\n  resourceVersion: "7"\n',
  );
});
