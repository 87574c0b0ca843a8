import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { KubernetesObject, ObjectRef, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient, DiscoveredResource } from '@rollkeeper/client/api-client';

/**
 * Names one object: as kubectl does (`deployment/web`, `deploy/web`, `deployments.apps/web`), in the namespace
 * `default`; with a namespace in front (`shop/deployment/web`); or an object itself.
 */
export type ObjectName =
  | string
  | {
      readonly apiVersion: string;
      readonly kind: string;
      readonly metadata: { readonly name: string; readonly namespace?: string };
    };

/**
 * A kind, as kubectl names it: `deployments`, `deployment`, `deploy`, `deployments.apps`, `deployments.v1.apps`; or
 * `apiVersion` and `kind`.
 */
export type ResourceName = string | Pick<KubernetesObject, 'apiVersion' | 'kind'>;

export interface NamedObject {
  readonly type: ResourceType;
  readonly ref: ObjectRef;
}

const DEFAULT_NAMESPACE = 'default';

/** Resolves names to API types, by the server's discovery. */
export class ResourceNames {
  private known: readonly DiscoveredResource[] = [];

  constructor(private readonly client: ApiClient) {}

  /** @throws InvalidOptionError for a kind that the server does not have */
  async typeOf(name: ResourceName, signal?: AbortSignal): Promise<ResourceType> {
    const found = this.find(name);
    if (found) return found;
    // It may be new: a custom resource.
    this.known = (await this.client.discover({ everyVersion: true, signal })).resources;
    const now = this.find(name);
    if (now) return now;
    const told = typeof name === 'string' ? name : `${name.apiVersion} ${name.kind}`;
    throw new InvalidOptionError('resource', `the server does not have ${told}`);
  }

  /** @throws InvalidOptionError if it does not name an object, or names an unknown kind */
  async objectOf(name: ObjectName, signal?: AbortSignal): Promise<NamedObject> {
    if (typeof name !== 'string') {
      const type = await this.typeOf(name, signal);
      return { type, ref: refOf(type, name.metadata.name, name.metadata.namespace) };
    }
    const parts = name.split('/');
    const [resource, objectName] = parts.slice(-2);
    if (parts.length < 2 || parts.length > 3 || !resource || !objectName || parts[0] === '')
      throw new InvalidOptionError('object', `"${name}" is not of the form [namespace/]resource/name`);
    const type = await this.typeOf(resource, signal);
    return { type, ref: refOf(type, objectName, parts.length === 3 ? parts[0] : undefined) };
  }

  private find(name: ResourceName): DiscoveredResource | undefined {
    if (typeof name !== 'string')
      return this.known.find((type) => type.kind === name.kind && apiVersionOf(type) === name.apiVersion);
    const word = name.toLowerCase();
    // As in kubectl, full names take precedence over short names.
    return (
      this.known.find((type) => isOneOf(word, type, fullNamesOf(type))) ??
      this.known.find((type) => isOneOf(word, type, type.shortNames ?? []))
    );
  }
}

function fullNamesOf({ kind, resource, singular }: DiscoveredResource): string[] {
  return [resource, kind.toLowerCase(), ...(singular ? [singular] : [])];
}

/** Matches alone, with the group, or with version and group; the core group has no name. */
function isOneOf(word: string, { group, version }: ResourceType, names: readonly string[]): boolean {
  return names.some(
    (name) =>
      word === name ||
      word === `${name}.${version}.${group}` ||
      (group !== '' && word === `${name}.${group}`),
  );
}

function refOf(type: ResourceType, name: string, namespace: string | undefined): ObjectRef {
  return type.namespaced ? { name, namespace: namespace ?? DEFAULT_NAMESPACE } : { name };
}
