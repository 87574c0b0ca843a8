import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parse } from 'yaml';
import { HTTPRoute } from '../../examples/traffic/gateway/gateway-api.ts';
import type { ApiClient } from '../../src/client/api-client/index.js';
import { isAlreadyExists, isNotFound } from '../../src/client/api-client/index.js';
import type { KubernetesObject } from '../../src/machinery/kubernetes/index.js';
import { Service } from '../../src/machinery/kubernetes/index.js';
import { typeMeta } from '../../src/runtime/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { DEFINITIONS, Definition } from '../e2e/support/traffic-world.js';
import type { HistoryEvent } from './history.js';

const LOOKS_EVERY_MS = 50;
const STEERED_BY = 'rollkeeper.dev/steered-by';

/** The server knows the kinds of the Gateway API. */
export async function defineRoutes(client: ApiClient): Promise<void> {
  for (const file of readdirSync(DEFINITIONS)) {
    const definition = parse(readFileSync(join(DEFINITIONS, file), 'utf8')) as KubernetesObject;
    await client.create(Definition, definition).catch(ignoreExisting);
  }
  const isServed = async (): Promise<boolean> => {
    try {
      await client.list(HTTPRoute, { namespace: 'default' });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      throw error;
    }
  };
  await waitFor(isServed, { what: 'HTTPRoutes to be served' });
}

/** A route that names two Services of a Deployment, and these Services. All of them outlive the Deployment. */
export async function createRoute(client: ApiClient, namespace: string, name: string): Promise<void> {
  const services = [`${name}-stable`, `${name}-canary`];
  for (const service of services) {
    const spec = { selector: { app: name }, ports: [{ port: 80 }] };
    const metadata = { namespace, name: service };
    await client
      .create(Service, { apiVersion: 'v1', kind: 'Service', metadata, spec } as KubernetesObject)
      .catch(ignoreExisting);
  }
  const backendRefs = services.map((service, index) => ({
    name: service,
    port: 80,
    weight: index === 0 ? 100 : 0,
  }));
  const route = {
    ...{ ...typeMeta(HTTPRoute), metadata: { namespace, name } },
    spec: { parentRefs: [{ name: 'gateway' }], rules: [{ backendRefs }] },
  };
  await client.create(HTTPRoute, route).catch(ignoreExisting);
}

function ignoreExisting(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

/** A gateway that says of every route that it serves it, as soon as the API server lets it. */
export class RouteKeeper {
  private readonly pending = new Map<string, HTTPRoute>();
  private running: Promise<void> = Promise.resolve();
  private stopping = false;

  constructor(private readonly client: ApiClient) {}

  note({ deleted, kind, object }: HistoryEvent): void {
    if (kind !== 'HTTPRoute' || deleted) return;
    const route = object as HTTPRoute;
    const { generation, name } = route.metadata;
    const [condition] = route.status?.parents[0]?.conditions ?? [];
    if (condition?.observedGeneration === generation) this.pending.delete(name);
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

  private async serve({ metadata, spec }: HTTPRoute): Promise<void> {
    const { generation = 0, name, namespace } = metadata;
    const conditions = ['Accepted', 'ResolvedRefs'].map((type) => ({
      ...{ type, status: 'True', reason: type, message: '', observedGeneration: generation },
      lastTransitionTime: new Date().toISOString(),
    }));
    const controllerName = 'example.com/chaos';
    const parents = (spec.parentRefs ?? []).map((parentRef) => ({ parentRef, controllerName, conditions }));
    const patch = { type: 'merge', body: { status: { parents } } } as const;
    await this.client.patch(HTTPRoute, { namespace, name }, patch, { subresource: 'status' });
    const now = this.pending.get(name);
    if (now?.metadata.generation === generation) this.pending.delete(name);
  }
}

/** The routes that a rollout still leads, or has left something in, in words. */
export async function findLedRoutes(client: ApiClient, namespace: string): Promise<string[]> {
  const { items } = await client.list(HTTPRoute, { namespace });
  return items.flatMap(({ metadata, spec }) => {
    const [rule, ...added] = spec.rules ?? [];
    const weights = (rule?.backendRefs ?? []).map(({ weight }) => weight).join('/');
    const isNoted = metadata.annotations?.[STEERED_BY] !== undefined;
    const isAtRest =
      weights === '100/0' && added.length === 0 && !isNoted && (rule?.filters ?? []).length === 0;
    return isAtRest ? [] : [`HTTPRoute ${metadata.name} has ${weights}, ${added.length} added rules`];
  });
}
