import type { ChaosSet } from '../set/chaos-set.js';
import { LOAD_NAMESPACE } from '../namespaces.js';
import { History } from '../history.js';
import { Probes } from '../probes.js';
import { waitFor } from '../../../src/testing/wait-for.js';

/** How a leader is lost. `SIGSTOP` is what a paused process, a dead machine and a dead network look like from outside. */
export type Loss = 'SIGKILL' | 'SIGTERM' | 'SIGSTOP';

export interface FailoverTimes {
  readonly loss: Loss;
  /** From the signal until the lease was another's. */
  readonly takenOverMs: readonly number[];
  /** From the signal until a change that was sent at once was observed. */
  readonly reactedMs: readonly number[];
}

/** Loses the leader again and again; each time all replicas are back before the next. */
export async function measureFailover(
  set: ChaosSet,
  loss: Loss,
  times: number,
  say: (line: string) => void,
): Promise<FailoverTimes> {
  const history = new History(set.client, LOAD_NAMESPACE);
  const probes = new Probes(set.client, loss.toLowerCase());
  history.onEvent = (event) => probes.note(event);
  await history.start();
  await probes.start();
  const takenOverMs: number[] = [];
  const reactedMs: number[] = [];
  for (let count = 0; count < times; count++) {
    await set.untilSettled();
    const leader = await waitFor(() => set.leader(), { what: 'a leader' });
    const { pid } = leader.process;
    const before = await holder(set);
    const startedMs = performance.now();
    leader.process.signal(loss);
    const [reacted, takenOver] = await Promise.all([
      probes.measure(loss),
      untilAnother(set, before).then(() => performance.now() - startedMs),
    ]);
    takenOverMs.push(takenOver);
    reactedMs.push(reacted);
    const [over, seen] = [takenOver, reacted].map(Math.round);
    say(`${loss} of the leader, ${count + 1} of ${times}: taken over ${over} ms, reacted ${seen} ms`);
    if (loss === 'SIGSTOP') leader.process.signal('SIGCONT');
    else
      await waitFor(() => leader.process.pid !== pid, {
        timeoutMs: 30_000,
        what: 'the leader to be replaced',
      });
  }
  await history.stop();
  return { loss, takenOverMs, reactedMs };
}

async function holder({ redis }: ChaosSet): Promise<string> {
  return (await redis.hget('rollkeeper:lease:leader', 'holder')) ?? '';
}

function untilAnother(set: ChaosSet, before: string): Promise<unknown> {
  return waitFor(
    async () => {
      const now = await holder(set);
      return now !== '' && now !== before;
    },
    { timeoutMs: 60_000, intervalMs: 2, what: 'another holder of the lease' },
  );
}
