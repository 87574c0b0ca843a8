import { performance } from 'node:perf_hooks';
// A worker thread that is somebody else: sends small requests one after the other over its own connection, and tells how
// long the slowest had to wait. In a thread of its own, so that what the fuzzer is busy with does not count.
import { Agent, request } from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';

const { url, token, ca, path, pauseMs, timeoutMs } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
const { hostname, port } = new URL(url);
let slowest = { ms: 0, what: '', status: 0 };
let failures = [];
let count = 0;
let stopped = false;

function send(method, body) {
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'bystander' };
  if (body) headers['content-type'] = 'application/merge-patch+json';
  return new Promise((resolve) => {
    const sent = request({ hostname, port, path, method, agent, headers, timeout: timeoutMs }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode));
      response.on('error', (error) => resolve(error.message));
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    sent.on('error', (error) => resolve(error.message));
    sent.end(body);
  });
}

parentPort.on('message', (message) => {
  if (message === 'take') {
    parentPort.postMessage({ slowest, failures, count });
    slowest = { ms: 0, what: '', status: 0 };
    failures = [];
    count = 0;
  } else stopped = true;
});

for (let round = 0; !stopped; round++) {
  const method = round % 2 === 0 ? 'GET' : 'PATCH';
  const body = method === 'GET' ? undefined : `{"metadata":{"annotations":{"round":"${round}"}}}`;
  const startedAt = performance.now();
  const status = await send(method, body);
  const ms = performance.now() - startedAt;
  count++;
  if (ms > slowest.ms) slowest = { ms, what: method, status };
  if (status !== 200) failures.push(`${method}: ${status}`);
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
}
agent.destroy();
process.exit();
