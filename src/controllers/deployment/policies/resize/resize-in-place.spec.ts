import { describe, expect, it } from 'vitest';
import { Pod } from '../../../../machinery/kubernetes/index.js';
import { ApiStatusError } from '../../../../client/api-client/index.js';
import { readRevisionEntries } from '../history/history.js';
import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { PAST_DEADLINE_MS, PolicyLab } from '../../../../testing/policy-lab.js';

type Amounts = Record<string, string>;

const IN_PLACE = { resize: 'in-place' };
const SMALL = { cpu: '100m', memory: '64Mi' };
const LARGE = { cpu: '200m', memory: '64Mi' };

/** Three pods with requests, rolled out. */
async function small(
  policies: Record<string, string> = IN_PLACE,
  shape: DeploymentShape = {},
  container: object = {},
): Promise<PolicyLab> {
  const first = { name: 'web', image: 'app:1', resources: { requests: SMALL }, ...container };
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [first] } };
  return PolicyLab.rolledOut(policies, { replicas: 3, ...shape, spec: { template } });
}

async function ask(lab: PolicyLab, requests: Amounts, container: object = {}): Promise<void> {
  lab.world.change(({ spec }) => {
    const [first] = spec.template.spec?.containers ?? [];
    if (first) Object.assign(first, { resources: { requests }, ...container });
  });
  // One second each, as long as something is to be looked at again.
  for (let second = 0; second < 10; second++) await lab.pass(1000);
}

function requestsOf(pod: Pod): Amounts {
  return { ...(pod.spec.containers[0]?.resources?.requests as Amounts) };
}

const namesOf = ({ world }: PolicyLab): string[] => world.allPods.map(({ metadata }) => metadata.name);
const cpuOf = ({ world }: PolicyLab): (string | undefined)[] =>
  world.allPods.map((pod) => requestsOf(pod)['cpu']);

describe('a change of cpu and memory alone', () => {
  it('is given to the pods that run, and their ReplicaSet becomes that of the new template', async () => {
    const lab = await small();
    const before = namesOf(lab);
    await ask(lab, LARGE);
    expect(namesOf(lab)).toEqual(before);
    expect(cpuOf(lab)).toEqual(['200m', '200m', '200m']);
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2');
    expect(lab.deployment.status).toMatchObject({ replicas: 3, updatedReplicas: 3, availableReplicas: 3 });
    expect(lab.eventsOf('ResizedInPlace')).toHaveLength(1);
    const active = lab.world.replicaSets.filter(({ spec }) => spec.replicas === 3);
    expect(active).toHaveLength(1);
    expect(active[0]?.spec.template?.spec?.containers[0]?.resources).toEqual({ requests: LARGE });
  });

  it('keeps the revision before, to which a rollback goes in place again', async () => {
    const lab = await small();
    const before = namesOf(lab);
    await ask(lab, LARGE);
    const kept = lab.world.replicaSets.find(
      ({ metadata }) => metadata.annotations?.['deployment.kubernetes.io/revision'] === '1',
    );
    expect(kept?.spec).toMatchObject({ replicas: 0 });
    expect(kept?.spec.template?.spec?.containers[0]?.resources).toEqual({ requests: SMALL });
    await ask(lab, SMALL);
    expect(namesOf(lab)).toEqual(before);
    expect(cpuOf(lab)).toEqual(['100m', '100m', '100m']);
    expect(lab.deployment.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('3');
  });

  it.each([
    { what: 'a resize', policies: IN_PLACE },
    { what: 'a freeze', policies: { freeze: 'for now', history: 'on' } },
  ])('keeps in the history which tool asked for it, although it begins after $what', async ({ policies }) => {
    const lab = await small(policies);
    lab.world.change(({ metadata, spec }) => {
      const [first] = spec.template.spec?.containers ?? [];
      if (first) first.resources = { requests: LARGE };
      metadata.managedFields = [{ manager: 'kubectl-set', fieldsV1: { 'f:spec': { 'f:template': {} } } }];
    });
    await lab.world.sync();
    await lab.annotate('freeze', undefined);
    for (let second = 0; second < 10; second++) await lab.pass(1000);
    const entries = lab.world.replicaSets.flatMap(({ metadata }) =>
      readRevisionEntries(metadata.annotations),
    );
    expect(entries).toContainEqual(expect.objectContaining({ revision: '2', tool: 'kubectl-set' }));
  });

  it('rolls as usual without the annotation', async () => {
    const lab = await small({});
    const before = namesOf(lab);
    await ask(lab, LARGE);
    expect(namesOf(lab).filter((name) => before.includes(name))).toEqual([]);
  });

  it.each([
    { what: 'another field', container: { image: 'app:2' }, requests: LARGE },
    { what: 'an amount that is taken away', container: {}, requests: { cpu: '200m' } },
    { what: 'another resource', container: {}, requests: { ...SMALL, 'example.com/gpu': '1' } },
  ])('rolls as usual with $what', async ({ container, requests }) => {
    const lab = await small();
    const before = namesOf(lab);
    await ask(lab, requests, container);
    expect(namesOf(lab).filter((name) => before.includes(name))).toEqual([]);
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('rolls as usual where a node refuses, and says why', async () => {
    const lab = await small();
    const before = namesOf(lab);
    lab.world.resizeAnswer = (pod) =>
      pod.metadata.name === before[1] && requestsOf(pod)['cpu'] === '200m'
        ? { reason: 'Infeasible' }
        : undefined;
    await ask(lab, LARGE);
    expect(namesOf(lab).filter((name) => before.includes(name))).toEqual([]);
    expect(lab.eventsOf('ResizeRefused')).toHaveLength(1);
    expect(lab.eventsOf('ResizeRefused')[0]).toContain(`${before[1]}: no room`);
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('waits for a node that has not the room now, as long as the progress deadline', async () => {
    const lab = await small();
    const before = namesOf(lab);
    lab.world.resizeAnswer = (pod) =>
      pod.metadata.name === before[0] && requestsOf(pod)['cpu'] === '200m'
        ? { reason: 'Deferred' }
        : undefined;
    await ask(lab, LARGE);
    expect(namesOf(lab)).toEqual(before);
    expect(lab.condition()).toMatch(/^Unknown ResizingPods .*2 of 3 done; .* waits for room on its node$/);
    await lab.pass(PAST_DEADLINE_MS);
    for (let second = 0; second < 10; second++) await lab.pass(1000);
    expect(namesOf(lab).filter((name) => before.includes(name))).toEqual([]);
  });

  it('goes on when the Deployment is scaled in between, and gives new pods the same', async () => {
    const lab = await small();
    const [first] = namesOf(lab);
    let isFull = true;
    lab.world.resizeAnswer = (pod) =>
      isFull && pod.metadata.name === first && requestsOf(pod)['cpu'] === '200m'
        ? { reason: 'Deferred' }
        : undefined;
    await ask(lab, LARGE);
    await lab.scale(5);
    expect(namesOf(lab)).toHaveLength(5);
    isFull = false;
    for (let second = 0; second < 10; second++) await lab.pass(1000);
    expect(cpuOf(lab)).toEqual(Array.from({ length: 5 }, () => '200m'));
    expect(namesOf(lab)).toContain(first);
  });

  it('is taken back where the change is, before all nodes have carried it out', async () => {
    const lab = await small();
    const before = namesOf(lab);
    lab.world.resizeAnswer = (pod) =>
      pod.metadata.name === before[0] && requestsOf(pod)['cpu'] === '200m'
        ? { reason: 'Deferred' }
        : undefined;
    await ask(lab, LARGE);
    expect(cpuOf(lab)).toEqual(['200m', '200m', '200m']);
    await ask(lab, SMALL);
    expect(namesOf(lab)).toEqual(before);
    expect(cpuOf(lab)).toEqual(['100m', '100m', '100m']);
    expect(lab.replicaSet('app:1').metadata.annotations).not.toHaveProperty(['rollkeeper.dev/resizing']);
  });

  it('reaches a pod that was started from the old template while the ReplicaSet got the new one', async () => {
    const lab = await small();
    const { world } = lab;
    world.change(({ spec }) => {
      const [first] = spec.template.spec?.containers ?? [];
      if (first) first.resources = { requests: LARGE };
    });
    const isMoved = (): boolean =>
      world.replicaSets.some(({ spec }) => {
        const requests = spec.template?.spec?.containers[0]?.resources?.requests;
        return spec.replicas === 3 && requests?.['cpu'] === '200m';
      });
    for (let sync = 0; sync < 10 && !isMoved(); sync++) await world.sync();
    expect(isMoved()).toBe(true);
    const [pod] = world.allPods;
    const [container] = pod?.spec.containers ?? [];
    if (pod && container) {
      const containers = [{ ...container, resources: { requests: SMALL } }];
      world.api.seed(Pod, { ...pod, spec: { ...pod.spec, containers } });
    }
    for (let second = 0; second < 10; second++) await lab.pass(1000);
    expect(cpuOf(lab)).toEqual(['200m', '200m', '200m']);
    const marked = world.replicaSets.filter(
      ({ metadata }) => metadata.annotations?.['rollkeeper.dev/resizing'],
    );
    expect(marked).toEqual([]);
  });

  it('restarts no more containers at once than may be unavailable', async () => {
    const restarting = { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] };
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } as const;
    const lab = await small(IN_PLACE, { strategy }, restarting);
    const before = namesOf(lab);
    lab.world.change(({ spec }) => {
      const [first] = spec.template.spec?.containers ?? [];
      if (first) first.resources = { requests: LARGE };
    });
    await lab.world.sync();
    expect(cpuOf(lab).filter((cpu) => cpu === '200m')).toHaveLength(1);
    for (let second = 0; second < 10; second++) await lab.pass(1000);
    expect(namesOf(lab)).toEqual(before);
    expect(cpuOf(lab)).toEqual(['200m', '200m', '200m']);
  });

  it('rolls as usual where containers would restart and none may be unavailable', async () => {
    const restarting = { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] };
    const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } as const;
    const lab = await small(IN_PLACE, { strategy }, restarting);
    const before = namesOf(lab);
    await ask(lab, LARGE);
    expect(namesOf(lab).filter((name) => before.includes(name))).toEqual([]);
  });

  it.each([403, 404, 405, 422])('rolls as usual where the API answers %i, and keeps that', async (code) => {
    const lab = await small();
    const before = namesOf(lab);
    const update = lab.world.api.update.bind(lab.world.api);
    lab.world.api.update = async (type, object, options) => {
      if (type === Pod && options?.subresource === 'resize')
        throw new ApiStatusError({ code, reason: 'Invalid', message: 'QOS class may not change' });
      return update(type, object, options);
    };
    await ask(lab, LARGE);
    expect(lab.annotation('resize-refused')).toContain('QOS class may not change');
    expect(lab.eventsOf('ResizeRefused')).toHaveLength(1);
    expect(lab.eventsOf('ResizeRefused')[0]).toContain('QOS class may not change');
    expect(namesOf(lab).filter((name) => before.includes(name))).toEqual([]);
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });
});
