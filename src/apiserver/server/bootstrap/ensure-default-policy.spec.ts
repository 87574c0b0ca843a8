import type { ClusterRole as IClusterRole } from '../../../machinery/generated/types/rbac-v1.js';
import { describe, expect, it } from 'vitest';
import type { UnstructuredObject } from '../../../machinery/kubernetes/index.js';
import { decideAggregatedRules } from './aggregate-cluster-roles.js';
import { decideReconciliation } from './ensure-default-policy.js';

type ClusterRole = IClusterRole & UnstructuredObject;

function aRole(name: string, content: object, labels: Record<string, string> = {}): ClusterRole {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  return { apiVersion, kind: 'ClusterRole', metadata: { name, labels }, ...content };
}

const GET = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const LIST = { apiGroups: [''], resources: ['pods'], verbs: ['list'] };
const OWN = { apiGroups: ['example.com'], resources: ['things'], verbs: ['*'] };

describe('a default role', () => {
  const wanted = aRole('r', { rules: [GET, LIST] }, { default: 'true' });

  it('is left alone if it lacks nothing', () => {
    const both = { apiGroups: [''], resources: ['pods'], verbs: ['list', 'get'] };
    const existing = aRole('r', { rules: [both, OWN] }, { default: 'true' });
    expect(decideReconciliation(existing, wanted)).toBeUndefined();
  });

  it('gets what it lacks, and keeps what somebody has added', () => {
    const reconciled = decideReconciliation(aRole('r', { rules: [GET, OWN] }, { mine: 'x' }), wanted);
    expect(reconciled?.rules).toEqual([GET, OWN, LIST]);
    expect(reconciled?.metadata.labels).toEqual({ default: 'true', mine: 'x' });
  });

  it('stays as it is when somebody says so', () => {
    const existing = aRole('r', { rules: null });
    existing.metadata.annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' };
    expect(decideReconciliation(existing, wanted)).toBeUndefined();
  });

  it('is bound to whom it should be, and to whom else it is', () => {
    const subject = (name: string) => ({ kind: 'Group', name });
    const reconciled = decideReconciliation(
      aRole('b', { subjects: [subject('mine')] }),
      aRole('b', { subjects: [subject('system:masters')] }),
    );
    expect(reconciled?.subjects).toEqual([subject('mine'), subject('system:masters')]);
  });
});

describe('an aggregated role', () => {
  const selector = { matchLabels: { into: 'view' } };
  const view = aRole('view', { aggregationRule: { clusterRoleSelectors: [selector] }, rules: null });

  it('has the rules of all that it selects, by name, each once', () => {
    const roles = [
      view,
      aRole('b', { rules: [LIST, GET] }, { into: 'view' }),
      aRole('a', { rules: [GET] }, { into: 'view' }),
      aRole('c', { rules: [OWN] }),
    ];
    expect(decideAggregatedRules(view, roles)).toEqual([GET, LIST]);
    expect(decideAggregatedRules({ ...view, rules: [GET, LIST] }, roles)).toBeUndefined();
    expect(decideAggregatedRules({ ...view, rules: [GET] }, [view])).toEqual([]);
    expect(decideAggregatedRules(roles[1]!, roles)).toBeUndefined();
  });
});
