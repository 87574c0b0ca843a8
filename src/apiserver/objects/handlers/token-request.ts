import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { checkPathSegment, goQuote, objectOfKind } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject, Pod, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { ISSUER } from '../../access/auth/index.js';
import type { BoundObject } from '../../access/auth/index.js';
import { decodeBody, checkWriteOptions } from '../../http/decoding/index.js';
import { badRequest, conflict, invalid, notFound } from '../../schema/errors/index.js';
import { created } from '../../http/index.js';
import type { ApiResponse } from '../../http/index.js';
import type { FieldError } from '../../kinds/index.js';
import { invalidField } from '../../kinds/index.js';
import type { RegistryContext } from '../registry/index.js';
import { sentAttributes } from './sent-attributes.js';
import { callerOf, isDryRun } from './write-options.js';
import { getState } from './get.js';
import type { ResourceCall } from './handler.js';
import { checkNamespace, checkType, isKnownType } from './read-object.js';

const TYPE = {
  group: 'authentication.k8s.io',
  version: 'v1',
  resource: 'tokenrequests',
  kind: 'TokenRequest',
  namespaced: true,
};
const TOKEN_REQUEST = { type: TYPE, schema: 'io.k8s.api.authentication.v1.TokenRequest' };
const DEFAULT_SECONDS = 3600;
const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

interface TokenRequest extends UnstructuredObject {
  spec?: {
    audiences?: string[];
    expirationSeconds?: number;
    boundObjectRef?: BoundObjectRef;
  };
}

interface BoundObjectRef {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly uid?: string;
}

/**
 * `POST` to a service account's `token`: a new token of it, as `kubectl create token` asks for.
 * Source: pkg/registry/core/serviceaccount/storage/token.go.
 */
export async function handleTokenRequest(context: RegistryContext, call: ResourceCall): Promise<ApiResponse> {
  const { object, warnings } = await decodeBody(await call.request.readBody(), {
    contentType: call.request.contentType,
    schemas: context.schemas,
    schema: TOKEN_REQUEST.schema,
    kind: TYPE,
    fieldValidation: checkWriteOptions(call.request),
    isKnown: isKnownType(context),
  });
  for (const warning of warnings) call.request.warn(warning);
  checkType(object, TYPE, isKnownType(context));
  const request: TokenRequest = objectOfKind(object);
  const { caller } = callerOf(call);
  const dryRun = isDryRun(call.request.query);
  checkNamespace(request, call);
  complete(request, call);
  const attributes = sentAttributes(call, TOKEN_REQUEST, request, { dryRun, caller });
  await context.admission.mutateSent(attributes);
  checkIdentity(request, call);
  const { object: account } = await getState(context, call);
  const asked = (request.metadata.uid ||= account.metadata.uid);
  if (asked && asked !== account.metadata.uid) throw otherAccount(asked, account);
  const { boundObjectRef, expirationSeconds = DEFAULT_SECONDS } = request.spec ?? {};
  const audiences = request.spec?.audiences?.length ? request.spec.audiences : [ISSUER];
  request.spec = { ...request.spec, audiences, expirationSeconds };
  const problems = expirationErrors(expirationSeconds);
  if (problems.length > 0) throw invalid(TYPE, '', problems);
  await context.admission.validate(attributes);
  const bound = boundObjectRef && (await findBound(context, call, boundObjectRef));
  const { expiresAtMs, token } = await context.tokens.issue({ account, audiences, expirationSeconds, bound });
  const { creationTimestamp, name, namespace, uid } = { ...request.metadata, ...call };
  return created({
    kind: TYPE.kind,
    apiVersion: 'authentication.k8s.io/v1',
    metadata: {
      name,
      namespace,
      uid,
      creationTimestamp: creationTimestamp ?? toRfc3339(context.clock.now()),
    },
    spec: { audiences, expirationSeconds, boundObjectRef: boundObjectRef ?? null },
    status: { token, expirationTimestamp: toRfc3339(expiresAtMs) },
  });
}

/** Completes a request: missing fields follow from the path, or have a default. */
function complete(request: TokenRequest, { name, namespace }: ResourceCall): void {
  request.metadata = { ...request.metadata, name: request.metadata.name || name };
  request.metadata.namespace ||= namespace;
  request.spec = { ...request.spec, expirationSeconds: request.spec?.expirationSeconds ?? DEFAULT_SECONDS };
}

function checkIdentity(request: TokenRequest, call: ResourceCall): void {
  const { metadata } = request;
  const { name } = call;
  if (metadata.name && metadata.name !== name)
    throw invalid(TYPE, name, [
      invalidField('metadata.name', metadata.name, 'must match the service account name if specified'),
    ]);
  checkNamespace(request, call);
}

/** The account was deleted, and there is another of its name. */
function otherAccount(asked: string, { metadata: { name, uid } }: KubernetesObject): Error {
  const problem = `the UID in the token request (${asked}) does not match the UID of the service account (${uid})`;
  return conflict({ group: TYPE.group, resource: TYPE.kind }, name, problem);
}

function expirationErrors(seconds: number): FieldError[] {
  const field = 'spec.expirationSeconds';
  if (seconds < MIN_SECONDS)
    return [invalidField(field, seconds, 'may not specify a duration less than 10 minutes')];
  if (seconds > MAX_SECONDS)
    return [invalidField(field, seconds, 'may not specify a duration larger than 2^32 seconds')];
  return [];
}

/** @throws StatusError 400 for what a token cannot be bound to, 404, 409 for an object of another UID */
async function findBound(
  { storage }: RegistryContext,
  { name: account, namespace }: ResourceCall,
  { apiVersion, kind, name = '', uid }: BoundObjectRef,
): Promise<BoundObject> {
  const find = async (
    resource: string,
    from: string,
    wanted: string,
  ): Promise<KubernetesObject | undefined> =>
    (await storage.get({ resource, namespace: from, name: wanted }))?.object;
  const expect = (resource: string, object: KubernetesObject | undefined): KubernetesObject => {
    if (!object) throw notFound({ group: '', resource }, name);
    if (uid && uid !== object.metadata.uid) {
      const problem = `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`;
      throw conflict({ group: '', resource }, name, problem);
    }
    return object;
  };
  const bound = boundType(apiVersion, kind);
  if (bound.group === '' && ['Pod', 'Secret', 'Node'].includes(bound.kind)) checkNameParameter(name);
  switch (`${bound.group}/${bound.kind}`) {
    case '/Pod': {
      const pod: Pod = objectOfKind(expect('pods', await find('pods', namespace, name)));
      const { nodeName, serviceAccountName = 'default' } = pod.spec;
      if (serviceAccountName !== account)
        throw badRequest(
          `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
        );
      const node = nodeName ? await find('nodes', '', nodeName) : undefined;
      return { kind: 'pod', object: pod, ...(node && { node }) };
    }
    case '/Secret':
      return { kind: 'secret', object: expect('secrets', await find('secrets', namespace, name)) };
    case '/Node':
      return { kind: 'node', object: expect('nodes', await find('nodes', '', name)) };
    default:
      throw badRequest(
        `cannot bind token to object of type ${bound.group}/${bound.version}, Kind=${bound.kind}`,
      );
  }
}

/** The version does not matter. Source: FromAPIVersionAndKind in apimachinery's schema package. */
function boundType(
  apiVersion = '',
  kind = '',
): { readonly group: string; readonly version: string; readonly kind: string } {
  const parts = apiVersion.split('/');
  if (parts.length > 2) return { group: '', version: '', kind };
  return { group: parts.at(-2) ?? '', version: parts.at(-1) ?? '', kind };
}

/** @throws StatusError 400, in the words of a registry that is asked for an object */
function checkNameParameter(name: string): void {
  if (name === '') throw badRequest('Name parameter required.');
  const problems = checkPathSegment(name);
  if (problems.length > 0)
    throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`);
}
