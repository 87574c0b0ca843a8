import type {
  Affinity,
  Container,
  EnvVar,
  NodeSelectorTerm,
  PodAffinityTerm,
  Volume,
} from '@rollkeeper/machinery/types/core-v1';
import { checkDns1123Label, goQuote, NANOS, nanosOf } from '@rollkeeper/machinery/kubernetes';
import type {
  Amount,
  Decoded,
  DecodedObject,
  KubernetesObject,
  Pod,
  PodSpec,
  PodTemplateSpec,
} from '@rollkeeper/machinery/kubernetes';
import type { PlacedContainer } from './port-warnings.js';
import { portWarnings } from './port-warnings.js';
import { projectedWarnings } from './projected-warnings.js';

/**
 * Warns of fields of a pod that are valid, and hardly what its author means. Source of all words:
 * pkg/api/pod/warnings.go.
 */
export function podWarnings({ metadata, spec = {} }: Readonly<DecodedObject<Pod>>): string[] {
  return [
    ...hostnameWarnings(metadata.name, "the Pod's hostname"),
    ...specWarnings(spec, metadata.annotations ?? {}, ''),
  ];
}

/** The same of a template at `path`. */
export function podTemplateWarnings(
  { metadata, spec }: Decoded<PodTemplateSpec>,
  path = 'spec.template',
): string[] {
  return spec ? specWarnings(spec, metadata?.annotations ?? {}, `${path}.`) : [];
}

/** Warns of a template at its creation and whenever its spec changes. */
export function templateOwnerWarnings<T extends KubernetesObject>(
  warningsOf: (object: Readonly<T>) => string[],
): (object: Readonly<T>, old?: Readonly<T>) => string[] {
  return (object, old) =>
    old && old.metadata.generation === object.metadata.generation ? [] : warningsOf(object);
}

/** A name with dots in it is no host's. */
export function hostnameWarnings(name: string, use = 'Pod names and hostnames'): string[] {
  const problems = checkDns1123Label(name);
  if (problems.length === 0) return [];
  const advice = 'which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: this is used in ${use}, ${advice}: [${problems.join(' ')}]`];
}

type Annotations = Readonly<Record<string, string>>;

function specWarnings(spec: Decoded<PodSpec>, annotations: Annotations, prefix: string): string[] {
  const path = `${prefix}spec`;
  const containers = containersOf(spec, path);
  const { hostAliases, imagePullSecrets, overhead, volumes = [] } = spec;
  const warnings = placementWarnings(spec, path);
  warnings.push(...annotationWarnings(annotations, `${prefix}metadata.annotations`));
  volumes.forEach((volume, index) => warnings.push(...volumeWarnings(volume, `${path}.volumes[${index}]`)));
  for (const volume of volumes) if (volume.projected) warnings.push(...projectedWarnings(volume));
  if (hostAliases) warnings.push(...hostAliasWarnings(hostAliases, path));
  if (imagePullSecrets) warnings.push(...pullSecretWarnings(imagePullSecrets, path));
  if (overhead) warnings.push(...byteWarnings(overhead, `${path}.overhead`));
  for (const { container, at } of containers) warnings.push(...containerWarnings(container, at));
  warnings.push(...portWarnings(containers), ...graceWarnings(spec, path));
  if (spec.affinity) warnings.push(...podAffinityWarnings(spec.affinity, `${path}.affinity`));
  return warnings;
}

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

function containersOf(spec: Decoded<PodSpec>, path: string): PlacedContainer[] {
  const placed: PlacedContainer[] = [];
  for (const list of CONTAINER_LISTS)
    spec[list]?.forEach((container, index) => placed.push({ container, at: `${path}.${list}[${index}]` }));
  return placed;
}

/** Source: pkg/api/node/util.go. */
const OLD_NODE_LABELS = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  [
    'failure-domain.beta.kubernetes.io/region',
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  ],
  [
    'failure-domain.beta.kubernetes.io/zone',
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ],
  [
    'beta.kubernetes.io/instance-type',
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
  ],
]);

const SELECTS_NOTHING = 'a null labelSelector results in matching no pod';

function placementWarnings(
  { affinity, nodeSelector, topologySpreadConstraints }: Decoded<PodSpec>,
  path: string,
): string[] {
  const selected = Object.keys(nodeSelector ?? {}).flatMap((key) => {
    const old = OLD_NODE_LABELS.get(key);
    return old === undefined ? [] : [`${path}.nodeSelector[${key}]: ${old}`];
  });
  const nodes = affinity?.nodeAffinity ?? {};
  const at = `${path}.affinity.nodeAffinity`;
  const required = nodes.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const preferred = nodes.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return [
    ...selected,
    ...required.flatMap((term, index) =>
      termWarnings(term, `${at}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[${index}]`),
    ),
    ...preferred.flatMap(({ preference = {} }, index) =>
      termWarnings(preference, `${at}.preferredDuringSchedulingIgnoredDuringExecution[${index}].preference`),
    ),
    ...(topologySpreadConstraints ?? []).flatMap(({ labelSelector, topologyKey = '' }, index) => {
      const constraint = `${path}.topologySpreadConstraints[${index}]`;
      const old = OLD_NODE_LABELS.get(topologyKey);
      return [
        ...(old === undefined ? [] : [`${constraint}.topologyKey: ${topologyKey} is ${old}`]),
        ...(labelSelector ? [] : [`${constraint}.labelSelector: ${SELECTS_NOTHING}`]),
      ];
    }),
  ];
}

function termWarnings({ matchExpressions = [] }: Decoded<NodeSelectorTerm>, path: string): string[] {
  return matchExpressions.flatMap(({ key = '' }, index) => {
    const old = OLD_NODE_LABELS.get(key);
    return old === undefined ? [] : [`${path}.matchExpressions[${index}].key: ${key} is ${old}`];
  });
}

function podAffinityWarnings(affinity: Decoded<Affinity>, path: string): string[] {
  return (['podAffinity', 'podAntiAffinity'] as const).flatMap((side) => {
    const {
      requiredDuringSchedulingIgnoredDuringExecution: required = [],
      preferredDuringSchedulingIgnoredDuringExecution: preferred = [],
    } = affinity[side] ?? {};
    const blind = ({ labelSelector }: Decoded<PodAffinityTerm>, at: string): string[] =>
      labelSelector ? [] : [`${at}.labelSelector: ${SELECTS_NOTHING}`];
    return [
      ...required.flatMap((term, index) =>
        blind(term, `${path}.${side}.requiredDuringSchedulingIgnoredDuringExecution[${index}]`),
      ),
      ...preferred.flatMap(({ podAffinityTerm = {} }, index) =>
        blind(
          podAffinityTerm,
          `${path}.${side}.preferredDuringSchedulingIgnoredDuringExecution[${index}].podAffinityTerm`,
        ),
      ),
    ];
  });
}

const SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead';
const SECCOMP_OF_CONTAINER = 'container.seccomp.security.alpha.kubernetes.io/';

const OLD_ANNOTATIONS = [
  [
    'scheduler.alpha.kubernetes.io/critical-pod',
    'non-functional in v1.16+; use the "priorityClassName" field instead',
  ],
  ['seccomp.security.alpha.kubernetes.io/pod', SECCOMP],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  [
    'security.alpha.kubernetes.io/unsafe-sysctls',
    'non-functional in v1.11+; use the "sysctls" field instead',
  ],
] as const;

function annotationWarnings(annotations: Annotations, path: string): string[] {
  const ofContainer = Object.keys(annotations).find((key) => key.startsWith(SECCOMP_OF_CONTAINER));
  const warnings: string[] = [];
  for (const [key, old] of OLD_ANNOTATIONS) {
    if (annotations[key] !== undefined) warnings.push(`${path}[${key}]: ${old}`);
    if (old === SECCOMP && ofContainer !== undefined) warnings.push(`${path}[${ofContainer}]: ${old}`);
  }
  return warnings;
}

const OLD_VOLUMES: readonly (readonly [keyof Decoded<Volume>, string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

function volumeWarnings(volume: Decoded<Volume>, path: string): string[] {
  const warnings: string[] = [];
  for (const [source, text] of OLD_VOLUMES)
    if (volume[source] !== undefined)
      warnings.push(`${path}.${source === 'storageos' ? 'storageOS' : source}: ${text}`);
  return warnings;
}

function hostAliasWarnings(aliases: NonNullable<Decoded<PodSpec>['hostAliases']>, path: string): string[] {
  return repeated(
    aliases,
    ({ ip = '' }) => ip,
    (index, ip) => `${path}.hostAliases[${index}].ip: duplicate ip ${goQuote(ip)}`,
  );
}

function pullSecretWarnings(
  secrets: NonNullable<Decoded<PodSpec>['imagePullSecrets']>,
  path: string,
): string[] {
  const at = (index: number): string => `${path}.imagePullSecrets[${index}].name`;
  return [
    ...repeated(
      secrets,
      ({ name = '' }) => name,
      (index, name) => `${at(index)}: duplicate name ${goQuote(name)}`,
    ),
    ...secrets.flatMap(({ name }, index) => (name ? [] : [`${at(index)}: invalid empty name ""`])),
  ];
}

function containerWarnings({ env = [], resources }: Decoded<Container>, path: string): string[] {
  return [
    ...byteWarnings(resources?.limits, `${path}.resources.limits`),
    ...byteWarnings(resources?.requests, `${path}.resources.requests`),
    ...envWarnings(env, path),
  ];
}

/** A variable may be made of what it was before, and is hidden by anything else. */
function envWarnings(env: readonly Decoded<EnvVar>[], path: string): string[] {
  const seen = new Set<string>();
  return env.flatMap(({ name = '', value = '', valueFrom }, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const reference = `$(${name})`;
    const hides = valueFrom !== undefined || value === reference || !value.includes(reference);
    if (!hides) return [];
    return [
      `${path}.env[${index}]: hides previous definition of ${goQuote(name)}, which may be dropped when using apply`,
    ];
  });
}

const COUNTED_IN_BYTES = ['memory', 'ephemeral-storage'] as const;

function byteWarnings(amounts: Readonly<Record<string, Amount>> | undefined, path: string): string[] {
  const warnings: string[] = [];
  for (const resource of COUNTED_IN_BYTES) {
    const amount = amounts?.[resource];
    if (amount === undefined || nanosOf(amount) % NANOS === 0n) continue;
    warnings.push(
      `${path}[${resource}]: fractional byte value ${goQuote(String(amount))} is invalid, must be an integer`,
    );
  }
  return warnings;
}

function graceWarnings({ terminationGracePeriodSeconds: seconds }: Decoded<PodSpec>, path: string): string[] {
  if (seconds === undefined || seconds >= 0) return [];
  return [
    `${path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
  ];
}

function repeated<T>(
  list: readonly T[],
  keyOf: (item: T) => string,
  warning: (index: number, key: string) => string,
): string[] {
  const seen = new Set<string>();
  return list.flatMap((item, index) => {
    const key = keyOf(item);
    if (seen.has(key)) return [warning(index, key)];
    seen.add(key);
    return [];
  });
}
