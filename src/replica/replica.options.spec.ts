import { describe, expect, it } from 'vitest';
import { compileReplicaOptions } from './replica.options.js';

const needed = { 'redis-url': 'redis://127.0.0.1:6379', identity: 'replica-1' };

describe('the options of a replica', () => {
  it('need a Redis and a name, and have a default for everything else', () => {
    const options = compileReplicaOptions(needed);
    expect(options.definitions.map(({ name }) => name)).toEqual([
      'deployment',
      'replicaset',
      'garbage-collector',
      'namespace',
    ]);
    expect(options).toMatchObject({ 'admin-host': '127.0.0.1', 'admin-port': 0, 'reconcile-on': 'all' });
    expect(Object.isFrozen(options)).toBe(true);
  });

  it('choose controllers and their workers', () => {
    const options = compileReplicaOptions({
      ...needed,
      controllers: '*,-namespace',
      workers: 'deployment=3',
    });
    expect(options.workersOf.get('deployment')).toBe(3);
    expect(options.workersOf.has('namespace')).toBe(false);
  });

  it.each([
    { wrong: { 'redis-url': undefined }, says: 'redis-url: is required' },
    { wrong: { 'redis-url': 'http://localhost' }, says: 'redis-url: ' },
    { wrong: { 'key-prefix': 'a b' }, says: 'key-prefix: must be letters' },
    { wrong: { 'admin-port': '99999' }, says: 'admin-port: must be at most 65535' },
    { wrong: { 'lease-duration-ms': 'soon' }, says: 'lease-duration-ms: is not a number' },
    { wrong: { 'log-level': 'loud' }, says: 'log-level: must be one of' },
    { wrong: { workers: 'deployment' }, says: 'workers: "deployment" is not of the form' },
    { wrong: { workers: 'daemonset=2' }, says: 'workers: no controller named "daemonset" runs' },
    { wrong: { controllers: 'daemonset' }, says: 'controllers: "daemonset" is none of' },
  ])('are refused by name: $says', ({ wrong, says }) => {
    expect(() => compileReplicaOptions({ ...needed, ...wrong })).toThrow(says);
  });
});
