import v8 from 'node:v8';
import vm from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import type { StreamResponse } from '../../http/index.js';
import type { RegistryContext } from '../registry/index.js';
import type { ResourceCall } from './handler.js';
import { FIRST_PAGE_ROOM } from './list-pages.js';
import type { PageSource, SelectedPage } from './list-pages.js';
import { respondWithList } from './list-response.js';

v8.setFlagsFromString('--expose-gc');
const collectGarbage = vm.runInNewContext('gc') as () => void;

const CONTEXT = { clock: { now: () => 0 } } as unknown as RegistryContext;

function listedPod(name: string): UnstructuredObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'n' } };
}

function aPage(names: readonly string[], isLast: boolean): SelectedPage {
  return { items: names.map((name) => ({ object: listedPod(name) })), revision: 7, remaining: 0, isLast };
}

/** Pages without another reference to them. */
function pagesOf(pages: SelectedPage[]): PageSource {
  return { next: () => Promise.resolve(pages.shift()) };
}

/** A request whose rooms are granted as `grant` says, and what is held of them. */
function aCall(grant: (length: number) => Promise<void> = () => Promise.resolve()) {
  const held: number[] = [];
  const request = {
    query: new URLSearchParams(),
    onClose: () => undefined,
    reserve: async (length: number) => {
      await grant(length);
      held.push(length);
      const release = (): void => void held.splice(held.indexOf(length), held.includes(length) ? 1 : 0);
      return { progress: () => undefined, settle: () => undefined, release };
    },
  };
  const kind = { listKind: 'PodList', type: { group: '', version: 'v1', kind: 'Pod', namespaced: true } };
  const call = { request, kind, namespace: 'n', name: '', subresource: '', accept: { format: 'json' } };
  return { call: call as unknown as ResourceCall, held };
}

async function streamOf(call: ResourceCall, pages: SelectedPage[]): Promise<AsyncIterator<string>> {
  const answer = await respondWithList(CONTEXT, call, pagesOf(pages), ({ revision }) => ({
    resourceVersion: String(revision),
  }));
  return (answer as StreamResponse).stream[Symbol.asyncIterator]() as AsyncIterator<string>;
}

async function textOf(pieces: AsyncIterator<string>): Promise<string> {
  let text = '';
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) text += next.value;
  return text;
}

describe('respondWithList', () => {
  it('sends pages as one list, whose metadata are those of the last', async () => {
    const { call, held } = aCall();
    const pages = [aPage(['a', 'b'], false), aPage([], false), aPage(['c'], true)];
    const list = JSON.parse(await textOf(await streamOf(call, pages))) as { items: UnstructuredObject[] };
    expect(list).toMatchObject({ kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '7' } });
    expect(list.items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b', 'c']);
    expect(held).toEqual([]);
  });

  it('sends an empty list when nothing on any page was selected', async () => {
    const { call } = aCall();
    const text = await textOf(await streamOf(call, [aPage([], false), aPage([], true)]));
    expect(JSON.parse(text)).toMatchObject({ kind: 'PodList', items: [] });
  });

  it('gives the room back when its reader goes', async () => {
    const { call, held } = aCall();
    const pieces = await streamOf(call, [aPage(['a'], false), aPage(['b'], true)]);
    await pieces.next();
    expect(held).toEqual([FIRST_PAGE_ROOM]);
    await pieces.return?.();
    expect(held).toEqual([]);
  });

  it('holds nothing of a page while it waits for room for the next', async () => {
    const never = new Promise<void>(() => undefined);
    const { call, held } = aCall((length) => (length === FIRST_PAGE_ROOM ? Promise.resolve() : never));
    const pages = [aPage(['a'], false), aPage(['b'], true)];
    const first = new WeakRef(pages[0]!.items[0]!);
    const pieces = await streamOf(call, pages);
    await pieces.next();
    void pieces.next();
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
    expect(held).toEqual([]);
    expect(first.deref()).toBeUndefined();
  });
});
