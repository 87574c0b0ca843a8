import { ownField } from '@rollkeeper/machinery/kubernetes';
import type { ObjectTarget } from './registry-context.js';

/** Resources that a genuine server keeps under another name than their own. */
const NAMED_OTHERWISE: Readonly<Record<string, string>> = {
  services: 'services/specs',
  endpoints: 'services/endpoints',
  nodes: 'minions',
  replicationcontrollers: 'controllers',
  ingresses: 'ingress',
};

/** Groups whose objects have it in their path, as custom resources do. */
const WITH_GROUP = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/** The path at which a genuine server keeps an object in etcd. Some of its messages contain this path. */
export function etcdPath({ kind, name, namespace }: ObjectTarget): string {
  const { group, resource } = kind.type;
  const hasGroup = WITH_GROUP.has(group) || kind.hasStrategicMerge === false;
  const parts = [
    ...(hasGroup ? [group] : []),
    ownField(NAMED_OTHERWISE, resource) ?? resource,
    ...(namespace === '' ? [] : [namespace]),
    name,
  ];
  return `/${parts.join('/')}`;
}
