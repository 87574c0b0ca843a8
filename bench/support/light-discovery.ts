const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const resource = (name: string, kind: string, namespaced = true) => ({
  name,
  kind,
  namespaced,
  verbs: VERBS,
});

/** Discovery documents of the light API by path: what the garbage collector and the namespace controller begin with. */
export const LIGHT_DISCOVERY: Readonly<Record<string, unknown>> = {
  '/api': { versions: ['v1'] },
  '/apis': { groups: [{ name: 'apps', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } }] },
  '/api/v1': { resources: [resource('pods', 'Pod'), resource('namespaces', 'Namespace', false)] },
  '/apis/apps/v1': {
    resources: [resource('deployments', 'Deployment'), resource('replicasets', 'ReplicaSet')],
  },
};
