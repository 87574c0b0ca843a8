import { counted } from '@rollkeeper/machinery/text';
import { PodDisruptionBudget } from '@rollkeeper/runtime';
import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import {
  Node,
  Pod,
  controllerOf,
  isPodFinished,
  isPodTerminating,
  readyConditionOf,
} from '@rollkeeper/machinery/kubernetes';
import type { DiagnosisFinding, NamedObject, Verdict } from '../diagnosis.js';
import { countIs, deletionFindings, listed } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import type { Snapshot } from '../snapshot.js';
import { isMovedByDrain } from '../../drained-pods.js';
import { budgetsOver, whyBudgetRefuses } from './disruption-budget.js';

type ReadableNode = DeepReadonly<Node>;
type ReadablePod = DeepReadonly<Pod>;

/** Nodes: ready, under pressure, cordoned, and what a drain of it waits for. */
export const nodeDiagnosis: KindDiagnosis<Node> = {
  type: Node,
  aliases: ['no'],
  needs: () => [{ type: Pod }, { type: PodDisruptionBudget }],
  judge(node, snapshot, nowMs): Verdict {
    const pods = podsOn(node, snapshot);
    const running = `${counted(pods.length, 'pod')} on it`;
    const good = { state: 'healthy', sentence: `Ready, ${running}` } as const;
    return {
      good,
      bad: 'degraded',
      findings: [
        ...deletionFindings(node),
        ...readyFindings(node, pods),
        ...pressureFindings(node),
        ...cordonFindings(node, pods, snapshot, nowMs),
      ],
    };
  },
};

function podsOn({ metadata }: ReadableNode, snapshot: Snapshot): readonly ReadablePod[] {
  return snapshot.list<Pod>(Pod).filter((pod) => pod.spec.nodeName === metadata.name && !isPodFinished(pod));
}

function readyFindings(node: ReadableNode, pods: readonly ReadablePod[]): DiagnosisFinding[] {
  const { name } = node.metadata;
  const ready = readyConditionOf(node);
  if (ready?.status === 'True') return [];
  const isSilent = ready === undefined || ready.status === 'Unknown';
  const said = ready?.message === undefined || ready.message === '' ? '' : `: ${ready.message}`;
  return [
    {
      cause: 'node-not-ready',
      severity: 'blocked',
      summary: isSilent
        ? `its kubelet is silent (${ready?.reason ?? 'never reported'})${said}; ${countIs(pods.length, 'pod')} on it, in an unknown state`
        : `it is not Ready (${ready.reason ?? 'unknown'})${said}; ${countIs(pods.length, 'pod')} on it`,
      ...(ready?.lastTransitionTime !== undefined && { since: ready.lastTransitionTime }),
      objects: ownersOf(pods),
      unblockedBy: isSilent
        ? [
            `check the machine and its kubelet: is ${name} up, and does it reach the API server?`,
            'or the eviction of its pods, by default after 300 s (tolerationSeconds); replacements then start on other nodes',
            `or, if it does not recover, kubectl delete node ${name}`,
          ]
        : [`check the kubelet: kubectl describe node ${name}, and its log`],
    },
  ];
}

const PRESSURES: Readonly<Record<string, { readonly what: string; readonly remedy: string }>> = {
  MemoryPressure: {
    what: 'memory',
    remedy: 'use pods with memory limits, fewer pods, or a larger node: kubectl top pod',
  },
  DiskPressure: {
    what: 'disk',
    remedy: 'free disk space: unused images, logs, emptyDir volumes without a limit',
  },
  PIDPressure: { what: 'process ids', remedy: 'reduce the number of processes: which pod forks endlessly?' },
};

function pressureFindings(node: ReadableNode): DiagnosisFinding[] {
  return (node.status?.conditions ?? []).flatMap((condition): DiagnosisFinding[] => {
    const { lastTransitionTime, message = '', status, type = '' } = condition;
    const since = lastTransitionTime === undefined ? {} : { since: lastTransitionTime };
    const pressure = PRESSURES[type];
    if (status !== 'True') return [];
    if (type === 'NetworkUnavailable')
      return [
        {
          cause: 'node-network',
          severity: 'blocked',
          summary: `its network is not set up${message === '' ? '' : `: ${message}`}`,
          ...since,
          unblockedBy: ["check that the network plug-in's pod on it is running"],
        },
      ];
    if (!pressure) return [];
    return [
      {
        cause: 'node-pressure',
        severity: 'blocked',
        summary: `it runs short of ${pressure.what} (${type})${message === '' ? '' : `: ${message}`}; its kubelet evicts pods and takes no new ones`,
        ...since,
        unblockedBy: [pressure.remedy],
      },
    ];
  });
}

const CORDON_TAINT = 'node.kubernetes.io/unschedulable';

function cordonFindings(
  node: ReadableNode,
  pods: readonly ReadablePod[],
  snapshot: Snapshot,
  nowMs: number,
): DiagnosisFinding[] {
  if (node.spec?.unschedulable !== true) return [];
  const { name } = node.metadata;
  const since = node.spec.taints?.find(({ key }) => key === CORDON_TAINT)?.timeAdded;
  const leaving = pods.filter(isMovedByDrain);
  const cordoned: DiagnosisFinding = {
    cause: 'node-cordoned',
    severity: 'note',
    summary: `it takes no new pods (${cordonedBy(node)}); ${leaving.length === 0 ? 'it is drained' : `${countIs(leaving.length, 'pod')} on it that a drain would move`}`,
    ...(since !== undefined && { since }),
    unblockedBy: [`kubectl uncordon ${name}`],
  };
  return [...drainFindings(leaving, snapshot, nowMs), cordoned];
}

/** The manager that wrote `spec.unschedulable`, as far as the object says. */
function cordonedBy({ metadata }: ReadableNode): string {
  const managers = (metadata.managedFields ?? []) as readonly {
    readonly manager?: string;
    readonly fieldsV1?: { readonly 'f:spec'?: Readonly<Record<string, unknown>> };
  }[];
  const writer = managers.find(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:unschedulable'] !== undefined);
  return writer?.manager === undefined ? 'cordoned' : `cordoned by ${writer.manager}`;
}

/** The budgets that keep pods on a node that is being emptied. */
function drainFindings(
  leaving: readonly ReadablePod[],
  snapshot: Snapshot,
  nowMs: number,
): DiagnosisFinding[] {
  const waiting = leaving.filter((pod) => !isPodTerminating(pod));
  const held = new Map<string, { budget: DeepReadonly<PodDisruptionBudget>; pods: ReadablePod[] }>();
  for (const pod of waiting) {
    const blocking = budgetsOver(pod, snapshot).find((budget) => whyBudgetRefuses(budget, snapshot, nowMs));
    if (!blocking) continue;
    const key = `${blocking.metadata.namespace}/${blocking.metadata.name}`;
    const entry = held.get(key) ?? { budget: blocking, pods: [] };
    entry.pods.push(pod);
    held.set(key, entry);
  }
  return [...held.values()].map(({ budget, pods }): DiagnosisFinding => {
    const why = whyBudgetRefuses(budget, snapshot, nowMs);
    const names = pods.map(({ metadata }) => metadata.name);
    const { name, namespace } = budget.metadata;
    return {
      cause: 'pdb-blocks-drain',
      severity: 'blocked',
      summary: `PodDisruptionBudget ${namespace}/${name} keeps ${listed(names)} on it: ${why?.summary ?? ''}`,
      ...(why?.since !== undefined && { since: why.since }),
      objects: [
        { kind: 'PodDisruptionBudget', name, ...(namespace !== undefined && { namespace }) },
        ...pods.map(podObject),
      ],
      unblockedBy: why?.unblockedBy ?? [],
    };
  });
}

function podObject({ metadata }: ReadablePod): NamedObject {
  const { name, namespace } = metadata;
  return { kind: 'Pod', name, ...(namespace !== undefined && { namespace }) };
}

/** The owners of pods, each once, at most ten. */
function ownersOf(pods: readonly ReadablePod[]): readonly NamedObject[] {
  const owners = new Map<string, NamedObject>();
  for (const pod of pods) {
    const owner = controllerOf(pod);
    const { name, namespace } = pod.metadata;
    const object = { kind: owner?.kind ?? 'Pod', name: owner?.name ?? name };
    owners.set(`${object.kind}/${namespace}/${object.name}`, {
      ...object,
      ...(namespace !== undefined && { namespace }),
    });
  }
  return [...owners.values()].slice(0, MOST_OWNERS);
}

const MOST_OWNERS = 10;
