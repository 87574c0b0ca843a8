import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import type { HopelessKind } from './hopeless/hopeless-kinds.js';
import { HOPELESS_KINDS, hopelessDeployments } from './hopeless/hopeless-kinds.js';
import { HopelessWorld } from './hopeless/hopeless-world.js';
import type { Standing } from './hopeless/standings.js';
import { standingsOf } from './hopeless/standings.js';
import { ChaosSet } from './set/chaos-set.js';

const DIST = join(import.meta.dirname, '..', '..', 'dist');
const GOOD = Array.from({ length: 10 }, (_, index) => `good-${index}`);
const WINDOW_MS = 10_000;
/** The causes that keep the next try away, as explain names them. A key is parked after minutes of tries. */
const CAUSES: Readonly<Record<HopelessKind, string>> = {
  template: 'retrying',
  quota: 'retrying',
  name: 'retrying',
  collision: 'retrying',
  rejected: 'rejection-backoff',
};
/** The calls of one or two tries with their status writes and Events; one that comes back at once makes hundreds. */
const MOST_CALLS = 20;

/** `npm run bench -- --hopeless` does the same with a thousand. */
describe('Deployments that can never roll out, beside others', () => {
  const hopeless = hopelessDeployments(HOPELESS_KINDS.length);
  let set: ChaosSet;
  let world: HopelessWorld;

  beforeAll(async () => {
    set = await ChaosSet.start({ dist: DIST, replicas: 2, random: Math.random });
    world = new HopelessWorld(set);
    world.install();
    await Promise.all(hopeless.map(({ deployment }) => set.client.create(Deployment, deployment)));
  });

  afterAll(async () => {
    await set?.stop();
    set?.remove();
  });

  const standing = async (kind: string): Promise<Standing | undefined> =>
    (await standingsOf(set, hopeless)).find((one) => one.hopeless.kind === kind);

  it('do not keep the others from it', async () => {
    await Promise.all(GOOD.map((name) => set.client.create(Deployment, aDeployment({ name }))));
    const isAvailable = async (name: string): Promise<boolean> => {
      const { status } = await set.client.get<Deployment>(Deployment, { namespace: 'default', name });
      return status?.availableReplicas === 1;
    };
    await waitFor(async () => (await Promise.all(GOOD.map(isAvailable))).every(Boolean), {
      timeoutMs: 60_000,
      intervalMs: 200,
      what: 'the others to be available',
    });
  });

  it.each([
    ['template', 'pod-create-error', /must not have leading or trailing whitespace/],
    ['quota', 'quota', /exceeded quota/],
    ['name', 'replicaset-create-error', /must be no more than 253/],
    ['collision', 'replicaset-create-error', /that is not its own has the name/],
    ['rejected', 'rejected-by-node', /OutOfcpu/],
  ])('say what is wrong with them: %s', async (kind, cause, message) => {
    const seen = await waitFor(
      async () => {
        const now = await standing(kind);
        const isSaid = [now?.told, now?.explained.sentence].every((text) => message.test(text ?? ''));
        return isSaid && now?.explained.cause === cause && now;
      },
      { timeoutMs: 60_000, intervalMs: 200, what: `${kind} to be told` },
    );
    expect(seen.explained.state).toBe('blocked');
  });

  it('are tried more and more rarely', async () => {
    const backsOff = ({ delayed, parked }: Standing): boolean =>
      parked !== undefined || (delayed?.inMs ?? 0) > WINDOW_MS / 2;
    const standings = await waitFor(
      async () => {
        const now = await standingsOf(set, hopeless);
        return now.every(backsOff) && now;
      },
      { timeoutMs: 120_000, intervalMs: 500, what: 'all to back off' },
    );
    for (const { explained, hopeless: one } of standings) {
      const causes = explained.waitsFor.map(({ cause }) => cause);
      expect(causes, one.kind).toContain(CAUSES[one.kind]);
    }
    const before = hopeless.map(({ id }) => world.callsOf(id));
    await new Promise((resolve) => setTimeout(resolve, WINDOW_MS));
    const calls = Object.fromEntries(
      hopeless.map(({ id, kind }, index) => [kind, world.callsOf(id) - (before[index] ?? 0)]),
    );
    for (const kind of HOPELESS_KINDS) expect(calls[kind], kind).toBeLessThanOrEqual(MOST_CALLS);
  });
});
