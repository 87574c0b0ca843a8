import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startApiServer, TOKEN } from './api-server-harness.js';
import type { RunningApiServer } from './api-server-harness.js';

const PODS = '/api/v1/namespaces/default/pods';
const EXEC = `${PODS}/p/exec?command=ls&stdout=true`;
const KEY = { 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' };
const KNOWN = { authorization: `Bearer ${TOKEN}` };
const PROTOCOL = { 'sec-websocket-protocol': 'v5.channel.k8s.io' };

/** A server with one running pod that knows one command. */
async function withPod(): Promise<RunningApiServer> {
  const api = await startApiServer({ drainTimeoutMs: 100 });
  await api.call('POST', PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', annotations: { 'node.rollkeeper.dev/exec': 'ls: out' } },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  });
  const state = { running: { startedAt: '2026-01-01T00:00:00Z' } };
  const container = { name: 'c', ready: true, restartCount: 0, image: 'i', imageID: '', state };
  const { status } = await api.call(
    'PATCH',
    `${PODS}/p/status`,
    { status: { phase: 'Running', containerStatuses: [container] } },
    { 'content-type': 'application/merge-patch+json' },
  );
  expect(status).toBe(200);
  return api;
}

/** Opens a connection that asks for an upgrade, with headers that a client chooses freely. */
function asking(api: RunningApiServer, path: string, headers: Record<string, string>): Socket {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  const lines = Object.entries({ host: 'x', connection: 'Upgrade', upgrade: 'websocket', ...headers });
  socket.write(
    `GET ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
  );
  return socket;
}

describe('A WebSocket', () => {
  let api: RunningApiServer;
  beforeAll(async () => {
    api = await withPod();
  });
  afterAll(() => api.stop());

  it('carries what a command prints, and how it ended', async () => {
    const url = api.url.replace('http', 'ws') + EXEC;
    const socket = new WebSocket(url, ['v4.channel.k8s.io'], { headers: KNOWN });
    const messages: string[] = [];
    socket.on('message', (data: Buffer) => messages.push(`${data[0]} ${data.subarray(1).toString()}`));
    const [code] = (await once(socket, 'close')) as [number];
    expect(socket.protocol).toBe('v4.channel.k8s.io');
    expect(messages).toEqual(['1 ', '1 out', '3 {"metadata":{},"status":"Success"}']);
    expect(code).toBe(1000);
  });

  it.each<[string, string, Record<string, string>, RegExp]>([
    ['of nobody', EXEC, { ...KEY, ...PROTOCOL }, /^HTTP\/1.1 403 .*User \\"system:anonymous\\" cannot get/s],
    ['of a missing pod', EXEC.replace('/p/', '/q/'), { ...KEY, ...KNOWN }, /^HTTP\/1.1 404 /],
    ['of an unknown protocol', EXEC, { ...KEY, ...KNOWN }, /^HTTP\/1.1 400 .*unable to negotiate protocol/s],
    ['without a key', EXEC, { ...KNOWN, ...PROTOCOL }, /^HTTP\/1.1 400 /],
    ['where there is none', '/version', { ...KEY, ...KNOWN }, /^HTTP\/1.1 200 .*"gitVersion"/s],
  ])('%s is answered as a request', async (_name, path, headers, answer) => {
    expect(await text(asking(api, path, headers))).toMatch(answer);
  });
});

it('A WebSocket that its client does not close holds up no stop', async () => {
  const api = await withPod();
  const socket = asking(api, EXEC, { ...KEY, ...KNOWN, ...PROTOCOL });
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1.1 101 /);
  await api.stop();
  socket.destroy();
});
