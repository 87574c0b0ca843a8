import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearerToken, createHttpApiClient } from '../../src/client/api-client/index.js';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { SystemClock } from '../../src/machinery/clock/index.js';
import { Pod, parseJson, stringifyJson } from '../../src/machinery/kubernetes/index.js';
import { startApiServer } from './api-server-harness.js';
import type { ApiAnswer, RunningApiServer } from './api-server-harness.js';

/** Integers that no double holds: JavaScript's `JSON` makes …992, …000 and the like of them. */
const GRACE = '9007199254740993';
const TOLERATED = '3546343826724305833';
const LARGEST = '9223372036854775807';

const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const POD_PATH = '/api/v1/namespaces/default/pods';

let server: RunningApiServer;
let client: HttpApiClient;

beforeAll(async () => {
  server = await startApiServer();
  client = createHttpApiClient({
    connection: {
      serverUrl: server.url,
      tls: {},
      credentials: bearerToken('the-token-of-the-tests'),
      source: 'test',
    },
    userAgent: 'test',
    clock: new SystemClock(),
  });
});

afterAll(async () => {
  await client.close();
  await server.stop();
});

/** As text, because what is looked at is the text. */
function podSpec(grace = GRACE): string {
  return `{"containers":[{"name":"a","image":"a","livenessProbe":{"exec":{"command":["x"]},"terminationGracePeriodSeconds":${GRACE}}}],"terminationGracePeriodSeconds":${grace},"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":${TOLERATED}}]}`;
}

function pod(name: string): string {
  return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"${name}"},"spec":${podSpec()}}`;
}

function deployment(name: string, grace = GRACE): string {
  return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"},"spec":{"selector":{"matchLabels":{"app":"${name}"}},"template":{"metadata":{"labels":{"app":"${name}"}},"spec":${podSpec(grace)}}}}`;
}

/** Whether the three integers stand in the text to the last digit, YAML included. */
function expectExact({ status, text }: Pick<ApiAnswer, 'status' | 'text'>, code = 200): void {
  expect(status, text).toBe(code);
  const integers = [...text.matchAll(/"?(\w+)"?: ?(\d{16,})/g)].map(([, name, digits]) => [name, digits]);
  // The grace is that of the pod and that of the probe.
  expect(integers.length % 3).toBe(0);
  expect(new Set(integers.map(String))).toEqual(
    new Set([`terminationGracePeriodSeconds,${GRACE}`, `tolerationSeconds,${TOLERATED}`]),
  );
}

function send(method: string, path: string, body: string, type: string): Promise<ApiAnswer> {
  return server.call(method, path, body, { 'content-type': type });
}

describe('an integer that no double holds', () => {
  it('goes in and out as JSON and as YAML, alone, in lists and in tables', async () => {
    expectExact(await server.call('POST', POD_PATH, pod('json')), 201);
    expectExact(await server.call('GET', `${POD_PATH}/json`));
    expectExact(await server.call('GET', POD_PATH));
    const yaml = { accept: 'application/yaml' };
    expectExact(await server.call('GET', `${POD_PATH}/json`, undefined, yaml));
    const text = (await server.call('GET', `${POD_PATH}/json`, undefined, yaml)).text
      .replace('name: json', 'name: yaml')
      .replace(/ {2}(resourceVersion|uid): .*\n/g, '');
    expectExact(await send('POST', POD_PATH, text, 'application/yaml'), 201);
    const table = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    expectExact(await server.call('GET', `${POD_PATH}?includeObject=Object`, undefined, table));
  });

  it('comes in as protobuf', async () => {
    const field = (number: number, content: Buffer): Buffer =>
      Buffer.concat([Buffer.from([(number << 3) | 2, content.length]), content]);
    const container = Buffer.concat([field(1, Buffer.from('a')), field(2, Buffer.from('a'))]);
    const largest = Buffer.from([4 << 3, ...Array<number>(8).fill(0xff), 0x7f]);
    const message = Buffer.concat([
      field(1, field(1, Buffer.from('protobuf'))),
      field(2, Buffer.concat([field(2, container), largest])),
    ]);
    const type = Buffer.concat([field(1, Buffer.from('v1')), field(2, Buffer.from('Pod'))]);
    const body = Buffer.concat([Buffer.from('k8s\0'), field(1, type), field(2, message)]);
    const response = await fetch(server.url + POD_PATH, {
      method: 'POST',
      headers: {
        authorization: 'Bearer the-token-of-the-tests',
        'content-type': 'application/vnd.kubernetes.protobuf',
      },
      body,
    });
    expect(response.status).toBe(201);
    expect(await response.text()).toContain(`"terminationGracePeriodSeconds":${LARGEST}`);
  });

  it('survives an update, and the patches of others', async () => {
    const path = `${DEPLOYMENTS}/patched`;
    const created = await server.call('POST', DEPLOYMENTS, deployment('patched'));
    expectExact(created, 201);
    expectExact(await server.call('PUT', path, created.text.replace('"replicas":1', '"replicas":2')));
    const patches = [
      ['merge-patch', '{"spec":{"replicas":3}}'],
      ['strategic-merge-patch', '{"spec":{"template":{"spec":{"containers":[{"name":"a","image":"b"}]}}}}'],
      ['json-patch', '[{"op":"replace","path":"/spec/replicas","value":4}]'],
    ] as const;
    for (const [type, patch] of patches) {
      expectExact(await send('PATCH', path, patch, `application/${type}+json`));
    }
    expectExact(await server.call('GET', path));
    const scaled = await send(
      'PATCH',
      `${path}/scale`,
      '{"spec":{"replicas":5}}',
      'application/merge-patch+json',
    );
    expect(scaled.body.spec.replicas).toBe(5);
    expectExact(await server.call('GET', path));
  });

  it('comes out of each type of patch that brings it, and what changes it by one is a change', async () => {
    const path = `${DEPLOYMENTS}/bringing`;
    const created = await server.call('POST', DEPLOYMENTS, deployment('bringing', '30'));
    expect(created.status).toBe(201);
    const spec = `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":${LARGEST}}}}}`;
    const steps = [
      ['merge-patch', spec],
      ['strategic-merge-patch', spec.replace(LARGEST, '9223372036854775806')],
      [
        'json-patch',
        `[{"op":"test","path":"/spec/template/spec/terminationGracePeriodSeconds","value":9223372036854775806},{"op":"replace","path":"/spec/template/spec/terminationGracePeriodSeconds","value":${LARGEST}}]`,
      ],
    ] as const;
    let generation = 1;
    for (const [type, patch] of steps) {
      const answer = await send('PATCH', path, patch, `application/${type}+json`);
      const wanted = /922337203685477580\d(?!.*922337203685477580)/.exec(patch)?.[0];
      expect(answer.text).toContain(`"terminationGracePeriodSeconds":${wanted}`);
      expect(answer.body.metadata.generation).toBe(++generation);
    }
    const same = await send('PATCH', path, spec, 'application/merge-patch+json');
    expect(same.body.metadata.generation).toBe(generation);
    const differs = `[{"op":"test","path":"/spec/template/spec/terminationGracePeriodSeconds","value":9223372036854775806}]`;
    expect((await send('PATCH', path, differs, 'application/json-patch+json')).status).toBe(422);
  });

  it('is applied, owned, and taken over by the server side', async () => {
    const path = `${DEPLOYMENTS}/applied?fieldManager=me`;
    const apply = 'application/apply-patch+yaml';
    expectExact(await send('PATCH', path, deployment('applied'), apply), 201);
    const again = await send('PATCH', path, deployment('applied'), apply);
    expectExact(again);
    expect(again.body.metadata.generation).toBe(1);
    const other = deployment('applied', '9007199254740992');
    const refused = await send('PATCH', path.replace('=me', '=you'), other, apply);
    expect(refused.status).toBe(409);
    expect(refused.body.message).toContain('.spec.template.spec.terminationGracePeriodSeconds');
    const forced = await send('PATCH', `${path.replace('=me', '=you')}&force=true`, other, apply);
    expect(forced.text).toContain('"terminationGracePeriodSeconds":9007199254740992');
    const yaml = `apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: applied\nspec:\n  template:\n    spec:\n      terminationGracePeriodSeconds: ${LARGEST}\n`;
    const taken = await send('PATCH', `${path}&force=true`, yaml, apply);
    expect(taken.text).toContain(`"terminationGracePeriodSeconds":${LARGEST}`);
  });

  it('is kept in the last applied configuration that server-side apply renews', async () => {
    const path = `${DEPLOYMENTS}/moved`;
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const object = parseJson(deployment('moved')) as { metadata: object };
    const metadata = { ...object.metadata, annotations: { [annotation]: deployment('moved') } };
    const body = stringifyJson({ ...object, metadata });
    expect(
      (await server.call('POST', `${DEPLOYMENTS}?fieldManager=kubectl-client-side-apply`, body)).status,
    ).toBe(201);
    const applied = await send(
      'PATCH',
      `${path}?fieldManager=kubectl`,
      deployment('moved', LARGEST),
      'application/apply-patch+yaml',
    );
    expect(applied.status, applied.text).toBe(200);
    expect(applied.body.metadata.annotations[annotation]).toContain(
      `"terminationGracePeriodSeconds":${LARGEST}`,
    );
  });

  it('is told by watches, to everybody and to who selects', async () => {
    const stop = new AbortController();
    for (const query of ['watch=1', 'watch=1&fieldSelector=metadata.name%3Djson']) {
      const response = await fetch(`${server.url}${POD_PATH}?${query}`, {
        headers: { authorization: 'Bearer the-token-of-the-tests' },
        signal: stop.signal,
      });
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      while (!text.includes('\n')) text += (await reader.read()).value ?? '\n';
      expectExact({ status: response.status, text: text.slice(0, text.indexOf('\n')) });
    }
    stop.abort();
  });

  it('comes through our client: read, listed, watched, written and patched', async () => {
    const grace = BigInt(GRACE);
    const ref = { namespace: 'default', name: 'json' };
    const read = await client.get<Pod>(Pod, ref);
    expect(read.spec.terminationGracePeriodSeconds).toBe(grace);
    const { items } = await client.list<Pod>(Pod);
    expect(items.find(({ metadata }) => metadata.name === 'json')?.spec).toEqual(read.spec);
    const stop = new AbortController();
    const events = client.watch<Pod>(Pod, {
      resourceVersion: read.metadata.resourceVersion!,
      signal: stop.signal,
      timeoutSeconds: 60,
      idleTimeoutMs: 10_000,
    });
    const written = await client.update<Pod>(Pod, {
      ...read,
      metadata: { ...read.metadata, labels: { a: 'b' } },
    });
    expect(written.spec).toEqual(read.spec);
    for await (const event of events) {
      if (event.type !== 'MODIFIED' || event.object.metadata.name !== 'json') continue;
      expect(event.object.spec).toEqual(read.spec);
      break;
    }
    stop.abort();
    const copy = { ...read, metadata: { namespace: 'default', name: 'copy' } };
    expect((await client.create<Pod>(Pod, copy)).spec).toEqual(read.spec);
    const body = { spec: { tolerations: [...(read.spec.tolerations ?? []), { operator: 'Exists' }] } };
    const patched = await client.patch<Pod>(Pod, ref, { type: 'merge', body });
    expect(patched.spec.tolerations?.[0]).toEqual(read.spec.tolerations?.[0]);
  });
});

describe('an integer beyond int64', () => {
  const beyond = '9223372036854775808';
  const complaint = `json: cannot unmarshal number ${beyond} into Go struct field PodSpec.spec.template.spec.terminationGracePeriodSeconds of type int64`;

  it('is refused where an object is sent', async () => {
    const body = deployment('beyond', beyond);
    const refused = await server.call('POST', DEPLOYMENTS, body);
    expect(refused.body).toMatchObject({ code: 400, reason: 'BadRequest' });
    expect(refused.body.message).toContain(complaint);
    const applied = await send(
      'PATCH',
      `${DEPLOYMENTS}/beyond?fieldManager=me`,
      body,
      'application/apply-patch+yaml',
    );
    expect(applied.status).toBe(500);
  });

  it('is refused where a patch brings it', async () => {
    expect((await server.call('POST', DEPLOYMENTS, deployment('kept'))).status).toBe(201);
    const patch = `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":${beyond}}}}}`;
    for (const type of ['merge-patch', 'strategic-merge-patch']) {
      const refused = await send('PATCH', `${DEPLOYMENTS}/kept`, patch, `application/${type}+json`);
      expect(refused.body).toMatchObject({ code: 422, reason: 'Invalid' });
      expect(refused.body.message).toContain(
        type === 'merge-patch' ? complaint : 'cannot convert float64 to int64',
      );
    }
    expectExact(await server.call('GET', `${DEPLOYMENTS}/kept`));
  });
});

describe('a grace that is longer than all years', () => {
  const gone = async (name: string): Promise<ApiAnswer> => server.call('GET', `${POD_PATH}/${name}`);

  it.each(['graceful', 'asked'])('ends a running pod when its time is cut short: %s', async (name) => {
    expect((await server.call('POST', POD_PATH, pod(name))).status).toBe(201);
    const binding = `{"metadata":{"name":"${name}"},"target":{"kind":"Node","name":"n"}}`;
    expect((await server.call('POST', `${POD_PATH}/${name}/binding`, binding)).status).toBe(201);
    const options = name === 'asked' ? `{"gracePeriodSeconds":${LARGEST}}` : undefined;
    const marked = await server.call('DELETE', `${POD_PATH}/${name}`, options);
    expect(marked.status, marked.text).toBe(200);
    expect(marked.body.metadata.deletionTimestamp).toBe('9999-12-31T23:59:59Z');
    expect(marked.text).toContain(`"deletionGracePeriodSeconds":${name === 'asked' ? LARGEST : GRACE}`);
    const shortened = await server.call('DELETE', `${POD_PATH}/${name}?gracePeriodSeconds=60`);
    const left = Date.parse(shortened.body.metadata.deletionTimestamp) - Date.now();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
    await server.call('DELETE', `${POD_PATH}/${name}?gracePeriodSeconds=0`);
    expect((await gone(name)).status).toBe(404);
  });

  it('is refused when no int64 holds it', async () => {
    const query = await server.call('DELETE', `${POD_PATH}/json?gracePeriodSeconds=9223372036854775808`);
    expect(query.status).toBe(400);
    const body = await server.call(
      'DELETE',
      `${POD_PATH}/json`,
      '{"gracePeriodSeconds":9223372036854775808}',
    );
    expect(body.status).toBe(400);
    const eviction = `{"metadata":{"name":"json"},"deleteOptions":{"gracePeriodSeconds":9223372036854775808}}`;
    expect((await server.call('POST', `${POD_PATH}/json/eviction`, eviction)).status).toBe(400);
  });
});
