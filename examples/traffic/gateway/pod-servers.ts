import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock, DeepReadonly, Informer, Pod } from 'rollkeeper';
import { isConditionTrue, keyOf } from 'rollkeeper';
import type { Endpoint } from './resolve-backends.ts';

/** Answers a request in the name of a pod. */
export type AnswerOfPod = (
  pod: DeepReadonly<Pod>,
  request: IncomingMessage,
  response: ServerResponse,
) => void;

export interface PodServersOptions {
  readonly clock: Clock;
  /** @default 200 with the image of the pod in the header `x-image`, its name in `x-pod` */
  readonly answer?: AnswerOfPod;
  /**
   * How a pod behaves when it is deleted. `drains`: it answers until the gateway no longer sends it requests, and for
   * `graceMs` more, as a pod with a preStop hook does. `dies`: its connections are cut at once. @default drains
   */
  readonly onDeletion?: 'drains' | 'dies';
  /** Milliseconds. @default 1000 */
  readonly graceMs?: number;
}

interface PodServer {
  readonly server: Server;
  readonly port: number;
  readonly node: string;
}

/** An endpoint whose pod has not shown up after this is taken for one that does not answer, milliseconds. */
const KNOWN_AFTER_MS = 5000;
/** The gateway decides how long it keeps a connection. */
const IDLE_MS = 120_000;

/**
 * HTTP servers on 127.0.0.1 that stand for pods, since simulated nodes run no containers: one for each ready pod, until
 * the pod is deleted or its node dies.
 */
export class PodServers {
  private readonly options: PodServersOptions;
  private readonly servers = new Map<string, Promise<PodServer>>();
  /** The pods that have been deleted, and may still get requests. */
  private readonly ending = new Set<string>();
  private readonly deadNodes = new Set<string>();
  private readonly waiting = new Map<string, Set<() => void>>();
  private routed: ReadonlySet<string> = new Set();

  constructor(options: PodServersOptions) {
    this.options = options;
  }

  /** Starts and stops servers with the pods of this cache. */
  follow(pods: Informer<Pod>): void {
    pods.addEventHandler((event) => {
      const key = keyOf(event.object.metadata);
      const { deletionTimestamp } = event.object.metadata;
      if (event.type === 'deleted' || deletionTimestamp !== undefined) this.end(key);
      else if (isConditionTrue(event.object.status?.conditions, 'Ready')) this.start(key, event.object, pods);
    });
  }

  /**
   * The port on which a pod answers. A gateway may know an endpoint before this cache has seen that its pod is ready.
   */
  async addressOf({ pod }: Pick<Endpoint, 'pod'>): Promise<{ readonly port: number } | undefined> {
    if (!this.servers.has(pod)) await this.untilKnown(pod);
    const server = await this.servers.get(pod);
    return server && !this.deadNodes.has(server.node) ? { port: server.port } : undefined;
  }

  /** Names the pods that the gateway may send requests to from now on, `namespace/name`. */
  routedTo(pods: ReadonlySet<string>): void {
    this.routed = pods;
    for (const key of this.ending) if (!pods.has(key)) this.drain(key);
  }

  /** The node and its pods no longer answer, and the API knows nothing of it. */
  async killNode(name: string): Promise<void> {
    this.deadNodes.add(name);
    for (const { node, server } of await Promise.all(this.servers.values())) {
      if (node !== name) continue;
      server.close();
      server.closeAllConnections();
    }
  }

  /** The number of pods that answer. */
  get count(): number {
    return this.servers.size;
  }

  async stop(): Promise<void> {
    const all = await Promise.all(this.servers.values());
    this.servers.clear();
    await Promise.all(
      all.map(async ({ server }) => {
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeAllConnections();
        await closed;
      }),
    );
  }

  private start(key: string, pod: DeepReadonly<Pod>, pods: Informer<Pod>): void {
    if (this.servers.has(key)) return;
    const { answer = tellImage } = this.options;
    const server = createServer({ keepAliveTimeout: IDLE_MS }, (request, response) => {
      answer(pods.lister.get(key) ?? pod, request, response);
    });
    const started = new Promise<PodServer>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', () => {
        resolve({ server, node: pod.spec.nodeName ?? '', port: (server.address() as AddressInfo).port });
      });
    });
    this.servers.set(key, started);
    for (const wake of this.waiting.get(key) ?? []) wake();
    this.waiting.delete(key);
  }

  private end(key: string): void {
    if (!this.servers.has(key) || this.ending.has(key)) return;
    this.ending.add(key);
    if (this.options.onDeletion === 'dies') this.close(key, true);
    else if (!this.routed.has(key)) this.drain(key);
  }

  private drain(key: string): void {
    this.ending.delete(key);
    const { clock, graceMs = 1000 } = this.options;
    clock.setTimeout(() => this.close(key, false), graceMs);
  }

  private close(key: string, isCut: boolean): void {
    const started = this.servers.get(key);
    this.servers.delete(key);
    this.ending.delete(key);
    void started?.then(({ server }) => {
      server.close();
      if (isCut) server.closeAllConnections();
    });
  }

  private async untilKnown(key: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.options.clock.setTimeout(resolve, KNOWN_AFTER_MS);
      const waiting = this.waiting.get(key) ?? new Set();
      this.waiting.set(key, waiting);
      waiting.add(() => {
        timer.cancel();
        resolve();
      });
    });
  }
}

/** `nginx:1.27` of the pod's first container. */
export function imageOf(pod: DeepReadonly<Pod>): string {
  return pod.spec.containers[0]?.image ?? '';
}

function tellImage(pod: DeepReadonly<Pod>, _request: IncomingMessage, response: ServerResponse): void {
  const image = imageOf(pod);
  response.writeHead(200, { 'x-image': image, 'x-pod': pod.metadata.name });
  response.end(`${image} on ${pod.metadata.name}\n`);
}
