import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../../machinery/kubernetes/index.js';
import { admittedPod, creationOf, refusalOf } from '../admission.fixture.js';
import type { WriteAttributes } from '../attributes.js';
import type { AccessDecider } from '../request-authority.js';
import { keepRecords, protectHistory } from './rollout-records.js';

const TENANT = 'mal';
/** Everybody but the tenant may write the status of Deployments. */
const access: AccessDecider = {
  decide: ({ username }, question) => {
    const isStatus = 'resource' in question && question.subresource === 'status';
    return { allowed: isStatus && username !== TENANT, reason: '' };
  },
};

function write(
  username: string,
  object: UnstructuredObject,
  oldObject?: UnstructuredObject,
): WriteAttributes & { readonly warnings: string[] } {
  const warnings: string[] = [];
  const { caller, ...attributes } = creationOf(admittedPod());
  const user = { ...caller.user, username };
  return {
    ...attributes,
    ...{ object, oldObject, warnings, name: object.metadata.name },
    caller: { user, warn: (text) => void warnings.push(text) },
  };
}

function replicaSet(annotations: Record<string, string>): UnstructuredObject {
  return { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'web-1', annotations } };
}

describe('the records of rollouts on a ReplicaSet', () => {
  const forged = { 'rollkeeper.dev/revisions': '[{"by":"alice"}]', 'rollkeeper.dev/step': '{}', note: 'x' };

  it.each([
    ['are left out when a user creates one', undefined, { note: 'x' }],
    [
      'stay as they are when a user changes them',
      { 'rollkeeper.dev/revisions': '[]' },
      { 'rollkeeper.dev/revisions': '[]', note: 'x' },
    ],
  ])('%s, and the user is warned', (_what, before, after) => {
    const attributes = write(TENANT, replicaSet(forged), before && replicaSet(before));
    keepRecords(attributes, access);
    expect(attributes.object.metadata.annotations).toEqual(after);
    expect(attributes.warnings).toEqual([
      expect.stringContaining('only a controller of Deployments may change rollkeeper.dev/revisions'),
    ]);
  });

  it('are written by everyone who may write the status of Deployments', () => {
    const attributes = write('controller', replicaSet(forged), replicaSet({}));
    keepRecords(attributes, access);
    expect(attributes.object.metadata.annotations).toEqual(forged);
  });

  it('do not keep a user from changing anything else', () => {
    const attributes = write(TENANT, replicaSet({ ...forged, note: 'y' }), replicaSet(forged));
    keepRecords(attributes, access);
    expect(attributes.object.metadata.annotations).toEqual({ ...forged, note: 'y' });
    expect(attributes.warnings).toEqual([]);
  });
});

describe('a lasting history', () => {
  const history = (recent: string, name = 'rollkeeper-history-u1'): UnstructuredObject => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', data: { recent } },
    metadata: { name, namespace: 'a' },
  });
  const refusal = (...args: Parameters<typeof write>): Promise<string | undefined> =>
    refusalOf(() => protectHistory(write(...args), access));

  it('is written by a controller of Deployments alone', async () => {
    expect(await refusal(TENANT, history('forged'))).toContain('only a controller of Deployments may write');
    expect(await refusal(TENANT, history('forged'), history(''))).toContain('only a controller');
    expect(await refusal('controller', history('x'), history(''))).toBeUndefined();
  });

  it('is no other ConfigMap, and no change of its metadata', async () => {
    expect(await refusal(TENANT, history('x', 'settings'))).toBeUndefined();
    expect(await refusal(TENANT, history('x'), history('x'))).toBeUndefined();
  });
});
