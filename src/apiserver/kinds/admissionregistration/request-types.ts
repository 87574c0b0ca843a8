import { listOf, mapOf, objectOf } from '../../cel/index.js';
import type { CelType } from '../../cel/index.js';

const KIND = objectOf('kubernetes.GroupVersionKind', { group: 'string', version: 'string', kind: 'string' });
const RESOURCE = objectOf('kubernetes.GroupVersionResource', {
  group: 'string',
  version: 'string',
  resource: 'string',
});
const USER = objectOf('kubernetes.UserInfo', {
  username: 'string',
  uid: 'string',
  groups: listOf('string'),
  extra: mapOf(listOf('string')),
});

/** The type of a request in expressions. Source: BuildRequestType in apiserver/pkg/admission/plugin/cel. */
export const REQUEST_TYPE: CelType = objectOf('kubernetes.AdmissionRequest', {
  kind: KIND,
  resource: RESOURCE,
  subResource: 'string',
  requestKind: KIND,
  requestResource: RESOURCE,
  requestSubResource: 'string',
  name: 'string',
  namespace: 'string',
  operation: 'string',
  userInfo: USER,
  dryRun: 'bool',
  options: 'dyn',
});

const CONDITION = objectOf('kubernetes.NamespaceCondition', {
  status: 'string',
  type: 'string',
  lastTransitionTime: 'timestamp',
  message: 'string',
  reason: 'string',
});
const METADATA = objectOf('kubernetes.NamespaceMetadata', {
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  labels: mapOf('string'),
  annotations: mapOf('string'),
  UID: 'string',
  creationTimestamp: 'timestamp',
  deletionGracePeriodSeconds: 'int',
  deletionTimestamp: 'timestamp',
  generation: 'int',
  resourceVersion: 'string',
  finalizers: listOf('string'),
});

/** The same of its Namespace, whose other fields are out of reach. Source: BuildNamespaceType, there. */
export const NAMESPACE_TYPE: CelType = objectOf('kubernetes.Namespace', {
  metadata: METADATA,
  spec: objectOf('kubernetes.NamespaceSpec', { finalizers: listOf('string') }),
  status: objectOf('kubernetes.NamespaceStatus', { conditions: listOf(CONDITION), phase: 'string' }),
});
