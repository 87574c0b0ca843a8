import { Node, readyConditionOf } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { carryOver, defineKind } from '../../define-kind.js';
import { validateNode, validateNodeStatus, validateNodeUpdate } from './node.validation.js';
import { AGE_COLUMN, NAME_COLUMN, NONE, column, wideColumn } from '../../common/columns.js';
import { ageSince } from '../../common/human-duration.js';
import type { TableCell, TableColumn } from '../../kind-definition.js';

const ROLE_PREFIX = 'node-role.kubernetes.io/';
const ROLE_LABEL = 'kubernetes.io/role';
const UNKNOWN = '<unknown>';

const NODE_COLUMNS: readonly TableColumn[] = [
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
function nodeRow(node: DecodedObject<Node>, nowMs: number): TableCell[] {
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

/** Source: pkg/registry/core/node/strategy.go. A node may bring its status when it registers. */
export const NODE_KIND = defineKind<DecodedObject<Node>>({
  type: Node,
  schema: 'io.k8s.api.core.v1.Node',
  shortNames: ['no'],
  subresources: ['proxy', 'status'],
  columns: NODE_COLUMNS,
  toRow: (object, nowMs) => nodeRow(object, nowMs),
  applyDefaults(object) {
    const { spec, status } = object;
    // The old field and the new one for the same thing.
    if (spec?.podCIDR && spec.podCIDR !== spec.podCIDRs?.[0]) spec.podCIDRs = [spec.podCIDR];
    else if (spec?.podCIDRs?.length) spec.podCIDR = spec.podCIDRs[0];
    if (status?.capacity) status.allocatable ??= { ...status.capacity };
  },
  prepareForCreate(object) {
    delete object.spec?.configSource;
  },
  prepareForUpdate(object, old, subresource) {
    carryOver(object, old, subresource === '' ? 'status' : 'spec');
    // DynamicKubeletConfig is gone; what an older server kept of it stays.
    if (!old.spec?.configSource) delete object.spec?.configSource;
  },
  validate: (object, errors) => validateNode(object, errors),
  validateUpdate(object, old, subresource, errors) {
    if (subresource === '') validateNodeUpdate(object, old, errors);
    else if (subresource === 'status') validateNodeStatus(object, errors);
  },
  selectableFields: (object) => ({
    'spec.unschedulable': String(object.spec?.unschedulable ?? false),
  }),
});
