import type { SchedulerPlugin } from '../framework/plugin.js';
import type { Status } from '../framework/status.js';
import { unresolvable } from '../framework/status.js';
import type { Attempt } from './attempt.js';
import { refusalBy } from './attempt.js';

interface PreFiltered {
  /** The pod is refused as a whole. */
  readonly refusal?: Status;
  /** The only nodes that come into question, and the plug-ins that say so. */
  readonly narrowed?: { readonly names: ReadonlySet<string>; readonly by: readonly string[] };
}

/**
 * Asks all plug-ins about the pod. An unresolvable refusal ends it at once; after a resolvable one the others are asked all the
 * same, and may refuse too.
 */
export function preFilter(attempt: Attempt): PreFiltered {
  const skipped = new Set<SchedulerPlugin>();
  const by: string[] = [];
  let names: ReadonlySet<string> | undefined;
  let refusal: Status | undefined;
  for (const plugin of attempt.profile.preFilter) {
    attempt.asking = plugin.name;
    const { nodeNames, state, status } = plugin.preFilter?.(attempt.context) ?? {};
    attempt.keepState(plugin, state);
    if (status?.code === 'Skip') skipped.add(plugin);
    else if (status && status.code !== 'Success') {
      refusal = refusalBy(plugin, status);
      if (status.code === 'UnschedulableAndUnresolvable') return { refusal };
    } else if (nodeNames) {
      by.push(plugin.name);
      names = names ? common(names, nodeNames) : nodeNames;
      if (names.size === 0) return { refusal: nothingLeft(by) };
    }
  }
  attempt.activateFilters(skipped);
  return { refusal, narrowed: names && { names, by } };
}

function common(some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...some].filter((name) => others.has(name)));
}

function nothingLeft(by: readonly string[]): Status {
  const [first = ''] = by;
  return {
    ...unresolvable(
      by.length === 1
        ? `node(s) didn't satisfy plugin ${first}`
        : `node(s) didn't satisfy plugin(s) [${by.join(' ')}] simultaneously`,
    ),
    plugin: first,
  };
}
