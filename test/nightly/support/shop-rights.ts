import type { ResourceType } from '../../../src/machinery/kubernetes/index.js';

const API_GROUP = 'rbac.authorization.k8s.io';
const rbac = (kind: string, resource: string, namespaced: boolean): ResourceType => ({
  ...{ group: API_GROUP, version: 'v1', kind, resource, namespaced },
});

/** All rights in the namespace `shop`, and the pages of the admin port, for one subject of RBAC. */
export function rightsOfShop(subject: object): readonly (readonly [ResourceType, object])[] {
  return [
    [
      rbac('Role', 'roles', true),
      {
        metadata: { namespace: 'shop', name: 'team' },
        rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
      },
    ],
    [
      rbac('RoleBinding', 'rolebindings', true),
      {
        metadata: { namespace: 'shop', name: 'team' },
        roleRef: { apiGroup: API_GROUP, kind: 'Role', name: 'team' },
        subjects: [subject],
      },
    ],
    [
      rbac('ClusterRole', 'clusterroles', false),
      {
        metadata: { name: 'console' },
        rules: [{ nonResourceURLs: ['/admin/*'], verbs: ['get', 'post'] }],
      },
    ],
    [
      rbac('ClusterRoleBinding', 'clusterrolebindings', false),
      {
        metadata: { name: 'console' },
        roleRef: { apiGroup: API_GROUP, kind: 'ClusterRole', name: 'console' },
        subjects: [subject],
      },
    ],
  ];
}
