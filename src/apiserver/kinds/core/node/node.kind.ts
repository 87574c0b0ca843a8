import { Node } from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { carryOver, defineKind } from '../../define-kind.js';
import { NODE_COLUMNS, nodeRow } from './node.columns.js';
import { validateNode, validateNodeStatus, validateNodeUpdate } from './node.validation.js';

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
