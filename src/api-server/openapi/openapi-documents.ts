import { groupVersionsOf } from '../discovery/index.js';
import { stringifyJson } from '../../base/kubernetes/index.js';
import { methodNotAllowed, unknownPath } from '../errors/index.js';
import { ok, tagged, unlessKnown } from '../http/index.js';
import type { ApiRequest, ApiResponse, RawResponse } from '../http/index.js';
import type { KindRegistry } from '../kinds/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import { encodeOpenApiV2, OPENAPI_V2_PROTOBUF } from './openapi-v2-protobuf.js';
import { openApiV2 } from './openapi-v2.js';
import { documentPath, openApiV3 } from './openapi-v3.js';
import { openApiSchemas } from './schemas.js';

type Schemas3 = ReturnType<typeof openApiSchemas>;

const ROOT_V3 = '/openapi/v3';

/** The OpenAPI documents; each is made when it is first asked for, and answered 304 to whoever has it. */
export class OpenApiDocuments {
  private readonly made = new Map<string, RawResponse>();
  /** The state of the kinds that they were made from. */
  private revision = -1;

  constructor(
    private readonly kinds: KindRegistry,
    private readonly schemas: SchemaRegistry,
  ) {}

  /** @returns undefined when the path is none of ours */
  answer(request: ApiRequest): ApiResponse | undefined {
    const path = request.path.replace(/\/$/, '');
    if (!path.startsWith('/openapi/')) return undefined;
    if (request.method !== 'GET') throw methodNotAllowed();
    if (this.revision !== this.kinds.revision) this.made.clear();
    this.revision = this.kinds.revision;
    if (path === ROOT_V3) return ok({ paths: this.index() });
    return unlessKnown(this.document(path, request.headers.accept ?? ''), request);
  }

  private index(): Record<string, { serverRelativeURL: string }> {
    let made: Schemas3 | undefined;
    const shared = (): Schemas3 => (made ??= this.schemas3());
    return Object.fromEntries(
      groupVersionsOf(this.kinds).map((found) => {
        const path = documentPath(found);
        const hash = this.document(`${ROOT_V3}/${path}`, '', shared).headers!['ETag']!.replaceAll('"', '');
        return [path, { serverRelativeURL: `${ROOT_V3}/${path}?hash=${hash}` }];
      }),
    );
  }

  private schemas3(): Schemas3 {
    return openApiSchemas(this.kinds, this.schemas, 3);
  }

  private document(path: string, accept: string, schemas3 = () => this.schemas3()): RawResponse {
    if (path === '/openapi/v2') {
      // Only clients that name it get protobuf: whoever takes anything can read JSON.
      if (!accept.includes(OPENAPI_V2_PROTOBUF)) {
        return this.make(path, 'application/json', () => stringifyJson(openApiV2(this.kinds, this.schemas)));
      }
      // The document's own media type is none that Go's MIME parser takes; a genuine server says no more either.
      return this.make(`${path}#protobuf`, 'application/octet-stream', () =>
        encodeOpenApiV2(openApiV2(this.kinds, this.schemas)),
      );
    }
    const found = groupVersionsOf(this.kinds).find(
      (candidate) => path === `${ROOT_V3}/${documentPath(candidate)}`,
    );
    if (!found) throw unknownPath();
    return this.make(path, 'application/json', () => stringifyJson(openApiV3(found, schemas3())));
  }

  private make(key: string, contentType: string, content: () => string | Buffer): RawResponse {
    const existing = this.made.get(key);
    if (existing) return existing;
    const answer = tagged(content(), contentType);
    this.made.set(key, answer);
    return answer;
  }
}
