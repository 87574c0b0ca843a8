import type { ReadableNode, ReadablePod } from '../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin } from '../framework/plugin.js';
import { SKIP, unresolvable } from '../framework/status.js';
import { isSamePod, onNodes, onPods } from './hints.js';

const REFUSAL = unresolvable("node(s) didn't match Pod's required features");

type Container = ReadablePod['spec']['containers'][number];

/** Features that nodes declare, and which pods cannot run without. */
const FEATURES: readonly { readonly name: string; readonly isNeededBy: (pod: ReadablePod) => boolean }[] = [
  { name: 'RestartAllContainersOnContainerExits', isNeededBy: restartsAllContainers },
];

/** Refuses nodes that do not declare a feature which the pod needs. */
export const nodeDeclaredFeatures: PluginFactory = () => {
  const plugin: SchedulerPlugin<readonly string[]> = {
    name: 'NodeDeclaredFeatures',
    eventsToRegister: [
      onNodes(
        ['add', 'update-node-declared-features'],
        (pod, _before, after) => after !== undefined && declares(after, featuresOf(pod)),
      ),
      onPods(['update'], (pod, _before, after) => isSamePod(pod, after)),
    ],
    preFilter({ pod: { pod } }) {
      const state = featuresOf(pod);
      return state.length > 0 ? { state } : { status: SKIP };
    },
    filter: ({ node }, _context, needed) => (declares(node, needed) ? undefined : REFUSAL),
  };
  return plugin;
};

function featuresOf(pod: ReadablePod): readonly string[] {
  return FEATURES.filter(({ isNeededBy }) => isNeededBy(pod)).map(({ name }) => name);
}

function declares({ status }: ReadableNode, needed: readonly string[]): boolean {
  const { declaredFeatures = [] } = status ?? {};
  return needed.every((name) => declaredFeatures.includes(name));
}

function restartsAllContainers({ spec: { containers, initContainers = [] } }: ReadablePod): boolean {
  return [...initContainers, ...containers].some(({ restartPolicyRules }: Container) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );
}
