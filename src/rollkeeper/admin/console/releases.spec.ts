import { describe, expect, it } from 'vitest';

interface Item {
  readonly key: string;
  readonly release?: string;
  readonly state: string;
  readonly cause?: string;
}

interface Release {
  readonly id: string;
  readonly state: string;
  readonly settled: number;
  readonly count: number;
}

const PAGE_SCRIPT = new URL('public/releases.js', import.meta.url).href;
const { findRelease, releasesOf, shownReleases } = (await import(PAGE_SCRIPT)) as {
  readonly findRelease: (release: { name: string; namespace: string }) => string;
  readonly releasesOf: (
    items: readonly Item[],
    rankOf: (state: string) => number,
    isSettled: (state: string) => boolean,
  ) => readonly Release[];
  readonly shownReleases: (releases: readonly unknown[]) => {
    readonly rows: readonly unknown[];
    more: number;
  };
};

const FIND_SCRIPT = new URL('public/find.js', import.meta.url).href;
const { fits, parseFind } = (await import(FIND_SCRIPT)) as {
  readonly parseFind: (text: string) => readonly object[];
  readonly fits: (item: object, terms: readonly object[]) => boolean;
};

const RANKS = ['blocked', 'progressing', 'complete'];
const rowsOf = (...items: readonly Item[]): readonly Release[] =>
  releasesOf(
    items,
    (state) => RANKS.indexOf(state),
    (state) => state === 'complete',
  );

describe('the releases of a list', () => {
  it('have the worst state of their Deployments, and come in that order', () => {
    const rows = rowsOf(
      { key: 'shop/web', release: 'shop-41', state: 'complete' },
      { key: 'shop/api', release: 'shop-42', state: 'complete' },
      { key: 'shop/db?api=rollkeeper.dev/v1', release: 'shop-42', state: 'blocked', cause: 'image-pull' },
      { key: 'shop/mail', state: 'blocked' },
    );
    expect(rows).toEqual([
      {
        ...{ id: 'shop/shop-42', namespace: 'shop', name: 'shop-42', settled: 1, count: 2 },
        ...{ state: 'blocked', cause: 'image-pull' },
      },
      {
        ...{ id: 'shop/shop-41', namespace: 'shop', name: 'shop-41', settled: 1, count: 1 },
        ...{ state: 'complete', cause: undefined },
      },
    ]);
  });

  it('are two if two namespaces have one of the same name', () => {
    const one = { release: 'r', state: 'progressing' };
    expect(rowsOf({ key: 'b/web', ...one }, { key: 'a/web', ...one }).map(({ id }) => id)).toEqual([
      'a/r',
      'b/r',
    ]);
  });

  it('are five rows at most, and a count of the others', () => {
    const { more, rows } = shownReleases(Array.from({ length: 7 }, (_, index) => index));
    expect([rows, more]).toEqual([[0, 1, 2, 3, 4], 2]);
  });

  it.each([
    ['shop', 'shop-4', true],
    ['shop', 'shop-42', false],
    ['shop', 'my-shop-4', false],
    ['shop-2', 'shop-4', false],
  ])('are found by the filter, and no others: %s, %s', (namespace, release, isFound) => {
    const terms = parseFind(findRelease({ namespace: 'shop', name: 'shop-4' }));
    expect(fits({ key: `${namespace}/web`, sets: [], state: 'complete', release }, terms)).toBe(isFound);
  });
});
