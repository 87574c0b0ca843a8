import type { PolicyRule } from '../../access/authorization/index.js';

export const READ = 'get list watch';
export const WRITE = 'create delete deletecollection patch update';
export const CORE = '';
export const APPS = 'apps';
export const AUTHENTICATION = 'authentication.k8s.io';
export const AUTHORIZATION = 'authorization.k8s.io';
export const CERTIFICATES = 'certificates.k8s.io';
export const COORDINATION = 'coordination.k8s.io';
export const DISCOVERY = 'discovery.k8s.io';
/** Deployments and others were in this group before they had groups of their own. */
export const EXTENSIONS = 'extensions';
export const NETWORKING = 'networking.k8s.io';
export const DEVICES = 'resource.k8s.io';
export const RBAC = 'rbac.authorization.k8s.io';
export const STORAGE = 'storage.k8s.io';

/** Verbs on resources, each a list with spaces between. */
export function may(verbs: string, groups: string | readonly string[], resources: string): PolicyRule {
  const apiGroups = typeof groups === 'string' ? [groups] : [...groups];
  return { apiGroups, resources: resources.split(' '), verbs: verbs.split(' ') };
}

/** The same for the objects of these names alone. */
export function mayNamed(
  verbs: string,
  group: string,
  resources: string,
  ...resourceNames: string[]
): PolicyRule {
  return { ...may(verbs, group, resources), resourceNames };
}

export function mayGet(...nonResourceURLs: string[]): PolicyRule {
  return { nonResourceURLs, verbs: ['get'] };
}

export const EVENTS = may('create patch update', [CORE, 'events.k8s.io'], 'events');
export const REVIEW_ACCESS = may('create', AUTHORIZATION, 'subjectaccessreviews');
