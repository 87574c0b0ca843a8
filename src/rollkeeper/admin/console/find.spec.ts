import { describe, expect, it } from 'vitest';

interface Item {
  readonly key: string;
  readonly labels?: readonly string[];
  readonly owner?: string;
  readonly nodes?: readonly string[];
  readonly release?: string;
  readonly state: string;
  readonly stateWord: string;
  readonly cause?: string;
  readonly sets: readonly { readonly images: readonly string[] }[];
}

const PAGE_SCRIPT = new URL('public/find.js', import.meta.url).href;
const { fits, parseFind } = (await import(PAGE_SCRIPT)) as {
  readonly fits: (item: Item, terms: unknown) => boolean;
  readonly parseFind: (text: string) => unknown;
};

const web: Item = {
  key: 'shop/web',
  labels: ['app=web', 'tier=front'],
  owner: 'Website/shop',
  nodes: ['worker-1', 'worker-2'],
  release: 'shop-42',
  state: 'blocked',
  stateWord: 'Stuck',
  cause: 'image-pull',
  sets: [{ images: ['registry/nginx:1.27'] }],
};

describe('the filter over rollouts', () => {
  it.each<[text: string, isFound: boolean]>([
    ['', true],
    ['web', true],
    ['SHOP', true],
    ['shop web', true],
    ['shop other', false],
    ['nginx:1.27', true],
    ['image:nginx', true],
    ['image:web', false],
    ['name:web', true],
    ['name:shop', false],
    ['ns:shop', true],
    ['namespace:web', false],
    ['label:tier=front', true],
    ['label:tier=back', false],
    ['owner:website', true],
    ['node:worker-2', true],
    ['node:worker-3', false],
    ['release:shop-42', true],
    ['release:shop-43', false],
    ['state:stuck', true],
    ['is:blocked', true],
    ['state:image-pull', true],
    ['state:complete', false],
    ['-state:stuck', false],
    ['-image:redis web', true],
    ['-', true],
    ['constructor:web', false],
  ])('finds by "%s": %s', (text, isFound) => {
    expect(fits(web, parseFind(text))).toBe(isFound);
  });

  it('finds those as well of which an older replica says less', () => {
    const { labels: _labels, nodes: _nodes, owner: _owner, release: _release, ...old } = web;
    expect(fits(old, parseFind('web'))).toBe(true);
    expect(fits(old, parseFind('node:worker-1'))).toBe(false);
  });
});
