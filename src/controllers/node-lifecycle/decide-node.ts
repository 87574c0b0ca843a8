import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, Node } from '@rollkeeper/machinery/kubernetes';
import { readyConditionOf } from '@rollkeeper/machinery/kubernetes';

type ReadableNode = DeepReadonly<Node>;
type Taint = NonNullable<NonNullable<Node['spec']>['taints']>[number];
type NodeCondition = NonNullable<NonNullable<Node['status']>['conditions']>[number];

/** A node without a heartbeat for this time is silent; kube-controller-manager's `--node-monitor-grace-period`. */
export const GRACE_PERIOD_MS = 50_000;

const SILENCED = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure'];
const PREFIX = 'node.kubernetes.io/';
const NOT_READY = `${PREFIX}not-ready`;
const UNREACHABLE = `${PREFIX}unreachable`;
const UNSCHEDULABLE = `${PREFIX}unschedulable`;

const PRESSURES: Readonly<Record<string, string>> = {
  MemoryPressure: `${PREFIX}memory-pressure`,
  DiskPressure: `${PREFIX}disk-pressure`,
  PIDPressure: `${PREFIX}pid-pressure`,
  NetworkUnavailable: `${PREFIX}network-unavailable`,
};

export function readinessOf(node: ReadableNode): NodeCondition['status'] {
  return readyConditionOf(node)?.status ?? 'Unknown';
}

/**
 * The conditions of a silent node: Unknown. Source: `tryUpdateNodeHealth` in k/k pkg/controller/nodelifecycle.
 * @returns undefined if they are set already
 */
export function silencedConditions(node: ReadableNode, nowMs: number): NodeCondition[] | undefined {
  const now = toRfc3339(nowMs);
  const before = node.status?.conditions ?? [];
  const missing = SILENCED.filter((type) => !before.some((condition) => condition.type === type));
  if (
    missing.length === 0 &&
    before.every(({ status, type }) => status === 'Unknown' || !SILENCED.includes(type))
  )
    return undefined;
  const silenced = before.map((condition) =>
    SILENCED.includes(condition.type) && condition.status !== 'Unknown'
      ? { ...condition, status: 'Unknown' as const, ...STOPPED, lastTransitionTime: now }
      : condition,
  );
  const lastHeartbeatTime = node.metadata.creationTimestamp;
  const added = missing.map((type) => ({
    ...{ type, status: 'Unknown' as const, ...NEVER },
    ...{ lastHeartbeatTime, lastTransitionTime: now },
  }));
  return [...silenced, ...added];
}

const STOPPED = { reason: 'NodeStatusUnknown', message: 'Kubelet stopped posting node status.' };
const NEVER = { reason: 'NodeStatusNeverUpdated', message: 'Kubelet never posted node status.' };

/**
 * The taints of a node for its conditions; others' taints are kept. An existing taint keeps its time. Source:
 * `doNoScheduleTaintingPass` and `processTaintBaseEviction` in k/k pkg/controller/nodelifecycle.
 * @param evicts whether pods may be driven away now
 * @returns undefined if they are set already
 */
export function decideTaints(node: ReadableNode, evicts: boolean, nowMs: number): Taint[] | undefined {
  const before = node.spec?.taints ?? [];
  const wanted = wantedTaints(node, evicts);
  const kept = before.filter((taint) => !isOurs(taint) || wanted.some((each) => isSameTaint(each, taint)));
  const missing = wanted.filter((each) => !before.some((taint) => isSameTaint(each, taint)));
  if (missing.length === 0 && kept.length === before.length) return undefined;
  const timeAdded = toRfc3339(nowMs);
  return [...kept, ...missing.map((taint) => ({ ...taint, timeAdded }))];
}

/** Whether its pods are being driven away already. */
export function isEvicting({ spec }: ReadableNode): boolean {
  return (
    spec?.taints?.some(
      ({ effect, key }) => effect === 'NoExecute' && (key === NOT_READY || key === UNREACHABLE),
    ) ?? false
  );
}

function wantedTaints(node: ReadableNode, evicts: boolean): Taint[] {
  const conditions = node.status?.conditions ?? [];
  // Nothing is known of a node whose kubelet has not said anything yet.
  const readiness = readyConditionOf(node)?.status ?? 'True';
  const key = readiness === 'False' ? NOT_READY : UNREACHABLE;
  const pressures = conditions.flatMap(({ status, type }) =>
    status === 'True' && PRESSURES[type] !== undefined ? [PRESSURES[type]] : [],
  );
  const keys = [
    ...(readiness === 'True' ? [] : [key]),
    ...pressures,
    ...(node.spec?.unschedulable === true ? [UNSCHEDULABLE] : []),
  ];
  return [
    ...keys.map((each) => ({ key: each, effect: 'NoSchedule' as const })),
    ...(readiness === 'True' || !evicts ? [] : [{ key, effect: 'NoExecute' as const }]),
  ];
}

const OURS = new Set([NOT_READY, UNREACHABLE, UNSCHEDULABLE, ...Object.values(PRESSURES)]);

function isOurs({ effect, key }: Taint): boolean {
  return OURS.has(key) && (effect === 'NoSchedule' || key === NOT_READY || key === UNREACHABLE);
}

function isSameTaint(one: Taint, other: Taint): boolean {
  return one.key === other.key && one.effect === other.effect;
}
