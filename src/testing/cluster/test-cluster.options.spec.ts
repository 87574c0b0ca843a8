import { describe, expect, it } from 'vitest';
import { deploymentController } from '../../controllers/deployment/index.js';
import type { TestClusterOptions } from './test-cluster.options.js';
import { BUILT_IN_CONTROLLERS, compileTestClusterOptions } from './test-cluster.options.js';

const namesOf = (controllers: TestClusterOptions['controllers']) =>
  compileTestClusterOptions({ controllers }).controllers.map(({ name }) => name);

describe('the options of a test cluster', () => {
  it('have every controller, three nodes, memory and the system clock where nothing is said', () => {
    const compiled = compileTestClusterOptions();
    expect(compiled).toMatchObject({ redisUrl: undefined, clock: 'system', port: 0, nodes: { nodes: 3 } });
    expect(compiled.controllers.map(({ name }) => name)).toEqual(BUILT_IN_CONTROLLERS);
  });

  it('choose controllers by a list, by names, by definitions of one’s own, or none', () => {
    const own = { ...deploymentController, name: 'own' };
    expect(namesOf('*,-namespace')).toEqual(BUILT_IN_CONTROLLERS.filter((name) => name !== 'namespace'));
    expect(namesOf(['deployment', 'replicaset', own])).toEqual(['deployment', 'replicaset', 'own']);
    expect(namesOf([own])).toEqual(['own']);
    expect([namesOf([]), namesOf('')]).toEqual([[], []]);
  });

  it('have no nodes where there should be none', () => {
    expect(compileTestClusterOptions({ nodes: 0 }).nodes).toBeUndefined();
    expect(compileTestClusterOptions({ nodes: { nodes: 5, cpus: 2 } }).nodes).toMatchObject({
      nodes: 5,
      cpus: 2,
    });
  });

  it('take a first instant for a manual clock', () => {
    const startAt = '2030-01-01T00:00:00Z';
    expect(compileTestClusterOptions({ clock: { startAt } }).clock).toEqual({ startMs: Date.parse(startAt) });
    expect(compileTestClusterOptions({ clock: 'manual' }).clock).toEqual({ startMs: undefined });
  });

  it('take a cluster that exists by the option, or by the environment where nothing is said', () => {
    const existing = (options: TestClusterOptions, value?: string) =>
      compileTestClusterOptions(options, { USE_EXISTING_CLUSTER: value }).existing;
    expect(existing({})).toBeUndefined();
    expect(existing({}, 'false')).toBeUndefined();
    expect(existing({}, 'true')).toEqual({ bare: false });
    expect(existing({}, 'bare')).toEqual({ bare: true });
    expect(existing({ existingCluster: false }, 'true')).toBeUndefined();
    const place = { kubeconfig: 'kind.yaml', context: 'kind' };
    expect(existing({ existingCluster: place })).toEqual({ ...place, bare: false });
    expect(() => existing({}, 'yes')).toThrow(
      'USE_EXISTING_CLUSTER: "yes" is not one of true, false and bare',
    );
  });

  it('leave controllers, nodes and scheduling to a cluster that exists, but for controllers of one’s own', () => {
    const own = { ...deploymentController, name: 'own' };
    const { controllers, nodes, scheduler } = compileTestClusterOptions({
      existingCluster: true,
      controllers: ['deployment', own],
    });
    expect([controllers, nodes, scheduler]).toEqual([[own], undefined, undefined]);
  });

  it('give an API server alone what is asked for, and the controllers that every cluster needs', () => {
    const { controllers, nodes, scheduler } = compileTestClusterOptions({
      ...{ existingCluster: 'bare', controllers: ['deployment', 'namespace'], nodes: 2 },
    });
    expect(controllers.map(({ name }) => name).sort()).toEqual([
      'deployment',
      'namespace',
      'node-lifecycle',
      'serviceaccount',
    ]);
    expect(nodes).toMatchObject({ nodes: 2 });
    expect(scheduler).toBeDefined();
  });

  it.each([
    [{ existingCluster: 'kind' }, /^existingCluster: is not one of/],
    [{ existingCluster: { file: 'kind.yaml' } }, /^existingCluster: .*"file"/],
    [{ existingCluster: true, clock: 'manual' }, /^clock: needs a cluster of its own/],
    [{ existingCluster: true, users: ['jane'] }, /^users: needs a cluster of its own/],
    [
      { existingCluster: true, store: { redisUrl: 'redis://127.0.0.1' } },
      /^store: needs a cluster of its own/,
    ],
    [{ existingCluster: true, snapshot: {} }, /^snapshot: needs a cluster of its own/],
    [{ webhookHost: '' }, /^webhookHost: /],
    [{ controllers: 'deploymnet' }, /^controllers: "deploymnet" is no controller/],
    [{ controllers: [deploymentController, 'deployment'] }, /^controllers: two are called deployment/],
    [{ nodes: -1 }, /^nodes: /],
    [{ clock: 'frozen' }, /^clock: is not one of/],
    [{ clock: { startAt: 'soon' } }, /^clock: is not one of/],
    [{ store: 'disk' }, /^store: is neither/],
    [{ store: { redisUrl: 'http://127.0.0.1' } }, /redis/],
    [{ port: 70_000 }, /^port: /],
    [{ user: 'me' }, /^user: is not one of store, /],
  ])('refuse %j', (options, message) => {
    expect(() => compileTestClusterOptions(options as TestClusterOptions)).toThrow(message);
  });
});
