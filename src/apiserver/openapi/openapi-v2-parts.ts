import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { etagOf } from '../http/index.js';
import type { KindDefinition, KindRegistry } from '../kinds/index.js';
import type { SchemaRegistry } from '../schema/index.js';
import { OPENAPI_V2_HEAD, openApiV2Part } from './openapi-v2.js';
import type { OpenApiV2Part } from './openapi-v2.js';
import { isUserDefined, openApiSchemas } from './schemas.js';

/** An encoded part of the document, without its surroundings. */
export interface EncodedPart<T> {
  readonly paths: T;
  readonly definitions: T;
}

/** How the document is written. */
export interface OpenApiV2Form<T extends string | Uint8Array> {
  readonly contentType: string;
  encode(part: OpenApiV2Part): EncodedPart<T>;
  join(parts: readonly EncodedPart<T>[]): string | Buffer;
}

export const JSON_FORM: OpenApiV2Form<string> = {
  contentType: 'application/json',
  encode: ({ definitions, paths }) => ({ paths: fieldsOf(paths), definitions: fieldsOf(definitions) }),
  join(parts) {
    const all = (of: keyof EncodedPart<string>): string =>
      parts
        .map((part) => part[of])
        .filter((fields) => fields !== '')
        .join(',');
    return `{${fieldsOf(OPENAPI_V2_HEAD)},"paths":{${all('paths')}},"definitions":{${all('definitions')}}}`;
  },
};

function fieldsOf(object: object): string {
  return stringifyJson(object).slice(1, -1);
}

interface Made<T> {
  readonly part: EncodedPart<T>;
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
      make: () => this.form.join(all.map(({ part }) => part)),
    };
  }

  private made(): readonly Made<T>[] {
    const { kinds } = this.kinds;
    const users = kinds.filter((kind) => isUserDefined(kind, this.schemas));
    this.ofServer ??= this.makeServers(new Set(users));
    return [this.ofServer, ...users.map((kind) => this.madeFor(kind))];
  }

  private madeFor(kind: KindDefinition): Made<T> {
    const existing = this.ofUsers.get(kind);
    if (existing) return existing;
    const made = this.make([kind], [kind.schema, `${kind.schema}List`]);
    this.ofUsers.set(kind, made);
    return made;
  }

  private makeServers(users: ReadonlySet<KindDefinition>): Made<T> {
    const own = this.kinds.kinds.filter((kind) => !users.has(kind));
    const foreign = new Set([...users].map(({ schema }) => schema));
    const names = this.schemas.names.filter((name) => !foreign.has(name));
    return this.make(own, new Set([...names, ...own.map(({ schema }) => `${schema}List`)]));
  }

  private make(kinds: readonly KindDefinition[], names: Iterable<string>): Made<T> {
    const part = this.form.encode(openApiV2Part(kinds, names, openApiSchemas(this.kinds, this.schemas, 2)));
    const content = [part.paths, part.definitions].map((one) => etagOf(Buffer.from(one)));
    return { part, etag: content.join() };
  }
}
