import { describe, expect, it } from 'vitest';
import type { Peer } from './admin-ports.js';
import type { PeerAnswer } from './peer-client.js';
import { seenReplicas } from './seen-replicas.js';

const peer = (identity: string, silentMs?: number): Peer => ({
  ...{ identity, adminUrl: `http://${identity}`, pid: 1, startedAtMs: 0 },
  ...(silentMs !== undefined && { silentMs }),
});

describe('the replicas that another one sees', () => {
  it('are those that answer, and those that hang; itself and ended processes are none', async () => {
    const answers: Record<string, PeerAnswer<unknown>> = {
      alive: { answer: {} },
      hung: { problem: 'no answer in 0.8 s' },
      ended: { problem: 'connect ECONNREFUSED', isRefused: true },
    };
    const ask = async <T>({ identity }: Peer): Promise<PeerAnswer<T>> => answers[identity] as PeerAnswer<T>;
    const peers = [peer('self'), peer('alive'), peer('hung', 7000), peer('ended', 7000)];
    expect(await seenReplicas(peers, 'self', { ask })).toEqual([
      { identity: 'alive', adminUrl: 'http://alive', reachable: true },
      {
        ...{ identity: 'hung', adminUrl: 'http://hung', reachable: false },
        problem:
          'its process hangs, or its machine is unreachable: it has not announced itself for 7 s (no answer in 0.8 s)',
      },
    ]);
  });
});
