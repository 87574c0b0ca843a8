import { describe, expect, it } from 'vitest';
import { buildProfiles } from './build-profiles.js';
import { readConfiguration } from './compile-configuration.js';
import { aCatalog } from './plugins.fixture.js';

const HEAD = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

/** The plug-ins at each point of a profile, and what they were given. */
function profileOf(text: string, schedulerName = 'default-scheduler') {
  const { catalog, given, handle } = aCatalog();
  const profile = buildProfiles(readConfiguration(HEAD + text), catalog, handle).get(schedulerName);
  if (!profile) throw new Error('there is no such profile');
  return {
    given,
    profile,
    filter: profile.filter.map(({ name }) => name),
    score: profile.score.map(({ plugin, weight }) => `${plugin.name} ${weight}`),
  };
}

describe('a configuration', () => {
  it('is the default profile if it says nothing', () => {
    const { filter, profile, score } = profileOf('');
    expect(filter).toEqual(['TaintToleration', 'NodeResourcesFit']);
    expect(score).toEqual(['TaintToleration 3', 'NodeResourcesFit 1', 'ImageLocality 1']);
    expect(profile.queueSort.name).toBe('PrioritySort');
  });

  it('may be JSON', () => {
    const text = '{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}';
    expect(readConfiguration(text).maxBackoffMs).toBe(10_000);
  });

  it('gives each profile its own name, plug-ins and share of nodes to score', () => {
    const text = `
percentageOfNodesToScore: 30
profiles:
- schedulerName: one
- schedulerName: two
  percentageOfNodesToScore: 70
  plugins: { filter: { disabled: [{ name: '*' }] } }
`;
    expect(profileOf(text, 'one').profile.percentageOfNodesToScore).toBe(30);
    expect(profileOf(text, 'two').profile.percentageOfNodesToScore).toBe(70);
    expect(profileOf(text, 'two').filter).toEqual([]);
  });

  it('reads durations, backoffs and the lease', () => {
    const { initialBackoffMs, leaderElection, maxBackoffMs } = readConfiguration(`${HEAD}
podInitialBackoffSeconds: 2
podMaxBackoffSeconds: 7
leaderElection: { leaseDuration: 1m30s, resourceName: mine, resourceNamespace: here }
`);
    expect([initialBackoffMs, maxBackoffMs]).toEqual([2000, 7000]);
    expect(leaderElection).toEqual({ name: 'mine', namespace: 'here', timing: { leaseDurationMs: 90_000 } });
  });

  it('may do without a lease', () => {
    expect(readConfiguration(`${HEAD}leaderElection: { leaderElect: false }`).leaderElection).toBeUndefined();
  });

  it('names what has no effect here', () => {
    expect(readConfiguration(`${HEAD}parallelism: 4`).withoutEffect).toEqual([
      'parallelism: one thread decides',
    ]);
  });
});

describe('plug-ins', () => {
  it('follow the defaults if they are of multiPoint, at every point that they have', () => {
    const text = 'profiles: [{ plugins: { multiPoint: { enabled: [{ name: Custom, weight: 5 }] } } }]';
    const { filter, profile, score } = profileOf(text);
    expect(filter.at(-1)).toBe('Custom');
    expect(score.at(-1)).toBe('Custom 5');
    expect(profile.preEnqueue.map(({ name }) => name)).toEqual(['Custom']);
  });

  it('keep the place of their default where multiPoint names them again', () => {
    const text =
      'profiles: [{ plugins: { multiPoint: { enabled: [{ name: TaintToleration, weight: 9 }] } } }]';
    expect(profileOf(text).score[0]).toBe('TaintToleration 9');
  });

  it('are off if they are off for all points', () => {
    const text = 'profiles: [{ plugins: { multiPoint: { disabled: [{ name: TaintToleration }] } } }]';
    expect(profileOf(text).filter).toEqual(['NodeResourcesFit']);
  });

  it('stay on at the others if they are off at one point', () => {
    const text = 'profiles: [{ plugins: { score: { disabled: [{ name: NodeResourcesFit }] } } }]';
    const { filter, score } = profileOf(text);
    expect(score).toEqual(['TaintToleration 3', 'ImageLocality 1']);
    expect(filter).toContain('NodeResourcesFit');
  });

  it('come first, in its order, at a point that names them itself', () => {
    const text = `
profiles:
- plugins:
    score: { enabled: [{ name: ImageLocality, weight: 4 }, { name: Custom }, { name: TaintToleration }] }
`;
    expect(profileOf(text).score).toEqual([
      'ImageLocality 4',
      'TaintToleration 3',
      'NodeResourcesFit 1',
      'Custom 1',
    ]);
  });

  it('get their arguments without the type', () => {
    const args = '{ apiVersion: kubescheduler.config.k8s.io/v1, kind: NodeResourcesFitArgs, a: 1 }';
    const text = `profiles: [{ pluginConfig: [{ name: NodeResourcesFit, args: ${args} }] }]`;
    expect(profileOf(text).given.get('NodeResourcesFit')).toEqual({ a: 1 });
  });

  it('for resources: those that an extender manages alone are ignored', () => {
    const managed = '[{ name: example.com/gpu, ignoredByScheduler: true }, { name: example.com/x }]';
    const text = `extenders: [{ urlPrefix: 'http://localhost:1/x', managedResources: ${managed} }]`;
    expect(profileOf(text).given.get('NodeResourcesFit')).toEqual({ ignoredResources: ['example.com/gpu'] });
  });
});

describe('a wrong value is named by its field:', () => {
  const extender = (fields: string) => `extenders: [{ urlPrefix: 'http://localhost:1', ${fields} }]`;
  const plugins = (fields: string) => `profiles: [{ plugins: { ${fields} } }]`;
  it.each([
    ['profiles: 1', 'profiles: '],
    ['nothing: 1', 'nothing: there is no such field'],
    ['podInitialBackoffSeconds: 0', 'podInitialBackoffSeconds: '],
    ['podInitialBackoffSeconds: 20', 'podMaxBackoffSeconds: must not be less than'],
    ['percentageOfNodesToScore: 101', 'percentageOfNodesToScore: '],
    ['leaderElection: { leaseDuration: 15 }', 'leaderElection.leaseDuration: '],
    ['leaderElection: { leaseDuration: soon }', 'leaderElection.leaseDuration: is not a duration'],
    ['leaderElection: { resourceLock: endpoints }', 'leaderElection.resourceLock: is not supported'],
    ['profiles: [{ schedulerName: a }, {}]', 'profiles[1].schedulerName: must be given'],
    ['profiles: [{ schedulerName: a }, { schedulerName: a }]', 'profiles[1].schedulerName: "a" is another'],
    ['profiles: [{ plugin: {} }]', 'profiles[0].plugin: there is no such field'],
    [plugins('filters: {}'), 'profiles[0].plugins.filters: there is no such field'],
    [
      plugins('filter: { enabled: [{ name: X }] }'),
      'profiles[0].plugins.filter.enabled[0].name: there is no',
    ],
    [
      plugins('filter: { disabled: [{ name: X }] }'),
      'profiles[0].plugins.filter.disabled[0].name: there is no',
    ],
    [
      plugins('filter: { enabled: [{ name: ImageLocality }] }'),
      'profiles[0].plugins.filter.enabled[0].name: "ImageLocality" has no filter',
    ],
    [
      plugins('score: { enabled: [{ name: Custom }, { name: Custom }] }'),
      'profiles[0].plugins.score.enabled[1].name: "Custom" is enabled twice',
    ],
    [
      plugins('score: { enabled: [{ name: Custom, weight: -1 }] }'),
      'profiles[0].plugins.score.enabled[0].weight: ',
    ],
    [plugins("bind: { disabled: [{ name: '*' }] }"), 'profiles[0].plugins.bind: at least one'],
    [plugins("queueSort: { disabled: [{ name: '*' }] }"), 'profiles[0].plugins.queueSort: exactly one'],
    ['profiles: [{ pluginConfig: [{ name: X }] }]', 'profiles[0].pluginConfig[0].name: there is no plug-in'],
    [
      'profiles: [{ pluginConfig: [{ name: Custom }, { name: Custom }] }]',
      'profiles[0].pluginConfig[1].name: "Custom" is configured twice',
    ],
    [
      'profiles: [{ pluginConfig: [{ name: Custom, args: { wrong: 1 } }] }]',
      'profiles[0].pluginConfig[0].args.wrong: is not an argument',
    ],
    ["extenders: [{ urlPrefix: 'ftp://x' }]", 'extenders[0].urlPrefix: is not an http or https URL'],
    [extender('httpTimeout: 5'), 'extenders[0].httpTimeout: '],
    [extender('prioritizeVerb: p'), 'extenders[0].weight: must be at least 1'],
    [extender('managedResources: [{ name: cpu }]'), 'extenders[0].managedResources[0].name: "cpu" is not'],
  ])('%s', (text, message) => {
    expect(() => profileOf(text)).toThrow(message);
  });

  it('two extenders that bind', () => {
    const binder = "{ urlPrefix: 'http://localhost:1', bindVerb: b }";
    expect(() => profileOf(`extenders: [${binder}, ${binder}]`)).toThrow(
      'extenders[1].bindVerb: extenders[0] binds',
    );
  });

  it('text that is neither YAML nor JSON', () => {
    expect(() => readConfiguration('a: [')).toThrow('config: is neither YAML nor JSON');
  });

  it('another version', () => {
    expect(() => readConfiguration('apiVersion: kubescheduler.config.k8s.io/v1beta3')).toThrow(
      'apiVersion: must be',
    );
  });
});
