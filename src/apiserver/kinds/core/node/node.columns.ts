import type { DecodedObject, Node } from '@rollkeeper/machinery/kubernetes';
import { readyConditionOf } from '@rollkeeper/machinery/kubernetes';
import { AGE_COLUMN, NAME_COLUMN, NONE, column, wideColumn } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';
const UNKNOWN = '<unknown>';

export const NODE_COLUMNS: readonly TableColumn[] = [
  NAME_COLUMN,
  column('Status'),
  column('Roles'),
  AGE_COLUMN,
  column('Version'),
  wideColumn('Internal-IP'),
  wideColumn('External-IP'),
  wideColumn('OS-Image'),
  wideColumn('Kernel-Version'),
  wideColumn('Container-Runtime'),
];

/** Source: printNode in pkg/printers/internalversion/printers.go. */
export function nodeRow(node: DecodedObject<Node>, nowMs: number): TableCell[] {
  const info = node.status?.nodeInfo;
  return [
    node.metadata.name,
    statusOf(node),
    rolesOf(node),
    ageSince(node.metadata.creationTimestamp, nowMs),
    info?.kubeletVersion ?? '',
    addressOf(node, 'InternalIP'),
    addressOf(node, 'ExternalIP'),
    info?.osImage || UNKNOWN,
    info?.kernelVersion || UNKNOWN,
    info?.containerRuntimeVersion || UNKNOWN,
  ];
}

function statusOf(node: DecodedObject<Node>): string {
  const ready = readyConditionOf(node);
  const word = !ready ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return node.spec?.unschedulable ? `${word},SchedulingDisabled` : word;
}

function rolesOf({ metadata }: DecodedObject<Node>): string {
  const roles = new Set<string>();
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    if (key.startsWith(ROLE_PREFIX) && key.length > ROLE_PREFIX.length)
      roles.add(key.slice(ROLE_PREFIX.length));
    else if (key === ROLE_LABEL && value !== '') roles.add(value);
  }
  return [...roles].sort().join(',') || NONE;
}

function addressOf({ status }: DecodedObject<Node>, type: string): string {
  return status?.addresses?.find((address) => address.type === type)?.address ?? NONE;
}
