/// <reference path="./undici-parts.d.ts" />
/**
 * The parts of undici that the client needs: its door loads a browser's `fetch`, caches and mocks as well, three times as much code.
 * Where a runtime has a module of its own in the place of `undici`, as Bun does, these are the package's own all the same.
 */
import type * as undici from 'undici';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import LibraryAgent from 'undici/lib/dispatcher/agent.js';
import LibraryProxyAgent from 'undici/lib/dispatcher/proxy-agent.js';
import api from 'undici/lib/api/index.js';

// As undici's door does.
Object.assign(Dispatcher.prototype, api);

export const Agent: typeof undici.Agent = LibraryAgent;
export const ProxyAgent: typeof undici.ProxyAgent = LibraryProxyAgent;
