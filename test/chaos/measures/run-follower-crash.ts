import { Deployment } from '../../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../../src/testing/wait-for.js';
import { aDeployment } from '../../e2e/support/a-deployment.js';
import type { JournalLine } from '../checkers/journal-line.js';
import { chosen } from '../faults/fault.js';
import { Journal } from '../journal.js';
import { LOAD_NAMESPACE } from '../namespaces.js';
import type { ChaosSet } from '../set/chaos-set.js';
import type { ChaosReplica } from '../set/replica.js';

const DEPLOYMENTS_AT_WORK = 10;
const REPLICAS = 4;
const GIVE_UP_MS = 60_000;

export interface FollowerCrashes {
  readonly crashes: number;
  /** The times from the crash until another replica began with a key of the follower, one for each key. */
  readonly takenOverMs: readonly number[];
}

/** Milliseconds of CLOCK_MONOTONIC, as in the journals. */
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Kills a follower in the middle of a write, again and again, and looks when others go on with what it had in hand. */
export async function measureFollowerCrashes(
  set: ChaosSet,
  times: number,
  say: (line: string) => void,
): Promise<FollowerCrashes> {
  const journal = new Journal(set.replicas.map(({ journalFile }) => journalFile));
  const names = Array.from({ length: DEPLOYMENTS_AT_WORK }, (_, index) => `at-work-${index}`);
  for (const name of names) await set.client.create(Deployment, aDeployment({ name, replicas: REPLICAS }));
  const takenOverMs: number[] = [];
  for (let count = 0; count < times; count++) {
    await set.untilSettled();
    await waitFor(() => areRolledOut(set), { timeoutMs: GIVE_UP_MS, intervalMs: 100, what: 'the rollouts' });
    journal.take();
    const follower = chosen(await set.followers(), Math.random());
    if (!follower) throw new Error('there is no follower');
    const { pid } = follower.process;
    const killed = killInWrite(follower);
    await Promise.all(names.map((name) => changeImage(set, name, `web:${count}`)));
    const killedAtMs = await killed;
    const known: JournalLine[] = [];
    const inHand = (): string[] => heldBy(pid, known);
    await waitFor(
      () => {
        known.push(...journal.take());
        return inHand().length > 0 && inHand().every((actor) => takenAtMs(actor, pid, known) !== undefined);
      },
      { timeoutMs: GIVE_UP_MS, what: 'others to go on with its keys' },
    );
    const took = inHand().map((actor) => (takenAtMs(actor, pid, known) ?? Number.NaN) - killedAtMs);
    takenOverMs.push(...took);
    say(`follower killed, ${count + 1} of ${times}: ${took.map(Math.round).join(', ')} ms`);
    await waitFor(() => follower.process.pid !== pid, { timeoutMs: 30_000, what: 'it to be replaced' });
  }
  return { crashes: times, takenOverMs };
}

/** Resolves with the time of its death, when its next write has reached the proxy. */
function killInWrite({ apiAnswers, process }: ChaosReplica): Promise<number> {
  return new Promise((resolve) => {
    apiAnswers.onWrite = () => {
      apiAnswers.onWrite = undefined;
      process.signal('SIGKILL');
      resolve(nowMs());
    };
  });
}

/** Actors whose activation the process has begun and not ended. */
function heldBy(pid: number, lines: readonly JournalLine[]): string[] {
  const held = new Set<string>();
  for (const line of lines) {
    if (line.p !== pid) continue;
    if (line.e === 'begin') held.add(`${line.c} ${line.k}`);
    if (line.e === 'end') held.delete(`${line.c} ${line.k}`);
  }
  return [...held];
}

function takenAtMs(actor: string, pid: number, lines: readonly JournalLine[]): number | undefined {
  const last = lines.findLast((line) => line.p === pid);
  return lines.find(
    (line) =>
      line.e === 'begin' && line.p !== pid && `${line.c} ${line.k}` === actor && line.t > (last?.t ?? 0),
  )?.t;
}

async function changeImage({ client }: ChaosSet, name: string, image: string): Promise<void> {
  const body = { spec: { template: { spec: { containers: [{ name: 'web', image }] } } } };
  await client.patch(Deployment, { namespace: LOAD_NAMESPACE, name }, { type: 'strategic', body });
}

async function areRolledOut({ client }: ChaosSet): Promise<boolean> {
  const { items } = await client.list<Deployment>(Deployment, { namespace: LOAD_NAMESPACE });
  return items
    .filter(({ metadata }) => metadata.name.startsWith('at-work-'))
    .every(
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation &&
        [status?.replicas, status?.updatedReplicas, status?.availableReplicas].every((n) => n === REPLICAS),
    );
}
