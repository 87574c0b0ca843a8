// Loaded into a replica before its own code (`node --import`), by the chaos harness only: the product has no hooks
// for it. Writes the journal of its activations and leaderships, and makes the faults that come from inside.
import { AsyncLocalStorage } from 'node:async_hooks';
import { openSync, writeSync } from 'node:fs';
import { registerHooks } from 'node:module';
import v8 from 'node:v8';
import vm from 'node:vm';
import { load } from './built-modules.mjs';

const { CHAOS_JOURNAL, CHAOS_LEASES } = process.env;
const fd = openSync(CHAOS_JOURNAL, 'a');
/** Milliseconds of CLOCK_MONOTONIC: the same in every process of this machine, regardless of the wall clock. */
const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const note = (line) => writeSync(fd, `${JSON.stringify({ t: nowMs(), p: process.pid, ...line })}\n`);

// The wall clock, as far as JavaScript sees it.
const RealDate = Date;
let steppedMs = 0;
globalThis.Date = class Date extends RealDate {
  constructor(...args) {
    if (args.length === 0) super(RealDate.now() + steppedMs);
    else super(...args);
  }
  static now() {
    return RealDate.now() + steppedMs;
  }
};

// Redis judges the acts of a leader. It also notes them there in the same step, so that their order is the true one.
const NOTED = [
  [
    "'epoch', epoch, 'holder', holder)\nreturn serverRun()",
    "'epoch', epoch, 'holder', holder)\nredis.call('RPUSH', termKey .. ':chaos', 'begin ' .. epoch .. ' ' .. holder)\nreturn serverRun()",
  ],
  [
    'current[2] == holder then return 1 end',
    "current[2] == holder then\nredis.call('RPUSH', termKey .. ':chaos', 'add ' .. epoch .. ' ' .. holder)\nreturn 1\nend",
  ],
];
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith('/work-queue/redis-queue-state.js')) return loaded;
    // The build has put the scripts into the module as JSON.
    const inJson = (text) => JSON.stringify(text).slice(1, -1);
    let source = String(loaded.source);
    for (const [from, to] of NOTED) {
      if (!source.includes(inJson(from))) throw new Error(`${url} is not what the harness knows`);
      source = source.replace(inJson(from), () => inJson(to));
    }
    return { ...loaded, source };
  },
});

const [{ StoredActorRuntime }, { HttpTransport }, { Manager }, { Enqueuer }, ...queues] = await Promise.all([
  load('runtime/activation/stored-actor-runtime.js', 'runtime/actor/stored-actor-runtime.js'),
  load('client/api-client/http-transport.js'),
  load('runtime/manager/manager.js'),
  load('runtime/controller/enqueuer.js'),
  load('redis/work-queue/bullmq-work-queue.js', 'runtime/work-queue/bullmq-work-queue.js'),
  load('runtime/work-queue/memory-work-queue.js'),
]);

const activations = new AsyncLocalStorage();
/** In which this process leads, or led last. */
let currentEpoch = 0;
let begun = 0;

/**
 * Without a Redis, tokens are the process's own, and start again with each term: the epoch and a count take their
 * place.
 */
function tokenOf({ token }) {
  if (CHAOS_LEASES === undefined) return { n: token };
  begun += 1;
  return { n: currentEpoch * 2 ** 32 + begun, g: currentEpoch };
}

const { activate } = StoredActorRuntime.prototype;
StoredActorRuntime.prototype.activate = function (controller, key, signal, work, early) {
  let who;
  const journalled = async (activation) => {
    who = { c: controller, k: key, ...tokenOf(activation) };
    note({ e: 'begin', ...who });
    return activations.run(who, () => work(activation));
  };
  return activate.call(this, controller, key, signal, journalled, early).then(
    (result) => {
      if (who) note({ e: 'end', ...who });
      return result;
    },
    (error) => {
      if (who) note({ e: 'end', ...who, error: error?.code ?? error?.name ?? 'error' });
      throw error;
    },
  );
};

const { request } = HttpTransport.prototype;
HttpTransport.prototype.request = async function (options) {
  const who = activations.getStore();
  if (!who || options.method === 'GET') return request.call(this, options);
  note({ e: 'write', ...who, m: options.method, u: options.path });
  const answer = await request.call(this, options);
  note({ e: 'wrote', ...who, m: options.method, u: options.path, s: answer.status });
  return answer;
};

const leadership = new AsyncLocalStorage();
const epochOf = new WeakMap();
const { lead } = Manager.prototype;
Manager.prototype.lead = async function (signal, term) {
  const { epoch } = term;
  currentEpoch = epoch;
  note({ e: 'lead', n: epoch });
  try {
    return await leadership.run(epoch, () => lead.call(this, signal, term));
  } finally {
    note({ e: 'unlead', n: epoch });
  }
};
const { enqueueUntil, write } = Enqueuer.prototype;
Enqueuer.prototype.enqueueUntil = function (...args) {
  epochOf.set(this, leadership.getStore());
  return enqueueUntil.apply(this, args);
};
Enqueuer.prototype.write = async function (key, add) {
  const what = { n: epochOf.get(this), c: this.options.controller, k: key };
  try {
    await write.call(this, key, add);
    note({ e: 'enqueued', ...what });
  } catch (error) {
    if (error?.code === 'SUPERSEDED') note({ e: 'refused', ...what });
    throw error;
  }
};

// Keys of some namespaces are parked soon, because fifteen failures would take three minutes.
const PARKED_SOON = /^parks-/;
for (const { BullMqWorkQueue, MemoryWorkQueue } of queues) {
  const { prototype } = BullMqWorkQueue ?? MemoryWorkQueue;
  const { addRateLimited } = prototype;
  prototype.addRateLimited = function (key, ...more) {
    if (!PARKED_SOON.test(key)) return addRateLimited.call(this, key, ...more);
    const options = { ...this.options, maxRetries: 3, parkedRetryMs: 600_000 };
    return addRateLimited.call(Object.create(this, { options: { value: options } }), key, ...more);
  };
}

function measure() {
  v8.setFlagsFromString('--expose-gc');
  vm.runInNewContext('gc')();
  const handles = {};
  for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1;
  return { ...process.memoryUsage(), handles };
}

process.on('message', (message) => {
  if (message?.chaos === 'block') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, message.ms);
  else if (message?.chaos === 'step') steppedMs = message.ms;
  else if (message?.chaos === 'measure') process.send?.({ type: 'measured', ...measure() });
});

// Notes what keeps a process alive that was asked to end.
process.on('SIGUSR2', () => note({ e: 'alive', ...measure() }));
