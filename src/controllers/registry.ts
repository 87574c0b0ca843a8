import type { ControllerDefinition } from '../controller/index.js';
import { InvalidOptionError } from '../errors/index.js';
import { deploymentController } from './deployment/index.js';
import { garbageCollectorController } from './garbage-collector/index.js';
import { namespaceController } from './namespace/index.js';
import { replicaSetController } from './replicaset/index.js';

/** Every controller there is. */
export const CONTROLLERS: readonly ControllerDefinition[] = [
  deploymentController,
  replicaSetController,
  garbageCollectorController,
  namespaceController,
];

/**
 * Picks controllers by kube-controller-manager's grammar: a list of names, `*` for all of them, `-name` for all but
 * that one. The last mention of a name wins, and a list without `*` starts from none.
 * @param list comma-separated, for example `*,-namespace`
 * @throws InvalidOptionError for a name that is no controller's, or when nothing is left
 */
export function selectControllers(
  list: string,
  all: readonly ControllerDefinition[] = CONTROLLERS,
): readonly ControllerDefinition[] {
  const chosen = new Set<string>();
  const names = all.map(({ name }) => name);
  for (const entry of list.split(',').map((part) => part.trim())) {
    const name = entry.replace(/^-/, '');
    if (entry === '*') for (const each of names) chosen.add(each);
    else if (!names.includes(name)) {
      throw new InvalidOptionError('controllers', `"${entry}" is none of *, ${names.join(', ')}`);
    }
  }
  for (const entry of list.split(',').map((part) => part.trim())) {
    if (entry.startsWith('-')) chosen.delete(entry.slice(1));
    else if (entry !== '*') chosen.add(entry);
  }
  if (chosen.size === 0) throw new InvalidOptionError('controllers', `"${list}" leaves no controller`);
  return all.filter(({ name }) => chosen.has(name));
}
