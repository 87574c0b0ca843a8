import { compileNodeSelection, compileNodeTerm, compileNodeTerms } from '@rollkeeper/machinery/kubernetes';
import type { NodeMatcher, NodeTerm } from '@rollkeeper/machinery/kubernetes';
import type { ReadableNode, ReadablePod } from '../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin } from '../framework/plugin.js';
import { SKIP, unresolvable } from '../framework/status.js';
import { onNodes } from './hints.js';
import { inProportion } from './normalize.js';
import { compileArgs, nodeAffinityArgs } from './plugin-args.js';

const REFUSAL = unresolvable("node(s) didn't match Pod's node affinity/selector");
const ENFORCED = unresolvable("node(s) didn't match scheduler-enforced node affinity");
const CONFLICT = unresolvable('pod affinity terms conflict');

interface Preference {
  readonly isMet: NodeMatcher;
  readonly weight: number;
}

/** Nodes by the pod's `nodeSelector` and node affinity. */
export const nodeAffinity: PluginFactory = (args) => {
  const { addedAffinity } = compileArgs(nodeAffinityArgs, args);
  const added = addedAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const isAllowed = added && compileNodeTerms(added);
  const addedPreferences = compilePreferences(addedAffinity);
  const plugin: SchedulerPlugin<NodeMatcher, readonly Preference[]> = {
    name: 'NodeAffinity',
    eventsToRegister: [
      onNodes(['add', 'update-node-labels'], ({ spec }, before, after) => {
        const isSelected = compileNodeSelection(spec);
        const suits = (node: ReadableNode | undefined): boolean =>
          node !== undefined && isSelected(node) && (!isAllowed || isAllowed(node));
        return suits(after) && !suits(before);
      }),
    ],
    preFilter({ pod: { pod } }) {
      const terms = requiredTermsOf(pod);
      const asksForNone = !terms && Object.keys(pod.spec.nodeSelector ?? {}).length === 0;
      if (asksForNone && !isAllowed) return { status: SKIP };
      const state = compileNodeSelection(pod.spec);
      const nodeNames = terms && namedNodes(terms);
      if (nodeNames?.size === 0) return { status: CONFLICT };
      return { state, nodeNames };
    },
    filter({ node }, _context, isSelected) {
      if (isAllowed && !isAllowed(node)) return ENFORCED;
      return isSelected(node) ? undefined : REFUSAL;
    },
    preScore({ pod }) {
      const state = [...addedPreferences, ...compilePreferences(pod.pod.spec.affinity?.nodeAffinity)];
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

interface Preferring {
  readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly {
    readonly preference: NodeTerm;
    readonly weight: number;
  }[];
}

function compilePreferences(affinity: Preferring | undefined): Preference[] {
  const terms = affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.map(({ preference, weight }) => ({ isMet: compileNodeTerm(preference), weight }));
}
