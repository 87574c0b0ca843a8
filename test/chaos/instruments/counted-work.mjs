// Loaded into a replica before its own code, by the benchmark of what work costs: counts the commands and bytes that it exchanges with
// Redis, its requests to the API and their bytes, its spans, the timers that it sets and the memory that it allocates. It runs in
// the process itself, because they cannot be seen from outside.
import { createHash } from 'node:crypto';
import { subscribe } from 'node:diagnostics_channel';
import { Session } from 'node:inspector/promises';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-base';
import { Redis } from 'ioredis';
import { load } from './built-modules.mjs';

/** Fine enough for a second of work, and too coarse to cost much of it. */
const SAMPLED_BYTES = 256 * 1024;
const counts = { commands: 0, requests: 0, spans: 0, timers: 0 };
/** How often each command was sent; scripts by their names. */
const byName = {};
/** Each with the port that it was connected to. */
const links = [];
const scriptNames = new Map();
const redisPort = Number(new URL(process.env.REDIS_URL ?? 'redis://none:0').port);

const heap = new Session();
let isSampling = false;

subscribe('net.client.socket', ({ socket }) => {
  socket.once('connect', () => links.push({ socket, port: socket.remotePort }));
});

const { defineCommand, sendCommand } = Redis.prototype;
Redis.prototype.defineCommand = function (name, definition) {
  scriptNames.set(createHash('sha1').update(definition.lua).digest('hex'), name.replace(/:.*/, ''));
  return defineCommand.call(this, name, definition);
};
Redis.prototype.sendCommand = function (command, ...rest) {
  counts.commands++;
  const name = command.name === 'evalsha' ? (scriptNames.get(command.args[0]) ?? 'evalsha') : command.name;
  byName[name] = (byName[name] ?? 0) + 1;
  return sendCommand.call(this, command, ...rest);
};
const { StoredScript } = await load('redis/connection/stored-script.js');
const { run } = StoredScript.prototype;
StoredScript.prototype.run = function (...args) {
  scriptNames.set(this.sha, this.name);
  return run.apply(this, args);
};

subscribe('undici:request:create', () => counts.requests++);

const tracer = Object.getPrototypeOf(new BasicTracerProvider().getTracer('none'));
const { startSpan } = tracer;
tracer.startSpan = function (...args) {
  counts.spans++;
  return startSpan.apply(this, args);
};

for (const name of ['setTimeout', 'setInterval']) {
  const original = globalThis[name];
  globalThis[name] = Object.assign((...args) => {
    counts.timers++;
    return original(...args);
  }, original);
}

function bytes(isOfRedis) {
  const sums = { sent: 0, received: 0 };
  for (const { port, socket } of links) {
    if ((port === redisPort) !== isOfRedis) continue;
    sums.sent += socket.bytesWritten;
    sums.received += socket.bytesRead;
  }
  return sums;
}

/** The bytes that were allocated since the first call, an estimate from samples. The first call begins to sample. */
async function allocated() {
  if (!isSampling) {
    isSampling = true;
    heap.connect();
    const ofAll = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
    await heap.post('HeapProfiler.startSampling', { samplingInterval: SAMPLED_BYTES, ...ofAll });
    return 0;
  }
  const { profile } = await heap.post('HeapProfiler.getSamplingProfile');
  const sizeOf = (node) => node.children.reduce((sum, child) => sum + sizeOf(child), node.selfSize);
  return sizeOf(profile.head);
}

async function tell() {
  const [redis, api] = [bytes(true), bytes(false)];
  const of = {
    redisSent: redis.sent,
    redisReceived: redis.received,
    apiSent: api.sent,
    apiReceived: api.received,
  };
  const names = { ...byName };
  const all = { ...counts };
  process.send?.({ type: 'worked', ...all, ...of, allocated: await allocated(), byName: names });
}

process.on('message', (message) => {
  if (message?.chaos === 'work') void tell();
});
