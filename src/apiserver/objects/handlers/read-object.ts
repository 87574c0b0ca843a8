import { LongWork } from '@rollkeeper/machinery/clock';
import type { ResourceType, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { apiVersionOf, goQuote, setField } from '@rollkeeper/machinery/kubernetes';
import { badRequest } from '../../schema/errors/index.js';
import { checkWriteOptions, decodeBody, typeProblem } from '../../http/decoding/index.js';
import type { NamedType } from '../../http/decoding/index.js';
import type { RegistryContext } from '../registry/index.js';
import { copyEmptied } from '../../schema/index.js';
import { isDefinedByUsers } from '../../kinds/index.js';
import { checkCustomType, wrongKind } from './custom-type.js';
import type { ResourceCall } from './handler.js';

/**
 * Reads the body as an object of the call's kind, and checks it against the path.
 * @throws StatusError 400 and 415
 */
export async function readObject(context: RegistryContext, call: ResourceCall): Promise<UnstructuredObject> {
  const { request, kind } = call;
  const isCustom = isDefinedByUsers(kind);
  const body = await request.readBody();
  const work = new LongWork(context.clock);
  const { object, warnings } = await decodeBody(body, {
    work,
    contentType: request.contentType,
    schemas: context.schemas,
    schema: kind.schema,
    kind: kind.type,
    fieldValidation: checkWriteOptions(request),
    ...(!isCustom && { isKnown: isKnownType(context) }),
  });
  await work.giveWay();
  for (const warning of warnings) request.warn(warning);
  if (isCustom) checkCustomType(object, kind.type, body);
  else checkType(object, kind.type, isKnownType(context));
  checkNamespace(object, call);
  const problem = kind.conversionProblem?.(object);
  if (problem !== undefined) throw badRequest(unconvertible(kind.type, problem));
  const refusal = isCustom ? wrongKind(object, kind.type) : undefined;
  // An update without a version is refused for that.
  if (refusal && (request.method === 'POST' || object.metadata.resourceVersion)) throw refusal;
  return inOrder(object, kind.type);
}

function unconvertible({ kind, version }: ResourceType, problem: string): string {
  return `${kind} in version ${goQuote(version)} cannot be handled as a ${kind}: ${problem}`;
}

/** Group, version and kind come first, as a genuine server writes them. */
function inOrder(object: UnstructuredObject, type: ResourceType): UnstructuredObject {
  const ordered: UnstructuredObject = {
    kind: type.kind,
    apiVersion: apiVersionOf(type),
    metadata: object.metadata,
  };
  for (const key in object) if (!Object.hasOwn(ordered, key)) setField(ordered, key, object[key]);
  copyEmptied(object, ordered);
  return ordered;
}

/** Returns whether there is such a type. */
type IsKnownType = (named: NamedType) => boolean;

export function isKnownType({ kinds }: Pick<RegistryContext, 'kinds'>): IsKnownType {
  return ({ apiVersion = '', kind = '' }) => kinds.findByKind(apiVersion, kind) !== undefined;
}

/**
 * An object that names its type has to be of the type that is meant.
 * @param alsoAccepted further API versions of it
 * @throws StatusError 400
 */
export function checkType(
  { apiVersion, kind }: UnstructuredObject,
  type: Pick<ResourceType, 'group' | 'kind' | 'version'>,
  isKnown: IsKnownType,
  alsoAccepted: readonly string[] = [],
): void {
  const expected = apiVersionOf(type);
  const named = { apiVersion: apiVersion || expected, kind: kind || type.kind };
  const isSameKind = named.kind === type.kind;
  if (isSameKind && (named.apiVersion === expected || alsoAccepted.includes(named.apiVersion))) return;
  if (isSameKind && isKnown(named)) {
    throw badRequest(
      `the API version in the data (${named.apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  throw badRequest(typeProblem(named, type, isKnown(named)));
}

/** @throws StatusError 400 when the body names another namespace than the path */
export function checkNamespace(
  object: UnstructuredObject,
  { namespace }: Pick<ResourceCall, 'namespace'>,
): void {
  if (object.metadata.namespace && namespace !== '' && object.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** @throws StatusError 400 when the body names another object than the path */
export function checkName(object: UnstructuredObject, name: string): void {
  const own = object.metadata.name;
  if (!own)
    throw badRequest(
      `the name of the object (${name} based on URL) was undeterminable: name must be provided`,
    );
  if (own !== name)
    throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}

/** @throws StatusError 400 when a patch made another object's name or namespace of it (checkName in handlers/rest.go) */
export function checkPatchedIdentity(
  object: UnstructuredObject,
  { name, namespace }: Pick<ResourceCall, 'name' | 'namespace'>,
): void {
  checkName(object, name);
  const own = object.metadata.namespace;
  if (own && namespace !== '' && own !== namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}
