import { isJsonObject, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { KubernetesObject, UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import { errorMessage } from '@rollkeeper/machinery/errors';
import { StorageTooLargeError, StorageUnreadableError } from './errors.js';
import type { Revision, StorageKey, StoredJson, StoredObject } from './storage.js';

/** An object as the store keeps it: JSON without `metadata.resourceVersion`, which is the revision beside it. */
export interface StoredText {
  readonly revision: Revision;
  readonly text: string;
}

/** Separates namespace and name in an index; sorts before every character that either may contain. */
const SEPARATOR = '\0';

/** `namespace\0name`: ordered bytewise this is the order of a list. */
export function fieldOf(key: Pick<StorageKey, 'namespace' | 'name'>): string {
  return key.namespace + SEPARATOR + key.name;
}

/** The inverse of {@link fieldOf}. */
export function parseField(field: string): { namespace: string; name: string } {
  const at = field.indexOf(SEPARATOR);
  return { namespace: field.slice(0, at), name: field.slice(at + 1) };
}

/** Characters of one object's JSON: what etcd takes by default, in bytes. */
const MAX_OBJECT_LENGTH = 1536 * 1024;

/** @throws StorageTooLargeError */
export function encodeObject(object: KubernetesObject): string {
  const text = stringifyJson({ ...object, metadata: { ...object.metadata, resourceVersion: undefined } });
  if (text.length > MAX_OBJECT_LENGTH) throw new StorageTooLargeError(MAX_OBJECT_LENGTH);
  return text;
}

/** How a text begins that was made from an object in the usual order of its fields, up to the first of its metadata. */
const HEAD = /^\{(?:"(?:apiVersion|kind)":"[^"\\]*",)*"metadata":\{(?=")/;

/** The object as JSON with its resourceVersion; spliced in where the text allows it. */
export function textAtRevision(stored: StoredText): string {
  const { revision, text } = stored;
  const head = HEAD.exec(text)?.[0];
  if (head === undefined) return stringifyJson(decodeObject(stored));
  return `${head}"resourceVersion":"${revision}",${text.slice(head.length)}`;
}

class JsonOfText implements StoredJson {
  constructor(private readonly stored: StoredText) {}

  whole(): string {
    return textAtRevision(this.stored);
  }

  asItem(): string {
    const { revision, text } = this.stored;
    const head = HEAD.exec(text)?.[0];
    if (head !== undefined) return `{"metadata":{"resourceVersion":"${revision}",${text.slice(head.length)}`;
    const { apiVersion: _apiVersion, kind: _kind, ...item } = decodeObject(this.stored);
    return stringifyJson(item);
  }
}

/** The answer to the writer of `object`: it, at its revision. Shares with it all but `metadata`. */
export function toWrittenObject<T extends KubernetesObject>(object: T, written: StoredText): StoredObject<T> {
  const { revision } = written;
  const metadata = { ...object.metadata, resourceVersion: String(revision) };
  return { object: { ...object, metadata }, revision, json: new JsonOfText(written) };
}

/** A new, unshared object on each call. @throws StorageUnreadableError */
export function decodeObject({ revision, text }: StoredText): UnstructuredObject {
  const object = parse(text);
  if (!hasMetadata(object)) throw new StorageUnreadableError('what is stored is no object with metadata');
  object.metadata.resourceVersion = String(revision);
  return object;
}

/** Whether it is one of the objects that servers write: what else they have is not looked at. */
function hasMetadata(value: unknown): value is UnstructuredObject {
  return isJsonObject(value) && isJsonObject(value.metadata);
}

function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new StorageUnreadableError(`what is stored is no JSON: ${errorMessage(error)}`, { cause: error });
  }
}

export function toStoredObject(stored: StoredText, key?: StorageKey): StoredObject {
  return new ReadObject(stored, key);
}

class ReadObject implements StoredObject {
  readonly revision: Revision;
  readonly json: StoredJson;
  private decoded: UnstructuredObject | undefined;

  constructor(
    private readonly stored: StoredText,
    readonly key: StorageKey | undefined,
  ) {
    this.revision = stored.revision;
    this.json = new JsonOfText(stored);
  }

  get object(): UnstructuredObject {
    return (this.decoded ??= decodeObject(this.stored));
  }
}
