import type { ReadablePod } from '../framework/node-info.js';
import type { PluginFactory, SchedulerPlugin } from '../framework/plugin.js';
import { SKIP, unresolvable } from '../framework/status.js';

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
    preFilter({ pod: { pod } }) {
      const state = FEATURES.filter(({ isNeededBy }) => isNeededBy(pod)).map(({ name }) => name);
      return state.length > 0 ? { state } : { status: SKIP };
    },
    filter({ node }, _context, needed) {
      const { declaredFeatures = [] } = node.status ?? {};
      return needed.every((name) => declaredFeatures.includes(name)) ? undefined : REFUSAL;
    },
  };
  return plugin;
};

function restartsAllContainers({ spec: { containers, initContainers = [] } }: ReadablePod): boolean {
  return [...initContainers, ...containers].some(({ restartPolicyRules }: Container) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );
}
