import { describe, expect, it } from 'vitest';
import { InMemoryApi } from '../../../testing/in-memory/in-memory-api.js';
import type { DeploymentCondition } from '../../../machinery/kubernetes/index.js';
import { Deployment, ReplicaSet, newControllerRef } from '../../../machinery/kubernetes/index.js';
import { podTemplateHash } from '../../../controllers/deployment/kubernetes/pod-template.js';
import { aDeployment, setImage } from '../../../testing/deployment-builder.js';
import type { RolloutRequest } from './request-of-rollout.js';
import { hasSomethingToRetry, requestOfRollout } from './request-of-rollout.js';

const FAILED = JSON.stringify([
  { template: 'abc', replicaSet: 'web-abc', revision: '2', at: '2026-01-01T00:00:00Z', cause: 'it broke' },
]);

interface Shape {
  readonly reason?: string;
  /** The reason of the condition RolloutPolicy. */
  readonly policyReason?: string;
  readonly annotations?: Record<string, string>;
  readonly paused?: boolean;
}

function started(shape: Shape = {}) {
  const { annotations, paused, policyReason, reason } = shape;
  const deployment = aDeployment({ annotations, spec: paused ? { paused } : {} });
  const condition: DeploymentCondition = { type: 'Progressing', status: 'True', reason, message: 'as it is' };
  const policy = { type: 'RolloutPolicy', status: 'False', reason: policyReason, message: 'held' };
  const api = new InMemoryApi();
  api.seed(Deployment, {
    ...deployment,
    status: { conditions: policyReason === undefined ? [condition] : [condition, policy] },
  });
  const now = () => api.all<Deployment>(Deployment)[0] as Deployment;
  const target = () => ({ client: api, type: Deployment, deployment: now() });
  const ask = (request: RolloutRequest) => requestOfRollout(target(), request, 'alice');
  /** Another writer changes the Deployment between the look and the request. */
  const askAfter = async (request: RolloutRequest, change: (deployment: Deployment) => Deployment) => {
    const looked = target();
    await api.update(Deployment, change(structuredClone(looked.deployment)));
    return requestOfRollout(looked, request, 'alice');
  };
  return { ask, askAfter, annotations: () => now().metadata.annotations };
}

describe('the requests of a person to a rollout', () => {
  it('is an annotation that says who', async () => {
    const waiting = started({ reason: 'WaitingForApproval' });
    expect(await waiting.ask('promote')).toBe('deployments.apps/web approved by alice');
    expect(waiting.annotations()).toEqual({ 'rollkeeper.dev/approve': 'alice' });
    const rolling = started({ reason: 'ReplicaSetUpdated' });
    expect(await rolling.ask('abort')).toContain('asked to go back by alice');
    expect(rolling.annotations()).toEqual({ 'rollkeeper.dev/abort': 'alice' });
    const failed = started({ annotations: { 'rollkeeper.dev/failed': FAILED } });
    expect(await failed.ask('retry')).toContain('asked to try again by alice');
    expect(failed.annotations()).toMatchObject({ 'rollkeeper.dev/retry': 'alice' });
  });

  it.each([
    { good: true, others: 0, isRefused: true },
    { good: false, others: 0, isRefused: false },
    { good: true, others: 2, isRefused: false },
  ])('is no abort of a revision that runs alone and is good: $good, beside $others pods', async (shape) => {
    const deployment = aDeployment();
    const api = new InMemoryApi();
    api.seed(Deployment, deployment);
    const seed = (name: string, image: string, replicas: number, annotations: Record<string, string>) => {
      const asked = structuredClone(deployment);
      setImage(asked, image);
      const { selector, template } = asked.spec;
      const ownerReferences = [newControllerRef(deployment)];
      const metadata = { namespace: 'default', name, uid: name, annotations, ownerReferences };
      const spec = { replicas, selector, template };
      api.seed(ReplicaSet, { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec });
    };
    const good = { 'rollkeeper.dev/good-since': '2026-01-01T00:00:00Z' };
    const image = deployment.spec.template.spec?.containers[0]?.image ?? '';
    seed('web-new', image, 3, shape.good ? good : {});
    seed('web-old', 'app:0', shape.others, good);
    const asking = requestOfRollout({ client: api, type: Deployment, deployment }, 'abort', 'alice');
    if (shape.isRefused) await expect(asking).rejects.toThrow(/no rollout that could be aborted/);
    else expect(await asking).toContain('asked to go back by alice');
    const [after] = api.all<Deployment>(Deployment);
    const asked = after?.metadata.annotations?.['rollkeeper.dev/abort'];
    expect(asked).toBe(shape.isRefused ? undefined : 'alice');
  });

  it('may be to go on without a check that holds it, or to have a failed one measured again', async () => {
    for (const reason of ['CheckFailed', 'CheckUnknown', 'CheckNotPossible']) {
      const held = started({ reason: 'WaitingForCheck', policyReason: reason });
      expect(await held.ask('promote')).toContain('approved by alice');
    }
    expect(await started({ policyReason: 'CheckFailed' }).ask('retry')).toContain('asked to try again');
    await expect(started({ policyReason: 'CheckUnknown' }).ask('retry')).rejects.toThrow(
      'no template that failed',
    );
    await expect(started({ reason: 'WaitingForCheck' }).ask('promote')).rejects.toThrow(
      'does not wait for an approval',
    );
  });

  it('holds although the controller has written meanwhile, unless it is another rollout by then', async () => {
    const counted = started({ reason: 'WaitingForApproval' });
    await counted.askAfter('promote', (deployment) => ({
      ...deployment,
      metadata: { ...deployment.metadata, annotations: { counted: 'yes' } },
    }));
    expect(counted.annotations()).toEqual({ counted: 'yes', 'rollkeeper.dev/approve': 'alice' });
    const replaced = started({ reason: 'WaitingForApproval' });
    const asked = replaced.askAfter('promote', (deployment) => {
      deployment.spec.template.metadata = { labels: { app: 'web', version: '2' } };
      return deployment;
    });
    await expect(asked).rejects.toThrow('web has changed meanwhile: look at it again');
    expect(replaced.annotations()?.['rollkeeper.dev/approve']).toBeUndefined();
  });

  it('is refused where there is nothing that it could be about', async () => {
    const rolling = started({ reason: 'ReplicaSetUpdated' });
    await expect(rolling.ask('promote')).rejects.toThrow('web does not wait for an approval: as it is');
    await expect(rolling.ask('retry')).rejects.toThrow('web has no template that failed');
    await expect(started({ paused: true }).ask('abort')).rejects.toThrow('web is paused: resume it first');
    expect(rolling.annotations()).toBeUndefined();
  });
});

describe('whether there is something to retry', () => {
  const version = (image: string, annotations?: Record<string, string>): Deployment => {
    const deployment = aDeployment({ annotations });
    setImage(deployment, image);
    return deployment;
  };
  const templateOf = (image: string): string => podTemplateHash(version(image).spec.template);
  /** Version 2 was rolled back to version 1. */
  const failure = {
    ...{ template: templateOf('web:2'), replicaSet: 'web-2', revision: '2' },
    ...{ at: '2026-01-01T00:00:00Z', cause: 'it broke' },
    to: { template: templateOf('web:1'), replicaSet: 'web-1', revision: '1' },
  };

  it.each([
    ['the version that failed is still asked for', 'web:2', [failure], true],
    ['the version before runs in its place', 'web:1', [failure], true],
    ['another version was applied since', 'web:3', [failure], false],
    ['nothing has failed', 'web:2', [], false],
  ] as const)('%s', (_, image, failures, expected) => {
    const deployment = version(image, { 'rollkeeper.dev/failed': JSON.stringify(failures) });
    expect(hasSomethingToRetry(deployment)).toBe(expected);
  });

  it('a failed check can be measured again', () => {
    const checked = (reason: string): Deployment => ({
      ...aDeployment(),
      status: { conditions: [{ type: 'RolloutPolicy', status: 'False', reason }] },
    });
    expect(hasSomethingToRetry(checked('CheckFailed'))).toBe(true);
    expect(hasSomethingToRetry(checked('CheckUnknown'))).toBe(false);
  });
});
