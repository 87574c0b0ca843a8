import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runConversion } from '../../src/rollkeeper/cli/convert/run-conversion.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import type { Pod, ReplicaSet, ResourceType } from '../../src/machinery/kubernetes/index.js';
import { Deployment, RollkeeperDeployment } from '../../src/machinery/kubernetes/index.js';
import type { ApiClient } from '../../src/client/api-client/index.js';
import { WriteInterceptingClient } from '../../src/client/api-client/around-writes.js';
import type { TestCluster } from '../../src/testing/cluster/index.js';
import { startManagedCluster, web } from './support/managed-cluster.js';

const REF = { namespace: 'default', name: 'web' };
const APPS = 'deployments.apps/web';
const CUSTOM = 'deployments.rollkeeper.dev/web';
const PATIENT = { timeoutMs: 120_000 };

class Killed extends Error {}

/** The client of a process that dies once the server has carried out its nth write. */
function dyingAfter(writes: number, client: ApiClient): ApiClient {
  let left = writes;
  return new WriteInterceptingClient(client, async (_write, send) => {
    const answer = await send();
    if (--left === 0) throw new Killed();
    return answer;
  });
}

describe('the conversion of a Deployment', { timeout: 180_000 }, () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startManagedCluster();
  }, 60_000);
  afterAll(() => cluster.stop());

  beforeEach(async () => {
    for (const name of [APPS, CUSTOM]) {
      await cluster.delete(name);
      await cluster.waitFor(name, 'delete', PATIENT);
    }
    await cluster.settled(PATIENT);
    await cluster.apply(web({ api: 'apps/v1' }));
    await cluster.waitFor(APPS, 'rollout', PATIENT);
    await cluster.apply(web({ api: 'apps/v1', image: 'web:2' }));
    await cluster.waitFor(APPS, 'rollout', PATIENT);
    await cluster.settled(PATIENT);
  });

  const convert = async (to: ResourceType, client: ApiClient = cluster.client, dryRun = false) => {
    const lines: string[] = [];
    await runConversion({
      ...{ client, ref: REF, to, dryRun, clock: new SystemClock() },
      from: to === Deployment ? RollkeeperDeployment : Deployment,
      report: (line) => void lines.push(line),
    });
    return lines;
  };
  const pods = async (): Promise<string[]> => {
    await cluster.settled(PATIENT);
    const alive = (await cluster.list<Pod>('pods')).map(({ metadata }) => metadata);
    expect(alive.filter(({ deletionTimestamp }) => deletionTimestamp)).toEqual([]);
    return alive.map(({ uid }) => uid ?? '').sort();
  };
  /** Name, size and owner of each. */
  const replicaSets = async () =>
    (await cluster.list<ReplicaSet>('replicasets'))
      .map(({ metadata, spec }) => [metadata.name, spec.replicas, metadata.ownerReferences?.[0]?.apiVersion])
      .sort();
  const expectConverted = async (name: string, apiVersion: string): Promise<void> => {
    const other = name === APPS ? CUSTOM : APPS;
    expect(await cluster.get(other)).toBeUndefined();
    const found = await cluster.waitFor<Deployment>(name, 'rollout', PATIENT);
    expect(found?.spec.paused).toBeUndefined();
    const { 'deployment.kubernetes.io/revision': revision, ...annotations } =
      found?.metadata.annotations ?? {};
    expect({
      revision,
      left: Object.keys(annotations).filter((key) => key.includes('rollkeeper.dev/')),
    }).toEqual({
      revision: '2',
      left: [],
    });
    expect((await replicaSets()).map(([, size, owner]) => [size, owner])).toEqual(
      expect.arrayContaining([
        [0, apiVersion],
        [2, apiVersion],
      ]),
    );
  };

  it('hands its ReplicaSets and their pods over, there and back, and rolls out what comes then', async () => {
    const before = await pods();
    const lines = await convert(RollkeeperDeployment);
    expect(lines[0]).toBe('Deployment default/web: pause it in deployments.apps');
    expect(lines.at(-1)).toBe('Deployment default/web is of deployments.rollkeeper.dev');
    await expectConverted(CUSTOM, 'rollkeeper.dev/v1');
    expect(await pods()).toEqual(before);
    expect(await convert(RollkeeperDeployment), 'there is nothing left to do').toHaveLength(1);
    await convert(Deployment);
    await expectConverted(APPS, 'apps/v1');
    expect(await pods()).toEqual(before);
    await cluster.apply(web({ api: 'apps/v1', image: 'web:3' }));
    await cluster.waitFor(APPS, 'rollout', PATIENT);
    expect(await replicaSets()).toHaveLength(3);
  });

  it.each([2, 4, 5])('ended after its write %i, goes on where it was, in both directions', async (write) => {
    const before = await pods();
    for (const [to, name, apiVersion] of [
      [RollkeeperDeployment, CUSTOM, 'rollkeeper.dev/v1'],
      [Deployment, APPS, 'apps/v1'],
    ] as const) {
      await expect(convert(to, dyingAfter(write, cluster.client))).rejects.toThrow(Killed);
      await convert(to);
      await expectConverted(name, apiVersion);
      expect(await pods()).toEqual(before);
    }
  });

  it.each([2, 4])('ended after its write %i, can be taken back', async (write) => {
    const before = await pods();
    await expect(convert(RollkeeperDeployment, dyingAfter(write, cluster.client))).rejects.toThrow(Killed);
    await convert(Deployment);
    await expectConverted(APPS, 'apps/v1');
    expect(await pods()).toEqual(before);
  });

  it('keeps one that is paused paused, and what was changed while it was under way', async () => {
    const before = await pods();
    await cluster.patch(APPS, { spec: { paused: true } });
    await expect(convert(RollkeeperDeployment, dyingAfter(2, cluster.client))).rejects.toThrow(Killed);
    await cluster.patch(APPS, { spec: { minReadySeconds: 1 } });
    await convert(RollkeeperDeployment);
    const found = await cluster.get<Deployment>(CUSTOM);
    expect(found?.spec).toMatchObject({ paused: true, minReadySeconds: 1 });
    expect(await pods()).toEqual(before);
  });

  it('changes nothing when it only tells, or when it is refused', async () => {
    const there = async () => JSON.stringify([await cluster.get(APPS), await cluster.get(CUSTOM)]);
    const before = await there();
    expect(await convert(RollkeeperDeployment, cluster.client, true)).toEqual([
      'would begin with: Deployment default/web: pause it in deployments.apps',
    ]);
    expect(await there()).toBe(before);
    await cluster.apply(web({ spec: { replicas: 0, paused: true } }));
    await expect(convert(RollkeeperDeployment)).rejects.toThrow(
      'there is another one of that name in rollkeeper.dev/v1, which was not made from it',
    );
    await cluster.delete(CUSTOM);
    await cluster.waitFor(CUSTOM, 'delete', PATIENT);
    expect(await there()).toBe(before);
  });
});
