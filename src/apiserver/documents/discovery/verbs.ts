import { isDefinedByUsers } from '../../kinds/index.js';
import type { KindDefinition } from '../../kinds/index.js';

/** Verbs of every kind's own resource. */
const RESOURCE_VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const;

/** The same of a custom resource, in the order of apiextensions-apiserver. */
const CUSTOM_VERBS = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
] as const;

/** Namespaces are only deleted by name: they have no deletecollection. */
export function verbsOf(kind: KindDefinition): readonly string[] {
  if (isDefinedByUsers(kind)) return CUSTOM_VERBS;
  return kind.type.kind === 'Namespace'
    ? RESOURCE_VERBS.filter((verb) => verb !== 'deletecollection')
    : RESOURCE_VERBS;
}

/** How a subresource presents itself: the kind of object that it takes, and its verbs. */
export interface SubresourceFacts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly verbs: readonly string[];
}

/** @returns undefined for a subresource that is not served */
export function subresourceFacts(kind: KindDefinition, subresource: string): SubresourceFacts | undefined {
  const own = { group: kind.type.group, version: kind.type.version, kind: kind.type.kind };
  switch (subresource) {
    case 'status':
    case 'ephemeralcontainers':
    case 'resize':
    case 'approval':
      return { ...own, verbs: ['get', 'patch', 'update'] };
    case 'scale':
      return { group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get', 'patch', 'update'] };
    case 'binding':
      return { group: '', version: 'v1', kind: 'Binding', verbs: ['create'] };
    case 'eviction':
      return { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] };
    case 'token':
      return { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest', verbs: ['create'] };
    case 'log':
      return { ...own, verbs: ['get'] };
    case 'exec':
      return { group: '', version: 'v1', kind: 'PodExecOptions', verbs: ['create', 'get'] };
    case 'attach':
      return { group: '', version: 'v1', kind: 'PodAttachOptions', verbs: ['create', 'get'] };
    case 'portforward':
      return { group: '', version: 'v1', kind: 'PodPortForwardOptions', verbs: ['create', 'get'] };
    case 'proxy':
      return {
        ...own,
        kind: `${own.kind}ProxyOptions`,
        verbs: ['create', 'delete', 'get', 'patch', 'update'],
      };
    case 'finalize':
      return { ...own, verbs: ['update'] };
    default:
      return undefined;
  }
}
