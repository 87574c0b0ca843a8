import { serviceUnavailable, unknownPath } from '../errors/index.js';
import type { StatusError } from '../errors/index.js';
import type { RegistryContext } from '../registry/index.js';

interface Path {
  readonly group: string;
  readonly version: string;
}

/**
 * Why there is nothing at a path: no such thing is known, or an APIService says that another server has it, which is
 * never asked from here. The genuine aggregator answers just so while it cannot reach that server.
 */
export async function missingGroup({ storage }: RegistryContext, path: Path): Promise<StatusError> {
  const { group, version } = path;
  if (group === '') return unknownPath();
  const name = `${version}.${group}`;
  const found = await storage.get({ resource: 'apiservices.apiregistration.k8s.io', namespace: '', name });
  const { service } = (found?.object as { spec?: { service?: object } } | undefined)?.spec ?? {};
  if (!service) return unknownPath();
  return serviceUnavailable(
    `service unavailable: the APIService ${name} is served by an extension API server, and this server does not forward requests`,
  );
}
