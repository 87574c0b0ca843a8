import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { WrittenConfiguration } from './configuration.schema.js';
import { parseText, parseWith } from './parse-written.js';
import type { Policy, PolicyExtender, PolicyPredicate, PolicyPriority } from './policy.schema.js';
import { policySchema } from './policy.schema.js';

/**
 * The plug-ins that filter in place of each predicate. Source: the last table of it, k/k
 * pkg/scheduler/framework/plugins/legacy_registry.go.
 */
const PREDICATES: Readonly<Record<string, readonly string[]>> = {
  GeneralPredicates: ['NodeResourcesFit', 'NodeName', 'NodePorts', 'NodeAffinity'],
  PodToleratesNodeTaints: ['TaintToleration'],
  PodFitsResources: ['NodeResourcesFit'],
  HostName: ['NodeName'],
  PodFitsHostPorts: ['NodePorts'],
  PodFitsPorts: ['NodePorts'],
  MatchNodeSelector: ['NodeAffinity'],
  CheckNodeUnschedulable: ['NodeUnschedulable'],
  CheckVolumeBinding: ['VolumeBinding'],
  NoDiskConflict: ['VolumeRestrictions'],
  NoVolumeZoneConflict: ['VolumeZone'],
  MaxCSIVolumeCountPred: ['NodeVolumeLimits'],
  MaxEBSVolumeCount: ['NodeVolumeLimits'],
  MaxGCEPDVolumeCount: ['NodeVolumeLimits'],
  MaxAzureDiskVolumeCount: ['NodeVolumeLimits'],
  MaxCinderVolumeCount: ['NodeVolumeLimits'],
  MatchInterPodAffinity: ['InterPodAffinity'],
  EvenPodsSpread: ['PodTopologySpread'],
};

/** The plug-ins that score in place of each priority. */
const PRIORITIES: Readonly<Record<string, readonly string[]>> = {
  SelectorSpreadPriority: ['PodTopologySpread'],
  ServiceSpreadingPriority: ['PodTopologySpread'],
  EvenPodsSpreadPriority: ['PodTopologySpread'],
  InterPodAffinityPriority: ['InterPodAffinity'],
  LeastRequestedPriority: ['NodeResourcesFit'],
  MostRequestedPriority: ['NodeResourcesFit'],
  RequestedToCapacityRatioPriority: ['NodeResourcesFit'],
  BalancedResourceAllocation: ['NodeResourcesBalancedAllocation'],
  NodeAffinityPriority: ['NodeAffinity'],
  TaintTolerationPriority: ['TaintToleration'],
  ImageLocalityPriority: ['ImageLocality'],
  // Every node the same, and an annotation that no controller writes any more.
  EqualPriority: [],
  NodePreferAvoidPodsPriority: [],
};

const STRATEGIES: Readonly<Record<string, string>> = {
  LeastRequestedPriority: 'LeastAllocated',
  MostRequestedPriority: 'MostAllocated',
  RequestedToCapacityRatioPriority: 'RequestedToCapacityRatio',
};

/** Predicates that held with any file. */
const MANDATORY = ['PodToleratesNodeTaints', 'CheckNodeUnschedulable'];

/** Plug-ins that a policy knew nothing of. */
const ALWAYS = [
  'SchedulingGates',
  'PrioritySort',
  'DynamicResources',
  'DefaultPreemption',
  'DefaultBinder',
  'NodeDeclaredFeatures',
];

/** In the order of the default profile. */
const ORDER = [
  'NodeUnschedulable',
  'NodeName',
  'TaintToleration',
  'NodeAffinity',
  'NodePorts',
  'NodeResourcesFit',
  'VolumeRestrictions',
  'NodeVolumeLimits',
  'VolumeBinding',
  'VolumeZone',
  'PodTopologySpread',
  'InterPodAffinity',
  'NodeResourcesBalancedAllocation',
  'ImageLocality',
];

const DEFAULT_WEIGHTS: Readonly<Record<string, number>> = {
  TaintToleration: 3,
  NodeAffinity: 2,
  PodTopologySpread: 2,
  InterPodAffinity: 2,
};

const FILTERING = ['preFilter', 'filter', 'reserve', 'preBind'] as const;
const SCORING = ['preScore', 'score'] as const;

export interface TranslatedPolicy {
  readonly configuration: WrittenConfiguration;
  /** Warnings about the translation, for the user. */
  readonly warnings: readonly string[];
}

/**
 * A policy file as the configuration that takes its place.
 * @throws InvalidOptionError naming the field, also for what has no successor
 */
export function translatePolicy(text: string): TranslatedPolicy {
  const policy = parseWith(policySchema, parseText('policy-config-file', text));
  const filtering = policy.predicates ? filteringOf(policy.predicates) : new Set(ORDER);
  const weights = policy.priorities ? weightsOf(policy.priorities) : defaultWeights();
  const only = (names: ReadonlySet<string>) =>
    ORDER.filter((name) => !names.has(name) && (filtering.has(name) || weights.has(name))).map((name) => ({
      name,
    }));
  const off = { filtering: only(filtering), scoring: only(new Set(weights.keys())) };
  const used = [...ORDER.filter((name) => filtering.has(name) || weights.has(name)), ...ALWAYS];
  const switchedOff = (points: readonly string[], disabled: readonly { readonly name: string }[]) =>
    disabled.length === 0
      ? {}
      : Object.fromEntries(points.map((point) => [point, { disabled: [...disabled] }]));
  return {
    configuration: {
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      profiles: [
        {
          schedulerName: 'default-scheduler',
          plugins: {
            multiPoint: {
              disabled: [{ name: '*' }],
              enabled: used.map((name) => ({ name, ...weightOf(name, weights) })),
            },
            ...switchedOff(FILTERING, off.filtering),
            ...switchedOff(SCORING, off.scoring),
          },
          pluginConfig: pluginConfigOf(policy),
        },
      ],
      extenders: (policy.extenders ?? []).map(extenderOf),
    },
    warnings: warningsOf(policy),
  };
}

function weightOf(name: string, weights: ReadonlyMap<string, number>): { readonly weight?: number } {
  const weight = weights.get(name);
  return weight === undefined ? {} : { weight };
}

function filteringOf(predicates: readonly PolicyPredicate[]): ReadonlySet<string> {
  const found = new Set(MANDATORY.flatMap((name) => PREDICATES[name] ?? []));
  for (const [index, { argument, name }] of predicates.entries()) {
    const field = `predicates[${index}]`;
    if (argument?.serviceAffinity) throw withoutSuccessor(`${field}.argument.serviceAffinity`);
    const plugins = argument?.labelsPresence ? ['NodeAffinity'] : PREDICATES[name];
    if (!plugins) throw new InvalidOptionError(`${field}.name`, `there is no predicate "${name}"`);
    for (const plugin of plugins) found.add(plugin);
  }
  return found;
}

function weightsOf(priorities: readonly PolicyPriority[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  let strategy: string | undefined;
  for (const [index, { argument, name, weight }] of priorities.entries()) {
    const field = `priorities[${index}]`;
    if (argument?.serviceAntiAffinity) throw withoutSuccessor(`${field}.argument.serviceAntiAffinity`);
    if (argument?.labelPreference) throw withoutSuccessor(`${field}.argument.labelPreference`);
    const known = argument?.requestedToCapacityRatioArguments ? 'RequestedToCapacityRatioPriority' : name;
    const plugins = PRIORITIES[known];
    if (!plugins) throw new InvalidOptionError(`${field}.name`, `there is no priority "${name}"`);
    if (STRATEGIES[known] !== undefined && strategy !== undefined)
      throw new InvalidOptionError(
        `${field}.name`,
        `nodes are scored by ${strategy} already: one strategy is possible`,
      );
    strategy ??= STRATEGIES[known] === undefined ? undefined : known;
    for (const plugin of plugins) found.set(plugin, (found.get(plugin) ?? 0) + weight);
  }
  return found;
}

function defaultWeights(): ReadonlyMap<string, number> {
  const scoring = new Set(Object.values(PRIORITIES).flat());
  return new Map(ORDER.filter((name) => scoring.has(name)).map((name) => [name, DEFAULT_WEIGHTS[name] ?? 1]));
}

function pluginConfigOf({ hardPodAffinitySymmetricWeight, predicates, priorities }: Policy) {
  const expressions = (predicates ?? []).flatMap(({ argument }) =>
    (argument?.labelsPresence?.labels ?? []).map((key) => ({
      key,
      operator: argument?.labelsPresence?.presence ? 'Exists' : 'DoesNotExist',
    })),
  );
  const scored = (priorities ?? []).find(
    ({ argument, name }) => STRATEGIES[name] !== undefined || argument?.requestedToCapacityRatioArguments,
  );
  const ratio = scored?.argument?.requestedToCapacityRatioArguments;
  const type = ratio ? 'RequestedToCapacityRatio' : STRATEGIES[scored?.name ?? ''];
  const terms = [{ matchExpressions: expressions }];
  return [
    ...(expressions.length === 0
      ? []
      : [
          {
            name: 'NodeAffinity',
            args: {
              addedAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
            },
          },
        ]),
    ...(type === undefined
      ? []
      : [{ name: 'NodeResourcesFit', args: { scoringStrategy: strategyArgs(type, ratio) } }]),
    ...(hardPodAffinitySymmetricWeight === undefined
      ? []
      : [{ name: 'InterPodAffinity', args: { hardPodAffinityWeight: hardPodAffinitySymmetricWeight } }]),
  ];
}

type RatioArguments = NonNullable<PolicyPriority['argument']>['requestedToCapacityRatioArguments'];

function strategyArgs(type: string, ratio: RatioArguments) {
  const resources = ratio?.resources ?? [
    { name: 'cpu', weight: 1 },
    { name: 'memory', weight: 1 },
  ];
  return { type, resources, ...(ratio && { requestedToCapacityRatio: { shape: ratio.shape } }) };
}

function extenderOf(extender: PolicyExtender) {
  const { enableHTTPS, enableHttps, httpTimeout, managedResources, tlsConfig, ...same } = extender;
  const isHttps = enableHTTPS ?? enableHttps;
  return {
    ...same,
    ...(isHttps !== undefined && { enableHTTPS: isHttps }),
    ...(httpTimeout !== undefined && { httpTimeout: `${httpTimeout}ns` }),
    ...(tlsConfig && { tlsConfig }),
    ...(managedResources && { managedResources: managedResources as { name: string }[] }),
  };
}

function warningsOf({ alwaysCheckAllPredicates, priorities }: Policy): string[] {
  return [
    'policy-config-file is deprecated: predicates and priorities became plug-ins of a KubeSchedulerConfiguration',
    ...(alwaysCheckAllPredicates
      ? ['alwaysCheckAllPredicates has no effect: the first refusal ends a node']
      : []),
    ...(priorities ?? [])
      .filter(({ name }) => name === 'NodePreferAvoidPodsPriority')
      .map(({ name }) => `${name} has no effect: its annotation is not read any more`),
  ];
}

function withoutSuccessor(field: string): InvalidOptionError {
  return new InvalidOptionError(field, 'has no successor among the plug-ins of this version');
}
