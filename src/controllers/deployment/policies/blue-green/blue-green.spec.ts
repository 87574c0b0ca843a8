import { describe, expect, it } from 'vitest';
import type { DeploymentShape } from '../../../../testing/deployment-builder.js';
import { aDeployment, setImage } from '../../../../testing/deployment-builder.js';
import { P, PolicyLab, imageOf } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE, refusal } from '../../../../testing/rollout-world.js';
import { Deployment, Pod, ReplicaSet } from '../../../../machinery/kubernetes/index.js';
import { Service } from '../../../../runtime/index.js';
import { createDeploymentController } from '../../definition.js';

const WATCHING = createDeploymentController({ blueGreen: true });
const HASH = 'pod-template-hash';
const BLUE_GREEN = { strategy: 'blue-green', 'active-service': 'web', 'preview-service': 'preview' };
const WHOLE: DeploymentShape = {
  replicas: 4,
  strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 } },
};

function putService(
  lab: PolicyLab,
  name: string,
  selector: Record<string, string> = { app: 'web' },
  annotations: Record<string, string> = {},
): void {
  const metadata = { namespace: 'default', name, uid: `uid-of-${name}`, annotations };
  lab.world.api.seed<Service>(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec: { selector } });
}

function seedPod(lab: PolicyLab, owner?: { readonly kind: string; readonly name: string }): void {
  const reference = { ...owner, apiVersion: 'apps/v1', uid: 'uid-of-owner', controller: true };
  lab.world.api.seed<Pod>(Pod, {
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: {
      ...{ namespace: 'default', name: owner ? `${owner.name}-0` : 'alone', uid: 'uid-of-pod' },
      labels: { app: 'web' },
      ...(owner && { ownerReferences: [{ ...reference, ...owner }] }),
    },
    spec: { containers: [] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
}

function serviceOf(lab: PolicyLab, name: string): Service | undefined {
  return lab.world.api.all<Service>(Service).find(({ metadata }) => metadata.name === name);
}

/** The image of the pods that a Service selects: `all` where it selects no version alone. */
function served(lab: PolicyLab, name = 'web'): string | undefined {
  const service = serviceOf(lab, name);
  if (!service) return undefined;
  const hash = service.spec.selector?.[HASH];
  if (hash === undefined) return 'all';
  const set = lab.world.replicaSets.find(({ metadata }) => metadata.labels?.[HASH] === hash);
  return set ? imageOf(set) : 'nothing';
}

async function running(
  policies: Record<string, string> = {},
  shape: DeploymentShape = WHOLE,
): Promise<PolicyLab> {
  return PolicyLab.rolledOut({ ...BLUE_GREEN, ...policies }, shape, {
    controller: WATCHING,
    prepare: (lab) => {
      putService(lab, 'web');
      putService(lab, 'preview');
    },
  });
}

const SECOND_MS = 1000;

describe('a blue-green rollout', () => {
  it('gives both Services the first version', async () => {
    const lab = await running();
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:1']);
    expect(serviceOf(lab, 'web')?.spec.selector?.['app'], 'its own selector').toBe('web');
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('brings the new version up whole, shows it to the preview Service, and waits for an approval', async () => {
    const lab = await running();
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:2']);
    expect(lab.condition()).toMatch(
      /^Unknown WaitingForApproval web-\w+ is whole and can be seen by Service "preview"/,
    );
    expect(lab.eventsOf('WaitingForApproval')).toHaveLength(1);
    await lab.pass(24 * 3600 * SECOND_MS);
    expect(served(lab), 'a day later').toBe('app:1');
  });

  it('moves the active Service when a person approves, and keeps the old version for the delay', async () => {
    const lab = await running();
    await lab.image('app:2');
    await lab.annotate('approve', 'alice');
    expect(served(lab)).toBe('app:2');
    expect(lab.annotation('approve')).toBeUndefined();
    expect(JSON.parse(serviceOf(lab, 'web')?.metadata.annotations?.[`${P}switched`] ?? '')).toMatchObject({
      by: 'alice',
    });
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(lab.condition()).toMatch(
      /^Unknown WaitingInStep Service "web" selects web-\w+; web-\w+ stays until /,
    );
    expect(lab.world.requeueAfterMs).toBe(30 * SECOND_MS);
    await lab.pass(29 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    await lab.pass(SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:2': 4 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.isGood('app:2')).toBe(true);
    expect(lab.eventsOf('ApprovalNotNeeded')).toEqual([]);
  });

  it('moves at once where it promotes by itself', async () => {
    const lab = await running({ 'auto-promote': 'true', 'scale-down-delay': '0s' });
    await lab.image('app:2');
    expect(served(lab)).toBe('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('goes back at once within the delay, and without an approval', async () => {
    const lab = await running();
    await lab.image('app:2');
    await lab.annotate('approve', 'alice');
    const before = lab.world.allPods.length;
    await lab.image('app:1');
    expect(served(lab)).toBe('app:1');
    expect(lab.world.allPods, 'no pod was started').toHaveLength(before);
    await lab.pass(30 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
  });

  it('removes a version that was only tried when a third one comes', async () => {
    const lab = await running();
    await lab.image('app:2');
    await lab.image('app:3');
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:3': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:3']);
  });

  it.each([{ to: 8 }, { to: 2 }])('keeps both versions whole when it is scaled to $to', async ({ to }) => {
    const lab = await running();
    await lab.image('app:2');
    await lab.scale(to);
    expect(lab.sizes).toEqual({ 'app:1': to, 'app:2': to });
    expect(served(lab)).toBe('app:1');
    await lab.annotate('approve', 'alice');
    await lab.pass(30 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:2': to });
  });

  it('follows a scale while it is paused, and moves nothing', async () => {
    const lab = await running();
    await lab.image('app:2');
    lab.world.change(({ spec }) => void (spec.paused = true));
    await lab.annotate('approve', 'alice');
    await lab.scale(6);
    expect(lab.sizes).toEqual({ 'app:1': 6, 'app:2': 6 });
    expect(served(lab)).toBe('app:1');
    lab.world.change(({ spec }) => void (spec.paused = false));
    await lab.rest();
    expect(served(lab)).toBe('app:2');
  });

  it('is left by an abort, before and after the move', async () => {
    const lab = await running();
    await lab.image('app:2');
    await lab.annotate('abort', 'bob');
    expect([served(lab), lab.imageAsked]).toEqual(['app:1', 'app:1']);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    await lab.annotate('retry', 'bob');
    await lab.annotate('approve', 'alice');
    expect(served(lab)).toBe('app:2');
    await lab.annotate('abort', 'bob');
    expect([served(lab), lab.imageAsked]).toEqual(['app:1', 'app:1']);
    expect(lab.sizes, 'a failed version is not kept for the delay').toEqual({ 'app:1': 4 });
  });

  it('rolls back a version that fails beside the old one', async () => {
    const lab = await running({ 'on-failure': 'rollback', 'fail-after': '1m', 'auto-promote': 'true' });
    await lab.image(BROKEN_IMAGE);
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', BROKEN_IMAGE]);
    await lab.pass(60 * SECOND_MS);
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:1']);
  });

  it('runs the good version in place of a failed one that is held', async () => {
    const lab = await running({ 'on-failure': 'hold', 'fail-after': '1m', 'auto-promote': 'true' });
    await lab.image(BROKEN_IMAGE);
    await lab.pass(60 * SECOND_MS);
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(served(lab)).toBe('app:1');
  });

  it('claims the Service for the running version before a new one begins', async () => {
    const lab = await PolicyLab.rolledOut({}, WHOLE, {
      controller: WATCHING,
      prepare: (made) => putService(made, 'web'),
    });
    expect(served(lab)).toBe('all');
    lab.world.change((deployment) => {
      setImage(deployment, 'app:2');
      deployment.metadata.annotations = { [`${P}strategy`]: 'blue-green', [`${P}active-service`]: 'web' };
    });
    await lab.world.sync();
    expect(served(lab)).toBe('app:1');
    expect(lab.sizes, 'the same pass').toEqual({ 'app:1': 4 });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(lab.condition()).toMatch(/WaitingForApproval/);
  });

  it('lets the Service go before anything else when the policy goes', async () => {
    const lab = await running();
    await lab.image('app:2');
    lab.world.change(({ metadata }) => void (metadata.annotations = {}));
    await lab.world.sync();
    expect([served(lab), served(lab, 'preview')]).toEqual(['all', 'all']);
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(serviceOf(lab, 'web')?.metadata.annotations ?? {}).toEqual({});
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('follows a Service that another hand has moved', async () => {
    const lab = await running();
    await lab.image('app:2');
    putService(lab, 'web', serviceOf(lab, 'preview')?.spec.selector);
    await lab.rest();
    expect(lab.sizes, 'both for the delay').toEqual({ 'app:1': 4, 'app:2': 4 });
    await lab.pass(30 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:2': 4 });
    expect(served(lab)).toBe('app:2');
  });

  it.each([{ noted: true }, { noted: false }])(
    'takes the Service back that another hand let go in the middle (the last move is noted: $noted)',
    async ({ noted }) => {
      const lab = await running();
      await lab.image('app:2');
      const annotations = noted ? serviceOf(lab, 'web')?.metadata.annotations : {};
      putService(lab, 'web', { app: 'web' }, annotations);
      await lab.rest();
      expect(served(lab)).toBe('app:1');
      expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
      expect(lab.condition()).toContain('WaitingForApproval');
    },
  );

  it('asks the API for the selector before it removes pods', async () => {
    const lab = await running();
    const old = serviceOf(lab, 'web');
    await lab.image('app:2');
    await lab.annotate('approve', 'alice');
    lab.clock.move(30 * SECOND_MS);
    const get = lab.world.api.get.bind(lab.world.api);
    lab.world.api.get = async (type, ref) =>
      (type.resource === 'services' ? structuredClone(old) : await get(type, ref)) as never;
    await expect(lab.world.sync()).rejects.toThrow('Service web selects pods that were to go');
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
  });

  it('makes the move again where the Service has changed meanwhile', async () => {
    const lab = await running();
    await lab.image('app:2');
    const patch = lab.world.api.patch.bind(lab.world.api);
    lab.world.api.patch = async () => {
      throw refusal(409);
    };
    await expect(lab.annotate('approve', 'alice')).rejects.toThrow();
    expect([served(lab), lab.annotation('approve')]).toEqual(['app:1', 'alice']);
    lab.world.api.patch = patch;
    await lab.rest();
    expect([served(lab), lab.annotation('approve')]).toEqual(['app:2', undefined]);
  });

  it('does not warn of an approval whose move was made by a process that died after it', async () => {
    const lab = await running();
    await lab.image('app:2');
    const died = new Error('killed');
    lab.world.onEffect = () => {
      if (served(lab) === 'app:2') throw died;
    };
    await expect(lab.annotate('approve', 'alice')).rejects.toThrow(died);
    expect([served(lab), lab.annotation('approve')]).toEqual(['app:2', 'alice']);
    lab.world.onEffect = () => undefined;
    await lab.rest();
    expect(lab.annotation('approve')).toBeUndefined();
    expect(lab.eventsOf('ApprovalNotNeeded')).toEqual([]);
  });
});

describe('a blue-green rollout that cannot move its Service', () => {
  const beginning = async (change: (lab: PolicyLab) => unknown): Promise<PolicyLab> => {
    const lab = await running();
    await change(lab);
    await lab.image('app:2');
    return lab;
  };

  const remove = (lab: PolicyLab, name: string) =>
    lab.world.api.delete(Service, { namespace: 'default', name });

  const CASES: readonly { name: string; change: (lab: PolicyLab) => unknown; says: string }[] = [
    {
      name: 'is missing',
      change: (lab: PolicyLab) => remove(lab, 'web'),
      says: 'Service "web" does not exist',
    },
    {
      name: 'selects other pods',
      change: (lab: PolicyLab) => putService(lab, 'preview', { app: 'api' }),
      says: 'Service "preview" selects other pods: app=api is not among the labels of the pod template',
    },
    {
      name: 'selects nothing',
      change: (lab: PolicyLab) => putService(lab, 'web', {}),
      says: 'Service "web" has no selector',
    },
    {
      name: 'is moved by another Deployment',
      change: (lab: PolicyLab) => {
        const other = aDeployment({ ...WHOLE, annotations: lab.deployment.metadata.annotations });
        const metadata = { ...other.metadata, name: 'zoo', uid: 'uid-of-other' };
        lab.world.api.seed(Deployment, { ...other, metadata });
        const annotations = { [`${P}managed-by`]: 'zoo' };
        putService(lab, 'web', { app: 'web' }, annotations);
      },
      says: 'Service "web" is moved by the rollouts of Deployment "zoo"',
    },
  ];

  it.each(CASES)('is held before it begins where one $name', async ({ change, says }) => {
    const lab = await beginning(change);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toBe(`Unknown RolloutHeld The rollout is held: ${says}`);
    expect(lab.condition('RolloutPolicy')).toBe(`False ServiceNotUsable ${says}`);
    expect(lab.eventsOf('ServiceNotUsable')).toEqual([`Warning ServiceNotUsable ${says}`]);
    await lab.pass(3600 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
  });

  it('is held where a ReplicaSet that was adopted has no hash to be selected by', async () => {
    const lab = await beginning((made) => {
      const set = made.replicaSet('app:1');
      const { [HASH]: _hash, ...labels } = set.metadata.labels ?? {};
      made.world.api.seed(ReplicaSet, { ...set, metadata: { ...set.metadata, labels } });
    });
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toMatch(/^Unknown RolloutHeld .*ReplicaSet "web-\w+" has no pod-template-hash/);
    expect(serviceOf(lab, 'web')?.spec.selector?.[HASH], 'it is not moved to nothing').toBeTruthy();
  });

  it('goes on when the Service is there again', async () => {
    const lab = await beginning((made) => remove(made, 'web'));
    putService(lab, 'web');
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:2']);
    expect(lab.condition('RolloutPolicy')).toBe('none');
  });

  it('keeps every version that has pods where the Service goes in the middle', async () => {
    const lab = await running({ 'auto-promote': 'true' });
    lab.world.breaks = () => true;
    await lab.image('app:2');
    await remove(lab, 'web');
    lab.world.breaks = () => false;
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(lab.condition()).toContain('RolloutHeld');
    putService(lab, 'web');
    await lab.rest();
    await lab.pass(30 * SECOND_MS);
    expect([served(lab), lab.sizes]).toEqual(['app:2', { 'app:2': 4 }]);
  });

  it('starts the first version all the same, and says what is missing', async () => {
    const lab = await PolicyLab.rolledOut(BLUE_GREEN, WHOLE, { controller: WATCHING });
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.condition('RolloutPolicy')).toContain(
      'Service "web" does not exist; Service "preview" does not',
    );
  });

  it('is held where Services are not watched', async () => {
    const lab = await PolicyLab.rolledOut(BLUE_GREEN, WHOLE);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toContain('Services are not watched: start the controller with --blue-green');
    expect(lab.condition('RolloutPolicy')).toContain('ServicesNotWatched');
  });

  const WRONG: readonly (Readonly<Record<string, string>> & { readonly says: string })[] = [
    { strategy: 'canary', says: '"canary" is not one of rolling, blue-green' },
    { 'preview-service': 'web', says: 'is the same Service as rollkeeper.dev/active-service' },
    { 'active-service': '', says: 'needs rollkeeper.dev/active-service' },
    { 'active-service': 'Web', says: '"Web" is not the name of a Service' },
    { 'auto-promote': 'yes', says: '"yes" is neither true nor false' },
    { 'scale-down-delay': 'soon', says: '"soon" is not a duration' },
    { steps: '1; approve', says: 'cannot be combined with rollkeeper.dev/strategy: blue-green' },
    { strategy: '', says: 'needs rollkeeper.dev/strategy: blue-green' },
  ];

  it.each<[string, (lab: PolicyLab) => void, string]>([
    [
      'another Deployment, also while it has no pods',
      (lab) => {
        const other = aDeployment({ replicas: 0 });
        lab.world.api.seed(Deployment, {
          ...other,
          metadata: { ...other.metadata, name: 'zz', uid: 'other', annotations: {} },
        });
      },
      'Deployment "zz"',
    ],
    ['a StatefulSet', (lab) => seedPod(lab, { kind: 'StatefulSet', name: 'db' }), 'StatefulSet "db"'],
    ['a pod by itself', (lab) => seedPod(lab), 'pod "alone"'],
  ])('moves no Service that selects pods of %s', async (_, seed, says) => {
    const lab = await PolicyLab.rolledOut({ ...BLUE_GREEN, 'auto-promote': 'true' }, WHOLE, {
      controller: WATCHING,
      prepare: (prepared) => {
        putService(prepared, 'web');
        putService(prepared, 'preview');
        seed(prepared);
      },
    });
    expect(served(lab)).toBe('all');
    expect(lab.condition('RolloutPolicy')).toContain(`Service "web" selects pods of ${says} as well`);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.world.requeueAfterMs, 'nothing reports that such pods go').toBe(30 * SECOND_MS);
  });

  it('keeps a Service that it moved before pods of others came', async () => {
    const lab = await running({ 'auto-promote': 'true' });
    seedPod(lab, { kind: 'StatefulSet', name: 'db' });
    await lab.image('app:2');
    expect(served(lab)).toBe('app:2');
  });

  it('leaves its Services selecting all pods when it is deleted, also if nothing ran then', async () => {
    const lab = await running();
    const { metadata } = lab.deployment;
    putService(lab, 'foreign', { app: 'x' }, { [`${P}managed-by`]: 'another' });
    await lab.world.api.delete(Deployment, metadata);
    await lab.world.sync(metadata);
    expect([served(lab), served(lab, 'preview')]).toEqual(['all', 'all']);
    expect(serviceOf(lab, 'web')?.metadata.annotations).toEqual({});
    expect(serviceOf(lab, 'foreign')?.metadata.annotations, 'of another Deployment').not.toEqual({});
    expect(lab.eventsOf('ServiceLetGo')).toHaveLength(2);
  });

  it.each(WRONG)('is held where $says', async ({ says, ...policies }) => {
    const lab = await running(policies);
    expect(lab.condition('RolloutPolicy')).toContain('False InvalidAnnotation');
    expect(lab.condition('RolloutPolicy')).toContain(says);
  });

  it('moves no Service and lets none go while an annotation cannot be understood, but for the way back', async () => {
    const lab = await running();
    await lab.image('app:2');
    for (const [name, value] of [
      ['bake-tme', '5m'],
      ['auto-promote', 'yes'],
    ] as const) {
      const before = lab.annotation(name);
      await lab.annotate(name, value);
      await lab.annotate('approve', 'alice');
      await lab.pass(60 * SECOND_MS);
      expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:2']);
      expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
      await lab.annotate('approve', undefined);
      await lab.annotate(name, before);
    }
    await lab.annotate('approve', 'alice');
    await lab.pass(60 * SECOND_MS);
    expect(served(lab)).toBe('app:2');
    await lab.annotate('bake-tme', '5m');
    await lab.image('app:1');
    await lab.pass(60 * SECOND_MS);
    expect(served(lab)).toBe('app:1');
  });

  it.each([{ maxSurge: '25%' }, { maxSurge: 4 }, { maxSurge: undefined }])(
    'is held with a maxSurge of $maxSurge: two whole versions would break the limit',
    async ({ maxSurge }) => {
      const strategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge } } as const;
      const lab = await running({}, { replicas: 4, strategy });
      expect(lab.condition('RolloutPolicy')).toContain(
        `needs spec.strategy.rollingUpdate.maxSurge of 100% or more, as a percentage, and it is ${maxSurge ?? '25%'}`,
      );
    },
  );
});
