import { describe, expect, it } from 'vitest';
import type { Pod } from '../../machinery/kubernetes/index.js';
import type { PersistentVolumeClaim, StatefulSet } from '../../runtime/index.js';
import { aPod } from '../../testing/pod-builder.js';
import type { PodTraits } from '../../testing/pod-builder.js';
import { decideReplicas } from './decide-replicas.js';
import { replicaClaims, replicaPod } from './identity.js';

const NOW = Date.parse('2026-01-01T01:00:00Z');
const LONG_AGO = '2026-01-01T00:00:00Z';

function aSet(spec: Partial<StatefulSet['spec']> = {}): StatefulSet {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet' },
    metadata: { name: 'db', namespace: 'default', uid: 'uid-db' },
    spec: {
      replicas: 3,
      serviceName: 'db',
      selector: { matchLabels: { app: 'db' } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      template: { metadata: { labels: { app: 'db' } }, spec: { containers: [] } },
      ...spec,
    },
  };
}

/** A ready replica of the revision `new`. */
const replica = (ordinal: number, revision = 'new', traits: PodTraits = {}): Pod =>
  aPod({
    name: `db-${ordinal}`,
    labels: { app: 'db', 'controller-revision-hash': revision },
    readySince: LONG_AGO,
    ...traits,
  });
const unready = (ordinal: number, revision = 'new') => replica(ordinal, revision, { readySince: undefined });
const leaving = (ordinal: number, revision = 'new') => replica(ordinal, revision, { deletedAt: LONG_AGO });

function decide(set: StatefulSet, pods: Pod[], claims: readonly PersistentVolumeClaim[] = []) {
  const claimOf = (name: string) => claims.find(({ metadata }) => metadata.name === name);
  const view = { set, pods, claimOf, currentRevision: 'old', updateRevision: 'new', nowMs: NOW };
  const decision = decideReplicas(view);
  const steps = decision.phases.flat();
  const namesOf = (wanted: 'delete' | 'claims' | 'correct' | 'owners') =>
    steps.flatMap((step) => (step.do === wanted ? step.pod.metadata.name : []));
  return {
    ...decision,
    create: steps.flatMap((step) => (step.do === 'create' ? `${step.ordinal} ${step.revision}` : [])),
    delete: namesOf('delete'),
    claims: namesOf('claims'),
    correct: namesOf('correct'),
    owners: namesOf('owners'),
  };
}

describe('replicas in order', () => {
  it('are made one after the other, each when those before it are ready', () => {
    expect(decide(aSet(), []).create).toEqual(['0 new']);
    expect(decide(aSet(), [unready(0)]).create).toEqual([]);
    expect(decide(aSet(), [replica(0)]).create).toEqual(['1 new']);
  });

  it('wait until those before them are available', () => {
    const set = aSet({ minReadySeconds: 10 });
    const fresh = replica(0, 'new', { readySince: '2026-01-01T00:59:54Z' });
    expect(decide(set, [fresh])).toMatchObject({
      create: [],
      recheckMs: 4_000,
      counts: { availableReplicas: 0 },
    });
  });

  it('go one after the other from the last, and wait for each to be gone', () => {
    const set = aSet({ replicas: 1 });
    expect(decide(set, [replica(0), replica(1), replica(2)]).delete).toEqual(['db-2']);
    expect(decide(set, [replica(0), replica(1), leaving(2)]).delete).toEqual([]);
    expect(decide(set, [replica(0), unready(1), replica(2)]).delete).toEqual(['db-2']);
    expect(decide(set, [replica(0), unready(1)]).delete).toEqual(['db-1']);
  });

  it('are made again when they have ended, once they are gone', () => {
    const ended = replica(0, 'new', { phase: 'Failed' });
    expect(decide(aSet(), [ended, replica(1)])).toMatchObject({ delete: ['db-0'], create: [] });
    expect(decide(aSet(), [leaving(0)]).create).toEqual([]);
  });

  it('begin with the first ordinal that is asked for', () => {
    expect(decide(aSet({ ordinals: { start: 5 } }), [replica(0)]).create).toEqual(['5 new']);
  });
});

describe('replicas in parallel', () => {
  const set = aSet({ podManagementPolicy: 'Parallel' });

  it('are made and removed all at once', () => {
    expect(decide(set, [unready(1)]).create).toEqual(['0 new', '2 new']);
    const smaller = aSet({ podManagementPolicy: 'Parallel', replicas: 0 });
    expect(decide(smaller, [replica(0), unready(1)]).delete).toEqual(['db-1', 'db-0']);
  });
});

describe('a rollout', () => {
  const old = [0, 1, 2].map((ordinal) => replica(ordinal, 'old'));

  it('goes from the last to the first, one at a time', () => {
    expect(decide(aSet(), old).delete).toEqual(['db-2']);
    expect(decide(aSet(), [replica(0, 'old'), replica(1, 'old'), replica(2)]).delete).toEqual(['db-1']);
  });

  it('waits for the one before to be ready', () => {
    const pods = [replica(0, 'old'), replica(1, 'old'), unready(2)];
    expect(decide(aSet({ podManagementPolicy: 'Parallel' }), pods).delete).toEqual([]);
  });

  it('leaves those below the partition, which come back as they were', () => {
    const set = aSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 2 } } });
    const pods = [replica(0, 'old'), replica(1, 'old'), replica(2)];
    expect(decide(set, pods).delete).toEqual([]);
    expect(decide(set, pods.slice(0, 1)).create).toEqual(['1 old']);
    expect(decide(set, pods.slice(0, 2)).create).toEqual(['2 new']);
  });

  it('takes one at a time whatever maxUnavailable says, whose gate is off', () => {
    const rollingUpdate = { partition: 0, maxUnavailable: 2 };
    const set = aSet({ updateStrategy: { type: 'RollingUpdate', rollingUpdate } });
    expect(decide(set, old).delete).toEqual(['db-2']);
  });

  it('waits for people where that is asked for', () => {
    expect(decide(aSet({ updateStrategy: { type: 'OnDelete' } }), old).delete).toEqual([]);
  });
});

describe('the identity of a replica', () => {
  const named = (pod: Pod, labels: Record<string, string> = {}): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...labels } },
  });
  const whole = (ordinal: number) =>
    named(replica(ordinal), { 'statefulset.kubernetes.io/pod-name': `db-${ordinal}` });

  it('is given back where the label of its name was lost or is another, not where the index alone is missing', () => {
    const another = named(replica(1), { 'statefulset.kubernetes.io/pod-name': 'db-7' });
    expect(decide(aSet(), [whole(0), another, replica(2)]).correct).toEqual(['db-1', 'db-2']);
  });

  it('is seen to in order only when the replica is available', () => {
    expect(decide(aSet(), [unready(0)]).correct).toEqual([]);
    expect(decide(aSet({ podManagementPolicy: 'Parallel' }), [unready(0)]).correct).toEqual(['db-0']);
  });

  it('is one of its own for db-07: the ordinal 7, and not the name', () => {
    const odd = aPod({ name: 'db-07', labels: { app: 'db' }, readySince: LONG_AGO });
    expect(decide(aSet({ replicas: 1 }), [whole(0), odd]).delete).toEqual(['db-07']);
    const second = aPod({ name: 'db-02', labels: { app: 'db' }, readySince: LONG_AGO });
    expect(decide(aSet(), [second, whole(0), whole(1), whole(2)])).toMatchObject({
      delete: [],
      counts: { replicas: 3 },
    });
  });
});

it('a set that is being deleted counts its pods, and does nothing else', () => {
  const set = aSet({ replicas: 0 });
  set.metadata.deletionTimestamp = LONG_AGO;
  expect(decide(set, [replica(0), replica(1)])).toMatchObject({ phases: [], counts: { replicas: 2 } });
});

it('counts the pods by their revisions, those that are going left out', () => {
  const pods = [replica(0, 'old'), unready(1), leaving(2)];
  expect(decide(aSet(), pods).counts).toEqual({
    replicas: 3,
    readyReplicas: 2,
    availableReplicas: 2,
    currentReplicas: 1,
    updatedReplicas: 1,
  });
});

describe('a replica', () => {
  const volumeClaimTemplates = [
    { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } },
  ] as never;

  it('has a name, a host and storage of its own', () => {
    const set = aSet({ volumeClaimTemplates });
    const pod = replicaPod({ set, ordinal: 2, template: set.spec.template, revision: 'new' });
    expect(pod.metadata.labels).toEqual({
      app: 'db',
      'statefulset.kubernetes.io/pod-name': 'db-2',
      'apps.kubernetes.io/pod-index': '2',
      'controller-revision-hash': 'new',
    });
    expect(pod.spec).toMatchObject({
      hostname: 'db-2',
      subdomain: 'db',
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data-db-2' } }],
    });
    expect(replicaClaims(set, 2)).toMatchObject([{ metadata: { name: 'data-db-2', labels: { app: 'db' } } }]);
  });

  it('carries what its generated name would begin with', () => {
    const set = aSet();
    const pod = replicaPod({ set, ordinal: 0, template: set.spec.template, revision: 'new' });
    expect(pod.metadata.generateName).toBe('db-');
  });

  it('waits for a new claim where the old one goes with its former pod', () => {
    const set = aSet({
      volumeClaimTemplates,
      persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' },
    });
    const stale = { apiVersion: 'v1', kind: 'Pod', name: 'db-0', uid: 'uid-gone' };
    const claim = {
      ...{ apiVersion: 'v1', kind: 'PersistentVolumeClaim', spec: {} },
      metadata: { name: 'data-db-0', ownerReferences: [stale] },
    };
    expect(decide(set, [], [claim])).toMatchObject({ create: [] });
    expect(decide(set, [])).toMatchObject({ create: ['0 new'] });
  });

  it('has its claims seen to while it waits for them', () => {
    const set = aSet({ volumeClaimTemplates });
    expect(decide(set, [replica(0, 'new', { phase: 'Pending', readySince: undefined })]).claims).toEqual([
      'db-0',
    ]);
  });
});
