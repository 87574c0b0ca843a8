import { expect, it } from 'vitest';
import type { SeenRequest } from './request-match.js';
import { WatchGates } from './watch-gates.js';

const aWatch = (resource: string, namespace = ''): SeenRequest => ({
  ...{ verb: 'watch', group: '', resource, subresource: '', namespace, name: '' },
});
const NEVER = new AbortController().signal;

it('a watch that is held twice goes on when both have been released', async () => {
  const gates = new WatchGates();
  const [first, second] = [gates.hold({ resource: 'pods' }), gates.hold({})];
  let isOpen = false;
  const open = gates.untilOpen(aWatch('pods'), NEVER).then(() => (isOpen = true));
  first.release();
  await Promise.resolve();
  expect(isOpen).toBe(false);
  expect(gates.isHeld(aWatch('services'))).toBe(true);
  second.release();
  await open;
  expect(gates.isHeld(aWatch('pods'))).toBe(false);
});

it('a hold is for its resource and namespace alone', () => {
  const gates = new WatchGates();
  gates.hold({ resource: 'pods', namespace: 'shop' });
  expect(
    [aWatch('pods', 'shop'), aWatch('pods'), aWatch('services', 'shop')].map((watch) => gates.isHeld(watch)),
  ).toEqual([true, false, false]);
});

it('the longest of several delays counts, until it is released', () => {
  const gates = new WatchGates();
  gates.delay({}, 100);
  const longer = gates.delay({ resource: 'pods' }, 500);
  expect([gates.delayOf(aWatch('pods')), gates.delayOf(aWatch('services'))]).toEqual([500, 100]);
  longer.release();
  expect(gates.delayOf(aWatch('pods'))).toBe(100);
});

it('a wait ends with its signal', async () => {
  const gates = new WatchGates();
  gates.hold({});
  const stop = new AbortController();
  const waiting = gates.untilOpen(aWatch('pods'), stop.signal);
  stop.abort(new Error('the client has left'));
  await expect(waiting).rejects.toThrow('the client has left');
});
