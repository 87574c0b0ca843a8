import type { ControllerDefinition } from '../kit/index.js';
import { InvalidOptionError } from '../base/errors/index.js';
import { deploymentController } from './deployment/index.js';
import { disruptionController } from './disruption/index.js';
import { garbageCollectorController } from './garbage-collector/index.js';
import { horizontalPodAutoscalerController } from './horizontal-pod-autoscaler/index.js';
import { namespaceController } from './namespace/index.js';
import { nodeLifecycleController, taintEvictionController } from './node-lifecycle/index.js';
import { podGarbageCollectorController } from './pod-garbage-collector/index.js';
import { replicaSetController } from './replicaset/index.js';
import { rootCaPublisherController, serviceAccountController } from './serviceaccount/index.js';
import { endpointSliceController, endpointsController } from './service-endpoints/index.js';
import { ttlAfterFinishedController } from './ttl-after-finished/index.js';

/** Every controller there is. */
export const CONTROLLERS: readonly ControllerDefinition[] = [
  deploymentController,
  replicaSetController,
  garbageCollectorController,
  namespaceController,
  serviceAccountController,
  rootCaPublisherController,
  endpointsController,
  endpointSliceController,
  disruptionController,
  nodeLifecycleController,
  taintEvictionController,
  podGarbageCollectorController,
  ttlAfterFinishedController,
  horizontalPodAutoscalerController,
];

export interface SelectOptions {
  readonly standalone?: boolean;
  readonly all?: readonly ControllerDefinition[];
}

type Named = Pick<ControllerDefinition, 'name' | 'aliases'>;

/**
 * Picks controllers by kube-controller-manager's grammar: `name` for one, `-name` for all but that one, `*` for whatever
 * the list does not name. The first mention of a controller decides, under whichever of its names; where a list mentions
 * neither it nor `*`, it does not run.
 * Source: `IsControllerEnabled` in k8s.io/controller-manager/app.
 * @param list comma-separated, for example `*,-namespace-controller`
 * @param options.standalone whether no kube-controller-manager works beside, so that `*` stands for all there are
 * @throws InvalidOptionError for a name that is no controller's, or when nothing is left
 */
export function selectControllers(
  list: string,
  { standalone = false, all = CONTROLLERS }: SelectOptions = {},
): readonly ControllerDefinition[] {
  const entries = list.split(',').map((part) => readEntry(part.trim(), all));
  const others = entries.some((entry) => entry.name === '*');
  const chosen = all.filter(({ byDefault, name }) => {
    const first = entries.find((entry) => entry.name === name);
    return first ? first.wanted : others && (standalone || byDefault !== 'standalone');
  });
  if (chosen.length === 0) throw new InvalidOptionError('controllers', `"${list}" leaves no controller`);
  return chosen;
}

/** The controller that a name or an alias of it means. */
export function findController<T extends Named>(name: string, all: readonly T[]): T | undefined {
  return all.find((each) => each.name === name || each.aliases?.includes(name));
}

interface Entry {
  /** The controller's own name, or `*`. */
  readonly name: string;
  readonly wanted: boolean;
}

function readEntry(entry: string, all: readonly Named[]): Entry {
  if (entry === '*') return { name: '*', wanted: true };
  const wanted = !entry.startsWith('-');
  const found = findController(wanted ? entry : entry.slice(1), all);
  if (found) return { name: found.name, wanted };
  const known = all.map(({ aliases = [], name }) => [name, ...aliases].join(' or '));
  throw new InvalidOptionError('controllers', `"${entry}" is none of *, ${known.join(', ')}`);
}
