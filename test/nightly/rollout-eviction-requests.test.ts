import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Eviction, EvictionRequest, isPodReady } from '../../src/machinery/kubernetes/index.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

const RESPONDER = 'rollkeeper.dev/deployment';
const EVICTOR = 'imperative-eviction.k8s.io/evictor';

describe.skipIf(!anyKubectl())('an EvictionRequest for the only pod of a Deployment behind a budget', () => {
  let lab: PolicyUp;
  let history: RolloutHistory;

  beforeAll(async () => {
    lab = await PolicyUp.start('--feature-gates', 'EvictionRequestAPI=true');
    expect((await lab.applyExample('on-eviction.yaml')).code).toBe(0);
    history = new RolloutHistory(lab.client, 'default');
    await history.start();
  });

  afterAll(async () => {
    await history.stop();
    await lab.stop();
  });

  /** Asks with kubectl, for the pod that serves. @returns its name */
  const ask = async (name: string, namespace = 'default'): Promise<string> => {
    const pod = (await lab.pods()).find(isServing);
    const target = { pod: { name: pod?.metadata.name, uid: pod?.metadata.uid } };
    const request = {
      ...{ apiVersion: 'lifecycle.k8s.io/v1alpha1', kind: 'EvictionRequest', metadata: { name, namespace } },
      spec: { target, requester: 'example.com/drainer', intent: 'Eviction' },
    };
    const file = join(lab.up.dataDir, `${name}.json`);
    writeFileSync(file, JSON.stringify(request));
    const applied = await lab.kubectl('apply', '-f', file);
    expect(applied.code, applied.stderr).toBe(0);
    return pod?.metadata.name ?? '';
  };
  const ended = (name: string) =>
    lab.kubectl('wait', '--for=condition=TargetEvicted', `evictionrequest/${name}`, '--timeout=120s');
  const evictionOf = async (pod: string): Promise<Eviction | undefined> =>
    (await lab.client.list<Eviction>(Eviction, { namespace: 'default' })).items.find(
      ({ spec }) => spec.target.pod?.name === pod,
    );
  const reportOf = async (pod: string): Promise<string | undefined> =>
    (await evictionOf(pod))?.status?.responders?.find(({ name }) => name === RESPONDER)?.message;

  /** The fewest ready pods that were there at any time. */
  const fewestReady = (): number => {
    const ready = new Map<string, boolean>();
    let fewest = Infinity;
    for (const { deleted, kind, object } of history.events()) {
      if (kind !== 'Pod') continue;
      ready.set(object.metadata.name, !deleted && isServing(object));
      fewest = Math.min(fewest, [...ready.values()].filter(Boolean).length);
    }
    return fewest;
  };

  it('is answered by the Deployment, which has another pod ready at any time', async () => {
    const pod = await ask('first');
    const waited = await ended('first');
    expect(waited.code, waited.stderr).toBe(0);
    const names = (await lab.pods()).filter(isServing).map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(1);
    expect(names).not.toContain(pod);
    expect(fewestReady()).toBe(1);
    const { metadata, status } = (await evictionOf(pod)) ?? {};
    expect(metadata?.labels).toMatchObject({ [RESPONDER]: 'responder', 'example.com/drainer': 'requester' });
    expect(status?.targetResponders?.map(({ name, state }) => `${name} ${state}`)).toEqual([
      `${RESPONDER} Completed`,
      `${EVICTOR} Inactive`,
    ]);
    const shown = await lab.kubectl('describe', 'evictions.lifecycle.k8s.io', metadata?.name ?? '');
    expect(shown.stdout).toContain(`Pod ${pod} is gone`);
  });

  it('is answered as well where the leader dies while the pod in its place starts', async () => {
    const pod = await ask('second');
    await waitFor(async () => (await reportOf(pod)) !== undefined, { what: 'the first report' });
    await lab.killLeader();
    expect((await ended('second')).code).toBe(0);
    expect(fewestReady()).toBe(1);
  });

  it('waits, and says for what, where no node takes another pod; withdrawn, it leaves all as it was', async () => {
    const nodes = (await lab.kubectl('get', 'nodes', '-o', 'name')).stdout.trim().split('\n');
    for (const node of nodes) await lab.kubectl('cordon', node);
    const pod = await ask('third');
    await lab.sized({ 'nginx:1.25': 2 });
    expect(await reportOf(pod)).toBe(
      `Deployment web starts another pod; ${pod} goes when that one is available`,
    );
    const explained = await lab.rollkeeper('explain', 'deployment/web');
    expect(explained.stdout).toContain(
      `pod ${pod} is to be evicted, and goes when a pod is available in its place`,
    );
    const patch = JSON.stringify({ spec: { intent: 'Withdrawn' } });
    await lab.kubectl('patch', 'evictionrequest', 'third', '--type=merge', '-p', patch);
    await lab.sized({ 'nginx:1.25': 1 });
    expect((await lab.pods()).filter(isServing).map(({ metadata }) => metadata.name)).toEqual([pod]);
    for (const node of nodes) await lab.kubectl('uncordon', node);
    expect(fewestReady()).toBe(1);
    expect(findViolations(history.events())).toEqual([]);
  });

  it('is followed by the collection of its eviction when it is deleted', async () => {
    await lab.kubectl('delete', 'evictionrequests', '--all');
    await waitFor(
      async () => (await lab.client.list<Eviction>(Eviction, { namespace: 'default' })).items.length === 0,
      { what: 'no eviction' },
    );
  });

  it('goes to the last responder where the Deployment replaces no pods first, within the budget', async () => {
    await lab.kubectl('annotate', 'deployment', 'web', 'rollkeeper.dev/on-eviction-');
    const pod = await ask('fourth');
    const last = async (): Promise<string | undefined> =>
      (await evictionOf(pod))?.status?.responders?.find(({ name }) => name === EVICTOR)?.message;
    await waitFor(async () => (await last())?.includes('cannot be evicted (attempts='), {
      what: 'a refusal of the budget',
    });
    expect(await reportOf(pod)).toContain('Left to the next responder');
    await lab.kubectl('delete', 'pdb', 'web');
    expect((await ended('fourth')).code).toBe(0);
  });

  it('concerns the namespace of the request alone', async () => {
    await lab.kubectl('create', 'namespace', 'other');
    const pod = await ask('foreign', 'other');
    const failed = await lab.kubectl(
      ...['wait', '-n', 'other', '--for=condition=Failed', 'evictionrequest/foreign', '--timeout=30s'],
    );
    expect(failed.code, failed.stderr).toBe(0);
    const request = await lab.client.get<EvictionRequest>(EvictionRequest, {
      ...{ namespace: 'other', name: 'foreign' },
    });
    expect(request.status?.conditions?.map(({ reason }) => reason)).toEqual([
      'EvictionFailed',
      'EvictionInvalid',
    ]);
    expect(await evictionOf(pod)).toBeUndefined();
  });
});

function isServing(object: KubernetesObject): boolean {
  return isPodReady(object as never) && object.metadata.deletionTimestamp === undefined;
}
