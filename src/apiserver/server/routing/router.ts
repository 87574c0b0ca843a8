import type { ExtensionGroups } from '../background/extension-groups.js';
import { isJsonObject } from '@rollkeeper/machinery/kubernetes';
import {
  AggregatedDiscovery,
  coreVersions,
  groupVersionsOf,
  isBuiltInGroup,
  groupList,
  oneGroup,
  resourceList,
} from '../../documents/discovery/index.js';
import type { Authenticator } from '../../access/auth/index.js';
import { isMaster, ISSUER } from '../../access/auth/index.js';
import type { Authorizer, ResourceAttributes } from '../../access/authorization/index.js';
import {
  methodNotAllowed,
  pageNotAcceptable,
  pageNotFound,
  serviceUnavailable,
  unknownPath,
} from '../../schema/errors/index.js';
import { METRICS_TYPE, checkRepresentable, negotiate, ok, plainText, unlessKnown } from '../../http/index.js';
import type { ApiRequest, ApiResponse, RawResponse, ResourcePath } from '../../http/index.js';
import { handleComponentStatuses } from '../../objects/component-statuses/component-statuses.js';
import { handleBinding } from '../../objects/handlers/binding.js';
import { isDefinedByUsers } from '../../kinds/index.js';
import type { KindDefinition } from '../../kinds/index.js';
import { OpenApiDocuments } from '../../documents/openapi/openapi-documents.js';
import { patchTypeOf } from '../../schema/patch/index.js';
import type { ProtobufAnswers } from '../../http/protobuf/protobuf-answers.js';
import { contextOf } from '../../objects/registry/index.js';
import type { RegistryContext } from '../../objects/registry/index.js';
import { findMetricsKind } from '../../objects/resource-metrics/metrics-kinds.js';
import {
  handleCustomMetrics,
  isCustomMetrics,
} from '../../objects/resource-metrics/handle-custom-metrics.js';
import { handleMetrics } from '../../objects/resource-metrics/handle-metrics.js';
import type { Reviewer } from '../../objects/reviews/decide-review.js';
import { findReviewType } from '../../objects/reviews/decide-review.js';
import { handleReview } from '../../objects/reviews/handle-review.js';
import { checkView } from '../../http/table.js';
import { HEALTH_PATHS, handleHealth, isHealthPath } from './health.js';
import { HealthSlis } from './health-slis.js';
import { STATUS_PATHS, statusPage } from './status-pages.js';
import type { StatusFacts } from './status-pages.js';
import { serverVersion } from '../../documents/kubernetes-version.js';
import { chooseHandler, chooseWatchHandler } from './choose-handler.js';
import { attributesOf } from './request-attributes.js';
import { isStorageUnreadable } from '../../storage/index.js';
import type { StoredObject, UnreadableObjects } from '../../storage/index.js';
import type { StatusError } from '../../schema/errors/index.js';

/** The parts that know users and their rights. */
export interface AccessControl {
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
}

/** Finds the handler of a request. */
export class Router {
  private readonly openApi: OpenApiDocuments;
  private readonly aggregated: AggregatedDiscovery;
  private readonly reviewer: Reviewer;
  private readonly slis = new HealthSlis();

  constructor(
    private readonly context: RegistryContext,
    /** `host:port` as clients reach it. */
    private readonly address: () => string,
    private readonly access: AccessControl,
    private readonly answers: {
      readonly unreadable: Pick<UnreadableObjects, 'names'>;
      readonly protobuf: ProtobufAnswers;
      readonly extensions: Pick<ExtensionGroups, 'all'>;
      /** How the process was started, by name. */
      readonly flags: Readonly<Record<string, string>>;
      readonly startedAtMs: number;
    },
  ) {
    const { authenticator, authorizer } = access;
    this.reviewer = {
      authenticate: (token, audiences) => authenticator.authenticate(token, audiences),
      ready: (user) => authorizer.ready(user),
      decide: (user, attributes) => authorizer.decide(user, attributes),
      rulesHeldBy: (user, namespace) => authorizer.rulesHeldBy(user, namespace),
    };
    this.openApi = new OpenApiDocuments(context.kinds, context.schemas);
    this.aggregated = new AggregatedDiscovery(context.kinds);
  }

  /** @throws StatusError */
  async route(request: ApiRequest): Promise<ApiResponse> {
    const { path } = request;
    if (path.startsWith('/api')) return this.routeApi(request);
    if (isHealthPath(path)) {
      const { context, slis } = this;
      return handleHealth({ ...context, unreadable: this.answers.unreadable, slis }, request);
    }
    if (path === SLIS) return this.serviceLevels(request);
    const page = statusPage(request, () => this.statusFacts());
    if (page) return page;
    if (path === '/version' || path === '/version/') return indented(serverVersion());
    const document = await this.openApi.answer(request);
    if (document) return document;
    if (path === KEYS_PATH || path === `${KEYS_PATH}/`) {
      assertAccepted(request, KEYS_TYPE);
      const raw = JSON.stringify(await this.context.tokens.publicKeys());
      return { status: 200, raw, contentType: KEYS_TYPE };
    }
    if (path === ISSUER_PATH || path === `${ISSUER_PATH}/`) {
      assertAccepted(request, 'application/json');
      return ok(openIdConfiguration(this.address()));
    }
    if (path === '/') return ok({ paths: this.paths() });
    throw pageNotFound();
  }

  private serviceLevels({ method }: ApiRequest): RawResponse {
    if (method !== 'DELETE') return { status: 200, raw: this.slis.serialize(), contentType: METRICS_TYPE };
    this.slis.reset();
    return plainText(200, 'metrics reset\n');
  }

  private statusFacts(): StatusFacts {
    const { flags, startedAtMs } = this.answers;
    return { flags, startedAtMs, nowMs: this.context.clock.now(), paths: this.paths() };
  }

  private paths(): string[] {
    const groups = groupVersionsOf(this.context.kinds).filter(({ group }) => group !== '');
    return [
      ...OTHER_PATHS,
      ...HEALTH_PATHS,
      ...STATUS_PATHS,
      ...new Set(groups.map(({ group }) => `/apis/${group}`)),
      ...groups.map(({ group, version }) => `/apis/${group}/${version}`),
    ].sort();
  }

  private async routeApi(request: ApiRequest): Promise<ApiResponse> {
    const path = request.target;
    if (!path) return this.discover(request);
    const isProxied = path.subresource === 'proxy';
    if ((path.rest.length > 0 && !isProxied) || path.prefix === 'proxy') throw nothingBelow(path.group);
    const isWatch = path.prefix === 'watch';
    const review = isWatch ? undefined : findReviewType(path);
    if (review) {
      const { clock, kinds, schemas } = this.context;
      return handleReview(
        { ...path, type: review, request },
        { clock, kinds, reviewer: this.reviewer, schemas },
      );
    }
    const hasMetrics = !isWatch && this.context.kinds.hasMetrics !== false;
    if (hasMetrics && isCustomMetrics(path)) return handleCustomMetrics(this.context, { ...path, request });
    const metrics = hasMetrics ? findMetricsKind(path) : undefined;
    if (metrics) return handleMetrics(this.context, { ...path, kind: metrics, request });
    if (!isWatch && isCore(path, 'componentstatuses'))
      return handleComponentStatuses(this.context, { ...path, request, protobuf: this.answers.protobuf });
    if (!isWatch && isCore(path, 'bindings')) return this.bind(path, request);
    const kind =
      this.context.kinds.find(path.group, path.version, path.resource) ??
      (await this.context.definitions?.find(path.group, path.version, path.resource));
    if (!kind) throw await missingGroup(this.context, path);
    if (!kind.type.namespaced && path.namespace !== '') throw unknownPath();
    const { namespace, name, subresource } = path;
    const { protobuf } = this.answers;
    checkForm(request, kind, path);
    const accept = negotiate(request.headers.accept, { hasProtobuf: protobuf.has(kind) });
    checkView({ accept, request });
    const call = { request, kind, namespace, name, subresource, accept, protobuf, rest: path.rest };
    const handler = isWatch ? chooseWatchHandler(call) : chooseHandler(call);
    if (request.method === 'PATCH' && !isProxied) patchTypeOf(request.contentType, kind);
    if (kind.deprecation !== undefined) request.warn(kind.deprecation);
    return handler(this.guarded(contextOf(this.context, kind), request), call);
  }

  /** A creation in the collection `bindings` binds a pod. */
  private async bind(
    { name, namespace, subresource }: ResourcePath,
    request: ApiRequest,
  ): Promise<ApiResponse> {
    const kind = this.context.kinds.find('', 'v1', 'pods');
    if (!kind || namespace === '' || subresource !== '') throw unknownPath();
    if (name !== '' || request.method !== 'POST') throw methodNotAllowed();
    const accept = negotiate(request.headers.accept);
    const call = { request, kind, namespace, name, subresource: 'binding', accept };
    return handleBinding(this.guarded(this.context, request), call);
  }

  /** Restrictions of a user without full rights, beyond the right to the request. */
  private guarded(context: RegistryContext, request: ApiRequest): RegistryContext {
    if (isMaster(request.user) || request.method === 'GET') return context;
    const attributes = attributesOf(request) as ResourceAttributes;
    const { authorizer } = this.access;
    const guard = authorizer.guardFor(request.user, attributes);
    const judge = authorizer.judgeFor(request.user, attributes);
    return (guard ?? judge) ? { ...context, guard, judge } : context;
  }

  private discover(request: ApiRequest): ApiResponse {
    const { kinds } = this.context;
    const parts = request.path.split('/').filter((part) => part !== '');
    if (parts[0] !== 'api' && parts[0] !== 'apis') throw pageNotFound();
    if (parts.length === 1) {
      if (request.method !== 'GET') throw methodNotAllowed();
      const part = parts[0] === 'api' ? 'core' : 'groups';
      const whole = this.aggregated.answer(request.headers.accept, part, this.answers.extensions.all);
      return whole ? unlessKnown(whole, request) : this.topLevel(parts[0]);
    }
    const found =
      parts[0] === 'api'
        ? parts.length === 2 && resourceList(kinds, '', parts[1]!)
        : parts.length === 2
          ? oneGroup(kinds, parts[1]!)
          : parts.length === 3 && resourceList(kinds, parts[1]!, parts[2]!);
    if (!found) throw nothingBelow(parts[0] === 'api' ? '' : parts[1]!);
    if (request.method !== 'GET') throw methodNotAllowed();
    return ok(found);
  }

  private topLevel(root: string | undefined): ApiResponse {
    return ok(root === 'api' ? coreVersions(this.address()) : groupList(this.context.kinds));
  }
}

/** As a genuine server answers where it does not negotiate. */
function indented(body: object): RawResponse {
  return { status: 200, raw: JSON.stringify(body, null, 2), contentType: 'application/json' };
}

/** The document by which others find the keys of service accounts' tokens (OpenID Connect Discovery 1.0). */
function openIdConfiguration(address: string): object {
  return {
    issuer: ISSUER,
    jwks_uri: `https://${address}/openid/v1/jwks`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  };
}

function isCore({ group, version, resource }: ResourcePath, wanted: string): boolean {
  return group === '' && version === 'v1' && resource === wanted;
}

/** The genuine server's own groups have handlers that answer for what is not there. */
function nothingBelow(group: string): StatusError {
  return isBuiltInGroup(group) ? unknownPath() : pageNotFound();
}

/** Subresources with a form of their own. */
const FREE_FORM = new Set(['attach', 'exec', 'portforward', 'proxy']);

/** @throws StatusError 406 */
function checkForm(
  { headers: { accept }, method }: ApiRequest,
  kind: KindDefinition,
  { name, subresource }: Pick<ResourcePath, 'name' | 'subresource'>,
): void {
  const isServed = subresource === '' || kind.subresources.includes(subresource);
  if (isDefinedByUsers(kind) || FREE_FORM.has(subresource) || !isServed) return;
  const first = subresource === 'log' ? ['text/plain'] : [];
  checkRepresentable(accept, { first, hasStreams: method === 'GET' && name === '' });
}

/**
 * As a page is negotiated that there is in one form alone: by its whole name or by any.
 * @throws StatusError 406
 */
function assertAccepted({ headers: { accept = '' } }: ApiRequest, type: string): void {
  const wanted = accept.split(',').map((clause) => (clause.split(';')[0] ?? '').trim());
  if (wanted.some((one) => one === '' || one === '*/*' || one === type)) return;
  throw pageNotAcceptable(type);
}

const KEYS_PATH = '/openid/v1/jwks';
const KEYS_TYPE = 'application/jwk-set+json';
const ISSUER_PATH = '/.well-known/openid-configuration';
const SLIS = '/metrics/slis';

const OTHER_PATHS = [
  ISSUER_PATH,
  '/api',
  '/api/v1',
  '/apis',
  '/apis/',
  '/metrics',
  SLIS,
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  KEYS_PATH,
  '/version',
];

interface Path {
  readonly group: string;
  readonly version: string;
}

/** An object that cannot be understood says nothing. */
function isServedElsewhere(apiService: StoredObject): boolean {
  try {
    const { spec } = apiService.object;
    return isJsonObject(spec) && isJsonObject(spec.service);
  } catch (error) {
    if (isStorageUnreadable(error)) return false;
    throw error;
  }
}

/**
 * Why there is nothing at a path: no such thing is known, or an APIService says that another server has it, which is
 * never asked from here. The genuine aggregator answers just so while it cannot reach that server.
 */
async function missingGroup({ storage }: RegistryContext, path: Path): Promise<StatusError> {
  const { group, version } = path;
  if (isBuiltInGroup(group)) return unknownPath();
  const name = `${version}.${group}`;
  const found = await storage.get({ resource: 'apiservices.apiregistration.k8s.io', namespace: '', name });
  if (!found || !isServedElsewhere(found)) return pageNotFound();
  return serviceUnavailable(
    `service unavailable: the APIService ${name} is served by an extension API server, and this server does not forward requests`,
  );
}
