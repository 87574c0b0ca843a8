import {
  aggregatedContentType,
  aggregatedDiscovery,
  aggregatedVersion,
  coreVersions,
  groupList,
  oneGroup,
  resourceList,
  serverVersion,
} from '../discovery/index.js';
import { methodNotAllowed, unknownPath } from '../errors/index.js';
import { negotiate, ok, tagged, unlessKnown } from '../http/index.js';
import type { ApiRequest, ApiResponse } from '../http/index.js';
import type { KindRegistry } from '../kinds/index.js';
import { OpenApiDocuments } from '../openapi/index.js';
import { contextOf } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { findReviewType, handleReview } from '../reviews/index.js';
import type { Identities } from '../reviews/index.js';
import { checkView } from '../table/index.js';
import { chooseHandler } from './choose-handler.js';
import { missingGroup } from './missing-group.js';
import { handleHealth, isHealthPath } from './health.js';
import { parseResourcePath } from './resource-path.js';

/** Finds who answers a request. */
export class Router {
  private readonly openApi: OpenApiDocuments;

  constructor(
    private readonly context: RegistryContext,
    /** `host:port` as clients reach it. */
    private readonly address: () => string,
    private readonly identities: Identities,
  ) {
    this.openApi = new OpenApiDocuments(context.kinds, context.schemas);
  }

  /** @throws StatusError */
  async route(request: ApiRequest): Promise<ApiResponse> {
    const { path } = request;
    if (path.startsWith('/api')) return this.routeApi(request);
    if (isHealthPath(path)) return handleHealth(this.context.storage, request);
    if (path === '/version' || path === '/version/') return ok(serverVersion());
    const document = this.openApi.answer(request);
    if (document) return document;
    if (path === '/')
      return ok({
        paths: [
          '/api',
          '/api/v1',
          '/apis',
          '/healthz',
          '/livez',
          '/openapi/v2',
          '/openapi/v3',
          '/readyz',
          '/version',
        ],
      });
    throw unknownPath();
  }

  private async routeApi(request: ApiRequest): Promise<ApiResponse> {
    const path = parseResourcePath(request.path);
    if (!path) return this.discover(request);
    const review = findReviewType(path);
    if (review) {
      const { schemas } = this.context;
      return handleReview({ ...path, type: review, request }, { identities: this.identities, schemas });
    }
    const kind =
      this.context.kinds.find(path.group, path.version, path.resource) ??
      (await this.context.definitions?.find(path.group, path.version, path.resource));
    if (!kind) throw await missingGroup(this.context, path);
    if (!kind.type.namespaced && path.namespace !== '') throw unknownPath();
    const { namespace, name, subresource } = path;
    const accept = negotiate(request.headers.accept);
    checkView({ accept, request });
    const user = this.identities.self;
    const call = { request, kind, namespace, name, subresource, accept, user };
    return chooseHandler(call)(contextOf(this.context, kind), call);
  }

  private discover(request: ApiRequest): ApiResponse {
    const { kinds } = this.context;
    const parts = request.path.split('/').filter((part) => part !== '');
    if (request.method !== 'GET') throw methodNotAllowed();
    if (parts.length === 1) {
      return aggregated(kinds, request, parts[0] === 'api' ? 'core' : 'groups') ?? this.topLevel(parts[0]);
    }
    const found =
      parts[0] === 'api'
        ? parts.length === 2 && resourceList(kinds, '', parts[1]!)
        : parts.length === 2
          ? oneGroup(kinds, parts[1]!)
          : parts.length === 3 && resourceList(kinds, parts[1]!, parts[2]!);
    if (!found || (parts[0] !== 'api' && parts[0] !== 'apis')) throw unknownPath();
    return ok(found);
  }

  private topLevel(root: string | undefined): ApiResponse {
    if (root === 'api') return ok(coreVersions(this.address()));
    if (root === 'apis') return ok(groupList(this.context.kinds));
    throw unknownPath();
  }
}

function aggregated(
  kinds: KindRegistry,
  request: ApiRequest,
  part: 'core' | 'groups',
): ApiResponse | undefined {
  const version = aggregatedVersion(request.headers.accept);
  if (!version) return undefined;
  const raw = JSON.stringify(aggregatedDiscovery(kinds, part, version));
  return unlessKnown(tagged(raw, aggregatedContentType(version)), request);
}
