import fc from 'fast-check';
import { expect, it } from 'vitest';
import { propertyRuns } from '../../testing/property-runs.js';
import type { QueueEntry } from './queued-pod.js';
import { aQueue, nodeChange, refusedBy, waitingPod } from './scheduling-queue.fixture.js';

/*
 * For any sequence of pods coming, going, being tried, refused, failed and bound, of changes and of time passing:
 *  1. every pod that was added and neither deleted nor bound is in one queue or in one attempt, and never in two;
 *  2. nothing else is;
 *  3. a pod that was refused before or during a change that helps does not sleep after it;
 *  4. a pod that no change has helped sleeps until five minutes are over;
 *  5. in the end every pod is given out.
 */

const NAMES = ['a', 'b', 'c', 'd', 'e'];
const name = fc.constantFrom(...NAMES);
/** The number of one of the attempts that are under way. */
const nth = fc.nat(9);
const plugin = fc.constantFrom('Cpu', 'Taints');
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('add' as const), name, priority: fc.nat(2) }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('take' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('refuse' as const), nth, plugin }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('bind' as const), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('touch' as const), name }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('change' as const), helps: plugin }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(20_000) }) },
);

it('no pod is lost, none is in two places, and what helps wakes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80 }), async (steps) => {
      const { clock, queue, take } = aQueue();
      const present = new Set<string>();
      const attempts = new Map<string, QueueEntry>();
      const refusedNow = new Map<string, string>();
      const helpedSinceTaken = new Map<string, Set<string>>();
      let serial = 0;
      const uidOf = new Map<string, string>();
      const takeOne = async () => {
        const entry = await take();
        if (!entry) return;
        const { name: taken } = entry.pod.metadata;
        expect(attempts.has(taken)).toBe(false);
        expect(present.has(taken)).toBe(true);
        attempts.set(taken, entry);
        refusedNow.delete(taken);
        helpedSinceTaken.set(taken, new Set());
      };
      const podOf = (known: string, priority = 0) => {
        const pod = waitingPod(known, { priority });
        return { ...pod, metadata: { ...pod.metadata, uid: uidOf.get(known) ?? known } };
      };
      const underWay = (index: number): [name: string, entry: QueueEntry | undefined] => {
        const all = [...attempts];
        return all[index % Math.max(all.length, 1)] ?? ['', undefined];
      };
      for (const one of steps) {
        switch (one.do) {
          case 'add':
            if (present.has(one.name) || attempts.has(one.name)) break;
            uidOf.set(one.name, `${one.name}-${++serial}`);
            present.add(one.name);
            queue.add(podOf(one.name, one.priority));
            break;
          case 'take':
            if (queue.counts().active > 0) await takeOne();
            break;
          case 'refuse': {
            const [tried, entry] = underWay(one.nth);
            if (!entry) break;
            attempts.delete(tried);
            const isHelped = helpedSinceTaken.get(tried)?.has(one.plugin) ?? false;
            queue.putBack(entry, refusedBy(one.plugin));
            if (!present.has(tried)) break;
            if (isHelped) expect(queue.find(entry.key)?.queue).not.toBe('unschedulable');
            else refusedNow.set(tried, one.plugin);
            break;
          }
          case 'fail': {
            const [tried, entry] = underWay(one.nth);
            if (!entry) break;
            attempts.delete(tried);
            queue.putBack(entry, { error: true });
            break;
          }
          case 'bind': {
            const [tried, entry] = underWay(one.nth);
            if (!entry) break;
            attempts.delete(tried);
            present.delete(tried);
            queue.done(entry.key);
            break;
          }
          case 'delete':
            if (!present.has(one.name)) break;
            present.delete(one.name);
            refusedNow.delete(one.name);
            queue.delete(podOf(one.name));
            break;
          case 'touch':
            if (present.has(one.name)) queue.update(podOf(one.name), podOf(one.name));
            break;
          case 'change': {
            const action = one.helps === 'Cpu' ? 'update-node-allocatable' : 'update-node-taints';
            queue.move(nodeChange(action));
            for (const helped of helpedSinceTaken.values()) helped.add(one.helps);
            for (const [refused, by] of refusedNow) {
              if (by !== one.helps) continue;
              refusedNow.delete(refused);
              expect(queue.find(uidOf.get(refused) ?? '')?.queue).toMatch(/active|backoff/);
            }
            break;
          }
          case 'wait':
            await clock.advance(one.ms);
            break;
        }
        const { active, backoff, gated, unschedulable } = queue.counts();
        const outside = [...attempts.keys()].filter((each) => present.has(each)).length;
        expect(active + backoff + gated + unschedulable + outside).toBe(present.size);
        for (const each of present)
          if (!attempts.has(each)) expect(queue.find(uidOf.get(each) ?? '')).toBeDefined();
        for (const each of refusedNow.keys()) {
          const { enteredMs } = queue.find(uidOf.get(each) ?? '')?.entry ?? { enteredMs: Infinity };
          if (clock.monotonicNow() - enteredMs < 300_000)
            expect(queue.find(uidOf.get(each) ?? '')?.queue).toBe('unschedulable');
          else refusedNow.delete(each);
        }
      }
      for (const [taken, entry] of attempts) if (present.has(taken)) queue.putBack(entry, refusedBy('Cpu'));
      attempts.clear();
      await clock.advance(400_000);
      const rest = new Set<string>();
      while (queue.counts().active > 0) rest.add((await take())?.pod.metadata.name ?? '');
      expect(rest).toEqual(present);
    }),
    propertyRuns({ gate: 150 }),
  );
});
