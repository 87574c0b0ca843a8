import { describe, expect, it } from 'vitest';

interface Span {
  readonly spanId: string;
  readonly parentId?: string;
}

const PAGE_SCRIPT = new URL('public/nested-spans.js', import.meta.url).href;
const { nested } = (await import(PAGE_SCRIPT)) as {
  readonly nested: (
    spans: readonly Span[],
    most: number,
  ) => readonly { readonly depth: number; readonly span: Span }[];
};

const span = (spanId: string, parentId?: string): Span => ({ spanId, ...(parentId && { parentId }) });
const rowsOf = (spans: readonly Span[], most = 1000): string[] =>
  nested(spans, most).map(({ depth, span: { spanId } }) => `${depth} ${spanId}`);

describe('the spans of a waterfall', () => {
  it('are under their parents, in their order; one with an unknown parent is at the left', () => {
    const spans = [span('a'), span('b', 'a'), span('c', 'b'), span('d', 'a'), span('e', 'unknown')];
    expect(rowsOf(spans)).toEqual(['0 a', '1 b', '2 c', '1 d', '0 e']);
  });

  it('come once each, also if spans are parents of one another, or have no id', () => {
    expect(rowsOf([span('a', 'b'), span('b', 'a'), span('c', 'c'), span('')])).toEqual([
      ...['0 ', '0 a', '1 b', '0 c'],
    ]);
  });

  it('come once each, also if two of every id are at each level', () => {
    const spans = Array.from({ length: 40 }, (_, level) => [
      ...[span(`${level}`, `${level - 1}`), span(`${level}`, `${level - 1}`)],
    ]).flat();
    expect(rowsOf(spans)).toHaveLength(80);
  });

  it('may be very deep, and are no more than asked for', () => {
    const spans = Array.from({ length: 50_000 }, (_, at) =>
      span(`${at}`, at === 0 ? undefined : `${at - 1}`),
    );
    expect(rowsOf(spans, 20_000).at(-1)).toBe('19999 19999');
  });
});
