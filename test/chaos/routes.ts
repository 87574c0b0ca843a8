import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import type { ApiClient } from '../../src/client/api-client/index.js';
import { isAlreadyExists, isNotFound } from '../../src/client/api-client/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Service } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { DEFINITIONS, Definition } from '../e2e/support/traffic-world.js';
import { leftInRoute, servicesLedBy } from './checkers/led-route.js';
import type { LedRoute } from './checkers/led-route.js';
import { HTTPRoute, aLedRoute, isServed, servedStatus } from './led-routes.js';
import type { HistoryEvent } from './history.js';

const LOOKS_EVERY_MS = 50;

/** The server knows the kinds of the Gateway API. */
export async function defineRoutes(client: ApiClient): Promise<void> {
  for (const file of readdirSync(DEFINITIONS)) {
    const definition = parse(readFileSync(join(DEFINITIONS, file), 'utf8')) as KubernetesObject;
    await client.create(Definition, definition).catch(ignoreExisting);
  }
  const isKnown = async (): Promise<boolean> => {
    try {
      await client.list(HTTPRoute, { namespace: 'default' });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  };
  await waitFor(isKnown, { what: 'HTTPRoutes to be served' });
}

/** A route that names two Services of a Deployment, and these Services. All of them outlive the Deployment. */
export async function createRoute(client: ApiClient, namespace: string, name: string): Promise<void> {
  const { route, services } = aLedRoute(namespace, name);
  for (const service of services) await client.create(Service, service).catch(ignoreExisting);
  await client.create(HTTPRoute, route).catch(ignoreExisting);
}

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

/** A gateway that says of every route that it serves it, as soon as the API server lets it. */
export class RouteKeeper {
  private readonly pending = new Map<string, LedRoute>();
  private running: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(private readonly client: ApiClient) {}

  note({ deleted, kind, object }: HistoryEvent): void {
    if (kind !== 'HTTPRoute' || deleted) return;
    const route = object as LedRoute;
    const { name } = route.metadata;
    if (isServed(route)) this.pending.delete(name);
    else this.pending.set(name, route);
  }

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      for (const route of [...this.pending.values()]) await this.serve(route).catch(() => undefined);
      await pause(LOOKS_EVERY_MS);
    }
  }

  private async serve(route: LedRoute): Promise<void> {
    const { generation, name, namespace } = route.metadata;
    const body = { status: servedStatus(route, new Date().toISOString()) };
    const patch = { type: 'merge', body } as const;
    await this.client.patch(HTTPRoute, { namespace, name }, patch, { subresource: 'status' });
    const now = this.pending.get(name);
    if (now?.metadata.generation === generation) this.pending.delete(name);
  }
}

/** The routes that a rollout still leads, or has left something in, in words. */
export async function findLedRoutes(client: ApiClient, namespace: string): Promise<string[]> {
  const { items } = await client.list<LedRoute>(HTTPRoute, { namespace });
  return items.flatMap((route) => leftInRoute(route, servicesLedBy(route.metadata.name)) ?? []);
}
