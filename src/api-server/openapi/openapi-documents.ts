import { groupVersionsOf } from '../discovery/index.js';
import type { GroupVersion } from '../discovery/index.js';
import { stringifyJson } from '../../base/kubernetes/index.js';
import { methodNotAllowed, unknownPath } from '../errors/index.js';
import { ok, tagged, unlessKnown } from '../http/index.js';
import type { ApiRequest, ApiResponse, RawResponse } from '../http/index.js';
import type { KindDefinition, KindRegistry } from '../kinds/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import { encodeOpenApiV2, OPENAPI_V2_PROTOBUF } from './openapi-v2-protobuf.js';
import { openApiV2 } from './openapi-v2.js';
import type { OpenApiV2Document } from './openapi-v2.js';
import { documentPath, openApiV3 } from './openapi-v3.js';
import { openApiSchemas } from './schemas.js';
import type { OpenApiSchemas } from './schemas.js';

const ROOT_V3 = '/openapi/v3';
const V2 = '/openapi/v2';
const V2_PROTOBUF = `${V2}#protobuf`;

interface Made {
  readonly answer: RawResponse;
  /** What it was made from: as long as these are the kinds, it is right. */
  readonly kinds: readonly KindDefinition[];
}

/**
 * The OpenAPI documents; each is made when it is first asked for, again only when kinds of its own have changed, and
 * answered 304 to whoever has it.
 */
export class OpenApiDocuments {
  private readonly made = new Map<string, Made>();

  constructor(
    private readonly kinds: KindRegistry,
    private readonly schemas: SchemaRegistry,
  ) {}

  /** @returns undefined when the path is none of ours */
  answer(request: ApiRequest): ApiResponse | undefined {
    const path = request.path.replace(/\/$/, '');
    if (!path.startsWith('/openapi/')) return undefined;
    if (request.method !== 'GET') throw methodNotAllowed();
    if (path === ROOT_V3) return ok({ paths: this.index() });
    if (path === V2) return unlessKnown(this.version2(request.headers.accept ?? ''), request);
    const found = groupVersionsOf(this.kinds).find(
      (candidate) => path === `${ROOT_V3}/${documentPath(candidate)}`,
    );
    if (!found) throw unknownPath();
    return unlessKnown(this.version3(found, openApiSchemas(this.kinds, this.schemas, 3)), request);
  }

  private index(): Record<string, { serverRelativeURL: string }> {
    const schemaOf = openApiSchemas(this.kinds, this.schemas, 3);
    const found = groupVersionsOf(this.kinds);
    const paths = found.map((one) => {
      const path = documentPath(one);
      const hash = this.version3(one, schemaOf).headers!['ETag']!.replaceAll('"', '');
      return [path, { serverRelativeURL: `${ROOT_V3}/${path}?hash=${hash}` }] as const;
    });
    const known = new Set([V2, V2_PROTOBUF, ...found.map(documentPath)]);
    for (const key of this.made.keys()) if (!known.has(key)) this.made.delete(key);
    return Object.fromEntries(paths);
  }

  private version3(found: GroupVersion, schemaOf: OpenApiSchemas): RawResponse {
    return this.make(documentPath(found), 'application/json', found.kinds, () =>
      stringifyJson(openApiV3(found, schemaOf)),
    );
  }

  private version2(accept: string): RawResponse {
    const { kinds } = this.kinds;
    const document = (): OpenApiV2Document => openApiV2(this.kinds, this.schemas);
    // Only clients that name it get protobuf: whoever takes anything can read JSON.
    if (!accept.includes(OPENAPI_V2_PROTOBUF))
      return this.make(V2, 'application/json', kinds, () => stringifyJson(document()));
    // The document's own media type is none that Go's MIME parser takes; a genuine server says no more either.
    return this.make(V2_PROTOBUF, 'application/octet-stream', kinds, () => encodeOpenApiV2(document()));
  }

  private make(
    key: string,
    contentType: string,
    kinds: readonly KindDefinition[],
    content: () => string | Buffer,
  ): RawResponse {
    const existing = this.made.get(key);
    if (existing && sameKinds(existing.kinds, kinds)) return existing.answer;
    const answer = tagged(content(), contentType);
    this.made.set(key, { answer, kinds });
    return answer;
  }
}

function sameKinds(some: readonly KindDefinition[], others: readonly KindDefinition[]): boolean {
  return some.length === others.length && some.every((kind, index) => kind === others[index]);
}
