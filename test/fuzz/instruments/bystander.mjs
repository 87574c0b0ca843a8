import { performance } from 'node:perf_hooks';
// A worker thread that plays another client: it sends small requests one after the other over its own connection, and
// reports how long the slowest had to wait. It is a thread of its own, so that the work of the fuzzer does not count;
// and it reports how much slower than alone it was, so that other work of the machine does not count either.
import { Agent, request } from 'node:https';
import { parentPort, workerData } from 'node:worker_threads';

const { url, token, ca, path, pauseMs, timeoutMs } = workerData;
const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
const { hostname, port } = new URL(url);
let slowest = { ms: 0, what: '', status: 0 };
let failures = [];
let count = 0;
let burnt = { cpuMs: 0, wallMs: 0 };
let before = 1;
let stopped = false;

/** Once more when a connection that was kept closes just as it is used again. */
async function send(method, body) {
  const first = await sendOnce(method, body);
  return first.isStale ? (await sendOnce(method, body)).result : first.result;
}

function sendOnce(method, body) {
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'bystander' };
  if (body) headers['content-type'] = 'application/merge-patch+json';
  return new Promise((resolve) => {
    const sent = request({ hostname, port, path, method, agent, headers, timeout: timeoutMs }, (response) => {
      response.resume();
      response.on('end', () => resolve({ result: response.statusCode }));
      response.on('error', (error) => resolve({ result: error.message }));
    });
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    sent.on('error', (error) => {
      const isStale = sent.reusedSocket && error.code === 'ECONNRESET';
      resolve({ result: error.message, isStale });
    });
    sent.end(body);
  });
}

parentPort.on('message', (message) => {
  if (message === 'take') {
    // A moment may be too short to tell.
    const now = burnt.cpuMs > 0 ? Math.max(1, burnt.wallMs / burnt.cpuMs) : before;
    const slowdown = Math.max(now, before);
    before = now;
    parentPort.postMessage({ slowest, failures, count, slowdown });
    burnt = { cpuMs: 0, wallMs: 0 };
    slowest = { ms: 0, what: '', status: 0 };
    failures = [];
    count = 0;
  } else stopped = true;
});

/** Works for some milliseconds of its own time, and notes how long that took by the clock. */
function burn() {
  const cpuMs = () => process.threadCpuUsage().user / 1000;
  const [cpuAt, wallAt] = [cpuMs(), performance.now()];
  while (cpuMs() - cpuAt < 3);
  burnt.cpuMs += cpuMs() - cpuAt;
  burnt.wallMs += performance.now() - wallAt;
}

for (let round = 0; !stopped; round++) {
  const method = round % 2 === 0 ? 'GET' : 'PATCH';
  const body = method === 'GET' ? undefined : `{"metadata":{"annotations":{"round":"${round}"}}}`;
  const startedAt = performance.now();
  const status = await send(method, body);
  const ms = performance.now() - startedAt;
  count++;
  if (ms > slowest.ms) slowest = { ms, what: method, status };
  if (round % 4 === 0) burn();
  if (status !== 200) failures.push(`${method}: ${status}`);
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
}
agent.destroy();
process.exit();
