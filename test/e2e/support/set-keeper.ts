import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KeeperVerb, SharedSet, SharedSetName, TakenSet } from './sets.js';
import { SHARED_SETS } from './sets.js';
import { Up } from './up.js';

/** Starts the shared sets of processes when a test file first asks for one, lends them out, and stops them after the last test. */
export class SetKeeper {
  private readonly server: Server = createServer();
  private readonly started = new Map<SharedSetName, Promise<Up>>();
  /** The requests for each exclusive set: the first holds it, and the others wait. */
  private readonly holders = new Map<SharedSetName, (() => void)[]>();

  /** @returns where it is asked */
  async start(): Promise<string> {
    this.server.on('request', (request, response) => void this.answer(request, response));
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    const sets = await Promise.allSettled(this.started.values());
    await Promise.all(
      sets.map(async (set) => (set.status === 'fulfilled' ? set.value.stopAndRemove() : undefined)),
    );
  }

  private async answer({ url = '' }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, verb, name] = url.split('/') as ['', KeeperVerb, SharedSetName];
    try {
      const answer = {
        take: () => this.take(name),
        give: () => this.give(name),
        printed: () => this.printed(name),
      };
      const body = await answer[verb]();
      response.end(JSON.stringify(body ?? null));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  }

  private async take(name: SharedSetName): Promise<TakenSet> {
    const { isExclusive }: SharedSet = SHARED_SETS[name];
    if (isExclusive) await this.turn(name);
    const { dataDir, pid } = await this.up(name);
    return { dataDir, pid };
  }

  private give(name: SharedSetName): void {
    const holders = this.holders.get(name) ?? [];
    holders.shift();
    holders[0]?.();
  }

  private async printed(name: SharedSetName): Promise<string> {
    return (await this.up(name)).printed;
  }

  private async turn(name: SharedSetName): Promise<void> {
    const holders = this.holders.get(name) ?? [];
    this.holders.set(name, holders);
    await new Promise<void>((resolve) => {
      if (holders.push(resolve) === 1) resolve();
    });
  }

  private up(name: SharedSetName): Promise<Up> {
    const { controllerArgs = [], replicas }: SharedSet = SHARED_SETS[name];
    const args = ['--replicas', String(replicas), '--', ...controllerArgs];
    const up = this.started.get(name) ?? Up.start({ args });
    this.started.set(name, up);
    return up;
  }
}
