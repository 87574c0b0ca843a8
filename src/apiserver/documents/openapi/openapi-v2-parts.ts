import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { etagOf } from '../../http/index.js';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import { Packed } from './packed.js';
import { openApiV2Head, openApiV2Part } from './openapi-v2.js';
import type { OpenApiV2Part } from './openapi-v2.js';
import type { PathOperations } from './operations.js';
import { isUserDefined, openApiSchemas } from './schemas.js';
import type { OpenApiSchemas } from './schemas.js';
import { pathsOfKind } from './kind-paths.js';
import { pathsOfServer } from './served-documents.js';

/** An encoded part of the document, without its surroundings. */
interface EncodedPart<T> {
  readonly paths: T;
  readonly definitions: T;
}

/** How the document is written. */
export interface OpenApiV2Form<T extends string | Uint8Array> {
  readonly contentType: string;
  encode(part: OpenApiV2Part): EncodedPart<T>;
  /** Decodes from the bytes. */
  read(bytes: Buffer): T;
  join(parts: readonly EncodedPart<T>[]): string | Buffer;
}

export const JSON_FORM: OpenApiV2Form<string> = {
  contentType: 'application/json',
  encode: ({ definitions, paths }) => ({ paths: fieldsOf(paths), definitions: fieldsOf(definitions) }),
  read: (bytes) => bytes.toString('utf8'),
  join(parts) {
    const all = (of: keyof EncodedPart<string>): string =>
      parts
        .map((part) => part[of])
        .filter((fields) => fields !== '')
        .join(',');
    return `{${fieldsOf(openApiV2Head())},"paths":{${all('paths')}},"definitions":{${all('definitions')}}}`;
  },
};

function fieldsOf(object: object): string {
  return stringifyJson(object).slice(1, -1);
}

interface Made<T> {
  readonly part: () => EncodedPart<T>;
  readonly etag: string;
}

/**
 * The parts of the version 2 document: one that the server's own kinds share, and one for each kind of a user's, made once.
 * A definition that comes or goes costs its own part, and the whole is put together only while it is sent.
 */
export class OpenApiV2Parts<T extends string | Uint8Array> {
  private ofServer: Made<T> | undefined;
  private readonly ofUsers = new WeakMap<KindDefinition, Made<T>>();

  constructor(
    private readonly kinds: KindRegistry,
    private readonly schemas: SchemaRegistry,
    private readonly form: OpenApiV2Form<T>,
  ) {}

  /** The document as it is now: by what one knows it, and its content. */
  document(): { readonly etag: string; readonly make: () => string | Buffer } {
    const all = this.made();
    return {
      etag: etagOf(all.map(({ etag }) => etag).join()),
      make: () => this.form.join(all.map(({ part }) => part())),
    };
  }

  private made(): readonly Made<T>[] {
    const users = this.kinds.kinds.filter((kind) => isUserDefined(kind, this.schemas));
    this.ofServer ??= this.makeServers();
    return [this.ofServer, ...users.map((kind) => this.madeFor(kind))];
  }

  private madeFor(kind: KindDefinition): Made<T> {
    const existing = this.ofUsers.get(kind);
    if (existing) return existing;
    const schemas = openApiSchemas(this.kinds, this.schemas, 2);
    const encoded = this.encode(pathsOfKind(kind), [kind.schema, `${kind.schema}List`], schemas);
    const made = { part: () => encoded, etag: etagOfPart(encoded) };
    this.ofUsers.set(kind, made);
    return made;
  }

  /** The large part of it all. */
  private makeServers(): Made<T> {
    const schemas = openApiSchemas(this.kinds, this.schemas, 2);
    const encoded = this.encode(pathsOfServer(this.kinds), schemas.names, schemas);
    const [paths, definitions] = [new Packed(encoded.paths), new Packed(encoded.definitions)];
    const { form } = this;
    return {
      etag: etagOfPart(encoded),
      part: () => ({ paths: form.read(paths.unpack()), definitions: form.read(definitions.unpack()) }),
    };
  }

  private encode(
    paths: readonly PathOperations[],
    names: Iterable<string>,
    schemas: OpenApiSchemas,
  ): EncodedPart<T> {
    return this.form.encode(openApiV2Part(paths, names, schemas));
  }
}

function etagOfPart<T extends string | Uint8Array>({ definitions, paths }: EncodedPart<T>): string {
  return [paths, definitions].map((one) => etagOf(Buffer.from(one))).join();
}
