import { compileNodeSelection, compileNodeTerm } from '@rollkeeper/machinery/kubernetes';
import type { NodeMatcher, NodeTerm } from '@rollkeeper/machinery/kubernetes';
import type { ReadablePod } from '../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin } from '../framework/plugin.js';
import { SKIP, unresolvable } from '../framework/status.js';
import { onNodes } from './hints.js';
import { inProportion } from './normalize.js';

const REFUSAL = unresolvable("node(s) didn't match Pod's node affinity/selector");
const CONFLICT = unresolvable('pod affinity terms conflict');

interface Preference {
  readonly isMet: NodeMatcher;
  readonly weight: number;
}

/** Nodes by the pod's `nodeSelector` and node affinity. */
export const nodeAffinity: PluginFactory = () => {
  const plugin: SchedulerPlugin<NodeMatcher, readonly Preference[]> = {
    name: 'NodeAffinity',
    eventsToRegister: [
      onNodes(['add', 'update-node-labels'], ({ spec }, before, after) => {
        const isSelected = compileNodeSelection(spec);
        return after !== undefined && isSelected(after) && !(before && isSelected(before));
      }),
    ],
    preFilter({ pod: { pod } }) {
      const terms = requiredTermsOf(pod);
      if (!terms && Object.keys(pod.spec.nodeSelector ?? {}).length === 0) return { status: SKIP };
      const state = compileNodeSelection(pod.spec);
      const nodeNames = terms && namedNodes(terms);
      if (nodeNames?.size === 0) return { status: CONFLICT };
      return { state, nodeNames };
    },
    filter: ({ node }, _context, isSelected) => (isSelected(node) ? undefined : REFUSAL),
    preScore({ pod }) {
      const state = preferencesOf(pod.pod);
      return state.length > 0 ? { state } : { status: SKIP };
    },
    score({ node }, _context, preferences) {
      let sum = 0;
      for (const { isMet, weight } of preferences) if (isMet(node)) sum += weight;
      return sum;
    },
    normalizeScores: inProportion,
  };
  return plugin;
};

function requiredTermsOf({ spec }: ReadablePod): readonly NodeTerm[] | undefined {
  return spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
}

/** The nodes that the terms name; undefined where a term names none and so leaves it open. */
function namedNodes(terms: readonly NodeTerm[]): ReadonlySet<string> | undefined {
  const all = new Set<string>();
  for (const { matchFields = [] } of terms) {
    let named: readonly string[] | undefined;
    for (const { key, operator, values = [] } of matchFields) {
      if (key !== 'metadata.name' || operator !== 'In') continue;
      named = named ? named.filter((name) => values.includes(name)) : values;
    }
    if (!named) return undefined;
    for (const name of named) all.add(name);
  }
  return terms.length > 0 ? all : undefined;
}

function preferencesOf({ spec }: ReadablePod): Preference[] {
  const terms = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.map(({ preference, weight }) => ({ isMet: compileNodeTerm(preference), weight }));
}
