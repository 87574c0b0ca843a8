import type { DeepReadonly, Pod, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { NodeLabels } from './node-labels.js';
import { isShortText, readJson } from '../read-json.js';

/** The label whose values are the zones of nodes, unless another label is named. */
export const DEFAULT_ZONE_LABEL = 'topology.kubernetes.io/zone';
/** On a ReplicaSet: the pods of which zone go first when it shrinks to a certain size. */
export const ZONE_FIRST = 'rollkeeper.dev/zone-first';

interface ZoneFirst {
  /** The label of nodes. */
  readonly label: string;
  /** Empty: of the nodes without the label. */
  readonly value: string;
  /** The size that this is about: at any other it means nothing. */
  readonly replicas: number;
}

export function renderZoneFirst({ label, replicas, value }: ZoneFirst): string {
  return stringifyJson({ label, value, replicas });
}

/** `undefined` where there is nothing, nothing that can be read, or what is about another size. */
export function readZoneFirst({ metadata, spec }: DeepReadonly<ReplicaSet>): ZoneFirst | undefined {
  const read = readJson(metadata.annotations?.[ZONE_FIRST]);
  if (!isJsonObject(read)) return undefined;
  const { label, replicas, value } = read;
  if (!isShortText(label) || !isShortText(value) || typeof replicas !== 'number') return undefined;
  return replicas === (spec.replicas ?? 1) ? { label, value, replicas } : undefined;
}

/** The zone of a pod's node: empty where it has none. */
export function zoneOf({ spec }: DeepReadonly<Pod>, label: string, nodes: NodeLabels): string {
  return spec.nodeName === undefined ? '' : (nodes.valueOf(spec.nodeName, label) ?? '');
}
