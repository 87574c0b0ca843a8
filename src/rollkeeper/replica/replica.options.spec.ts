import { describe, expect, it } from 'vitest';
import { compileLeaderElectionOptions } from '../../runtime/leader-election/index.js';
import { compileReplicaOptions, leaderElectionOf, stopsWithinMs } from './replica.options.js';

const needed = { 'redis-url': 'redis://127.0.0.1:6379', identity: 'replica-1' };

describe('the options of a replica', () => {
  it('need a Redis and a name, and have a default for everything else', () => {
    const options = compileReplicaOptions(needed);
    expect(options.definitions.map(({ name }) => name)).toEqual([
      'deployment',
      'experiments',
      'replicaset',
      'garbage-collector',
      'namespace',
    ]);
    expect(options).toMatchObject({ 'admin-host': '127.0.0.1', 'admin-port': 0, 'reconcile-on': 'all' });
    expect(options).toMatchObject({
      'leader-elect-resource-lock': 'redis',
      'leader-elect-resource-name': 'rollkeeper',
      'leader-takeover': 'witness',
    });
    expect(Object.isFrozen(options)).toBe(true);
  });

  it('look for problems of Deployments, which their caches have, and standalone of all kinds', () => {
    const problemsWith = (more: Record<string, unknown>) =>
      compileReplicaOptions({ ...needed, ...more }).problems;
    expect(problemsWith({})).toBe('deployments');
    expect(problemsWith({ standalone: true })).toBe('all');
    expect(problemsWith({ standalone: true, problems: 'none' })).toBe('none');
    expect(() => problemsWith({ problems: 'some' })).toThrow('problems: ');
    expect(() => problemsWith({ 'problems-interval-ms': 10 })).toThrow('problems-interval-ms: ');
  });

  it('take slots where all replicas share a Redis, and refuse with them what needs to see everything', () => {
    const ours = { ...needed, controllers: 'deployment,replicaset' };
    const withSlots = (more: Record<string, unknown>) =>
      compileReplicaOptions({ ...ours, slots: 8, ...more });
    expect([compileReplicaOptions(needed).slots, withSlots({}).slots]).toEqual([0, 8]);
    expect(() => compileReplicaOptions({ identity: 'a', coordination: 'leases', slots: 8 })).toThrow(
      'slots: needs a Redis',
    );
    for (const [name, value] of Object.entries({
      'reconcile-on': 'leader',
      namespaces: 'shop',
      'max-rollouts': '0',
      'eviction-webhook': 'shop/evictions',
      'cloudevents-sink': 'https://sink.example.com',
      'notification-hosts': 'example.com',
    }))
      expect(() => withSlots({ [name]: value })).toThrow(`slots: cannot be together with ${name}`);
    expect(() => withSlots({ slots: 1025 })).toThrow('slots: ');
  });

  it('keep histories by a controller for each API, where that is asked for', () => {
    const namesWith = (more: Record<string, unknown>) =>
      compileReplicaOptions({ ...needed, 'deployment-api': 'apps/v1,rollkeeper.dev/v1', ...more })
        .definitions.map(({ name }) => name)
        .filter((name) => name.endsWith('history'));
    expect(namesWith({})).toEqual([]);
    expect(namesWith({ 'lasting-history': true })).toEqual(['rollout-history', 'rollkeeper-rollout-history']);
    expect(namesWith({ 'lasting-history': true, controllers: 'replicaset' })).toEqual([]);
  });

  it('let sessions drain by one controller for all APIs, where that is asked for', () => {
    const namesWith = (more: Record<string, unknown>) =>
      compileReplicaOptions({ ...needed, 'deployment-api': 'apps/v1,rollkeeper.dev/v1', ...more })
        .definitions.map(({ name }) => name)
        .filter((name) => name === 'session-drain');
    expect(namesWith({})).toEqual([]);
    expect(namesWith({ 'drain-sessions': true })).toEqual(['session-drain']);
    expect(namesWith({ 'drain-sessions': true, controllers: 'replicaset' })).toEqual([]);
  });

  it('respond to evictions by request where that is asked for, and standalone run all of the feature', () => {
    const added = (more: Record<string, unknown>): string[] => {
      const namesWith = (options: Record<string, unknown>) =>
        compileReplicaOptions({ ...needed, ...options }).definitions.map(({ name }) => name);
      const without = new Set(namesWith(more));
      return namesWith({ ...more, 'eviction-requests': true }).filter((name) => !without.has(name));
    };
    expect(added({})).toEqual(['eviction-surge']);
    expect(added({ standalone: true })).toEqual([
      ...['eviction-surge', 'evictionrequest', 'eviction', 'imperative-eviction-responder'],
    ]);
  });

  it('compare pods with admission by a controller for each API, where that is asked for', () => {
    const namesWith = (more: Record<string, unknown>) =>
      compileReplicaOptions({ ...needed, 'deployment-api': 'apps/v1,rollkeeper.dev/v1', ...more })
        .definitions.map(({ name }) => name)
        .filter((name) => name.endsWith('admission-drift'));
    expect(namesWith({})).toEqual([]);
    expect(namesWith({ 'watch-admission': true })).toEqual(['admission-drift', 'rollkeeper-admission-drift']);
  });

  it('lead without an election where that is asked for, as kube-controller-manager takes it', () => {
    const lockWith = (more: Record<string, unknown>) =>
      compileReplicaOptions({ ...needed, ...more })['leader-elect-resource-lock'];
    expect(lockWith({ 'leader-elect': 'false' })).toBe('none');
    expect(lockWith({ 'leader-elect': 'false', 'leader-elect-resource-lock': 'leases' })).toBe('none');
    expect(lockWith({ 'leader-elect': true })).toBe('redis');
    expect(lockWith({ 'leader-elect': 'true', 'leader-elect-resource-lock': 'leases' })).toBe('leases');
    expect(() => lockWith({ 'leader-elect': 'no' })).toThrow('leader-elect: must be true or false');
    const coordinated = { 'leader-elect-coordinated': true, 'leader-elect-resource-lock': 'leases' };
    expect(() => lockWith({ ...coordinated, 'leader-elect': 'false' })).toThrow(
      'leader-elect: cannot be false with leader-elect-coordinated',
    );
  });

  it('need no Redis where a Lease coordinates, or where there is one replica', () => {
    const options = (more: Record<string, unknown>) => compileReplicaOptions({ identity: 'r', ...more });
    expect(options({ coordination: 'leases', 'redis-url': 'redis://of-another' })).toMatchObject({
      'redis-url': undefined,
      'leader-elect-resource-lock': 'leases',
      'leader-takeover': 'expiry',
      'reconcile-on': 'leader',
    });
    expect(options({ coordination: 'local' })).toMatchObject({
      'redis-url': undefined,
      'leader-elect-resource-lock': 'none',
    });
  });

  it.each([
    { given: { 'leader-elect': 'false' }, says: 'leader-elect: cannot be false with coordination=leases' },
    { given: { 'reconcile-on': 'all' }, says: 'reconcile-on: must be leader with coordination=leases' },
    { given: { 'leader-takeover': 'witness' }, says: 'leader-takeover: must be expiry with coordination' },
    { given: { 'leader-elect-resource-lock': 'redis' }, says: 'leader-elect-resource-lock: must be leases' },
    {
      given: { coordination: 'local', 'leader-elect-coordinated': true },
      says: 'coordination: cannot be local with leader-elect-coordinated',
    },
    { given: { coordination: 'etcd' }, says: 'coordination: must be redis, leases or local' },
  ])('cannot have $given without a Redis', ({ given, says }) => {
    expect(() => compileReplicaOptions({ identity: 'r', coordination: 'leases', ...given })).toThrow(says);
  });

  it('choose controllers and their workers', () => {
    const options = compileReplicaOptions({
      ...needed,
      controllers: '*,-namespace',
      workers: 'deployment=3,garbagecollector=7',
    });
    expect(options.workersOf.get('deployment')).toBe(3);
    expect(options.workersOf.get('garbage-collector')).toBe(7);
    expect(options.workersOf.has('namespace')).toBe(false);
  });

  it('choose whose Deployments: each API has a controller, with workers of its own', () => {
    const namesWith = (list: string, controllers = 'deployment,replicaset') =>
      compileReplicaOptions({ ...needed, controllers, 'deployment-api': list }).definitions.map(
        ({ name, type }) => `${name} of ${type.group}`,
      );
    expect(namesWith('rollkeeper.dev/v1')).toEqual([
      'rollkeeper-deployment of rollkeeper.dev',
      'experiments of apps',
      'replicaset of apps',
    ]);
    expect(namesWith('rollkeeper.dev/v1, apps/v1', 'deployment')).toEqual([
      'deployment of apps',
      'rollkeeper-deployment of rollkeeper.dev',
      'experiments of apps',
    ]);
    expect(namesWith('rollkeeper.dev/v1', 'replicaset')).toEqual(['replicaset of apps']);
    const alone = { ...needed, 'deployment-api': 'rollkeeper.dev/v1', workers: 'deployment=3' };
    expect(compileReplicaOptions(alone).workersOf.get('rollkeeper-deployment')).toBe(3);
    for (const list of ['', 'apps/v2', 'apps/v1,'])
      expect(() => namesWith(list)).toThrow(
        /^deployment-api: ".*" is not one of apps\/v1, rollkeeper.dev\/v1/,
      );
  });

  it('give a sync a time, for all controllers or for one', () => {
    const timeouts = (list?: string) =>
      Object.fromEntries(compileReplicaOptions({ ...needed, 'sync-timeout-ms': list }).syncTimeoutMsOf);
    const byDefault = {
      deployment: 120_000,
      experiments: 120_000,
      replicaset: 120_000,
      'garbage-collector': 120_000,
      namespace: 600_000,
    };
    expect(timeouts()).toEqual(byDefault);
    expect(timeouts('replicaset=7000')).toEqual({ ...byDefault, replicaset: 7000 });
    expect(timeouts('namespace-controller=70000, 6000')).toEqual({
      deployment: 6000,
      experiments: 6000,
      replicaset: 6000,
      'garbage-collector': 6000,
      namespace: 70_000,
    });
  });

  it('leave a stop as much time as running keys are given', () => {
    expect(stopsWithinMs(compileReplicaOptions(needed))).toBe(4200);
    expect(stopsWithinMs(compileReplicaOptions({ ...needed, 'drain-timeout-ms': '60000' }))).toBe(61_200);
  });

  it('has the options of the elector for the leader election, with the same defaults', () => {
    const given = {
      'lease-duration-ms': '15000',
      'renew-deadline-ms': '10000',
      'retry-period-ms': '2000',
      'leader-health-tolerance-ms': '0',
      'leader-takeover': 'expiry',
      'leader-takeover-grace-ms': '50',
    };
    expect(leaderElectionOf(compileReplicaOptions({ ...needed, ...given }))).toEqual({
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2000,
      healthToleranceMs: 0,
      takeover: 'expiry',
      witnessGraceMs: 50,
    });
    const byDefault = leaderElectionOf(compileReplicaOptions(needed));
    expect(compileLeaderElectionOptions()).toMatchObject(byDefault);
  });

  it.each([
    { wrong: { 'redis-url': undefined }, says: 'redis-url: is required' },
    { wrong: { 'redis-url': 'http://localhost' }, says: 'redis-url: ' },
    { wrong: { 'key-prefix': 'a b' }, says: 'key-prefix: must be letters' },
    { wrong: { 'admin-auth': 'none' }, says: 'admin-auth: must be token or delegated' },
    { wrong: { 'admin-port': '99999' }, says: 'admin-port: must be at most 65535' },
    { wrong: { 'lease-duration-ms': 'soon' }, says: 'lease-duration-ms: is not a number' },
    { wrong: { 'leader-health-tolerance-ms': '-1' }, says: 'leader-health-tolerance-ms: must be at least 0' },
    { wrong: { 'drain-timeout-ms': '86400000' }, says: 'drain-timeout-ms: must be at most 3600000' },
    { wrong: { 'log-level': 'loud' }, says: 'log-level: must be debug, info, warn or error' },
    { wrong: { workers: 'deployment' }, says: 'workers: "deployment" is not of the form' },
    { wrong: { workers: 'daemonset=2' }, says: 'workers: no controller named "daemonset" runs' },
    { wrong: { workers: 'deployment=0' }, says: 'workers: "deployment=0" must be from 1 to' },
    { wrong: { workers: '5' }, says: 'workers: "5" is not of the form controller=number' },
    { wrong: { 'sync-timeout-ms': 'long' }, says: 'sync-timeout-ms: "long" is not of the form number, or' },
    { wrong: { 'sync-timeout-ms': 'daemonset=9000' }, says: 'sync-timeout-ms: no controller named' },
    {
      wrong: { 'sync-timeout-ms': '9000,replicaset=4000' },
      says: 'sync-timeout-ms: 4000 of replicaset must be greater than caught-up-timeout-ms, 5000',
    },
    {
      wrong: { 'leader-elect-coordinated': true },
      says: 'leader-elect-coordinated: needs leader-elect-resource-lock=leases',
    },
    {
      wrong: {
        ...{ 'leader-elect-coordinated': true, 'leader-elect-resource-lock': 'leases' },
        identity: 'a/b',
      },
      says: 'identity: must be up to 216 letters',
    },
    { wrong: { controllers: 'replication' }, says: 'controllers: "replication" is no controller' },
  ])('are refused by name: $says', ({ wrong, says }) => {
    expect(() => compileReplicaOptions({ ...needed, ...wrong })).toThrow(says);
  });
});
