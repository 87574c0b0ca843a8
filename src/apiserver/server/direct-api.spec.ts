import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock, SeededRandom } from '@rollkeeper/machinery/clock';
import { isJsonObject, parseJson, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { createSigningKey } from '../access/auth/index.js';
import { createKindRegistry } from '../kinds/index.js';
import { createSchemaRegistry } from '../schema/index.js';
import { MemoryStorage } from '../storage/index.js';
import { DirectApi } from './direct-api.js';
import type { DirectAnswer, DirectRequest } from './direct-api.js';

const SETS = '/apis/apps/v1/namespaces/default/statefulsets';
const signingKey = createSigningKey();
let stopper: AbortController;
let api: DirectApi;
let background: Promise<void>;

beforeEach(async () => {
  const clock = new FakeClock();
  const storage = new MemoryStorage({ clock });
  stopper = new AbortController();
  background = storage.run(stopper.signal);
  api = new DirectApi({
    ...{ storage, clock, random: new SeededRandom(1), logger: silentLogger, signingKey },
    kinds: createKindRegistry(),
    schemas: createSchemaRegistry(),
    interfaces: {},
  });
  await api.prepare(stopper.signal);
});

afterEach(async () => {
  stopper.abort();
  await Promise.all([background, api.ended()]);
});

function ask(method: string, url: string, body?: unknown, type = 'application/json'): Promise<DirectAnswer> {
  const headers: DirectRequest['headers'] = {
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': type, 'content-length': '1' }),
  };
  const text = typeof body === 'string' || body === undefined ? body : stringifyJson(body);
  return api.answer({
    method,
    url,
    headers,
    ...(text !== undefined && { body: text }),
    signal: stopper.signal,
  });
}

function read({ body }: DirectAnswer): Record<string, unknown> {
  const value = typeof body === 'string' ? parseJson(body) : undefined;
  return isJsonObject(value) ? value : {};
}

describe('the API without a server', () => {
  it('answers a refusal with the code, the type and the Status that a server sends', async () => {
    const answer = await ask('GET', `${SETS}/x`);
    expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'application/json' } });
    expect(read(answer)).toMatchObject({ kind: 'Status', message: 'statefulsets.apps "x" not found' });
  });

  it('answers a page that is not there with the headers of a page', async () => {
    const answer = await ask('GET', '/nothing');
    expect(answer).toEqual({
      status: 404,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
      body: '404 page not found\n',
    });
  });
});

describe('the author of a new StatefulSet', () => {
  it('owns a field whose feature is off, although the server does not store it', async () => {
    const set = {
      ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 's' } },
      spec: {
        ...{ serviceName: 's', selector: { matchLabels: { app: 's' } } },
        template: { metadata: { labels: { app: 's' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } },
      },
    };
    const created = await ask('POST', `${SETS}?fieldManager=author`, set);
    expect(created.status).toBe(201);
    expect(read(created)).not.toHaveProperty('spec.updateStrategy.rollingUpdate.maxUnavailable');
    const applied = await ask('PATCH', `${SETS}/s?fieldManager=other`, set, 'application/apply-patch+yaml');
    expect(read(applied).message).toBe(
      'Apply failed with 1 conflict: conflict with "author" using apps/v1: .spec.updateStrategy.rollingUpdate.maxUnavailable',
    );
  });
});

describe('a bookmark of a watch', () => {
  it('has, for DaemonSets, the annotation that a genuine server makes of an older field', async () => {
    const query =
      'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const { body } = await ask('GET', `/apis/apps/v1/daemonsets?${query}`);
    if (typeof body === 'string') throw new Error('a watch is answered in pieces');
    const [line] = await body[Symbol.asyncIterator]()
      .next()
      .then(({ value }) => [String(value)]);
    expect(parseJson(line ?? '')).toMatchObject({
      type: 'BOOKMARK',
      object: {
        metadata: {
          annotations: {
            'deprecated.daemonset.template.generation': '0',
            'k8s.io/initial-events-end': 'true',
          },
        },
      },
    });
  });
});
