import { number, readFlags } from '../test/support/flags.js';
import { cpuSecondsOf, memoryOf } from './api/figures.js';
import { HttpConnection, requestText } from './api/http-connection.js';
import { ApiServers } from './api/servers.js';
import { largeDefinition } from './support/large-definition.js';

/**
 * Measures the cost of large definitions for the embedded API server: how long it takes to store and serve one, how
 * long clients wait that read the OpenAPI documents afterwards, and the memory that stays.
 */
const { count, kilobytes } = readFlags('npm run bench -- --definitions', {
  count: number('definitions', 10),
  kilobytes: number('size of each', 800),
});
const bytes = kilobytes * 1000;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

const servers = await ApiServers.start({ execArgv: [] });
const connection = await HttpConnection.open(servers.api);
try {
  await documents('before, made for the first time', undefined);
  const idle = memoryOf(servers.apiPid).now;
  await warmUp();
  for (let index = 0; index < count; index++) {
    const group = `monitoring${index}.example.com`;
    const text = JSON.stringify(largeDefinition(group, bytes));
    await timed(`definition ${index}: ${(text.length / 1000).toFixed(0)} kB created`, () =>
      send('POST', DEFINITIONS, { type: 'application/json', text }, 201),
    );
    await timed('  its first object', () =>
      send('POST', `/apis/${group}/v1/namespaces/default/monitors`, anObject(group), 201),
    );
    if (index === 0 || index === count - 1) await documents('  afterwards', group);
  }
  const { now, peak } = memoryOf(servers.apiPid);
  const each = ((now - idle) / count).toFixed(1);
  console.log(
    `API server: ${idle.toFixed(0)} MiB before, ${now.toFixed(0)} MiB after ${count} definitions of ${kilobytes} kB (${each} MiB each), peak ${peak.toFixed(0)} MiB`,
  );
} finally {
  connection.close();
  await servers.stop();
}

/** A small definition, so that no figure is about code that runs for the first time. */
async function warmUp(): Promise<void> {
  const text = JSON.stringify(largeDefinition('small.example.com', 1000));
  await send('POST', DEFINITIONS, { type: 'application/json', text }, 201);
}

function anObject(group: string) {
  const template0 = { replicas: 2, containers: [{ name: 'web', image: 'web:1' }] };
  const text = JSON.stringify({
    apiVersion: `${group}/v1`,
    kind: 'Monitor',
    metadata: { name: 'first' },
    spec: { template0 },
  });
  return { type: 'application/json', text };
}

async function documents(when: string, group: string | undefined): Promise<void> {
  if (group)
    await timed(`${when}: /openapi/v3/apis/${group}/v1`, () => send('GET', `/openapi/v3/apis/${group}/v1`));
  await timed(`${when}: /openapi/v3`, () => send('GET', '/openapi/v3'));
  await timed(`${when}: /openapi/v2, JSON`, () => send('GET', '/openapi/v2'));
  await timed(`${when}: /openapi/v2, protobuf`, () => send('GET', '/openapi/v2', undefined, 200, PROTOBUF));
  await timed(`${when}: /openapi/v2, protobuf again`, () =>
    send('GET', '/openapi/v2', undefined, 200, PROTOBUF),
  );
}

async function send(
  method: string,
  path: string,
  body?: { readonly type: string; readonly text: string },
  expected = 200,
  accept = 'application/json',
): Promise<void> {
  const text = requestText(servers.api, method, path, body).replace(
    'Accept: application/json',
    `Accept: ${accept}`,
  );
  const { body: answer, status } = await connection.request(text, { body: true });
  if (status !== expected)
    throw new Error(`${method} ${path} was answered ${status}: ${answer.slice(0, 500)}`);
}

async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const cpu = cpuSecondsOf(servers.apiPid);
  const startedMs = performance.now();
  await work();
  const ms = performance.now() - startedMs;
  const cpuMs = (cpuSecondsOf(servers.apiPid) - cpu) * 1000;
  const { now } = memoryOf(servers.apiPid);
  console.log(
    `${what.padEnd(66)} ${ms.toFixed(0).padStart(6)} ms  CPU ${cpuMs.toFixed(0).padStart(5)} ms  ${now.toFixed(0).padStart(4)} MiB`,
  );
}
