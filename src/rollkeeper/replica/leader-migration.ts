import { readNamedFileSync } from '@rollkeeper/machinery/files';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

/** Our component name in a migration's assignments. */
const COMPONENT = 'rollkeeper';
const OPTION = 'leader-migration-config';

/** kube-controller-manager's names, by release. */
const NAMES_OF_OTHERS: Readonly<Record<string, string>> = { 'garbage-collector': 'garbagecollector' };

/** Controllers that help another one: unless they are assigned themselves, they go where it goes. */
const HELPS: Readonly<Record<string, string>> = {
  experiments: 'deployment',
  'rollout-history': 'deployment',
  'rollout-turns': 'deployment',
  'session-drain': 'deployment',
  'eviction-surge': 'deployment',
  'statefulset-rollout': 'deployment',
  'admission-drift': 'deployment',
  'daemonset-rollout': 'deployment',
  'rollkeeper-admission-drift': 'rollkeeper-deployment',
  'rollkeeper-rollout-history': 'rollkeeper-deployment',
};

const API_VERSIONS = ['v1', 'v1beta1', 'v1alpha1'].map(
  (version) => `controllermanager.config.k8s.io/${version}`,
);

const schema = z.object({
  apiVersion: z.enum(API_VERSIONS, `must be one of ${API_VERSIONS.join(', ')}`),
  kind: z.literal('LeaderMigrationConfiguration', 'must be LeaderMigrationConfiguration'),
  leaderName: z.string('is required').min(1, 'must name a Lease'),
  resourceLock: z.literal('leases', 'must be leases').default('leases'),
  controllerLeaders: z
    .array(z.object({ name: z.string().min(1), component: z.string().min(1) }), 'must be a list')
    .min(1, 'assigns nothing'),
});

/** The controllers that a migration assigns to us, and its Lease. */
export interface LeaderMigration {
  readonly leaderName: string;
  readonly definitions: readonly ControllerDefinition[];
}

/**
 * A `LeaderMigrationConfiguration`, as kube-controller-manager reads it from its `--leader-migration-config` (KEP-2436): the
 * Lease shared by the components while controllers move from one to another, and the component that runs each controller. Ours
 * are those of `rollkeeper` and of `*`.
 *
 * Unlike Kubernetes, a replica leads under a single lock, so every controller that it runs must be assigned.
 *
 * @param selected the controllers that `--controllers` picks
 * @throws InvalidOptionError
 */
export function readLeaderMigration(
  file: string,
  selected: readonly ControllerDefinition[],
): LeaderMigration {
  let text: unknown;
  try {
    text = parse(readNamedFileSync(file).toString('utf8'));
  } catch (error) {
    throw new InvalidOptionError(OPTION, `${file}: ${errorMessage(error)}`);
  }
  return decideLeaderMigration(text, selected);
}

/** @throws InvalidOptionError */
export function decideLeaderMigration(
  config: unknown,
  selected: readonly ControllerDefinition[],
): LeaderMigration {
  const { controllerLeaders, leaderName } = compileOptions(schema, config, OPTION);
  const components = new Map<string, string>();
  for (const { component, name } of controllerLeaders) {
    const before = components.get(name) ?? component;
    if (before !== component)
      throw new InvalidOptionError(OPTION, `assigns ${name} to both ${before} and ${component}`);
    components.set(name, component);
  }
  const componentOf = ({ name }: ControllerDefinition): string => {
    const assignedTo = (of: string): readonly string[] =>
      namesOf(of).flatMap((each) => components.get(each) ?? []);
    const own = assignedTo(name);
    const assigned = own.length === 0 ? assignedTo(HELPS[name] ?? name) : own;
    if (assigned.length === 0)
      throw new InvalidOptionError(
        OPTION,
        `assigns ${name} to no component; assign it, or leave it out of controllers`,
      );
    if (new Set(assigned).size > 1)
      throw new InvalidOptionError(OPTION, `assigns ${name} to both ${assigned.join(' and ')}`);
    return assigned[0] ?? '';
  };
  const definitions = selected.filter((each) => [COMPONENT, '*'].includes(componentOf(each)));
  if (definitions.length === 0) throw new InvalidOptionError(OPTION, `assigns no controller to ${COMPONENT}`);
  return { leaderName, definitions };
}

/** `deployment` and `deployment-controller` are the same, and so are older names of some of them. */
function namesOf(name: string): readonly string[] {
  return [name, `${name}-controller`, ...[NAMES_OF_OTHERS[name] ?? []].flat()];
}
