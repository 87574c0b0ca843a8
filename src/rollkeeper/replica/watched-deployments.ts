import { deploymentTypeOf } from '@rollkeeper/controllers/deployment';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { ControllerDefinition } from '@rollkeeper/runtime';
import type { CompiledReplicaOptions } from './replica.options.js';

/** The types of Deployments that a controller of this replica processes, and so watches. */
export function watchedDeployments({
  definitions,
  deploymentApis,
}: Pick<CompiledReplicaOptions, 'definitions' | 'deploymentApis'>): readonly ResourceType[] {
  return deploymentApis
    .map(deploymentTypeOf)
    .filter((deploymentType) => definitions.some(({ type }) => type === deploymentType));
}

/** The controller of Deployments, whose rights others borrow. Undefined: this replica runs none. */
export function deploymentDefinition(
  options: Pick<CompiledReplicaOptions, 'definitions' | 'deploymentApis'>,
): ControllerDefinition | undefined {
  const types = watchedDeployments(options);
  return options.definitions.find(({ type }) => types.some((each) => each === type));
}
