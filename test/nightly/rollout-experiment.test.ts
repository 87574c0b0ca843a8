import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReplicaSet, Service } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

const NAME = /^web-experiment-(baseline|canary|revision-1)-[0-9a-f]{10}$/;

describe.skipIf(!anyKubectl())('an experiment as a step, with kubectl', () => {
  let lab: PolicyUp;

  beforeAll(async () => {
    lab = await PolicyUp.start();
    await lab.kubectl('create', 'deployment', 'web', '--image=web:1', '--replicas=3');
    await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
  });

  afterAll(() => lab.stop());

  const steps = (value: string) =>
    lab.kubectl('annotate', '--overwrite', 'deployment/web', `rollkeeper.dev/steps=${value}`);
  const setImage = (image: string) => lab.kubectl('set', 'image', 'deployment/web', `web=${image}`);
  const experiments = async () => {
    const { items } = await lab.client.list<ReplicaSet>(ReplicaSet, { namespace: 'default' });
    return items.filter(({ metadata }) => NAME.test(metadata.name));
  };
  const runs = (count: number) =>
    waitFor(
      async () => {
        const sets = await experiments();
        return (
          sets.length === count &&
          sets.every(({ spec, status }) => (status?.availableReplicas ?? 0) === spec.replicas)
        );
      },
      { what: `an experiment of ${count} versions`, timeoutMs: 60_000 },
    );
  const isOver = () =>
    waitFor(async () => (await experiments()).length === 0, {
      what: 'the end of the experiment',
      timeoutMs: 90_000,
    });

  it('ends in time, and the rollout goes on, though the leader dies in the middle', async () => {
    await steps('experiment 20s: baseline 1, canary 2; 100%');
    await setImage('web:2');
    await runs(2);
    const { status } = await lab.deployment();
    expect(status?.replicas, 'its pods are in no count').toBe(3);
    const { stdout } = await lab.kubectl('get', 'pods', '-l', 'app=web', '-o', 'name');
    expect(stdout.trim().split('\n'), 'no Service selects them').toHaveLength(3);
    await lab.killLeader();
    await isOver();
    await lab.sized({ 'web:2': 3 });
  });

  it('runs a further revision that is kept, and its result is in the history', async () => {
    await steps('experiment 10s: baseline 1, canary 1, revision 1 2; 100%');
    await setImage('web:2b');
    await runs(3);
    const { stdout: pods } = await lab.kubectl(
      ...['get', 'pods', '-l', 'rollkeeper.dev/experiment-side=revision-1'],
      ...['-o', 'jsonpath={.items[*].spec.containers[0].image}'],
    );
    expect(pods).toBe('web:1 web:1');
    await isOver();
    await lab.sized({ 'web:2b': 3 });
    const { stdout } = await lab.rollkeeper('rollout', 'history', 'deployment/web');
    expect(stdout).toMatch(/step 1 +2 .* passed +20s +baseline 1, canary 2 /);
    expect(stdout).toMatch(/step 1 +3 .* passed +10s +baseline 1, canary 1, revision-1 2 /);
    await setImage('web:2');
    await isOver();
    await lab.sized({ 'web:2': 3 });
  });

  it('gives each version a Service with its pods alone behind it, which go with it, though the leader dies in the middle', async () => {
    await lab.kubectl('expose', 'deployment', 'web', '--port=80', '--target-port=8080');
    await steps('experiment 20s: baseline 1, canary 2, services; 100%');
    await setImage('web:2s');
    await runs(2);
    const ofExperiment = async () => {
      const labelSelector = 'rollkeeper.dev/experiment-of=web';
      return (await lab.client.list<Service>(Service, { namespace: 'default', labelSelector })).items;
    };
    await waitFor(async () => (await ofExperiment()).length === 2, { what: 'two Services' });
    const podsBehind = async (name: string) => {
      const { stdout } = await lab.kubectl(
        ...['get', 'endpointslices', '-l', `kubernetes.io/service-name=${name}`],
        ...['-o', 'jsonpath={range .items[*].endpoints[*]}{.targetRef.name}{"\\n"}{end}'],
      );
      return stdout.trim().split('\n').filter(Boolean).toSorted();
    };
    const podsOf = async (replicaSet: string) =>
      (await lab.pods())
        .filter(({ metadata }) => metadata.ownerReferences?.[0]?.name === replicaSet)
        .map(({ metadata }) => metadata.name)
        .toSorted();
    for (const { metadata, spec } of await ofExperiment()) {
      expect(metadata.name).toMatch(NAME);
      expect(spec.ports).toMatchObject([{ port: 80, targetPort: 8080 }]);
      const pods = await podsOf(metadata.name);
      expect(pods).toHaveLength(metadata.name.includes('canary') ? 2 : 1);
      await waitFor(async () => String(await podsBehind(metadata.name)) === String(pods), {
        what: `${String(pods)} behind ${metadata.name}`,
      });
    }
    await lab.says('runs an experiment until');
    expect(await podsBehind('web'), 'no normal requests').toHaveLength(3);
    await lab.killLeader();
    await isOver();
    await waitFor(async () => (await ofExperiment()).length === 0, { what: 'no Services of it' });
    await lab.sized({ 'web:2s': 3 });
    await setImage('web:2');
    await lab.sized({ 'web:2': 3 });
  });

  it('is removed by an abort, though the leader dies at that moment', async () => {
    await steps('experiment 10m: baseline 1, canary 1; 100%');
    await setImage('web:3');
    await runs(2);
    await lab.rollkeeper('abort', 'default/web');
    await lab.killLeader();
    await isOver();
    expect(await lab.sizes()).toEqual({ 'web:2': 3 });
  });

  it('goes with its Deployment', async () => {
    await setImage('web:4');
    await runs(2);
    await lab.kubectl('delete', 'deployment', 'web');
    await isOver();
    await waitFor(async () => (await lab.pods()).length === 0, { what: 'no pods', timeoutMs: 60_000 });
  });
});
