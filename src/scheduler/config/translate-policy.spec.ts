import { describe, expect, it } from 'vitest';
import { compileConfiguration } from './compile-configuration.js';
import { translatePolicy } from './translate-policy.js';

const policy = (fields: object) => JSON.stringify({ apiVersion: 'v1', kind: 'Policy', ...fields });
const profileOf = (fields: object) => {
  const [profile] = compileConfiguration(translatePolicy(policy(fields)).configuration).profiles;
  if (!profile) throw new Error('there is no profile');
  const { pluginConfig, plugins } = profile;
  const off = (point: 'filter' | 'score') => new Set(plugins[point]?.disabled.map(({ name }) => name) ?? []);
  const at = (point: 'filter' | 'score') =>
    (plugins.multiPoint?.enabled ?? []).filter(({ name }) => !off(point).has(name));
  return {
    filters: at('filter').map(({ name }) => name),
    scores: Object.fromEntries(
      at('score').flatMap(({ name, weight }) => (weight === undefined ? [] : [[name, weight]])),
    ),
    args: Object.fromEntries(pluginConfig.map(({ args, name }) => [name, args])),
  };
};

describe('a policy file', () => {
  it('filters by the successors of the predicates that it names and the two that always held', () => {
    const { filters } = profileOf({
      predicates: [{ name: 'PodFitsHostPorts' }, { name: 'MatchInterPodAffinity' }],
    });
    expect(filters).toEqual(
      expect.arrayContaining(['NodePorts', 'InterPodAffinity', 'TaintToleration', 'NodeUnschedulable']),
    );
    expect(filters).not.toContain('NodeResourcesFit');
  });

  it('scores by the successors of the priorities that it names, with their weights', () => {
    const priorities = [
      { name: 'LeastRequestedPriority', weight: 4 },
      { name: 'EvenPodsSpreadPriority', weight: 2 },
      { name: 'SelectorSpreadPriority', weight: 1 },
    ];
    const { args, scores } = profileOf({ priorities });
    expect(scores).toEqual({ NodeResourcesFit: 4, PodTopologySpread: 3 });
    expect(args['NodeResourcesFit']).toMatchObject({ scoringStrategy: { type: 'LeastAllocated' } });
  });

  it('is the default profile if it names neither', () => {
    const { filters, scores } = profileOf({});
    expect(filters).toContain('PodTopologySpread');
    expect(scores).toMatchObject({ TaintToleration: 3, NodeResourcesFit: 1, ImageLocality: 1 });
  });

  it('keeps what switched-off plug-ins had no part in', () => {
    const { filters } = profileOf({ predicates: [], priorities: [] });
    expect(filters).toEqual(
      expect.arrayContaining(['SchedulingGates', 'DefaultPreemption', 'DefaultBinder']),
    );
  });

  it('requires labels by the affinity that is added to every pod', () => {
    const argument = { labelsPresence: { labels: ['disk'], presence: false } };
    const { args, filters } = profileOf({ predicates: [{ name: 'NoDisk', argument }] });
    expect(filters).toContain('NodeAffinity');
    expect(JSON.stringify(args['NodeAffinity'])).toContain('{"key":"disk","operator":"DoesNotExist"}');
  });

  it('scores by a ratio with its shape', () => {
    const shape = [
      { utilization: 0, score: 0 },
      { utilization: 100, score: 10 },
    ];
    const argument = { requestedToCapacityRatioArguments: { shape } };
    const { args } = profileOf({ priorities: [{ name: 'Mine', weight: 1, argument }] });
    expect(args['NodeResourcesFit']).toMatchObject({
      scoringStrategy: { type: 'RequestedToCapacityRatio', requestedToCapacityRatio: { shape } },
    });
  });

  it('weighs the affinity of pods that are there', () => {
    expect(profileOf({ hardPodAffinitySymmetricWeight: 7 }).args['InterPodAffinity']).toEqual({
      hardPodAffinityWeight: 7,
    });
  });

  it('brings its extenders, with timeouts in nanoseconds', () => {
    const extenders = [
      { urlPrefix: 'http://127.0.0.1:1/x', filterVerb: 'f', httpTimeout: 2_000_000_000, enableHttps: false },
    ];
    const { configuration } = translatePolicy(policy({ extenders }));
    expect(compileConfiguration(configuration).extenders).toMatchObject([
      { filterVerb: 'f', httpTimeout: 2000 },
    ]);
  });

  it('is deprecated, and says what has no effect', () => {
    const priorities = [{ name: 'NodePreferAvoidPodsPriority', weight: 1 }];
    const { warnings } = translatePolicy(policy({ priorities, alwaysCheckAllPredicates: true }));
    expect(warnings.map((each) => each.split(' ')[0])).toEqual([
      'policy-config-file',
      'alwaysCheckAllPredicates',
      'NodePreferAvoidPodsPriority',
    ]);
  });
});

it.each([
  [{ predicates: [{ name: 'X' }] }, 'predicates[0].name: there is no predicate "X"'],
  [{ priorities: [{ name: 'X', weight: 1 }] }, 'priorities[0].name: there is no priority "X"'],
  [{ priorities: [{ name: 'EqualPriority', weight: 0 }] }, 'priorities[0].weight: must be at least 1'],
  [
    { predicates: [{ name: 'A', argument: { serviceAffinity: { labels: [] } } }] },
    'predicates[0].argument.serviceAffinity: has no successor',
  ],
  [
    {
      priorities: [
        { name: 'LeastRequestedPriority', weight: 1 },
        { name: 'MostRequestedPriority', weight: 1 },
      ],
    },
    'priorities[1].name: nodes are scored by LeastRequestedPriority already',
  ],
  [{ predicate: [] }, 'predicate: there is no such field'],
])('a wrong policy is named by its field: %j', (fields, message) => {
  expect(() => translatePolicy(policy(fields))).toThrow(message);
});
