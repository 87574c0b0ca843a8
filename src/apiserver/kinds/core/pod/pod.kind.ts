import {
  Pod,
  isPodFinished,
  containerAmounts,
  isPodLevelResource,
  pickAmounts,
} from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject, Decoded, Amounts, PodSpec } from '@rollkeeper/machinery/kubernetes';
import { carryOver, defineKind } from '../../define-kind.js';
import { defaultPodOnly, defaultPodSpec } from '@rollkeeper/machinery/defaults';
import { validatePod, validatePodUpdate } from './pod.validation.js';
import { podWarnings } from '../../pod-template/pod-warnings.js';
import { keepEphemeralContainers, keepResize } from './pod.subresources.js';
import { qosClassOf } from './qos-class.js';
import type { PodAffinityTerm, TopologySpreadConstraint } from '@rollkeeper/machinery/types/core-v1';
import { AGE_COLUMN, NAME_COLUMN, NONE, column, wideColumn } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';
import { summarizePod } from './pod-status-word.js';
import type { PodSummary } from './pod-status-word.js';

const POD_COLUMNS: readonly TableColumn[] = [
  NAME_COLUMN,
  column('Ready'),
  column('Status'),
  column('Restarts'),
  AGE_COLUMN,
  wideColumn('IP'),
  wideColumn('Node'),
  wideColumn('Nominated Node'),
  wideColumn('Readiness Gates'),
];

function podRow(pod: DecodedObject<Pod>, nowMs: number): TableCell[] {
  const summary = summarizePod(pod);
  return [
    pod.metadata.name,
    `${summary.readyContainers}/${summary.totalContainers}`,
    summary.word,
    restartsCell(summary, nowMs),
    ageSince(pod.metadata.creationTimestamp, nowMs),
    pod.status?.podIPs?.[0]?.ip ?? pod.status?.podIP ?? NONE,
    pod.spec?.nodeName ?? NONE,
    pod.status?.nominatedNodeName ?? NONE,
    readinessGates(pod),
  ];
}

function restartsCell({ restarts, lastRestart }: PodSummary, nowMs: number): string {
  if (restarts === 0 || !lastRestart) return String(restarts);
  return `${restarts} (${ageSince(lastRestart, nowMs)} ago)`;
}

function readinessGates(pod: DecodedObject<Pod>): string {
  const gates = pod.spec?.readinessGates ?? [];
  if (gates.length === 0) return NONE;
  const conditions = pod.status?.conditions ?? [];
  const open = new Set(conditions.filter(({ status }) => status === 'True').map(({ type }) => type));
  return `${gates.filter((gate) => open.has(gate.conditionType)).length}/${gates.length}`;
}

type Term = Decoded<Pick<PodAffinityTerm & TopologySpreadConstraint, 'labelSelector' | 'matchLabelKeys'>> &
  Decoded<Pick<PodAffinityTerm, 'mismatchLabelKeys'>>;

/** A pod is prepared once more, under another name, where a generated one is taken. */
const completed = new WeakSet<object>();

/**
 * Completes the selectors of a new pod by the values that its own labels have: `matchLabelKeys: [version]` of a pod with
 * `version: "2"` selects the pods with that version. Terms without a selector select nothing, and stay so. Source: mutatePodAffinity
 * and mutateTopologySpreadConstraints in pkg/registry/core/pod/strategy.go.
 */
function mergeLabelKeys({ metadata, spec }: DecodedObject<Pod>): void {
  if (!spec?.affinity && !spec?.topologySpreadConstraints) return;
  const { podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const terms: (Term | undefined)[] = [podAffinity, podAntiAffinity].flatMap((affinity) => [
    ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(
      ({ podAffinityTerm }) => podAffinityTerm,
    ),
    ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
  ]);
  for (const term of [...terms, ...(spec.topologySpreadConstraints ?? [])])
    if (term?.labelSelector && !completed.has(term)) complete(term, metadata.labels ?? {});
}

function complete(term: Term, labels: Readonly<Record<string, string>>): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  const added = [
    ...requirements(matchLabelKeys, 'In', labels),
    ...requirements(mismatchLabelKeys, 'NotIn', labels),
  ];
  if (added.length === 0) return;
  const { matchExpressions = [] } = labelSelector ?? {};
  term.labelSelector = { ...labelSelector, matchExpressions: [...matchExpressions, ...added] };
  completed.add(term);
}

function requirements(
  keys: readonly string[],
  operator: 'In' | 'NotIn',
  labels: Readonly<Record<string, string>>,
): { key: string; operator: string; values: string[] }[] {
  return keys.flatMap((key) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
}

const DEFAULT_GRACE_SECONDS = 30;

/** Source of preparations, grace and selectable fields: pkg/registry/core/pod/strategy.go. */
export const POD_KIND = defineKind<DecodedObject<Pod>>({
  type: Pod,
  schema: 'io.k8s.api.core.v1.Pod',
  answersDeleted: true,
  shortNames: ['po'],
  categories: ['all'],
  subresources: [
    ...['attach', 'binding', 'ephemeralcontainers', 'eviction', 'exec', 'log'],
    ...['portforward', 'proxy', 'resize', 'status'],
  ],
  columns: POD_COLUMNS,
  toRow: podRow,
  applyDefaults(object) {
    const spec = (object.spec ??= {});
    defaultPodSpec(spec);
    defaultPodOnly(spec);
    defaultPodLevelResources(spec);
    if (object.status) withPlainAddresses(object.status);
  },
  generationOf: ({ spec }) => spec,
  // Programs update pods, and often.
  warnings: (object, old) => (old ? [] : podWarnings(object)),
  prepareForCreate(object) {
    mergeLabelKeys(object);
    const { spec } = object;
    // There has to be some time.
    if (spec && (spec.terminationGracePeriodSeconds ?? 0) < 0) spec.terminationGracePeriodSeconds = 1;
    object.status = {
      phase: 'Pending',
      qosClass: qosClassOf(object.spec ?? {}),
      ...(object.spec?.schedulingGates?.length && {
        conditions: [gatedCondition(object.metadata.creationTimestamp)],
      }),
    };
  },
  prepareForUpdate(object, old, subresource) {
    switch (subresource) {
      case '':
        carryOver(object, old, 'status');
        return;
      case 'resize':
        keepResize(object, old);
        return;
      case 'ephemeralcontainers':
        keepEphemeralContainers(object, old);
        return;
      default:
        prepareStatus(object, old);
    }
  },
  validate: (object, errors) => validatePod(object, errors),
  validateUpdate: validatePodUpdate,
  graceSeconds(object, requested) {
    const { spec } = object;
    const isRunning = spec?.nodeName && !isPodFinished(object);
    if (!isRunning) return 0;
    const seconds = requested ?? spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
    return seconds < 0 ? 1 : seconds;
  },
  selectableFields({ spec, status }) {
    return {
      'spec.nodeName': spec?.nodeName ?? '',
      'spec.restartPolicy': spec?.restartPolicy ?? '',
      'spec.schedulerName': spec?.schedulerName ?? '',
      'spec.serviceAccountName': spec?.serviceAccountName ?? '',
      'spec.hostNetwork': String(spec?.hostNetwork ?? false),
      'status.phase': status?.phase ?? '',
      'status.podIP': status?.podIPs?.[0]?.ip ?? status?.podIP ?? '',
      'status.nominatedNodeName': status?.nominatedNodeName ?? '',
    };
  },
});

/** The old field and the new one for the same thing; of two that differ, the old one is right. */
function withPlainAddresses(status: NonNullable<DecodedObject<Pod>['status']>): void {
  const { podIP, podIPs = [] } = status;
  if (podIP && podIPs[0]?.ip !== podIP) status.podIPs = [{ ip: podIP }];
  else if (podIPs[0]?.ip) status.podIP = podIPs[0].ip;
}

/** The scheduler takes no notice of a pod that is held back. */
function gatedCondition(since: string | undefined) {
  return {
    type: 'PodScheduled' as const,
    status: 'False' as const,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
    ...(since !== undefined && { lastTransitionTime: since }),
  };
}

function prepareStatus(object: DecodedObject<Pod>, old: Readonly<DecodedObject<Pod>>): void {
  carryOver(object, old, 'spec');
  if (old.metadata.ownerReferences) object.metadata.ownerReferences = [...old.metadata.ownerReferences];
  else delete object.metadata.ownerReferences;
  if (old.status?.qosClass) (object.status ??= {}).qosClass ??= old.status.qosClass;
  keepObservedGenerations(object, old);
}

/** Clients that do not know of observed generations do not take them away. Source: preserveOldObservedGeneration. */
function keepObservedGenerations(
  { status }: DecodedObject<Pod>,
  { status: before }: Readonly<DecodedObject<Pod>>,
): void {
  if (!status || !before) return;
  if (before.observedGeneration) status.observedGeneration ||= before.observedGeneration;
  const left = Map.groupBy((before.conditions ?? []).toReversed(), ({ type }) => type);
  for (const condition of status.conditions ?? []) {
    const old = left.get(condition.type)?.pop();
    if (old?.observedGeneration) condition.observedGeneration ||= old.observedGeneration;
  }
}

/**
 * Completes what a pod says of itself by what its containers say. Source: defaultHugePagePodLimits and defaultPodRequests in
 * pkg/apis/core/v1/defaults.go.
 */
function defaultPodLevelResources(spec: Decoded<PodSpec>): void {
  const { resources } = spec;
  if (!resources) return;
  const { limits: ownLimits = {}, requests: ownRequests = {} } = resources;
  if (Object.keys(ownLimits).length + Object.keys(ownRequests).length === 0) return;
  const huge = pickAmounts(
    containerAmounts(spec, 'limits'),
    (name) => name.startsWith('hugepages-') && ownRequests[name] === undefined,
  );
  const limits: Amounts = { ...huge, ...ownLimits };
  if (Object.keys(limits).length === 0) return;
  resources.limits = { ...limits };
  const requests: Amounts = {
    ...pickAmounts(limits, isPodLevelResource),
    ...pickAmounts(
      containerAmounts(spec, 'requests'),
      (name) => isPodLevelResource(name) && !name.startsWith('hugepages-'),
    ),
    ...ownRequests,
  };
  if (Object.keys(requests).length > 0) resources.requests = { ...requests };
}
