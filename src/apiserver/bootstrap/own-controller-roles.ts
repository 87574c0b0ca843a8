import type { PolicyRule } from '../authorization/index.js';
import { CONTROLLER_RULES } from './controller-roles.js';

/** The prefix of the roles by which Rollkeeper's controllers do with patches what those of Kubernetes do with updates. */
export const OWN_CONTROLLER_ROLE_PREFIX = 'rollkeeper:controller:';

/**
 * The rules of `rollkeeper:controller:ACCOUNT` by account, beside those of `system:controller:ACCOUNT`: what the account
 * may update it may patch as well, which gives it no power that it has not.
 */
export const OWN_CONTROLLER_RULES: Readonly<Record<string, readonly PolicyRule[]>> = Object.fromEntries(
  Object.entries(CONTROLLER_RULES)
    .map(([account, rules]) => [account, rules.filter(isForUpdatesAlone).map(forPatches)] as const)
    .filter(([, rules]) => rules.length > 0),
);

function isForUpdatesAlone({ verbs }: PolicyRule): boolean {
  return verbs.includes('update') && !verbs.includes('patch');
}

function forPatches(rule: PolicyRule): PolicyRule {
  return { ...rule, verbs: ['patch'] };
}
