import { stringifyJson, newControllerRef } from '@rollkeeper/machinery/kubernetes';
import type { DeepReadonly, DeploymentSpec, Service } from '@rollkeeper/machinery/kubernetes';
import { POD_TEMPLATE_HASH } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { MANAGED_BY, SWITCHED } from '../blue-green/settings.js';
import type { ManagedRule } from './managed-rules.js';
import type { Which } from './traffic-plan.js';

type Ports = NonNullable<NonNullable<Service['spec']>['ports']>;
export type MadePorts = { readonly ports: Ports } | { readonly problem: string };

/**
 * The ports of a Service that does not exist yet: those that the rules name, which lead to the container's port of the same number, or
 * to the only one that there is.
 */
export function portsOfMade(
  { selector, template }: DeepReadonly<DeploymentSpec>,
  rules: readonly ManagedRule[],
  which: Which,
): MadePorts {
  if (Object.keys(selector.matchLabels ?? {}).length === 0)
    return { problem: 'none can be made, because the Deployment selects by expressions alone' };
  const given = (template.spec?.containers ?? []).flatMap(({ ports = [] }) => ports);
  const containerPorts = new Set(given.map(({ containerPort }) => containerPort));
  const wanted = [...new Set(rules.flatMap((rule) => rule[which].port ?? []))];
  if (wanted.length === 0) return { problem: 'no rule names a port of it' };
  const [only] = containerPorts;
  const ports: Ports = [];
  for (const port of wanted) {
    const targetPort = containerPorts.has(port) ? port : containerPorts.size === 1 ? only : undefined;
    if (targetPort === undefined)
      return { problem: `none can be made, because no port of the containers belongs to its port ${port}` };
    ports.push({ name: `port-${port}`, port, protocol: 'TCP', targetPort });
  }
  return { ports };
}

/** A Service of the Deployment that selects one version alone. It goes with the Deployment. */
export function madeService(
  { name: deployment, now, observed, spec }: RolloutDraft,
  { hash, name, ports }: { readonly name: string; readonly hash: string; readonly ports: Ports },
): Service {
  const annotations = { [MANAGED_BY]: deployment, [SWITCHED]: stringifyJson({ to: hash, at: now }) };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      ...{ name, namespace: observed.metadata.namespace, annotations },
      ownerReferences: [newControllerRef(observed)],
    },
    spec: { ports, selector: { ...spec.selector.matchLabels, [POD_TEMPLATE_HASH]: hash } },
  };
}
