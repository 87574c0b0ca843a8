import { LIFECYCLE_GROUP } from '@rollkeeper/machinery/kubernetes';
import type { PolicyRule } from '../../access/authorization/index.js';
import { CONTROLLER_RULES, CONTROLLER_RULES_IN_NAMESPACES } from './controller-roles.js';
import type { RulesInNamespace } from './controller-roles.js';
import { APPS, CORE, DISCOVERY, STORAGE, may } from './policy-rules.js';

/** The prefix of the roles for what Rollkeeper's controllers do and those of Kubernetes do not, or do otherwise. */
export const OWN_CONTROLLER_ROLE_PREFIX = 'rollkeeper:controller:';

/** A pod whose creation is refused because its name is taken is read. */
const READS_PODS = may('get', CORE, 'pods');

/** The group of Deployments that Rollkeeper serves beside those of Kubernetes. */
const ROLLKEEPER = 'rollkeeper.dev';
const GATEWAYS = 'gateway.networking.k8s.io';

/** Rights that no controller of Kubernetes needs. The chart grants the same (`rollkeeper.rules.*`), by the options that are on. */
const BEYOND: Readonly<Record<string, readonly PolicyRule[]>> = {
  // Steps, checks, budgets, resizes, blue-green rollouts, weights of routes, pinned configuration, notifications, rollouts of
  // StatefulSets and DaemonSets, and the lasting history.
  'deployment-controller': [
    may('patch', APPS, 'deployments'),
    may('get update patch', ROLLKEEPER, 'deployments'),
    may('update', ROLLKEEPER, 'deployments/status deployments/finalizers'),
    may('patch', CORE, 'pods'),
    may('delete', CORE, 'pods'),
    may('get list patch update watch', APPS, 'controllerrevisions daemonsets statefulsets'),
    may('list watch', 'admissionregistration.k8s.io', 'mutatingwebhookconfigurations'),
    may('update', CORE, 'pods/resize'),
    may('create', CORE, 'pods services'),
    may('get patch', CORE, 'services'),
    may('patch', GATEWAYS, 'httproutes grpcroutes'),
    may('list', DISCOVERY, 'endpointslices'),
    may('create get update', CORE, 'configmaps'),
    may('create get', CORE, 'secrets'),
    may('create get', 'batch', 'jobs'),
    may('get', 'policy', 'poddisruptionbudgets'),
    may('update', 'policy', 'poddisruptionbudgets/status'),
    may('get list watch', LIFECYCLE_GROUP, 'evictions'),
    may('patch', LIFECYCLE_GROUP, 'evictions/status'),
  ],
  // It is the attacher of the simulated driver as well.
  'attachdetach-controller': [may('patch', STORAGE, 'volumeattachments volumeattachments/status')],
  'daemon-set-controller': [READS_PODS],
  // The preview of evictions by request.
  'evictionrequest-controller': [
    may('get list watch', LIFECYCLE_GROUP, 'evictionrequests evictions'),
    may('create patch', LIFECYCLE_GROUP, 'evictions'),
    may('patch', LIFECYCLE_GROUP, 'evictionrequests/status evictions/status'),
    may('get list watch', CORE, 'pods'),
  ],
  'imperative-eviction-responder-controller': [
    may('get list watch', LIFECYCLE_GROUP, 'evictions'),
    may('patch', LIFECYCLE_GROUP, 'evictions/status'),
    may('get list watch', CORE, 'pods'),
    may('create', CORE, 'pods/eviction'),
  ],
  'job-controller': [READS_PODS],
  'legacy-service-account-token-cleaner': [may('list', CORE, 'pods')],
  'replicaset-controller': [READS_PODS],
  'replication-controller': [READS_PODS],
};

/**
 * The rules of `rollkeeper:controller:ACCOUNT` by account, beside those of `system:controller:ACCOUNT`. What the account
 * may update it may patch as well, which gives it no power that it has not.
 */
export const OWN_CONTROLLER_RULES: Readonly<Record<string, readonly PolicyRule[]>> = Object.fromEntries(
  Object.keys({ ...CONTROLLER_RULES, ...BEYOND })
    .map((account) => {
      const updates = patchesOf(CONTROLLER_RULES[account] ?? []);
      return [account, [...updates, ...(BEYOND[account] ?? [])]] as const;
    })
    .filter(([, rules]) => rules.length > 0),
);

/** The same in one namespace alone. */
export const OWN_CONTROLLER_RULES_IN_NAMESPACES: readonly RulesInNamespace[] =
  CONTROLLER_RULES_IN_NAMESPACES.map((one) => ({ ...one, rules: patchesOf(one.rules) })).filter(
    ({ rules }) => rules.length > 0,
  );

function patchesOf(rules: readonly PolicyRule[]): PolicyRule[] {
  return rules
    .filter(({ verbs }) => verbs.includes('update') && !verbs.includes('patch'))
    .map((rule) => ({ ...rule, verbs: ['patch'] }));
}
