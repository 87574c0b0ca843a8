import { nextTurn } from '@rollkeeper/machinery/clock';
import { methodNotAllowed, pageNotFound } from '../../schema/errors/index.js';
import { acceptClauses, etagOf, ok, unlessKnownAs } from '../../http/index.js';
import type { ApiRequest, ApiResponse } from '../../http/index.js';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import { OPENAPI_V2_PROTOBUF, PROTOBUF_FORM } from './openapi-v2-protobuf.js';
import { JSON_FORM, OpenApiV2Parts } from './openapi-v2-parts.js';
import { openApiV3 } from './openapi-v3.js';
import { Packed } from './packed.js';
import { isUserDefined, openApiSchemas } from './schemas.js';
import { sameItems } from '../discovery/index.js';
import { servedDocuments } from './served-documents.js';
import type { ServedDocument } from './served-documents.js';

const ROOT_V3 = '/openapi/v3';
const V2 = '/openapi/v2';
/** A client that takes anything can read JSON. */
const JSON_TYPES: ReadonlySet<string> = new Set(['application/json', 'application/*', '*/*']);

interface Made {
  readonly etag: string;
  /** Absent if it is regenerated for clients that do not have it. */
  readonly packed?: Packed;
  /** The kinds that it was made from: as long as these are the kinds, it is right. */
  readonly kinds: readonly KindDefinition[];
}

/**
 * The OpenAPI documents; each is generated on first request, regenerated only when its kinds have changed, and answered
 * 304 to clients that have it. For custom groups only the ETags are kept, by which clients cache the documents: a
 * definition takes no memory for them.
 */
export class OpenApiDocuments {
  private readonly made = new Map<string, Made>();
  private readonly json: OpenApiV2Parts<string>;
  private readonly protobuf: OpenApiV2Parts<Uint8Array>;

  constructor(
    private readonly kinds: KindRegistry,
    private readonly schemas: SchemaRegistry,
  ) {
    this.json = new OpenApiV2Parts(kinds, schemas, JSON_FORM);
    this.protobuf = new OpenApiV2Parts(kinds, schemas, PROTOBUF_FORM);
  }

  /** @returns undefined when the path is none of ours */
  async answer(request: ApiRequest): Promise<ApiResponse | undefined> {
    const path = request.path.replace(/\/$/, '');
    if (!path.startsWith('/openapi/')) return undefined;
    if (request.method !== 'GET') throw methodNotAllowed();
    if (path === ROOT_V3) return ok({ paths: await this.index() });
    if (path === V2) return this.version2(request);
    const found = servedDocuments(this.kinds).find(({ path: below }) => path === `${ROOT_V3}/${below}`);
    if (!found) throw pageNotFound();
    return this.version3(found, request);
  }

  /** Other requests have their turn between two documents. */
  private async index(): Promise<Record<string, { serverRelativeURL: string }>> {
    const found = servedDocuments(this.kinds);
    const paths: [string, { serverRelativeURL: string }][] = [];
    for (const one of found) {
      if (!this.made.has(one.path)) await nextTurn();
      const hash = this.known3(one).etag.replaceAll('"', '');
      paths.push([one.path, { serverRelativeURL: `${ROOT_V3}/${one.path}?hash=${hash}` }]);
    }
    const known = new Set(found.map(({ path }) => path));
    for (const key of this.made.keys()) if (!known.has(key)) this.made.delete(key);
    return Object.fromEntries(paths);
  }

  private version3(found: ServedDocument, request: ApiRequest): ApiResponse {
    const { etag, packed } = this.known3(found);
    const hash = request.query.get('hash');
    const right = etag.replaceAll('"', '');
    if (hash !== null && hash !== '' && hash !== right)
      return movedTo(`${ROOT_V3}/${found.path}?hash=${right}`);
    return unlessKnownAs(etag, 'application/json', () => packed?.unpack() ?? this.make3(found), request);
  }

  private known3(found: ServedDocument): Made {
    const existing = this.made.get(found.path);
    if (existing && sameItems(existing.kinds, found.kinds)) return existing;
    const raw = this.make3(found);
    const isKept = !found.kinds.some((kind) => isUserDefined(kind, this.schemas));
    const made: Made = {
      etag: etagOf(raw),
      kinds: found.kinds,
      ...(isKept && { packed: new Packed(raw) }),
    };
    this.made.set(found.path, made);
    return made;
  }

  private make3(found: ServedDocument): string {
    return openApiV3(found.paths(), openApiSchemas(this.kinds, this.schemas, 3));
  }

  private version2(request: ApiRequest): ApiResponse {
    const wanted = acceptClauses(request.headers.accept ?? '').find(
      ({ type }) => type === OPENAPI_V2_PROTOBUF || JSON_TYPES.has(type),
    );
    const isProtobuf = wanted?.type === OPENAPI_V2_PROTOBUF;
    const { contentType } = isProtobuf ? PROTOBUF_FORM : JSON_FORM;
    const { etag, make } = (isProtobuf ? this.protobuf : this.json).document();
    return unlessKnownAs(etag, contentType, make, request);
  }
}

/** To a document of another hash, which caches may keep for long. */
function movedTo(location: string): ApiResponse {
  return { status: 301, raw: '', contentType: 'application/json', headers: { location } };
}
