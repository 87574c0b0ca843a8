import { POD_TEMPLATE_HASH } from '../../../shared/index.js';
import type { RolloutDraft } from '../../kubernetes/draft.js';
import { activeOf } from '../../kubernetes/replica-set-draft.js';
import type { BlueGreen } from './settings.js';
import { MANAGED_BY } from './settings.js';
import type { Services, WatchedServices } from './selecting-services.js';
import { ownSelectorOf, servicesOf } from './selecting-services.js';
import type { Problem } from '../common/tell.js';
import { SERVICES_NOT_WATCHED, SERVICE_NOT_USABLE } from '../common/tell.js';

/** Why no Service can be moved for a Deployment; `undefined` where it can, or where Services are not known at all. */
export function blueGreenTrouble(
  draft: RolloutDraft,
  blueGreen: BlueGreen | undefined,
  services: WatchedServices | undefined,
): Problem | undefined {
  if (!blueGreen || services === undefined) return undefined;
  const reason = SERVICES_NOT_WATCHED;
  if (services === 'off')
    return { reason, message: 'Services are not watched: start the controller with --blue-green' };
  if (services.availability === 'refused') return { reason, message: 'the controller may not list Services' };
  if (services.availability === 'starting') return undefined;
  const problems = servicesOf(blueGreen).flatMap((name) => serviceTrouble(draft, name, services) ?? []);
  const unnamed = activeOf(draft.living).find(({ labels }) => labels[POD_TEMPLATE_HASH] === undefined);
  if (unnamed)
    problems.push(
      `ReplicaSet "${unnamed.name}" has no ${POD_TEMPLATE_HASH}, by which a Service could select it`,
    );
  return problems.length === 0 ? undefined : { reason: SERVICE_NOT_USABLE, message: problems.join('; ') };
}

export function serviceTrouble(draft: RolloutDraft, name: string, services: Services): string | undefined {
  const { namespace = '' } = draft.observed.metadata;
  const service = services.find(namespace, name);
  if (!service) return `Service "${name}" does not exist`;
  const own = Object.entries(ownSelectorOf(service));
  if (own.length === 0) return `Service "${name}" has no selector`;
  const { labels = {} } = draft.spec.template.metadata ?? {};
  const differs = own.find(([label, value]) => labels[label] !== value);
  if (differs) {
    const [label, value] = differs;
    return `Service "${name}" selects other pods: ${label}=${value} is not among the labels of the pod template`;
  }
  const manager = service.metadata.annotations?.[MANAGED_BY];
  const { observed } = draft;
  // It was moved while it selected no others, and has selected one version alone ever since.
  if (manager === draft.name && !services.hasTwin(observed)) return undefined;
  if (manager !== undefined && manager !== draft.name && services.isUsedBy(namespace, manager, name))
    return `Service "${name}" is moved by the rollouts of Deployment "${manager}"`;
  const other = services.otherWorkload(observed, ownSelectorOf(service));
  return other === undefined ? undefined : `Service "${name}" selects pods of ${other} as well`;
}
