import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forDeploymentApis, selectControllers } from '../../controllers/registry.js';
import { decideLeaderMigration } from './leader-migration.js';
import { compileReplicaOptions } from './replica.options.js';

const config = (assigned: Record<string, string>, more: object = {}): unknown => ({
  apiVersion: 'controllermanager.config.k8s.io/v1',
  kind: 'LeaderMigrationConfiguration',
  leaderName: 'deployments-migration',
  resourceLock: 'leases',
  controllerLeaders: Object.entries(assigned).map(([name, component]) => ({ name, component })),
  ...more,
});
const both = { 'deployment-controller': 'rollkeeper', 'replicaset-controller': 'rollkeeper' };
const workloads = selectControllers('deployment,replicaset');
const namesOf = (assigned: Record<string, string>, list: string) =>
  decideLeaderMigration(config(assigned), selectControllers(list)).definitions.map(({ name }) => name);

describe('a leader migration', () => {
  it('runs what is assigned to us or to all, and nothing that is assigned to others', () => {
    const others = 'kube-controller-manager';
    expect(namesOf({ deployment: 'rollkeeper', replicaset: others }, 'deployment,replicaset')).toEqual([
      'deployment',
    ]);
    expect(namesOf({ ...both, 'namespace-controller': '*' }, '*,-garbage-collector')).toEqual([
      'deployment',
      'replicaset',
      'namespace',
    ]);
  });

  it('takes every controller along that comes with that of Deployments, whatever options add', () => {
    const selected = forDeploymentApis(workloads, ['apps/v1'], {
      ...{ lastingHistory: true, maxRollouts: 0, statefulSets: true, daemonSets: true },
      ...{ drainSessions: true, watchAdmission: true, evictionRequests: true },
    });
    const { definitions } = decideLeaderMigration(config(both), selected);
    expect(definitions.map(({ name }) => name)).toEqual(selected.map(({ name }) => name));
  });

  it('takes what helps the Deployment controller along with it, unless it is assigned itself', () => {
    const selected = forDeploymentApis(workloads, ['apps/v1'], { lastingHistory: true, maxRollouts: 0 });
    const assigned = (more: Record<string, string> = {}) =>
      decideLeaderMigration(config({ ...both, ...more }), selected).definitions.map(({ name }) => name);
    expect(assigned()).toEqual([
      'deployment',
      'experiments',
      'rollout-history',
      'rollout-turns',
      'replicaset',
    ]);
    expect(assigned({ 'rollout-history': 'another' })).toEqual([
      'deployment',
      'experiments',
      'rollout-turns',
      'replicaset',
    ]);
  });

  it('takes all that any option adds to the Deployment controller: none of it has to be assigned', () => {
    const selected = forDeploymentApis(workloads, ['apps/v1', 'rollkeeper.dev/v1'], {
      ...{ lastingHistory: true, maxRollouts: 0, statefulSets: true },
      ...{ drainSessions: true, watchAdmission: true, evictionRequests: true },
    });
    const own = { ...both, 'rollkeeper-deployment': 'rollkeeper' };
    const names = selected.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['session-drain', 'statefulset-rollout', 'admission-drift']),
    );
    expect(decideLeaderMigration(config(own), selected).definitions.map(({ name }) => name)).toEqual(names);
  });

  it('knows the controllers by every name that kube-controller-manager has had for them', () => {
    for (const name of ['garbagecollector', 'garbage-collector', 'garbage-collector-controller'])
      expect(namesOf({ [name]: 'rollkeeper' }, 'garbage-collector')).toEqual(['garbage-collector']);
  });

  it.each([
    { wrong: null, says: 'leader-migration-config: ' },
    { wrong: config(both, { kind: 'Lease' }), says: 'config.kind: must be LeaderMigrationConfiguration' },
    {
      wrong: config(both, { apiVersion: 'v1' }),
      says: 'config.apiVersion: must be one of controllermanager',
    },
    { wrong: config(both, { leaderName: '' }), says: 'config.leaderName: must name a Lease' },
    { wrong: config(both, { resourceLock: 'endpoints' }), says: 'config.resourceLock: must be leases' },
    { wrong: config({}), says: 'config.controllerLeaders: assigns nothing' },
    { wrong: config({ deployment: 'rollkeeper' }), says: 'assigns replicaset to no component' },
    {
      wrong: config({ deployment: 'x', replicaset: 'x' }),
      says: 'leader-migration-config: assigns no controller to rollkeeper',
    },
    {
      wrong: config({ deployment: 'x', ...both }),
      says: 'assigns deployment to both x and rollkeeper',
    },
    {
      wrong: config(both, {
        controllerLeaders: ['x', 'y'].map((component) => ({ name: 'deployment', component })),
      }),
      says: 'assigns deployment to both x and y',
    },
  ])('is refused by name: $says', ({ wrong, says }) => {
    expect(() => decideLeaderMigration(wrong, workloads)).toThrow(says);
  });

  describe('in the options of a replica', () => {
    let folder: string;
    let file: string;
    const needed = { 'redis-url': 'redis://127.0.0.1:6379', identity: 'replica-1' };
    const compile = (more: object = {}) =>
      compileReplicaOptions({
        ...{ ...needed, 'leader-migration-config': file, controllers: 'deployment,replicaset' },
        ...more,
      });

    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'leader-migration-'));
      file = join(folder, 'config.yaml');
      writeFileSync(file, JSON.stringify(config({ ...both, deployment: 'rollkeeper' })));
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    it('shares a Lease, whose holder alone works, and which nobody takes before its end', () => {
      expect(compile()).toMatchObject({
        'leader-elect-resource-lock': 'leases',
        'leader-elect-resource-name': 'deployments-migration',
        'leader-elect-resource-namespace': 'kube-system',
        'leader-takeover': 'expiry',
        'reconcile-on': 'leader',
      });
      expect(compile({ 'leader-takeover': 'witness' })).toMatchObject({ 'leader-takeover': 'witness' });
    });

    it.each([
      [{ 'leader-elect-resource-lock': 'redis' }, 'leader-elect-resource-lock: must be leases with'],
      [{ 'leader-elect-resource-name': 'x' }, 'leader-elect-resource-name: must be deployments-migration'],
      [{ 'leader-elect-coordinated': true }, 'leader-elect-coordinated: cannot be together with'],
      [{ 'reconcile-on': 'all' }, 'reconcile-on: must be leader with leader-migration-config'],
      [{ 'leader-migration-config': '/nowhere' }, 'leader-migration-config: /nowhere: ENOENT'],
    ])('refuses what contradicts it: %j', (wrong, says) => {
      expect(() => compile(wrong)).toThrow(says);
    });

    it('refuses a file that is no YAML, by its name', () => {
      const broken = join(folder, 'broken.yaml');
      writeFileSync(broken, 'a: [');
      expect(() => compile({ 'leader-migration-config': broken })).toThrow(
        `leader-migration-config: ${broken}: `,
      );
    });
  });
});
