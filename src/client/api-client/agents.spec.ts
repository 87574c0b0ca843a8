import * as undici from 'undici';
import { expect, it } from 'vitest';
import { Agent, ProxyAgent } from './agents.js';

it('are those that undici exports, with the requests that the client makes', () => {
  expect(Agent).toBe(undici.Agent);
  expect(ProxyAgent).toBe(undici.ProxyAgent);
  for (const method of ['request', 'connect'] as const)
    expect(Agent.prototype[method]).toBe(undici.Agent.prototype[method]);
  expect(Agent.prototype).toHaveProperty('compose');
});
