import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../client/api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { Pod } from '../../machinery/kubernetes/index.js';
import { withRateLimit } from './controller-clients.js';

const READS = ['verifiesNames', 'get', 'list', 'watch', 'discover', 'ping'];
const WRITES = ['create', 'update', 'patch', 'delete', 'deleteCollection'];
const VERBS = [...READS, ...WRITES];

function make(limit: { qps: number; burst: number }) {
  const clock = new FakeClock();
  const sent: string[] = [];
  const waits: number[] = [];
  const plain = Object.fromEntries(
    VERBS.map((verb) => [verb, async () => void sent.push(`${verb}@${clock.monotonicNow()}`)]),
  ) as unknown as ApiClient;
  const metrics = { limited: ({ waitedMs }: { waitedMs: number }) => void waits.push(waitedMs) };
  return { clock, sent, waits, client: withRateLimit(plain, limit, { clock, metrics }) };
}

const ref = { namespace: 'a', name: 'x' };

describe('a limit of requests', () => {
  it('lets a burst through, and the rest one after the other, whatever they do', async () => {
    const { client, clock, sent, waits } = make({ qps: 10, burst: 2 });
    const all = [
      client.get(Pod, ref),
      client.list(Pod),
      client.delete(Pod, ref),
      client.patch(Pod, ref, { type: 'merge', body: {} }),
    ];
    await clock.advance(0);
    expect(sent).toEqual(['get@0', 'list@0']);
    await clock.advance(1_000);
    expect(sent).toEqual(['get@0', 'list@0', 'delete@100', 'patch@200']);
    expect(waits).toEqual([0, 0, 100, 200]);
    await Promise.all(all);
  });

  it('holds up no watch', async () => {
    const { client, clock, sent } = make({ qps: 1, burst: 1 });
    await client.get(Pod, ref);
    client.watch(Pod, {} as never);
    await clock.advance(0);
    expect(sent).toEqual(['get@0', 'watch@0']);
  });

  it.each(['signal', 'guard'])('sends nothing for who has lost the wish meanwhile (%s)', async (name) => {
    const { client, clock, sent } = make({ qps: 1, burst: 1 });
    await client.get(Pod, ref);
    const stop = new AbortController();
    const deleted = client.delete(Pod, ref, { [name]: stop.signal });
    await clock.advance(10);
    stop.abort(new Error('never mind'));
    await expect(deleted).rejects.toThrow('never mind');
    await clock.advance(5_000);
    expect(sent).toEqual(['get@0']);
  });
});
