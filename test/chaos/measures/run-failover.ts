import type { ChaosSet } from '../set/chaos-set.js';
import { LOAD_NAMESPACE } from '../load.js';
import { History } from '../history.js';
import { Probes } from '../probes.js';
import { waitFor } from '../../../src/testing/wait-for.js';

export interface FailoverTimes {
  readonly what: string;
  /** From the signal until a change that was sent at once was observed. */
  readonly reactedMs: readonly number[];
}

/** Ends the leader again and again; each time all replicas are back before the next. */
export async function measureFailover(
  set: ChaosSet,
  signal: 'SIGKILL' | 'SIGTERM',
  times: number,
  say: (line: string) => void,
): Promise<FailoverTimes> {
  const history = new History(set.client, LOAD_NAMESPACE);
  const probes = new Probes(set.client, signal.toLowerCase());
  history.onEvent = (event) => probes.note(event);
  await history.start();
  await probes.start();
  const reactedMs: number[] = [];
  for (let count = 0; count < times; count++) {
    await set.untilSettled();
    const leader = await waitFor(() => set.leader(), { what: 'a leader' });
    const { pid } = leader.process;
    leader.process.signal(signal);
    const tookMs = await probes.measure(signal);
    reactedMs.push(tookMs);
    say(`${signal} of the leader, ${count + 1} of ${times}: ${Math.round(tookMs)} ms`);
    await waitFor(() => leader.process.pid !== pid, { timeoutMs: 30_000, what: 'the leader to be replaced' });
  }
  await history.stop();
  return { what: `leader, ${signal}`, reactedMs };
}
