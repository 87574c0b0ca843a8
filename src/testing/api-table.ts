import { subresourceFacts, verbsOf } from '../api-server/discovery/index.js';
import type { KindDefinition, KindRegistry } from '../api-server/kinds/index.js';
import { REVIEW_TYPES } from '../api-server/reviews/index.js';
import { apiVersionOf } from '../base/kubernetes/index.js';

/** What a genuine server does with objects of a kind and this one does not, by group and kind. */
const NOT_HERE: Readonly<Record<string, string>> = {
  '/LimitRange': 'stored; creations are not held against it',
  '/Node': '`proxy`',
  '/PersistentVolume': 'nobody binds or makes volumes; no `pv-protection` finalizer',
  '/PersistentVolumeClaim': 'nobody binds claims; no `pvc-protection` finalizer',
  '/Pod': '`log`, `exec`, `attach`, `portforward`, `proxy`; `resize` is stored, and nobody resizes',
  '/ReplicationController': 'nobody creates its pods',
  '/ResourceQuota': 'stored; creations are not counted',
  '/Service': '`proxy`; nobody balances load',
  '/ServiceAccount': '`token`',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration': 'stored; webhooks are not called',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy':
    'stored; expressions are neither compiled nor asked',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': 'stored',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration': 'stored; webhooks are not called',
  'apiextensions.k8s.io/CustomResourceDefinition': 'stored; its resources are not served',
  'apiregistration.k8s.io/APIService': 'never available unless local: requests are not forwarded (503)',
  'apps/DaemonSet': 'nobody creates its pods',
  'apps/StatefulSet': 'nobody creates its pods',
  'autoscaling/HorizontalPodAutoscaler': 'nobody scales',
  'batch/CronJob': 'nobody starts its jobs',
  'batch/Job': 'nobody creates its pods',
  'certificates.k8s.io/CertificateSigningRequest': 'nobody signs; who asks is not noted',
  'flowcontrol.apiserver.k8s.io/FlowSchema': 'stored; requests are not sorted by it',
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': 'stored; requests are not limited by it',
  'networking.k8s.io/Ingress': 'nobody serves them',
  'networking.k8s.io/NetworkPolicy': 'nobody enforces them',
  'networking.k8s.io/ServiceCIDR':
    'stored; services get their addresses from 10.96.0.0/12 and fd00:10:96::/108',
  'rbac.authorization.k8s.io/ClusterRole': 'stored; nobody is refused by it',
  'rbac.authorization.k8s.io/ClusterRoleBinding': 'stored',
  'rbac.authorization.k8s.io/Role': 'stored; nobody is refused by it',
  'rbac.authorization.k8s.io/RoleBinding': 'stored',
  'scheduling.k8s.io/PriorityClass': 'pods do not get its value',
  'storage.k8s.io/StorageClass': 'claims do not get the default one',
};

/** The table of docs/API.md: every kind, its verbs and subresources, and what is not there. */
export function apiTable(kinds: KindRegistry): string {
  const rows = [...kinds.kinds]
    .sort((a, b) => compare(sortKey(a), sortKey(b)))
    .map((kind) => [
      kind.type.kind,
      apiVersionOf(kind.type),
      kind.type.namespaced ? 'namespace' : 'cluster',
      verbsText(verbsOf(kind)),
      subresourcesText(kind),
      NOT_HERE[`${kind.type.group}/${kind.type.kind}`] ?? '',
    ]);
  const reviews = REVIEW_TYPES.map((type) => [
    type.kind,
    apiVersionOf(type),
    type.namespaced ? 'namespace' : 'cluster',
    'create',
    '',
    '',
  ]);
  return [
    '| kind | version | in a | verbs | subresources | not here |',
    '| --- | --- | --- | --- | --- | --- |',
    ...[...rows, ...reviews].map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}

/** Notes of kinds that are not there any more. */
export function strayNotes(kinds: KindRegistry): string[] {
  const known = new Set(kinds.kinds.map(({ type }) => `${type.group}/${type.kind}`));
  return Object.keys(NOT_HERE).filter((name) => !known.has(name));
}

const ALL = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

function verbsText(verbs: readonly string[]): string {
  const missing = ALL.filter((verb) => !verbs.includes(verb));
  return missing.length === 0 ? 'all' : `all but ${missing.join(', ')}`;
}

function subresourcesText(kind: KindDefinition): string {
  return kind.subresources
    .map((name) => `${name} (${subresourceFacts(kind, name)?.verbs.join(', ') ?? 'none'})`)
    .join('; ');
}

function sortKey({ type }: KindDefinition): string {
  return `${type.group}/${type.kind}/${type.version}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
