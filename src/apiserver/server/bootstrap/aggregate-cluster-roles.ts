import { isAborted } from '@rollkeeper/machinery/cancellation';
import { pause } from '@rollkeeper/machinery/clock';
import type { ClusterRole as IClusterRole } from '@rollkeeper/machinery/types/rbac-v1';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { cloneJson, compileLabelSelector, semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { RBAC_GROUP } from '../../kinds/index.js';
import { updateObject } from '../../objects/registry/index.js';
import type { RegistryContext } from '../../objects/registry/index.js';
import type { FollowedResources } from '../../storage/index.js';
import { CLUSTER_ROLES } from '../../access/authorization/policy.js';
import type { Policy } from '../../access/authorization/policy.js';
import type { PolicyRule } from '../../access/authorization/policy-rule.js';

type ClusterRole = IClusterRole & KubernetesObject;

const RETRY_MS = 1000;

/**
 * The rules of an aggregated ClusterRole: those of all roles that its selectors select, by name, each once.
 * Source: pkg/controller/clusterroleaggregation.
 * @returns undefined where they are what they should be, or the role is not aggregated
 */
export function decideAggregatedRules(
  role: ClusterRole,
  roles: readonly ClusterRole[],
): PolicyRule[] | undefined {
  if (!role.aggregationRule) return undefined;
  const selectors = (role.aggregationRule.clusterRoleSelectors ?? []).map(compileLabelSelector);
  const byName = [...roles].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const rules: PolicyRule[] = [];
  for (const { metadata, rules: theirs } of byName) {
    if (metadata.name === role.metadata.name) continue;
    if (!selectors.some((selects) => selects(metadata.labels ?? {}))) continue;
    for (const rule of theirs ?? []) if (!rules.some((known) => semanticEqual(known, rule))) rules.push(rule);
  }
  return semanticEqual(rules, role.rules ?? []) ? undefined : rules;
}

/**
 * Maintains the rules of aggregated ClusterRoles. A genuine cluster has a controller for it; here the server does it
 * itself, so that its default roles work without controllers.
 */
export class ClusterRoleAggregation {
  private isDue = true;
  private wake: (() => void) | undefined;

  constructor(
    private readonly context: RegistryContext,
    private readonly policy: Policy,
    followed: FollowedResources,
  ) {
    followed.of(CLUSTER_ROLES).onChange(() => {
      this.isDue = true;
      this.wake?.();
    });
  }

  /** Works until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const wake = (): void => this.wake?.();
    signal.addEventListener('abort', wake, { once: true });
    while (!signal.aborted) {
      if (!this.isDue) await new Promise<void>((resolve) => (this.wake = resolve));
      if (isAborted(signal)) return;
      if (!(await this.aggregate())) await pause(this.context.clock, RETRY_MS, signal);
    }
  }

  /**
   * Brings all aggregated roles up to date; some may be made of others, which come first then.
   * @returns false where a write failed, which is logged: a policy may refuse it. What is left stays due.
   */
  async aggregate(): Promise<boolean> {
    try {
      await this.writeRules();
      return true;
    } catch (error) {
      this.isDue = true;
      this.context.logger.warn('aggregated ClusterRoles could not be written, trying again', {
        error: errorMessage(error),
      });
      return false;
    }
  }

  private async writeRules(): Promise<void> {
    const kind = this.context.kinds.find(RBAC_GROUP, 'v1', 'clusterroles');
    while (this.isDue && kind) {
      this.isDue = false;
      const roles = this.policy.clusterRoles();
      for (const role of roles) {
        const rules = decideAggregatedRules(role, roles);
        if (!rules) continue;
        const target = { kind, namespace: '', name: role.metadata.name };
        const replace = (current: Readonly<UnstructuredObject>): UnstructuredObject => ({
          ...cloneJson(current),
          rules: cloneJson(rules),
        });
        await updateObject(this.context, target, replace, { subresource: '', dryRun: false });
      }
    }
  }
}
