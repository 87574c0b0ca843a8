import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { anAdminPorts } from './admin-ports.fixture.js';
import type { AdminPorts, Peer } from './admin-ports.js';
import type { PeerAnswer, PeerRequest } from './peer-client.js';
import type { AnswerForm } from './peer-answers.js';
import { SlotReplicas } from './slot-replicas.js';

const LATE: PeerAnswer<unknown> = { problem: 'it takes too long', isLate: true };
const URL = '/admin/deployments';
const TEXT: AnswerForm = { what: 'a text', schema: z.string() };

/** A question that an owner was asked, and what ends it. */
interface Asked extends PeerRequest {
  readonly owner: string;
  readonly ends: (answer: PeerAnswer<unknown>) => void;
}

describe('a replica that asks the owners of slots', () => {
  let ports: ReturnType<typeof anAdminPorts>;
  let asked: Asked[];
  let replicas: SlotReplicas;

  beforeEach(() => {
    asked = [];
    const slots = { owned: () => new Map(Object.entries({ hangs: 2, works: 3 })), unowned: () => 0 };
    ports = {
      ...anAdminPorts(),
      slots: () => slots as unknown as ReturnType<NonNullable<AdminPorts['slots']>>,
    };
    const all = ['hangs', 'works'].map((identity) => ({ identity, adminUrl: '', pid: 1, startedAtMs: 0 }));
    const read = async <T>(peer: Peer, request: PeerRequest): Promise<PeerAnswer<T>> =>
      new Promise((resolve) => {
        if (peer.identity === 'works') return resolve({ answer: 'its part' as T });
        asked.push({ ...request, owner: peer.identity, ends: (answer) => resolve(answer as PeerAnswer<T>) });
      });
    replicas = new SlotReplicas(ports, { all: async () => all, client: { read } } as never);
  });

  const ask = (credential?: string, url = URL) =>
    replicas.askAll(url, TEXT, { ...(credential && { credential }) });
  /** Waits for the question to be there, and ends it. */
  const end = async (number: number, answer: PeerAnswer<unknown>): Promise<void> => {
    await new Promise(setImmediate);
    asked[number]!.ends(answer);
    await new Promise(setImmediate);
  };
  const isLate = async (credential?: string): Promise<void> => {
    const first = ask(credential);
    await end(asked.length, LATE);
    expect((await first).missing).toMatchObject([{ identity: 'hangs', problem: 'it takes too long' }]);
  };

  it('does not wait once more for one that was late with the same question, and names it', async () => {
    await isLate();
    const { answers, missing } = await ask();
    expect(answers).toEqual([{ identity: 'works', answer: 'its part' }]);
    expect(missing).toMatchObject([
      { identity: 'hangs', slots: 2, problem: 'it takes too long (it is asked again meanwhile)' },
    ]);
  });

  it('asks it again meanwhile, one question at a time, and waits for it once that is answered', async () => {
    await isLate();
    await ask();
    await ask();
    expect(asked).toHaveLength(2);
    await end(1, { answer: 'its part' });
    const next = ask();
    await end(2, { answer: 'its newest part' });
    expect((await next).answers).toContainEqual({ identity: 'hangs', answer: 'its newest part' });
  });

  it('waits for it again some time after it was late', async () => {
    await isLate();
    await ports.clock.advance(10_000);
    const next = ask();
    await end(1, { answer: 'its part' });
    expect((await next).missing).toEqual([]);
  });

  it('waits for it with other questions, and in the name of other users', async () => {
    await isLate('slow');
    for (const [credential, url] of [
      ['slow', '/admin/queues'],
      ['another', URL],
      [undefined, URL],
    ] as const) {
      const next = ask(credential, url);
      await end(asked.length, { answer: 'its part' });
      expect((await next).missing).toEqual([]);
    }
    expect(asked.map(({ credential }) => credential)).toEqual(['slow', 'slow', 'another', undefined]);
  });

  it('waits for one that has refused to answer, since it does so at once', async () => {
    const first = ask();
    await end(0, { problem: 'it answers 403' });
    expect((await first).missing).toHaveLength(1);
    const next = ask();
    await end(1, { answer: 'its part' });
    expect((await next).missing).toEqual([]);
  });
});
