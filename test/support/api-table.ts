import { ANSWERED_TYPES, subresourceFacts, verbsOf } from '../../src/apiserver/documents/discovery/index.js';
import type { KindDefinition, KindRegistry } from '../../src/apiserver/kinds/index.js';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';

/** The verbs of a genuine server for objects of a kind that this one does not have, by group and kind. */
const NOT_HERE: Readonly<Record<string, string>> = {
  '/Node': '`proxy` answers 503, as nothing runs',
  '/PersistentVolume': 'not attached, mounted or recycled',
  '/PersistentVolumeClaim': '`dataSource` and attributes classes do nothing',
  '/Pod':
    '`exec`, `attach` and `portforward` are refused, as nothing runs; `log` is what an annotation says; `proxy` answers 503; `ephemeralcontainers` start, and cannot be attached to',
  '/ResourceQuota': 'a terminating pod counts until it is gone',
  '/Service': '`proxy` answers 503; load balancers have an address, and nothing listens there',
  'admissionregistration.k8s.io/MutatingAdmissionPolicy':
    'bodies of `binding`, `eviction`, `scale` and connections are not changed',
  'admissionregistration.k8s.io/MutatingWebhookConfiguration':
    '`binding`, `eviction` and `scale` are shown as what they do to the object',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicy':
    'audit annotations are written to the log of the server',
  'admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding': '`Audit` writes to the log of the server',
  'admissionregistration.k8s.io/ValidatingWebhookConfiguration':
    '`binding`, `eviction` and `scale` are shown as what they do to the object',
  'apiregistration.k8s.io/APIService': 'never available unless local: requests are not forwarded (503)',
  'certificates.k8s.io/CertificateSigningRequest':
    'signed where controllers have an authority ([CONTROLLERS](CONTROLLERS.md#certificates))',
  'flowcontrol.apiserver.k8s.io/FlowSchema': 'stored; requests are not sorted by it',
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': 'stored; requests are not limited by it',
  'networking.k8s.io/Ingress': 'not served',
  'networking.k8s.io/NetworkPolicy': 'not enforced',
  'networking.k8s.io/ServiceCIDR':
    'stored; services get their addresses from 10.96.0.0/12 and fd00:10:96::/108',
  'resource.k8s.io/DeviceClass': 'devices are allocated by the scheduler alone; no driver prepares them',
  'resource.k8s.io/ResourceClaimTemplate': 'claims are made of it by the `resourceclaim` controller',
  'storage.k8s.io/VolumeAttachment': 'nothing is attached',
  'storage.k8s.io/VolumeAttributesClass': 'volumes are not changed by it',
};

/** The table of docs/API.md: every kind, its verbs and subresources, and what is missing. */
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
  const answered = ANSWERED_TYPES.map((type) => [
    type.kind,
    apiVersionOf(type),
    type.namespaced ? 'namespace' : 'cluster',
    type.verbs.join(', '),
    '',
    '',
  ]);
  return [
    '| kind | version | in a | verbs | subresources | not here |',
    '| --- | --- | --- | --- | --- | --- |',
    ...[...rows, ...answered].map((cells) => `| ${cells.join(' | ')} |`),
  ].join('\n');
}

/** Types of the table in whose row a text says that they are there; for what another text must not deny. */
export function servedNames(kinds: KindRegistry): ReadonlySet<string> {
  return new Set(
    [...kinds.kinds.map(({ type }) => type), ...ANSWERED_TYPES].flatMap(({ kind, resource }) => [
      kind,
      resource,
    ]),
  );
}

/** Notes about kinds that no longer exist. */
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
