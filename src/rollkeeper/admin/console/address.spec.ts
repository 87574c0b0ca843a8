import { describe, expect, it } from 'vitest';
import { objectAddress, rolloutAddress } from '../../insight/object-pages/console-addresses.js';

const PAGE_SCRIPT = new URL('public/address.js', import.meta.url).href;
const { parseAsk, readAddress } = (await import(PAGE_SCRIPT)) as {
  readonly parseAsk: (ask: string | undefined) => unknown;
  readonly readAddress: (
    at: { readonly hash: string; readonly search: string },
    tabs: readonly string[],
  ) => Readonly<Record<string, unknown>>;
};
const TABS = ['rollouts', 'problems', 'objects', 'replicas', 'queues'];
const read = (address: string) => {
  const { hash, search } = new URL(address, 'http://console');
  return readAddress({ hash, search }, TABS);
};

describe('the address of the console', () => {
  it('says what is shown', () => {
    expect(read('?deployment=shop%2Fweb&find=node:w1&show=stuck')).toMatchObject({
      tab: 'rollouts',
      selected: 'shop/web',
      search: 'node:w1',
      filter: 'stuck',
    });
    expect(read('?problem=web#problems')).toMatchObject({ tab: 'problems', problemSearch: 'web' });
    expect(read('?queue=replicaset#queues')).toMatchObject({ tab: 'queues', queueShown: 'replicaset' });
    expect(read('#no-such-tab')).toMatchObject({ tab: 'rollouts' });
  });

  it('says nothing of what belongs to another view', () => {
    expect(read('?deployment=shop%2Fweb#queues')).not.toHaveProperty('selected');
  });

  it('is the one that commands print', () => {
    expect(read(rolloutAddress('http://x:1', { namespace: 'shop', name: 'web' }))).toMatchObject({
      tab: 'rollouts',
      selected: 'shop/web',
    });
    const custom = rolloutAddress('http://x:1', { namespace: 'shop', name: 'web' }, 'rollkeeper.dev/v1');
    expect(read(custom)).toMatchObject({ selected: 'shop/web?api=rollkeeper.dev/v1' });
    expect(read(objectAddress('http://x:1', 'pods', { namespace: 'shop', name: 'web-0' }))).toMatchObject({
      tab: 'objects',
      object: 'pods/shop/web-0',
    });
    expect(read(objectAddress('http://x:1', 'nodes', { name: 'w1' }))).toMatchObject({ object: 'nodes/w1' });
  });

  it('names a question and its object, and nothing else', () => {
    expect(parseAsk('scale:deployments/shop/web')).toMatchObject({
      verb: 'scale',
      path: 'deployments/shop/web',
    });
    expect(parseAsk('undo:rollouts/shop/web?api=rollkeeper.dev/v1@3')).toMatchObject({
      verb: 'undo',
      path: 'rollouts/shop/web?api=rollkeeper.dev/v1',
      revision: '3',
    });
    for (const none of [undefined, '', 'scale', 'javascript']) expect(parseAsk(none)).toBeUndefined();
  });
});
