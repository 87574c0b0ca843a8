import type { ClusterRole, RoleBinding } from '@rollkeeper/machinery/types/rbac-v1';
import { cloneJson, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { uncovered } from '../../access/authorization/index.js';
import type { PolicyRule } from '../../access/authorization/index.js';
import { RBAC_GROUP } from '../../kinds/index.js';
import { updateObject } from '../../objects/registry/index.js';
import type { RegistryContext } from '../../objects/registry/index.js';
import {
  DEFAULT_AGGREGATES,
  DEFAULT_CLUSTER_ROLE_BINDINGS,
  DEFAULT_CLUSTER_ROLES,
  DEFAULT_NAMESPACE_ROLES,
} from './default-roles.js';
import type { AggregatedRole, DefaultSubject } from './default-roles.js';
import { ensureObject, unlessRefused } from './ensure-object.js';

type PolicyObject = UnstructuredObject &
  Pick<ClusterRole, 'aggregationRule'> &
  Pick<RoleBinding, 'subjects'> & { readonly rules?: PolicyRule[] | null };

const AUTO_UPDATE = 'rbac.authorization.kubernetes.io/autoupdate';

/** Makes the roles and bindings of every cluster, and adds to those of earlier starts what they lack. */
export async function ensureDefaultPolicy(context: RegistryContext): Promise<void> {
  await Promise.all(
    defaultPolicy().map((object) =>
      unlessRefused(context, object, () => ensurePolicyObject(context, object)),
    ),
  );
}

async function ensurePolicyObject(context: RegistryContext, wanted: UnstructuredObject): Promise<void> {
  const existing = await ensureObject(context, wanted);
  if (!existing || !decideReconciliation(existing, wanted)) return;
  const { kind, metadata } = wanted;
  const target = {
    kind: context.kinds.findByKind(`${RBAC_GROUP}/v1`, kind)!,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  };
  await updateObject(
    context,
    target,
    (current) => decideReconciliation(current, wanted) ?? cloneJson(current),
    { subresource: '', dryRun: false },
  );
}

/**
 * A default role or binding with missing parts added; additions by users are kept. The annotation
 * `rbac.authorization.kubernetes.io/autoupdate: "false"` turns this off. Source: pkg/registry/rbac/reconciliation.
 * @returns undefined where it lacks nothing
 */
export function decideReconciliation(
  existing: Readonly<PolicyObject>,
  wanted: Readonly<PolicyObject>,
): UnstructuredObject | undefined {
  if (existing.metadata.annotations?.[AUTO_UPDATE] === 'false') return undefined;
  const { aggregationRule, rules, subjects = [] } = existing;
  const missing = {
    rules: uncovered(wanted.rules ?? [], rules ?? []),
    subjects: without(wanted.subjects ?? [], subjects),
    selectors: without(
      wanted.aggregationRule?.clusterRoleSelectors ?? [],
      aggregationRule?.clusterRoleSelectors ?? [],
    ),
    labels: Object.keys(wanted.metadata.labels ?? {}).filter((key) => !existing.metadata.labels?.[key]),
  };
  if (Object.values(missing).every((list) => list.length === 0)) return undefined;
  const object: PolicyObject & { rules?: PolicyRule[] | null } = cloneJson(existing);
  object.metadata.labels = { ...wanted.metadata.labels, ...object.metadata.labels };
  if (missing.rules.length > 0) object.rules = [...(object.rules ?? []), ...missing.rules];
  if (missing.subjects.length > 0) object.subjects = [...(object.subjects ?? []), ...missing.subjects];
  if (missing.selectors.length > 0)
    object.aggregationRule = {
      clusterRoleSelectors: [...(aggregationRule?.clusterRoleSelectors ?? []), ...missing.selectors],
    };
  return object;
}

function without<T>(wanted: readonly T[], known: readonly T[]): T[] {
  return wanted.filter((one) => !known.some((other) => semanticEqual(one, other)));
}

export function defaultPolicy(): UnstructuredObject[] {
  return [
    ...DEFAULT_CLUSTER_ROLES.map(({ name, partOf, rules }) =>
      policyObject('ClusterRole', { name, partOf }, { rules: [...rules] }),
    ),
    ...DEFAULT_AGGREGATES.map(({ name, partOf }) => {
      const clusterRoleSelectors = [{ matchLabels: aggregationLabel(name) }];
      return policyObject('ClusterRole', { name, partOf }, { aggregationRule: { clusterRoleSelectors } });
    }),
    ...DEFAULT_CLUSTER_ROLE_BINDINGS.map(({ role, subjects }) =>
      policyObject('ClusterRoleBinding', { name: role }, binding('ClusterRole', role, subjects)),
    ),
    ...DEFAULT_NAMESPACE_ROLES.flatMap(({ binding: bound, name, namespace, rules, subjects }) => [
      policyObject('Role', { name, namespace }, { rules: [...rules] }),
      policyObject('RoleBinding', { name: bound ?? name, namespace }, binding('Role', name, subjects)),
    ]),
  ];
}

function policyObject(
  kind: string,
  { name, namespace, partOf }: { name: string; namespace?: string; partOf?: AggregatedRole },
  content: object,
): UnstructuredObject {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind,
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      annotations: { [AUTO_UPDATE]: 'true' },
      labels: {
        'kubernetes.io/bootstrapping': 'rbac-defaults',
        ...(partOf && aggregationLabel(partOf)),
      },
    },
    ...content,
  };
}

function aggregationLabel(role: AggregatedRole): Record<string, string> {
  return { [`${RBAC_GROUP}/aggregate-to-${role}`]: 'true' };
}

function binding(kind: string, name: string, subjects: readonly DefaultSubject[]): object {
  const shown = subjects.map((subject) => ({
    ...subject,
    ...(subject.kind !== 'ServiceAccount' && { apiGroup: RBAC_GROUP }),
  }));
  return {
    roleRef: { apiGroup: RBAC_GROUP, kind, name },
    ...(shown.length > 0 && { subjects: shown }),
  };
}
