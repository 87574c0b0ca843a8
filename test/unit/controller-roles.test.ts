import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { EVICTION_REQUEST_CONTROLLERS } from '../../src/controllers/eviction-request/index.js';
import { CONTROLLERS } from '../../src/controllers/registry.js';
import { serviceAccountOf } from '../../src/rollkeeper/replica/controller-clients.js';
import {
  CONTROLLER_RULES,
  CONTROLLER_RULES_IN_NAMESPACES,
} from '../../src/apiserver/server/bootstrap/controller-roles.js';
import {
  OWN_CONTROLLER_RULES,
  OWN_CONTROLLER_RULES_IN_NAMESPACES,
} from '../../src/apiserver/server/bootstrap/own-controller-roles.js';
import { uncovered } from '../../src/apiserver/access/authorization/policy-rule.js';
import type { Installation } from '../../src/rollkeeper/cli/doctor/needed-rights.js';
import { neededRights } from '../../src/rollkeeper/cli/doctor/needed-rights.js';
import { defaultPolicy } from '../../src/apiserver/server/bootstrap/ensure-default-policy.js';

const nameOf = (object: { kind: string; metadata: { name: string; namespace?: string } }): string =>
  [object.kind, object.metadata.namespace, object.metadata.name].filter(Boolean).join(' ');

/** With every option of rollouts. */
const WHOLE: Installation = {
  controllers: ['deployment', 'replicaset'],
  deploymentGroups: ['apps', 'rollkeeper.dev'],
  namespaces: [],
  hasClusterIdentity: false,
  restartOnConfig: true,
  pinConfig: true,
  respectDisruptionBudgets: true,
  rolloutChecks: true,
  checkSecrets: true,
  notifications: true,
  blueGreen: true,
  traffic: true,
  experimentServices: true,
  zones: true,
  statefulSets: true,
  daemonSets: true,
  lastingHistory: true,
  watchAdmission: true,
  evictionRequests: true,
  looksAtAllKinds: false,
  evictionWebhook: { configuration: 'evictions', namespace: 'ops' },
};

describe('the roles of controllers', () => {
  it('let an account do what its controller needs with every option of rollouts', () => {
    for (const { owner, rights } of neededRights(WHOLE).filter((each) => each.owner !== 'replica')) {
      const account = `${owner}-controller`;
      const held = [...(CONTROLLER_RULES[account] ?? []), ...(OWN_CONTROLLER_RULES[account] ?? [])];
      const wanted = rights.map(({ group, resource, verb }) => ({
        apiGroups: [group],
        resources: [resource],
        verbs: [verb],
      }));
      expect(uncovered(wanted, held), account).toEqual([]);
    }
  });

  it('exist for the account of every controller that has one', () => {
    const known = new Set([
      ...Object.keys(CONTROLLER_RULES),
      ...CONTROLLER_RULES_IN_NAMESPACES.map(({ account }) => account),
    ]);
    const accounts = CONTROLLERS.map((definition) => serviceAccountOf(definition)).filter(Boolean);
    expect(accounts.filter((account) => !known.has(account!))).toEqual([]);
    const ofPreview = EVICTION_REQUEST_CONTROLLERS.map((definition) => serviceAccountOf(definition));
    expect(ofPreview.filter((account) => !OWN_CONTROLLER_RULES[account ?? '']?.length)).toEqual([]);
  });

  it('are beside such that let it patch what it may update', () => {
    const jobs = { apiGroups: ['batch'], resources: ['jobs/status'] };
    expect(CONTROLLER_RULES['job-controller']).toContainEqual({ ...jobs, verbs: ['update'] });
    expect(OWN_CONTROLLER_RULES['job-controller']).toContainEqual({ ...jobs, verbs: ['patch'] });
    for (const [account, rules] of Object.entries(OWN_CONTROLLER_RULES)) {
      const updates = CONTROLLER_RULES[account]?.filter(({ verbs }) => verbs.includes('update')) ?? [];
      for (const { verbs, ...what } of rules.filter((rule) => rule.verbs.includes('patch')))
        if (updates.some((rule) => isDeepStrictEqual({ ...rule, verbs: [] }, { ...what, verbs: [] })))
          expect(verbs).toEqual(['patch']);
    }
    expect(OWN_CONTROLLER_RULES_IN_NAMESPACES).toEqual([
      expect.objectContaining({ account: 'bootstrap-signer', namespace: 'kube-public' }),
    ]);
  });

  it('are bound to the account of the same name in kube-system', () => {
    const policy = defaultPolicy();
    const bindings = policy.filter(
      ({ kind, metadata }) => kind.endsWith('Binding') && metadata.name.startsWith('system:controller:'),
    );
    expect(bindings.length).toBe(
      Object.keys(CONTROLLER_RULES).length + CONTROLLER_RULES_IN_NAMESPACES.length,
    );
    for (const binding of bindings) {
      const name = binding.metadata.name.replace('system:controller:', '');
      expect(binding).toMatchObject({
        subjects: [{ kind: 'ServiceAccount', name, namespace: 'kube-system' }],
      });
    }
    const names = policy.map(nameOf);
    expect(names.length).toBe(new Set(names).size);
    expect(names).toEqual(
      expect.arrayContaining([
        'ClusterRole system:controller:job-controller',
        'ClusterRoleBinding system:controller:node-controller',
        'Role kube-public system:controller:bootstrap-signer',
        'RoleBinding kube-system system::extension-apiserver-authentication-reader',
      ]),
    );
  });
});
