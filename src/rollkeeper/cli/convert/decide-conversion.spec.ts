import { describe, expect, it } from 'vitest';
import type { Deployment, KubernetesObject, ReplicaSet } from '../../../machinery/kubernetes/index.js';
import { RollkeeperDeployment, newControllerRef } from '../../../machinery/kubernetes/index.js';
import { completeDeployment, podTemplateHash } from '../../../controllers/deployment/index.js';
import type { ApiClient } from '../../../client/api-client/index.js';
import { ApiStatusError } from '../../../client/api-client/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';
import { convertedDeployment } from './converted-deployment.js';
import type { ConversionState } from './decide-conversion.js';
import { decideConversion } from './decide-conversion.js';
import { verifyTemplate } from './run-conversion.js';

function aSource(
  metadata: Partial<Deployment['metadata']> = {},
  spec: Partial<Deployment['spec']> = {},
): Deployment {
  const deployment = completeDeployment(aDeployment({ spec }));
  return {
    ...deployment,
    metadata: { ...deployment.metadata, ...metadata },
    status: { observedGeneration: 1 },
  };
}

/** The server's object for a conversion, seen by its controller. */
function aTarget(source: Deployment, metadata: Partial<Deployment['metadata']> = {}): Deployment {
  const made = convertedDeployment(source, RollkeeperDeployment);
  return {
    ...made,
    metadata: { ...made.metadata, uid: 'uid-of-target', generation: 1, ...metadata },
    status: { observedGeneration: 1 },
  };
}

function aReplicaSetOf(owner: Deployment | undefined): ReplicaSet {
  const { selector, template } = aSource().spec;
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: 'web-1',
      namespace: 'default',
      labels: { app: 'web', 'pod-template-hash': podTemplateHash(template) },
      ...(owner && { ownerReferences: [newControllerRef(owner)] }),
    },
    spec: { replicas: 10, selector, template },
  };
}

const decide = (state: Partial<ConversionState>) =>
  decideConversion({ replicaSets: [], deployments: [], ...state }, RollkeeperDeployment);
const isPaused = { paused: true };

describe('the next step of a conversion', () => {
  it.each([
    { name: 'pauses the source first', state: { source: aSource() }, step: 'pause' },
    { name: 'makes the target of a paused source', state: { source: aSource({}, isPaused) }, step: 'create' },
    {
      name: 'brings the target up to date with a source that has changed since',
      state: { source: aSource({ generation: 2 }, isPaused), target: aTarget(aSource()) },
      step: 'update',
    },
    {
      name: 'waits until both controllers have seen them paused',
      state: { source: aSource({}, isPaused), target: { ...aTarget(aSource()), status: {} } },
      step: 'await-controller',
    },
    {
      name: 'lets the source go then',
      state: { source: aSource({}, isPaused), target: aTarget(aSource()) },
      step: 'release',
    },
    {
      name: 'waits while the source lets its ReplicaSets go',
      state: {
        source: aSource({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['orphan'] }, isPaused),
        target: aTarget(aSource()),
      },
      step: 'await-release',
    },
    {
      name: 'waits while a ReplicaSet is nobody’s',
      state: { target: aTarget(aSource()), replicaSets: [aReplicaSetOf(undefined)] },
      step: 'await-adoption',
    },
    {
      name: 'waits while a ReplicaSet is still that of the source',
      state: { target: aTarget(aSource()), replicaSets: [aReplicaSetOf(aSource())] },
      step: 'await-adoption',
    },
    {
      name: 'resumes the target once it has them all',
      state: { target: aTarget(aSource()), replicaSets: [aReplicaSetOf(aTarget(aSource()))] },
      step: 'resume',
    },
    { name: 'is none for one that is there already', state: { target: aSource() }, step: 'done' },
    {
      name: 'lets a target go that was begun, where the source is wanted back',
      state: { source: aTarget(aSource()), target: aSource({}, isPaused) },
      step: 'release',
    },
  ])('$name', ({ state, step }) => {
    expect(decide(state).type).toBe(step);
  });

  it.each<{ why: string; state: Parameters<typeof decide>[0] }>([
    { why: 'there is no such Deployment in either API', state: {} },
    {
      why: 'App shop controls it and would make it again',
      state: {
        source: aSource({
          ownerReferences: [{ apiVersion: 'x/v1', kind: 'App', name: 'shop', uid: 'u', controller: true }],
        }),
      },
    },
    {
      why: 'it is being deleted, and its pods with it',
      state: {
        source: aSource({ deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['foregroundDeletion'] }),
        target: aTarget(aSource()),
      },
    },
    { why: 'it is being deleted', state: { source: aSource({ deletionTimestamp: '2026-01-01T00:00:00Z' }) } },
    {
      why: 'there is another one of that name in rollkeeper.dev/v1, which was not made from it',
      state: { source: aSource(), target: aTarget(aSource({ uid: 'of another' })) },
    },
  ])('is refused: $why', ({ why, state }) => {
    expect(decide(state)).toEqual({ type: 'refuse', why });
  });
});

describe('another Deployment of the namespace', () => {
  const rival = (spec: Partial<Deployment['spec']> = {}, metadata: Partial<Deployment['metadata']> = {}) =>
    aSource({ name: 'rival', uid: 'uid-of-rival', ...metadata }, spec);
  const replicaSets = [aReplicaSetOf(aSource())];

  it.each([
    { when: 'nothing has begun yet', source: aSource() },
    { when: 'only the release is left', source: aSource({}, isPaused), target: aTarget(aSource()) },
  ])('is refused if it could take a ReplicaSet meanwhile, when $when', ({ source, target }) => {
    const deployments = [source, ...(target ? [target] : []), rival()];
    expect(decide({ source, ...(target && { target }), replicaSets, deployments })).toEqual({
      type: 'refuse',
      why: 'Deployment rival of apps/v1 selects its ReplicaSet web-1 as well and could take it meanwhile; give that one another selector first',
    });
  });

  it.each([
    { who: 'selects other pods', other: rival({ selector: { matchLabels: { app: 'shop' } } }) },
    { who: 'selects everything', other: rival({ selector: {} }) },
    { who: 'is being deleted', other: rival({}, { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
  ])('is no obstacle if it $who', ({ other }) => {
    const source = aSource();
    expect(decide({ source, replicaSets, deployments: [source, other] }).type).toBe('pause');
  });

  it('does not hold up what has been released already', () => {
    const state = { target: aTarget(aSource()), replicaSets: [aReplicaSetOf(undefined)] };
    expect(decide({ ...state, deployments: [aTarget(aSource()), rival()] }).type).toBe('await-adoption');
  });
});

describe('before anything is changed', () => {
  const source = aSource();
  const verify = (answer: (object: Deployment) => Deployment) => {
    const client = {
      create: async (_type: unknown, object: KubernetesObject) => answer(object as Deployment),
    } as unknown as ApiClient;
    return verifyTemplate(source, RollkeeperDeployment, { client, replicaSets: [aReplicaSetOf(source)] });
  };

  it('a template that comes back as it was is good', async () => {
    await expect(verify((object) => object)).resolves.toBeUndefined();
  });

  it('a template that the definition does not keep whole is refused', async () => {
    const pruned = (object: Deployment): Deployment => ({
      ...object,
      spec: {
        ...object.spec,
        template: { ...object.spec.template, spec: { containers: [{ name: 'web' }] } },
      },
    });
    await expect(verify(pruned)).rejects.toThrow(
      /^its pods would be replaced: .* not what ReplicaSet web-1 was made of/,
    );
  });

  it('a server without the definition is reported', async () => {
    const missing = (): never => {
      throw new ApiStatusError({ code: 404, reason: 'NotFound', message: 'not found' });
    };
    await expect(verify(missing)).rejects.toThrow(/does not have deployments.rollkeeper.dev/);
  });
});
