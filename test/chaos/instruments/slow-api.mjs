// Loaded into a replica before its own code, by the scale-out benchmark: every call to the API takes longer, as over a
// network. In the process itself, so that nothing stands in between that would need a processor of its own.
import { setTimeout as delay } from 'node:timers/promises';
import './counted-work.mjs';
import { load } from './built-modules.mjs';

const { HttpTransport } = await load('client/api-client/http-transport.js');
let latencyMs = 0;

const { request } = HttpTransport.prototype;
HttpTransport.prototype.request = async function (options) {
  if (latencyMs > 0) await delay(latencyMs);
  return request.call(this, options);
};

process.on('message', (message) => {
  if (message?.chaos === 'latency') latencyMs = message.ms;
});
