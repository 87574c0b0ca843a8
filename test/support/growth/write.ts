import type { RunningApiServer } from '../../integration/api-server-harness.js';
import { createKindRegistry, createSchemaRegistry } from '../../../src/apiserver/index.js';
import type { KindDefinition } from '../../../src/apiserver/index.js';
import { ProtobufAnswers } from '../../../src/apiserver/http/protobuf/protobuf-answers.js';
import { sampleOf } from '../../fuzz/arbitraries/samples.js';

/** How an object is sent. Each but the first two is about an object that exists. */
export const WRITE_METHODS = ['create', 'protobuf', 'update', 'apply', 'merge', 'strategic', 'json'] as const;
export type WriteMethod = (typeof WRITE_METHODS)[number];

/** The name of the object that is changed. */
export const GROWING = 'growing';

/** A refusal names hundreds of errors at most, and repeats little of the request in each. */
const LONGEST_REFUSAL = 256 * 1024;

const PATCHES: Readonly<Partial<Record<WriteMethod, string>>> = {
  apply: 'application/apply-patch+yaml',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  json: 'application/json-patch+json',
};

interface Place {
  readonly type: KindDefinition['type'];
  readonly subresource: string;
}

/** Sends objects without storing them. */
export class Writer {
  private readonly prepared = new Set<KindDefinition['type']>();
  private readonly protobuf = new ProtobufAnswers(createKindRegistry(), createSchemaRegistry());

  constructor(private readonly api: RunningApiServer) {}

  /** Creates what is changed, once for each type. What a server refuses is decoded all the same when it is sent. */
  async prepare(type: KindDefinition['type'], method: WriteMethod): Promise<void> {
    if (method === 'create' || method === 'protobuf' || this.prepared.has(type)) return;
    this.prepared.add(type);
    const apiVersion = type.group === '' ? type.version : `${type.group}/${type.version}`;
    const sample = { ...sampleOf(apiVersion, type.kind), metadata: { name: GROWING } };
    await this.api.call('POST', collectionOf(type), sample);
  }

  /** @returns what sends the object, as often as it is called */
  write({ subresource, type }: Place, method: WriteMethod, object: object): () => Promise<void> {
    const collection = collectionOf(type);
    const path = `${collection}/${GROWING}${subresource === '' ? '' : `/${subresource}`}?dryRun=All`;
    const patch = PATCHES[method];
    if (patch !== undefined) {
      const query = method === 'apply' ? '&fieldManager=growth&force=true' : '';
      const body = method === 'json' ? replacing(object) : object;
      return () => this.send('PATCH', path + query, JSON.stringify(body), patch);
    }
    const json = JSON.stringify(object);
    if (method === 'update') return () => this.send('PUT', path, json);
    const message = method === 'protobuf' ? this.protobuf.encode(object) : undefined;
    return message
      ? () => this.send('POST', `${collection}?dryRun=All`, message, 'application/vnd.kubernetes.protobuf')
      : () => this.send('POST', `${collection}?dryRun=All`, json);
  }

  private async send(
    method: string,
    path: string,
    body: string | Buffer,
    contentType = 'application/json',
  ): Promise<void> {
    const { status, text } = await this.api.call(method, path, body, { 'content-type': contentType });
    if (status >= 400 && text.length > LONGEST_REFUSAL)
      throw new Error(`the refusal of ${method} ${path} has ${text.length} characters`);
  }
}

function replacing(object: object): object[] {
  return Object.entries(object)
    .filter(([name]) => name !== 'apiVersion' && name !== 'kind')
    .map(([name, value]) => ({ op: 'add', path: `/${name}`, value: value as unknown }));
}

function collectionOf({ group, namespaced, resource, version }: KindDefinition['type']): string {
  const root = group === '' ? '/api' : `/apis/${group}`;
  return `${root}/${version}${namespaced ? '/namespaces/default' : ''}/${resource}`;
}
