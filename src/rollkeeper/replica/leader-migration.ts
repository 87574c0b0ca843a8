import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ControllerDefinition } from '@rollkeeper/runtime/controller';
import { InvalidOptionError, errorMessage } from '@rollkeeper/machinery/errors';
import { compileOptions } from '@rollkeeper/machinery/options/compile-options';

/** Who we are in a migration's assignments. */
export const COMPONENT = 'rollkeeper';
const OPTION = 'leader-migration-config';

/** kube-controller-manager calls them so, by its release. */
const NAMES_OF_OTHERS: Readonly<Record<string, string>> = { 'garbage-collector': 'garbagecollector' };

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

/** Which of our controllers a migration leaves to us, and under which Lease. */
export interface LeaderMigration {
  readonly leaderName: string;
  readonly definitions: readonly ControllerDefinition[];
}

/**
 * A `LeaderMigrationConfiguration`, as kube-controller-manager reads it from its `--leader-migration-config` (KEP-2436): the
 * Lease that the components share while controllers go over from one to another, and which component runs each of
 * them. Ours are those of `rollkeeper` and of `*`.
 *
 * Different from Kubernetes, a replica leads under one lock alone, so every controller that it is to run must be assigned.
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
    text = parse(readFileSync(file, 'utf8'));
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
    const assigned = namesOf(name).flatMap((each) => components.get(each) ?? []);
    if (assigned.length === 0)
      throw new InvalidOptionError(
        OPTION,
        `assigns ${name} to nobody; assign it, or leave it out of controllers`,
      );
    if (new Set(assigned).size > 1)
      throw new InvalidOptionError(OPTION, `assigns ${name} to both ${assigned.join(' and ')}`);
    return assigned[0] ?? '';
  };
  const definitions = selected.filter((each) => [COMPONENT, '*'].includes(componentOf(each)));
  if (definitions.length === 0) throw new InvalidOptionError(OPTION, `assigns no controller to ${COMPONENT}`);
  return { leaderName, definitions };
}

/** `deployment` and `deployment-controller` are one, and so are what older releases called some of them. */
function namesOf(name: string): readonly string[] {
  return [name, `${name}-controller`, ...[NAMES_OF_OTHERS[name] ?? []].flat()];
}
