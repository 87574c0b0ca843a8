import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deployment, Pod } from '../../src/machinery/kubernetes/index.js';
import { RolloutHistory } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

const NAMESPACE = 'default';

describe.skipIf(!anyKubectl())('a ReplicaSet whose pods die before they are ready', () => {
  let lab: PolicyUp;
  let history: RolloutHistory;

  beforeAll(async () => {
    lab = await PolicyUp.start();
    history = new RolloutHistory(lab.client, NAMESPACE);
    await history.start();
  });

  afterAll(async () => {
    await history.stop();
    await lab.stop();
  });

  const apply = async (deployment: Deployment): Promise<void> => {
    await lab.client.create(Deployment, deployment);
  };

  /** When each pod of the Deployment was created, epoch milliseconds in whole seconds, the oldest first. */
  const creations = (app: string): readonly number[] => {
    const created = new Map<string, number>();
    for (const { kind, object } of history.events())
      if (kind === 'Pod' && object.metadata.labels?.['app'] === app)
        created.set(object.metadata.uid ?? '', Date.parse(object.metadata.creationTimestamp ?? ''));
    return [...created.values()].toSorted((a, b) => a - b);
  };

  const untilCreated = (app: string, count: number): Promise<unknown> =>
    waitFor(() => Promise.resolve(creations(app).length >= count), {
      what: `${count} pods of ${app}`,
      timeoutMs: 120_000,
    });

  /** Creation times have whole seconds, so that up to a second of a delay does not show. */
  const waitsDouble = (app: string): void => {
    const times = creations(app);
    const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    for (const [index, waitMs] of waits.entries())
      expect(waitMs).toBeGreaterThanOrEqual(1000 * 2 ** index - 1000);
  };

  const conditionOf = async (app: string): Promise<string> => {
    const path = '{.items[*].status.conditions[?(@.type=="PodFailureBackOff")].message}';
    return (await lab.kubectl('get', 'rs', '-l', `app=${app}`, '-o', `jsonpath=${path}`)).stdout;
  };

  it('creates the next ones later each time, also under another leader, and says so [kubernetes#72593, #134712]', async () => {
    const annotations = { 'node.rollkeeper.dev/behaviour': 'reject' };
    await apply(aDeployment({ name: 'rejected', annotations }));
    await untilCreated('rejected', 3);
    await lab.killLeader();
    await untilCreated('rejected', 5);
    waitsDouble('rejected');
    expect(await conditionOf('rejected')).toMatch(/^\d pods died before they were ready/);
    const events = await lab.kubectl('get', 'events', '--field-selector', 'reason=PodFailureBackOff');
    expect(events.stdout).toContain('(OutOfcpu)');
    const explained = await lab.rollkeeper('explain', 'deployment/rejected');
    expect(explained.stdout).toContain('OutOfcpu');
    await waitFor(async () => (await failing()) === 1, { what: 'the metric to count it', timeoutMs: 30_000 });
  });

  /** The ReplicaSets that the leader counts. */
  async function failing(): Promise<number> {
    const { adminUrl } = await lab.up.leader();
    const text = await (await fetch(`${adminUrl}/metrics`)).text();
    return Number(/^rollkeeper_failing_replicasets(?:\{[^}]*\})? (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
  }

  it('begins with the shortest delay again once a pod became ready', async () => {
    const patch = {
      spec: { template: { metadata: { annotations: { 'node.rollkeeper.dev/behaviour': null } } } },
    };
    await lab.kubectl('patch', 'deployment', 'rejected', '-p', JSON.stringify(patch));
    const rolledOut = await lab.kubectl('rollout', 'status', 'deployment/rejected', '--timeout=120s');
    expect(rolledOut.code).toBe(0);
    await waitFor(async () => (await conditionOf('rejected')) === '' && (await failing()) === 0, {
      what: 'the condition to go',
      timeoutMs: 30_000,
    });
  });

  it('keeps as many failed pods as the annotation says, and waits as long as before [kubernetes#91672, #54525, #86023]', async () => {
    const annotations = { 'node.rollkeeper.dev/behaviour': 'reject' };
    const deployment = aDeployment({ name: 'kept', annotations });
    deployment.metadata.annotations = { 'rollkeeper.dev/failed-pods': 'keep 1, 1h' };
    await apply(deployment);
    await untilCreated('kept', 3);
    await lab.killLeader();
    await untilCreated('kept', 5);
    waitsDouble('kept');
    const failed = async (): Promise<number> => {
      const args = ['-l', 'app=kept', '--field-selector', 'status.phase=Failed', '-o', 'name'];
      return (await lab.kubectl('get', 'pods', ...args)).stdout.trim().split('\n').length;
    };
    await waitFor(async () => (await failed()) === 1, {
      what: 'one failed pod to be kept',
      timeoutMs: 30_000,
    });
  });

  it('does the same where the dead pods leave the API: they name a node whose taint they do not tolerate [kubernetes#131116]', async () => {
    const [node = ''] = (
      await lab.kubectl('get', 'nodes', '-o', 'jsonpath={.items[*].metadata.name}')
    ).stdout.split(' ');
    await lab.kubectl('taint', 'node', node, 'culprit=culprit:NoExecute');
    const deployment = aDeployment({ name: 'tainted' });
    deployment.spec.template.spec!.nodeName = node;
    await apply(deployment);
    await untilCreated('tainted', 3);
    await lab.killLeader();
    await untilCreated('tainted', 5);
    waitsDouble('tainted');
    const pods: readonly Pod[] = (await lab.client.list<Pod>(Pod, { namespace: NAMESPACE })).items;
    expect(pods.filter(({ metadata }) => metadata.labels?.['app'] === 'tainted').length).toBeLessThan(5);
    expect(await conditionOf('tainted')).toContain('died before they were ready');
  });
});
