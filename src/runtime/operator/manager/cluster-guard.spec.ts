import { describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '../../../machinery/clock/index.js';
import type { KubernetesObject } from '../../../machinery/kubernetes/index.js';
import type { Logger } from '../../../machinery/logging/index.js';
import { silentLogger } from '../../../machinery/logging/index.js';
import { runClusterClaimsContract } from '../../../testing/cluster-claims-contract.js';
import { ApiStatusError } from '../../../client/api-client/index.js';
import type { ApiClient } from '../../../client/api-client/index.js';
import { ClusterGuard } from './cluster-guard.js';
import type { ClusterGuardOptions } from './cluster-guard.js';
import { MemoryClusterClaims } from '../coordination/memory-coordination.js';

runClusterClaimsContract('MemoryClusterClaims', async () => {
  const claims = new MemoryClusterClaims();
  return { replicas: [claims, claims], stop: () => Promise.resolve() };
});

type Answer = string | ApiStatusError | Error;

function setUp(answers: Answer[], options: Partial<ClusterGuardOptions> = {}) {
  const claims = options.claims ?? new MemoryClusterClaims();
  const clock = new FakeClock();
  const warnings: string[] = [];
  const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) };
  let asked = 0;
  const get = async (): Promise<KubernetesObject> => {
    const answer = answers[Math.min(asked++, answers.length - 1)] ?? '';
    if (answer instanceof Error) throw answer;
    return { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kube-system', uid: answer } };
  };
  const client = { get } as Pick<ApiClient, 'get'>;
  const random = new SeededRandom(1);
  const guard = new ClusterGuard({
    claims,
    client,
    keyPrefix: 'rollkeeper',
    clock,
    random,
    logger,
    ...options,
  });
  return { claims, clock, guard, warnings, asked: () => asked };
}

const refused = (code: number): ApiStatusError => new ApiStatusError({ code });
const { signal } = new AbortController();

describe('the guard of an installation’s keys', () => {
  it('claims them for the cluster that the UID of kube-system names, also where an older release left them', async () => {
    const { claims, guard } = setUp(['uid-1']);
    await guard.enter(signal);
    expect(await claims.owner()).toBe('uid-1');
  });

  it('refuses another cluster, naming both and what to do', async () => {
    const { claims, guard } = setUp(['uid-2']);
    await claims.claim('uid-1');
    await expect(guard.enter(signal)).rejects.toThrow(
      /"rollkeeper" in Redis are of the cluster uid-1, and this is the cluster uid-2.*--replaces-cluster uid-1/,
    );
    expect(await claims.owner()).toBe('uid-1');
  });

  it('goes by the identity that is given, and asks nobody then', async () => {
    const { asked, claims, guard } = setUp(['uid-2'], { identity: 'mine' });
    await guard.enter(signal);
    expect(await claims.owner()).toBe('mine');
    expect(asked()).toBe(0);
  });

  it('takes over the keys of the cluster that is named as replaced, and of no other', async () => {
    const claims = new MemoryClusterClaims();
    await claims.claim('uid-1');
    await expect(setUp(['uid-2'], { claims, replaces: 'uid-0' }).guard.enter(signal)).rejects.toThrow(
      'uid-1',
    );
    await setUp(['uid-2'], { claims, replaces: 'uid-1' }).guard.enter(signal);
    expect(await claims.owner()).toBe('uid-2');
    // If it stays set forever, as a forgotten option does, it has no further effect.
    await setUp(['uid-2'], { claims, replaces: 'uid-1' }).guard.enter(signal);
    await expect(setUp(['uid-3'], { claims, replaces: 'uid-1' }).guard.enter(signal)).rejects.toThrow(
      'uid-2',
    );
  });

  it.each([403, 404])(
    'works unguarded, with a warning, where the API answers %i and no cluster has the keys',
    async (code) => {
      const { claims, guard, warnings } = setUp([refused(code)]);
      await guard.enter(signal);
      expect(await claims.owner()).toBeUndefined();
      expect(warnings).toEqual([expect.stringContaining('not guarded')]);
    },
  );

  it.each([403, 404])('refuses to work where the API answers %i and a cluster has the keys', async (code) => {
    const { claims, guard } = setUp([refused(code)]);
    await claims.claim('uid-1');
    await expect(guard.enter(signal)).rejects.toThrow(
      /cannot be seen: .*kube-system.*--cluster-identity uid-1/,
    );
  });

  it('asks until the API answers', async () => {
    const { clock, claims, guard } = setUp([new Error('no route'), refused(500), 'uid-1']);
    const entered = guard.enter(signal);
    await clock.advance(30_000);
    await entered;
    expect(await claims.owner()).toBe('uid-1');
  });

  it('goes on for now where the API does not answer soon, and enters later', async () => {
    const { claims, clock, guard } = setUp([
      new Error('a'),
      new Error('b'),
      new Error('c'),
      new Error('d'),
      new Error('e'),
      'uid-1',
    ]);
    const soon = guard.enterSoon(signal);
    await clock.advance(3000);
    await soon;
    expect(await claims.owner()).toBeUndefined();
    const entered = guard.enter(signal);
    await clock.advance(30_000);
    await entered;
    expect(await claims.owner()).toBe('uid-1');
  });

  it('claims again what was emptied meanwhile, and ends the run where another cluster was faster', async () => {
    let owner: string | undefined;
    const claims = {
      owner: async () => owner,
      claim: async (cluster: string) => (owner ??= cluster),
      replace: async (_: string, cluster: string) => (owner = cluster),
    };
    const { clock, guard } = setUp(['uid-1'], { claims });
    const running = guard.run(signal);
    running.catch(() => undefined);
    await clock.advance(1);
    owner = undefined;
    await clock.advance(10_000);
    expect(owner).toBe('uid-1');
    owner = 'uid-2';
    await clock.advance(10_000);
    await expect(running).rejects.toThrow('are of the cluster uid-2');
  });

  it('ends with its run', async () => {
    const { guard } = setUp([refused(403)]);
    const over = new AbortController();
    const running = guard.run(over.signal);
    over.abort();
    await running;
  });
});
