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

  it('have no nodes where there shall be none', () => {
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

  it.each([
    [{ controllers: 'deploymnet' }, /^controllers: "deploymnet" is no controller/],
    [{ controllers: [deploymentController, 'deployment'] }, /^controllers: two are called deployment/],
    [{ nodes: -1 }, /^nodes: /],
    [{ clock: 'frozen' }, /^clock: is none of/],
    [{ clock: { startAt: 'soon' } }, /^clock: is none of/],
    [{ store: 'disk' }, /^store: is neither/],
    [{ store: { redisUrl: 'http://127.0.0.1' } }, /redis/],
    [{ port: 70_000 }, /^port: /],
    [{ user: 'me' }, /^user: is none of store, /],
  ])('refuse %j', (options, message) => {
    expect(() => compileTestClusterOptions(options as TestClusterOptions)).toThrow(message);
  });
});
